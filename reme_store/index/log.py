"""How does a record survive a crash? As one checksummed frame appended to a file and synced.

Format: the file is a valid ``.zst`` stream. Each frame is a zstd skippable frame of 16 bytes (magic, size 8, length and
CRC-32 of what follows, little-endian) and a zstd frame holding JSON lines. A frame that ends early or whose checksum
differs at the end of the file is a torn tail: readers stop before it, the next writer cuts it off.
"""

import json
import os
import struct
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from reme_store.errors import IndexCorruptError

_HEAD = struct.Struct("<IIII")
_MAGIC = 0x184D2A50
_LEVEL = 3
_MAX_FRAME = 1 << 30
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class _Zstd(threading.local):
    """The compressor and decompressor of a thread; making them costs more than a small frame."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_ZSTD = _Zstd()


@dataclass(frozen=True, slots=True)
class Frame:
    """One appended frame: where it begins, where the next one begins, and its JSON values."""

    offset: int
    end: int
    rows: list[Any]


class FrameLog:
    """An append-only file of frames. One writer at a time; its callers hold the lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        created = not path.exists()
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        if created:
            sync_folder(path.parent)

    def close(self) -> None:
        """Release the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            os.close(self._fd)

    def size(self) -> int:
        """Return the bytes of the file, a torn tail included."""
        return os.fstat(self._fd).st_size

    def is_current(self) -> bool:
        """Whether the path still names the file that is open here."""
        try:
            there, here = self.path.stat(), os.fstat(self._fd)
        except FileNotFoundError:
            return False
        return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)

    def append(self, groups: Iterable[Sequence[Any]], *, at: int) -> list[tuple[int, int]]:
        """Write one frame a group at ``at``, which cuts off any torn tail, sync, and return (offset, bytes) of each."""
        if self.size() > at:
            os.ftruncate(self._fd, at)
        places: list[tuple[int, int]] = []
        position = at
        for rows in groups:
            frame = pack_frame(rows)
            _write_all(self._fd, frame, position)
            places.append((position, len(frame)))
            position += len(frame)
        os.fsync(self._fd)
        return places

    def frames(self, offset: int = 0) -> Iterator[Frame]:
        """Yield the whole frames from ``offset`` on; stop before a torn tail.

        Raises:
            IndexCorruptError: a damaged frame is followed by whole ones.
        """
        size = self.size()
        while offset < size:
            payload = self._payload(offset, size)
            if payload is None:
                if self._resync(offset + 1) is not None:
                    raise IndexCorruptError(f"{self.path.name} is damaged at byte {offset}")
                return
            end = offset + _HEAD.size + len(payload)
            yield Frame(offset, end, _rows(payload))
            offset = end

    def salvage(self) -> tuple[list[Frame], int]:
        """Return every whole frame, whatever lies between them, and how many bytes were damaged."""
        found: list[Frame] = []
        damaged = 0
        offset: int | None = 0
        while offset is not None:
            stopped = self._collect(offset, found)
            offset = self._resync(stopped + 1)
            damaged += 0 if offset is None else offset - stopped
        return found, damaged

    def _collect(self, offset: int, found: list[Frame]) -> int:
        """Add the whole frames from ``offset`` on and return where they stop."""
        try:
            for frame in self.frames(offset):
                found.append(frame)
                offset = frame.end
        except IndexCorruptError:
            return offset
        return offset

    def read_line(self, offset: int, line: int) -> Any:
        """Return one row of the frame at ``offset``.

        Raises:
            IndexCorruptError: there is no whole frame, or no such row.
        """
        payload = self._payload(offset, self.size())
        lines = _text(payload).split("\n") if payload is not None else []
        if line >= len(lines):
            raise IndexCorruptError(f"{self.path.name} has no row {line} at byte {offset}")
        return json.loads(lines[line])

    def _payload(self, offset: int, size: int) -> bytes | None:
        head = os.pread(self._fd, _HEAD.size, offset)
        if len(head) < _HEAD.size:
            return None
        magic, eight, length, checksum = _HEAD.unpack(head)
        if magic != _MAGIC or eight != 8 or length > min(_MAX_FRAME, size - offset - _HEAD.size):
            return None
        payload = os.pread(self._fd, length, offset + _HEAD.size)
        return payload if len(payload) == length and zlib.crc32(payload) == checksum else None

    def _resync(self, offset: int) -> int | None:
        """Find the next whole frame behind damaged bytes."""
        size = self.size()
        rest = os.pread(self._fd, max(0, size - offset), offset)
        mark = struct.pack("<II", _MAGIC, 8)
        place = rest.find(mark)
        while place >= 0:
            if self._payload(offset + place, size) is not None:
                return offset + place
            place = rest.find(mark, place + 1)
        return None


def pack_frame(rows: Sequence[Any]) -> bytes:
    """Render rows as one frame."""
    lines = "\n".join(_JSON.encode(row) for row in rows)
    payload = _ZSTD.compressor.compress(lines.encode("utf-8", "surrogatepass"))
    return _HEAD.pack(_MAGIC, 8, len(payload), zlib.crc32(payload)) + payload


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file of derived state atomically and durably."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _text(payload: bytes) -> str:
    try:
        return _ZSTD.decompressor.decompress(payload).decode("utf-8", "surrogatepass")
    except (zstandard.ZstdError, UnicodeDecodeError) as error:
        raise IndexCorruptError(f"a frame with a right checksum cannot be unpacked: {error}") from error


def _rows(payload: bytes) -> list[Any]:
    try:
        return [json.loads(line) for line in _text(payload).split("\n") if line]
    except ValueError as error:
        raise IndexCorruptError(f"a frame with a right checksum does not parse: {error}") from error


def _write_all(fd: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, offset)
        view, offset = view[written:], offset + written
