"""How do arrays get to disk and back without being read? As one aligned file that is memory-mapped.

Format: ``RMA1``, the length of a JSON head (u32, little-endian), the head, then each array at a multiple of 64 bytes.
The head names dtype, shape, offset and CRC-32 of every array and carries plain values; its own CRC-32 stands behind it.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reme_store.errors import IndexCorruptError
from reme_store.index.log import write_whole

Array = NDArray[Any]
_MAGIC = b"RMA1"
_ALIGN = 64


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays to one file, atomically and durably."""
    entries: dict[str, Any] = {}
    parts: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        entries[name] = [array.dtype.str, list(array.shape), offset, zlib.crc32(data)]
        padding = -len(data) % _ALIGN
        parts += [data, bytes(padding)]
        offset += len(data) + padding
    head = json.dumps(entries).encode()
    lead = _MAGIC + struct.pack("<I", len(head)) + head + struct.pack("<I", zlib.crc32(head))
    write_whole(path, b"".join([lead, bytes(-len(lead) % _ALIGN), *parts]))


def read_arrays(path: Path, *, verify: bool = False) -> dict[str, Array]:
    """Map the arrays of a file; with ``verify`` every byte is read and checked.

    Raises:
        IndexCorruptError: the file is missing, cut or damaged.
    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:
        raise IndexCorruptError(f"{path.name} cannot be read: {error}") from error
    entries, base = _head(path, data)
    arrays: dict[str, Array] = {}
    for name, (dtype, shape, offset, checksum) in entries.items():
        length = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        raw = data[base + offset : base + offset + length]
        if len(raw) != length or (verify and zlib.crc32(raw.tobytes()) != checksum):
            raise IndexCorruptError(f"{path.name} is damaged in {name}")
        arrays[name] = np.frombuffer(raw, dtype=dtype).reshape(shape)
    return arrays


def _head(path: Path, data: Array) -> tuple[dict[str, Any], int]:
    lead = bytes(data[:8])
    if lead[:4] != _MAGIC or len(lead) < 8:
        raise IndexCorruptError(f"{path.name} is no array file")
    length = struct.unpack("<I", lead[4:])[0]
    head = bytes(data[8 : 8 + length])
    stored = bytes(data[8 + length : 12 + length])
    if len(stored) < 4 or struct.unpack("<I", stored)[0] != zlib.crc32(head):
        raise IndexCorruptError(f"{path.name} has a damaged head")
    end = 12 + length
    return json.loads(head), end + -end % _ALIGN


class Strings(Sequence[str]):
    """A list of strings kept as one byte array, so that a memory-mapped one costs nothing until it is asked."""

    def __init__(self, blob: Array, offsets: Array) -> None:
        self._blob = blob
        self._offsets = offsets
        self._bytes, self._bounds = memoryview(blob.data), memoryview(offsets.data)
        """The same; reading one string through them takes a quarter of the time."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Strings":
        """Pack texts."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in encoded], out=offsets[1:])
        small = offsets.astype(np.uint32) if int(offsets[-1]) < 1 << 32 else offsets
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), small)

    @classmethod
    def load(cls, arrays: Mapping[str, Array], name: str) -> "Strings":
        """Take the strings called ``name`` out of the arrays of a file."""
        return cls(arrays[f"{name}.blob"], arrays[f"{name}.offsets"])

    def arrays(self, name: str) -> dict[str, Array]:
        """Return the arrays to store them by."""
        return {f"{name}.blob": self._blob, f"{name}.offsets": self._offsets}

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, place: Any) -> Any:
        bounds = self._bounds
        return str(self._bytes[bounds[place] : bounds[place + 1]], "utf-8", "surrogatepass")

    def raw(self, place: int) -> bytes:
        """Return one string as bytes."""
        return bytes(self._bytes[self._bounds[place] : self._bounds[place + 1]])

    def texts(self) -> list[str]:
        """Return all of them; one pass over the bytes."""
        blob = self._blob.tobytes()
        bounds = self._offsets.tolist()
        return [blob[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]

    def bisect(self, text: str) -> int:
        """Return how many of these strings, which must be sorted, come before ``text``."""
        wanted = text.encode("utf-8", "surrogatepass")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def find(self, text: str) -> int:
        """Return the place of a text among these strings, which must be sorted; -1 when it is not there."""
        place = self.bisect(text)
        return place if place < len(self) and self.raw(place) == text.encode("utf-8", "surrogatepass") else -1


def spans(starts: Array, counts: Array) -> Array:
    """Return the indices ``start, start+1, …`` of several ranges, one after another, as int64[sum(counts)]."""
    total = int(counts.sum())
    if total == 0:
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum(counts)
    indices: Array = np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - counts), counts)
    return indices


def distinct(groups: Sequence[Array]) -> Array:
    """Return the values of several arrays that are sorted and without doubles; many times as fast as ``np.unique``."""
    if len(groups) == 1:
        return groups[0]
    values = np.sort(np.concatenate(groups))
    return values[np.concatenate([[True], values[1:] != values[:-1]])] if len(values) else values
