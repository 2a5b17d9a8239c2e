"""Which vectors does a model give to which texts? A cache by content that is also the index of meaning.

A text is named by 64 bits of its hash and has one vector or, where it was cut for the model, several; all are of unit
length, so that a product is a cosine. The folder of a model holds ``manifest.json``, array files of ``keys``
uint64[n] ascending and ``vectors`` float32[n, size] with the vectors of one text side by side, and a log of frames with
rows ``{"k": hex, "v": base64 of float32}`` that become an array file at a bound. Nothing in it is truth: what is
damaged is dropped and computed again.
"""

import base64
import json
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from filelock import FileLock

from reme_store.errors import IndexCorruptError
from reme_store.index.arrays import Array, read_arrays, write_arrays
from reme_store.index.log import FrameLog, write_whole

FORMAT = 1
"""Raised whenever what is stored changes its meaning."""
_FLUSH = 2_048
"""Rows in the log before they become an array file."""
_MOST_ROWS = 32_768
"""Rows of an array file; merging never makes a bigger one, which bounds its memory."""
_TIER = 4
_SLACK = 4_096
"""Texts beyond twice the live ones before those nobody has any more are dropped."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some texts with their vectors; ``starts`` is where each text of ``names`` begins among the rows."""

    keys: Array
    vectors: Array
    names: Array
    starts: Array

    @classmethod
    def of(cls, keys: Array, vectors: Array) -> Self:
        names, starts = np.unique(keys, return_index=True)
        return cls(keys, vectors, names, starts)

    def similarities(self, vector: Array) -> Array:
        """Return float32[len(names)]: the best cosine of each text."""
        best: Array = np.maximum.reduceat(self.vectors @ vector, self.starts)
        return best

    def kept(self, keys: Array) -> tuple[Array, Array]:
        """Return the rows of these texts."""
        mask = np.isin(self.keys, keys)
        return self.keys[mask], self.vectors[mask]


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the folder holds at one moment."""

    log: str = ""
    files: tuple[str, ...] = ()
    size: int = 0
    """Numbers of a vector; 0 while there is none."""
    serial: int = 0


class StoredVectors:
    """The vectors of one model on disk; safe between threads and processes."""

    def __init__(self, folder: Path, model: str, options: str = "") -> None:
        """Open the folder of a model below ``folder``; vectors made with other options are not read."""
        self.model = model
        self._options = options
        self.folder = folder / folder_name(model)
        """Where they are kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._thread = threading.RLock()
        self._lock = FileLock(self.folder / ".vectors.lock", thread_local=False)
        self._contents = _Contents()
        self._stamp: tuple[int, int, int] | None = None
        self._log: FrameLog | None = None
        self._offset = 0
        self._blocks: dict[str, _Block] = {}
        self._rows: dict[int, Array] = {}
        """Vectors of each text in the log: float32[pieces, size]."""
        self._fresh: _Block | None = None
        self._keys: Array | None = None
        with self._writing():
            self._sweep()

    def close(self) -> None:
        """Release the files; the next question opens them again."""
        with self._thread:
            if self._log is not None:
                self._log.close()
            self._log, self._stamp, self._blocks, self._rows = None, None, {}, {}
            self._forget()

    def keys(self) -> Array:
        """Return uint64[n], ascending: the texts that have a vector."""
        with self._thread:
            self._catch_up()
            if self._keys is None:
                names = [block.names for block in self._all()]
                self._keys = np.unique(np.concatenate(names)) if names else np.zeros(0, dtype=np.uint64)
            return self._keys

    def add(self, vectors: Mapping[int, Array]) -> None:
        """Store float32[pieces, size] for each text, durably and together.

        Vectors of another size than those stored mean another model of the same name: the old ones are dropped.
        """
        if not vectors:
            return
        unit = {key: _unit(rows) for key, rows in vectors.items()}
        size = next(iter(unit.values())).shape[1]
        with self._writing():
            if self._contents.size not in (0, size):
                self._begin(f"the vectors of {self.model!r} have {size} numbers now, not {self._contents.size}")
            if self._contents.size == 0:
                self._publish(replace(self._contents, size=size))
            ((start, length),) = self._opened().append(
                [[_row(key, rows) for key, rows in unit.items()]], at=self._offset
            )
            self._offset = start + length
            self._rows |= unit
            self._forget()
            if sum(map(len, self._rows.values())) >= _FLUSH:
                self._flush()

    def similarities(self, vector: Array) -> tuple[Array, Array]:
        """Return uint64[n] of texts, in no order, and float32[n] of the cosine of each with a vector of any length.

        Raises:
            ValueError: the vector has another size than those stored.
        """
        with self._thread:
            self._catch_up()
            blocks, size = self._all(), self._contents.size
        if not blocks:
            return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.float32)
        if vector.shape != (size,):
            raise ValueError(f"a vector of {vector.shape[-1]} numbers, where {size} are stored")
        wanted = _unit(vector[None, :])[0]
        found = [block.similarities(wanted) for block in blocks]
        return np.concatenate([block.names for block in blocks]), np.concatenate(found)

    def retain(self, keys: Array) -> None:
        """Drop the texts that are not among ``keys``, once most of what is stored are such."""
        with self._writing():
            if len(self.keys()) > 2 * len(np.intersect1d(self.keys(), keys)) + _SLACK:
                self._rewrite(keys)

    def clear(self, reason: str) -> None:
        """Begin anew."""
        with self._writing():
            self._begin(reason)

    def verify(self) -> list[str]:
        """Check every stored byte against its checksum and return what is damaged."""
        with self._writing():
            faults: list[str] = []
            for name in self._contents.files:
                faults += _faults(partial(read_arrays, self._path(name), verify=True))
            return faults + _faults(lambda: list(self._opened().frames()))

    # taking in what is stored

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._thread, self._lock:
            self._catch_up()
            yield

    def _path(self, name: str) -> Path:
        return self.folder / name

    def _opened(self) -> FrameLog:
        assert self._log is not None  # noqa: S101 - every caller has caught up
        return self._log

    def _all(self) -> list[_Block]:
        """Return what is searched; the rows of the log are one block."""
        if self._fresh is None and self._rows:
            self._fresh = _block_of(self._rows)
        return [*self._blocks.values(), *([self._fresh] if self._fresh is not None else [])]

    def _forget(self) -> None:
        """Drop what was derived from the rows of the log."""
        self._fresh = self._keys = None

    def _catch_up(self) -> None:
        """Take in what this and other processes committed; drop it all where it cannot be read."""
        try:
            self._load()
        except IndexCorruptError:  # perhaps files were merged away while they were being opened
            with self._lock:
                try:
                    self._load()
                except IndexCorruptError as error:
                    self._begin(str(error))

    def _load(self) -> None:
        stamp = self._manifest_stamp()
        if stamp is None:
            with self._lock:
                if self._manifest_stamp() is None:
                    self._begin("")
            return
        if stamp != self._stamp or self._log is None:
            self._map(self._parse(self._path("manifest.json").read_bytes()))
            self._stamp = stamp
        self._replay()

    def _manifest_stamp(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path("manifest.json").stat()
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _parse(self, data: bytes) -> _Contents:
        try:
            values = json.loads(data)
            wanted = (FORMAT, self.model, self._options)
            if (values["format"], values["model"], values["options"]) != wanted:
                raise IndexCorruptError(f"vectors of {values['model']!r} were made in another way")
            return _Contents(values["log"], tuple(values["files"]), values["size"], values["serial"])
        except (ValueError, KeyError, TypeError) as error:
            raise IndexCorruptError(f"the manifest of the vectors does not parse: {error}") from error

    def _map(self, contents: _Contents) -> None:
        blocks = {name: self._blocks.get(name) or self._mapped(name, contents.size) for name in contents.files}
        if self._log is None or contents.log != self._contents.log:
            if not self._path(contents.log).exists():
                raise IndexCorruptError(f"{contents.log} is missing")
            self._log, self._offset, self._rows = FrameLog(self._path(contents.log)), 0, {}
        self._contents, self._blocks = contents, blocks
        self._forget()

    def _mapped(self, name: str, size: int) -> _Block:
        arrays = read_arrays(self._path(name))
        if arrays["vectors"].shape != (len(arrays["keys"]), size):
            raise IndexCorruptError(f"{name} holds vectors of another size")
        return _Block.of(arrays["keys"], arrays["vectors"])

    def _replay(self) -> None:
        log = self._opened()
        if log.size() < self._offset:
            raise IndexCorruptError(f"{log.path.name} is shorter than what was committed")
        if log.size() == self._offset:
            return
        for frame in log.frames(self._offset):
            self._rows |= dict(_parse_row(row, self._contents.size) for row in frame.rows)
            self._offset = frame.end
            self._forget()

    # storing; the lock is held

    def _begin(self, reason: str) -> None:
        """Start empty under names that no other process has open."""
        if reason:
            _logger.warning("Vectors are computed anew: %s", reason)
        numbers = (re.search(r"-(\d+)\.", path.name) for path in self.folder.iterdir())
        serial = max([self._contents.serial, *(int(number[1]) for number in numbers if number)])
        self._blocks, self._rows, self._log = {}, {}, None
        self._publish(_Contents(serial=serial))
        self._sweep()

    def _publish(self, contents: _Contents) -> None:
        """Make these files the index, with a log of their own where ``contents`` names none."""
        if not contents.log:
            serial = contents.serial + 1
            contents = replace(contents, log=f"log-{serial}.jsonl.zst", serial=serial)
            FrameLog(self._path(contents.log)).append([], at=0)
        values = {
            "format": FORMAT,
            "model": self.model,
            "options": self._options,
            "log": contents.log,
            "files": contents.files,
            "size": contents.size,
            "serial": contents.serial,
        }
        write_whole(self._path("manifest.json"), json.dumps(values).encode())
        self._map(contents)
        self._stamp = self._manifest_stamp()

    def _flush(self) -> None:
        """Turn the log into an array file, merged with the newest that are not much bigger."""
        files = list(self._contents.files)
        group = [self._all()[-1]]
        rows = len(group[0].keys)
        while files and len(self._blocks[files[-1]].keys) <= min(_TIER * rows, _MOST_ROWS - rows):
            group.insert(0, self._blocks[files.pop()])
            rows += len(group[0].keys)
        self._store(files, [(block.keys, block.vectors) for block in group])

    def _rewrite(self, keys: Array) -> None:
        """Keep only the vectors of these texts."""
        stored: list[str] = []
        for block in self._all():
            rows = block.kept(keys)
            stored += [self._written([rows])] if len(rows[0]) else []
        self._finish(stored)

    def _store(self, files: Sequence[str], groups: Sequence[tuple[Array, Array]]) -> None:
        self._finish([*files, self._written(groups)])

    def _written(self, groups: Sequence[tuple[Array, Array]]) -> str:
        """Write rows as one array file; of a text that is in several groups the last one counts."""
        held: Array = np.zeros(0, dtype=np.uint64)
        chosen: list[tuple[Array, Array]] = []
        for keys, vectors in reversed(groups):
            mask = ~np.isin(keys, held)
            chosen.append((keys[mask], vectors[mask]))
            held = np.union1d(held, keys)
        keys = np.concatenate([part for part, _ in chosen])
        order = np.argsort(keys, kind="stable")
        serial = self._contents.serial + 1
        self._contents = replace(self._contents, serial=serial)
        name = f"vectors-{serial}.arrays"
        vectors = np.concatenate([part for _, part in chosen])[order]
        write_arrays(self._path(name), {"keys": keys[order], "vectors": vectors})
        return name

    def _finish(self, files: Sequence[str]) -> None:
        contents = self._contents
        self._publish(_Contents("", tuple(files), contents.size, contents.serial))
        self._sweep()

    def _sweep(self) -> None:
        """Delete what a crash or a merge left behind."""
        named = {self._contents.log, *self._contents.files}
        for path in self.folder.iterdir():
            if path.name not in named and path.name.endswith((".arrays", ".zst", ".tmp")):
                path.unlink(missing_ok=True)


def folder_name(model: str) -> str:
    """Return the folder of a model: its name where that is a safe one, else a safe form that no other model has."""
    safe = re.sub(r"[^\w.-]+", "-", model, flags=re.ASCII).strip(".-")[:80]
    return safe if safe == model else f"{safe or 'model'}-{sha256(model.encode()).hexdigest()[:12]}"


def _unit(rows: Array) -> Array:
    """Return rows of length 1; a row of zeros stays, and is near to nothing."""
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return cast("Array", rows / np.where(lengths > 0, lengths, 1))


def _block_of(rows: Mapping[int, Array]) -> _Block:
    ordered = sorted(rows)
    keys = np.repeat(np.array(ordered, dtype=np.uint64), [len(rows[key]) for key in ordered])
    return _Block.of(keys, np.concatenate([rows[key] for key in ordered]))


def _row(key: int, rows: Array) -> dict[str, str]:
    return {"k": f"{key:016x}", "v": base64.b64encode(rows.astype("<f4").tobytes()).decode("ascii")}


def _parse_row(row: Mapping[str, Any], size: int) -> tuple[int, Array]:
    try:
        values = np.frombuffer(base64.b64decode(row["v"]), dtype="<f4").reshape(-1, size)
        return int(row["k"], 16), values
    except (KeyError, TypeError, ValueError) as error:
        raise IndexCorruptError(f"a row of the vectors does not parse: {error}") from error


def _faults(check: Callable[[], Iterable[object]]) -> list[str]:
    try:
        check()
    except IndexCorruptError as error:
        return [str(error)]
    return []
