"""What has a consumer already processed? For each path the hash it had when the work was done.

A catalog is a record, not an index: losing an entry means doing that work again, so a damaged file keeps what can be
read. Rows are ``{"p": path, "h": sha256, "e": engine}``; a row without ``h`` deletes.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from filelock import FileLock

from reme_store.errors import IndexCorruptError
from reme_store.index.log import FrameLog, pack_frame, write_whole
from reme_store.models import CatalogEntry

_SLACK_ROWS = 1_000
"""Rows beyond four times the live ones before the file is rewritten."""


class Catalog:
    """The catalog of one consumer; safe between threads and processes."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.jsonl.zst"
        folder.mkdir(parents=True, exist_ok=True)
        self._thread = threading.RLock()
        self._lock = FileLock(folder / f".{name}.lock", thread_local=False)
        self._entries: dict[str, CatalogEntry] = {}
        self._offset = 0
        self._rows = 0
        self._log: FrameLog | None = None

    def close(self) -> None:
        """Release the file."""
        with self._thread:
            if self._log is not None:
                self._log.close()
                self._log = None

    def get(self, path: str) -> CatalogEntry | None:
        """Return what is known of a path; None when it was never processed."""
        return self.items().get(path)

    def items(self) -> Mapping[str, CatalogEntry]:
        """Return all entries, other processes' included, as they are now."""
        with self._thread:
            self._catch_up()
            return MappingProxyType(dict(self._entries))

    def update(self, upserts: Mapping[str, CatalogEntry], deletes: Iterable[str] = ()) -> None:
        """Record entries and drop others, durably and together; what is already so costs nothing."""
        with self._writing():
            gone = [path for path in dict.fromkeys(deletes) if path in self._entries and path not in upserts]
            changed = {path: entry for path, entry in upserts.items() if self._entries.get(path) != entry}
            self._append([_row(path, entry) for path, entry in changed.items()] + [{"p": path} for path in gone])

    def rekey(self, moves: Mapping[str, str], hashes: Mapping[str, tuple[str, str]]) -> None:
        """Follow files that were moved or re-linked by a tool, so that they are not processed again.

        Args:
            moves: old path to new path.
            hashes: path (the new one where it moved) to its content hash before and after; an entry that was current
                becomes current again, any other keeps its hash.
        """
        with self._writing():
            moved = {new: self._entries[old] for old, new in moves.items() if old in self._entries}
            gone = [old for old in moves if old in self._entries and old not in moved]
            touched = {**{path: self._entries[path] for path in hashes if path in self._entries}, **moved}
            for path in gone:
                touched.pop(path, None)
            rows = [{"p": path} for path in gone]
            rows += [_row(path, _advanced(entry, hashes.get(path))) for path, entry in touched.items()]
            self._append(rows)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._thread, self._lock:
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        if self._log is None or not self._log.is_current() or self._log.size() < self._offset:
            self.close()
            self._log = FrameLog(self._path)
            self._entries, self._offset, self._rows = {}, 0, 0
        if self._log.size() == self._offset:
            return
        try:
            for frame in self._log.frames(self._offset):
                self._apply(frame.rows)
                self._offset = frame.end
        except IndexCorruptError:
            self._salvage(self._log)

    def _salvage(self, log: FrameLog) -> None:
        frames, _ = log.salvage()
        self._entries, self._rows = {}, 0
        for frame in frames:
            self._apply(frame.rows)
        with self._lock:
            self._rewrite()

    def _append(self, rows: list[dict[str, Any]]) -> None:
        if not rows or self._log is None:
            return
        ((offset, length),) = self._log.append([rows], at=self._offset)
        self._offset = offset + length
        self._apply(rows)
        if self._rows > 4 * len(self._entries) + _SLACK_ROWS:
            self._rewrite()

    def _apply(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            self._rows += 1
            if "h" in row:
                self._entries[row["p"]] = CatalogEntry(row["h"], row.get("e", ""))
            else:
                self._entries.pop(row["p"], None)

    def _rewrite(self) -> None:
        frame = pack_frame([_row(path, entry) for path, entry in self._entries.items()])
        write_whole(self._path, frame)
        self.close()
        self._log = FrameLog(self._path)
        self._offset, self._rows = len(frame), len(self._entries)


def _row(path: str, entry: CatalogEntry) -> dict[str, Any]:
    return {"p": path, "h": entry.sha256, **({"e": entry.engine} if entry.engine else {})}


def _advanced(entry: CatalogEntry, hashes: tuple[str, str] | None) -> CatalogEntry:
    if hashes is None or entry.sha256 != hashes[0]:
        return entry
    return CatalogEntry(hashes[1], entry.engine)
