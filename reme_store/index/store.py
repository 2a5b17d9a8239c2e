"""How do commits become durable, shared between processes, and small in number?

The log takes one frame a commit, synced before anything answers from it, and holds the whole record of each note.
Segments hold what searching needs of the log up to ``covered``; what stands behind that is replayed into memory. The
manifest names the log, the segments and what of them is dead. Segments in memory become a stored one at a bound, and
stored ones of near size are merged, all inside a commit. The log is rewritten when most of it is dead.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from filelock import FileLock

from reme_store.errors import IndexCorruptError
from reme_store.index.arrays import read_arrays, write_arrays
from reme_store.index.log import FrameLog, write_whole
from reme_store.index.manifest import Manifest
from reme_store.index.notes import NoteRow
from reme_store.index.segment import FOLDERS, Part, Segment, merge_parts, segment_files
from reme_store.index.view import IndexView
from reme_store.models import FileLink
from reme_store.text.term_counts import TermCounts, Weighted

Record = TypeVar("Record")
T = TypeVar("T")

BATCH = 1_024
"""Most records of one commit in bulk."""
_FLUSH = 256
"""Notes in memory before they become a stored segment."""
_TAIL_BYTES = 1_000_000
"""Bytes of the log that opening replays, at most."""
_ATOMIC = 256
"""Records up to this many are one frame, which is what makes a commit atomic."""
_FRAME = 4
"""Records a frame in bulk; reading one back unpacks its frame."""
_TIER = 4
_SLACK_BYTES = 4_000_000
_CACHED = 64

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """What of a record goes into a segment: its columns, its links, and the texts each chunk is found by."""

    row: NoteRow
    links: Sequence[FileLink]
    documents: Sequence[Sequence[Weighted]]


class Codec(Protocol[Record]):
    """How records of one kind are written, read back and indexed."""

    def render(self, record: Record) -> dict[str, Any]:
        """Render a record as a JSON row; ``p`` is its path."""

    def parse(self, row: dict[str, Any]) -> Record:
        """Read a record back."""

    def entry(self, record: Record, frame: int, line: int, share: int) -> Entry:
        """Derive what is searched from a record that stands in the log at ``frame`` and ``line``."""

    def count(self, documents: Sequence[Sequence[Weighted]]) -> TermCounts:
        """Count the terms of documents."""


class SegmentStore(Generic[Record]):
    """The stored index. Threads and processes may share it; commits are serialised by a lock."""

    def __init__(self, folder: Path, options: str, codec: Codec[Record]) -> None:
        """Name a store below ``folder``; nothing is read before ``open``."""
        self._folder = folder
        self._files = folder / FOLDERS[0]
        self._options, self._codec = options, codec
        self._thread = threading.RLock()
        self._lock = FileLock(self._files / ".index.lock", thread_local=False)
        self._view = IndexView()
        self._manifest = Manifest(options, "")
        self._stamp = (0, 0, 0)
        self._log: FrameLog | None = None
        self._offset = 0
        self._serial = 0
        self._records: OrderedDict[tuple[str, int, int], Record] = OrderedDict()
        self.notices: list[str] = []
        """Why the index had to be begun anew, oldest first."""

    def open(self) -> None:
        """Map the stored index and replay what was committed since; begin an empty one where there is none."""
        self._files.mkdir(parents=True, exist_ok=True)
        with self._committing():
            self._sweep()

    def close(self) -> None:
        """Store what is in memory, if it is worth it, and release the files."""
        if self._log is None:
            return
        with self._committing():
            if self._in_memory() >= _FLUSH // 8:
                self._flush()
            self._log, self._view, self._offset, self._stamp = None, IndexView(), 0, (0, 0, 0)
            self._records.clear()

    def view(self) -> IndexView:
        """Return what the index says now, other processes' commits included."""
        self.catch_up()
        return self._view

    def record(self, view: IndexView, part: Part, note: int) -> Record:
        """Return the whole record of a note of a view."""
        frame, line, _ = part.segment.notes.columns["place"][note].tolist()
        log = view.log
        if log is None:
            raise IndexCorruptError("the index is closed")
        key = (log.path.name, frame, line)
        with self._thread:
            known = self._records.get(key)
            if known is None:
                known = self._codec.parse(log.read_line(frame, line))
                self._records[key] = known
                if len(self._records) > _CACHED:
                    self._records.popitem(last=False)
        return known

    def commit(self, records: Sequence[Record], gone: Sequence[str]) -> None:
        """Index records and forget paths, durably and together."""
        with self._committing():
            known = [path for path in gone if self._view.find(path) is not None]
            if not records and not known:
                return
            segment, self._offset = self._appended(self._open_log(), records, known, self._offset)
            self._view = self._view.committed(segment, known)
            if self._in_memory() >= _FLUSH or self._offset - self._manifest.covered > _TAIL_BYTES:
                self._flush()

    def replace_all(self, batches: Iterable[Sequence[Record]]) -> None:
        """Begin anew with exactly these records; the old index answers until the last of them is read."""
        with self._committing():
            self._rewrite(batches)
            self._sweep()

    def verify(self) -> list[str]:
        """Check every stored byte against its checksum and return what is damaged."""
        faults: list[str] = []
        with self._committing():
            for name, _ in self._manifest.segments:
                faults += _faults(partial(Segment.read, self._folder, name, verify=True))
            faults += _faults(lambda: list(self._open_log().frames()))
        return faults

    @contextmanager
    def _committing(self) -> Iterator[None]:
        """Hold the lock, with all that was committed before taken in."""
        with self._thread, self._lock:
            self._take_in()
            yield

    def _open_log(self) -> FrameLog:
        if self._log is None:
            raise IndexCorruptError("the index is closed")
        return self._log

    def _appended(
        self, log: FrameLog, records: Sequence[Record], gone: Sequence[str], offset: int
    ) -> tuple[Segment | None, int]:
        """Append records and deletions to a log; return them as a segment in memory, and where the log ends."""
        groups = list(batched(records, _FRAME)) or [[]]
        rows = [[self._codec.render(record) for record in group] for group in groups]
        if len(records) <= _ATOMIC:  # few enough to be one frame, which is what makes a commit atomic
            groups, rows = [list(records)], [[row for group in rows for row in group]]
        rows[-1] += [{"x": path} for path in gone]
        places = log.append(rows, at=offset)
        entries = [
            self._codec.entry(record, start, line, length // len(group))
            for group, (start, length) in zip(groups, places, strict=True)
            for line, record in enumerate(group)
        ]
        return self._segment(entries), places[-1][0] + places[-1][1]

    def _segment(self, entries: Sequence[Entry]) -> Segment | None:
        """Make a segment in memory; None of nothing. The last entry of a path wins."""
        latest = {entry.row.path: entry for entry in entries}
        ordered = [latest[path] for path in sorted(latest)]
        if not ordered:
            return None
        counts = self._codec.count([document for entry in ordered for document in entry.documents])
        return Segment.build([entry.row for entry in ordered], [entry.links for entry in ordered], counts)

    # taking in what is stored

    def catch_up(self) -> bool:
        """Take in what other processes committed; return whether there was anything."""
        with self._thread:
            if self._log is None or (self._stamp == self._manifest_stamp() and self._log.size() == self._offset):
                return False
            before = self._view
            try:
                self._load()
            except IndexCorruptError:  # perhaps files were merged away while they were being opened
                with self._lock:
                    self._take_in()
            return self._view is not before

    def _manifest_path(self) -> Path:
        return self._files / "manifest.json"

    def _manifest_stamp(self) -> tuple[int, int, int]:
        try:
            stat = self._manifest_path().stat()
        except FileNotFoundError:
            return (0, 0, 0)
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _take_in(self) -> None:
        """Load what is stored; where that cannot be read, begin anew and say why. The lock is held."""
        try:
            if not self._load():
                self._begin()
        except IndexCorruptError as error:
            self.notices.append(str(error))
            _logger.warning("The index is rebuilt: %s", error)
            self._begin()

    def _load(self) -> bool:
        """Bring the view up to what is on disk; return whether there is an index at all."""
        stamp = self._manifest_stamp()
        if stamp == (0, 0, 0):
            return False
        if stamp != self._stamp or self._log is None:
            self._map(Manifest.parse(self._manifest_path().read_bytes(), self._options))
            self._stamp = stamp
        self._replay()
        return True

    def _map(self, manifest: Manifest) -> None:
        """Make the stored part of a manifest the view."""
        held = {part.segment.name: part.segment for part in self._view.parts if part.segment.name}
        parts = [self._mapped(held.get(name), name, dead) for name, dead in manifest.segments]
        log = self._log
        if log is None or manifest.log != self._manifest.log:
            path = self._files / manifest.log
            if not path.exists():
                raise IndexCorruptError(f"{manifest.log} is missing")
            log = FrameLog(path)  # whoever still reads the former one keeps it open
        self._view, self._log = IndexView(parts, log), log
        self._manifest, self._offset, self._serial = manifest, manifest.covered, manifest.serial

    def _mapped(self, held: Segment | None, name: str, dead: str) -> Part:
        part = Part.whole(held or Segment.read(self._folder, name))
        return part.without(read_arrays(self._dead_file(dead), verify=True)["dead"].tolist()) if dead else part

    def _dead_file(self, name: str) -> Path:
        return self._files / f"{name}.dead"

    def _replay(self) -> None:
        """Take the frames behind the known end of the log into the view."""
        log = self._open_log()
        if log.size() < self._offset:
            raise IndexCorruptError(f"{log.path.name} is shorter than what was committed")
        if log.size() == self._offset:
            return
        rows: dict[str, tuple[dict[str, Any], int, int, int]] = {}
        gone: set[str] = set()
        end = self._offset
        for frame in log.frames(self._offset):
            end = frame.end
            for line, row in enumerate(frame.rows):
                if "x" in row:
                    rows.pop(row["x"], None)
                    gone.add(row["x"])
                else:
                    rows[row["p"]] = (row, frame.offset, line, (frame.end - frame.offset) // len(frame.rows))
        if end > self._offset:
            entries = [self._codec.entry(self._codec.parse(row), *place) for row, *place in rows.values()]
            self._view, self._offset = self._view.committed(self._segment(entries), gone - rows.keys()), end

    # storing

    def _begin(self) -> None:
        """Start an empty index under names that no other process has open."""
        self._serial = max([self._serial, *(_serial_of(path) for path in self._files.iterdir())])
        self._view = IndexView()
        name = self._new_name("notes") + ".jsonl.zst"
        FrameLog(self._files / name).append([], at=0)
        self._publish(name, [], 0)

    def _new_name(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}-{self._serial}"

    def _publish(self, log: str, parts: Sequence[Part], covered: int) -> None:
        """Make stored parts and a log the index."""
        self._serial += 1
        named = tuple((part.segment.name, self._stored_dead(part)) for part in parts)
        manifest = Manifest(self._options, log, covered, named, self._serial)
        write_whole(self._manifest_path(), manifest.render())
        self._view = IndexView(parts, self._view.log)
        self._map(manifest)
        self._stamp = self._manifest_stamp()

    def _stored_dead(self, part: Part) -> str:
        dead = np.flatnonzero(~part.alive)
        if not len(dead):
            return ""
        name = f"{part.segment.name}-{self._serial}"
        write_arrays(self._dead_file(name), {"dead": dead})
        return name

    def _in_memory(self) -> int:
        return sum(len(part.segment.notes) for part in self._view.parts if not part.segment.name)

    def _flush(self) -> None:
        """Store what is in memory, merge stored segments of near size, and cover the log up to here."""
        before = self._manifest
        parts = [part for part in self._view.parts if part.segment.name and part.alive.any()]
        fresh = [part for part in self._view.parts if not part.segment.name and part.alive.any()]
        self._publish(before.log, self._stored(parts, fresh), self._offset)
        self._sweep()
        if self._offset > 2 * self._live_bytes() + _SLACK_BYTES:
            self._compact()

    def _stored(self, parts: list[Part], fresh: Sequence[Part]) -> list[Part]:
        """Store fresh parts, merged with the newest stored ones that are not much bigger."""
        if not fresh:
            return parts
        first, size = len(parts), sum(part.n_alive for part in fresh)
        while first > 0 and parts[first - 1].n_alive <= _TIER * size:
            first -= 1
            size += parts[first].n_alive
        group = [*parts[first:], *fresh]
        whole = len(group) == 1 and bool(group[0].alive.all())
        segment = group[0].segment if whole else merge_parts(group)
        return [*parts[:first], Part.whole(segment.write(self._folder, self._new_name("segment")))]

    def _live_bytes(self) -> int:
        return sum(int(part.segment.notes.columns["place"][part.alive, 2].sum()) for part in self._view.parts)

    def _compact(self) -> None:
        """Rewrite the log with live records only."""
        view = self._view
        self._rewrite(
            [self.record(view, part, note) for part, note in group] for group in batched(view.places(), BATCH)
        )
        self._sweep()

    def _rewrite(self, batches: Iterable[Sequence[Record]]) -> None:
        """Write a log and segments of exactly these records and make them the index."""
        name = self._new_name("notes") + ".jsonl.zst"
        log = FrameLog(self._files / name)
        log.append([], at=0)
        parts: list[Part] = []
        offset = 0
        for records in batches:
            segment, offset = self._appended(log, records, [], offset)
            if segment is not None:
                parts = self._stored(parts, [Part.whole(segment)])
        self._publish(name, parts, offset)

    def _named(self, manifest: Manifest) -> set[Path]:
        named = {path for name, _ in manifest.segments for path in segment_files(self._folder, name)}
        named |= {self._dead_file(dead) for _, dead in manifest.segments if dead}
        return named | ({self._files / manifest.log} if manifest.log else set())

    def _sweep(self) -> None:
        """Delete what a crash or a merge left behind: files that the manifest does not name."""
        named = self._named(self._manifest)
        for sub in FOLDERS:
            folder = self._folder / sub
            for path in folder.iterdir() if folder.is_dir() else ():
                if path not in named and path.suffix in (".arrays", ".dead", ".zst", ".tmp"):
                    path.unlink(missing_ok=True)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of ``size``, the last one shorter."""
    iterator = iter(items)
    while group := list(islice(iterator, size)):
        yield group


def _faults(check: Callable[[], object]) -> list[str]:
    try:
        check()
    except IndexCorruptError as error:
        return [str(error)]
    return []


def _serial_of(path: Path) -> int:
    """Return the greatest number in the name of a file of the store."""
    digits = "".join(char if char.isdigit() else " " for char in path.name).split()
    return max((int(number) for number in digits if len(number) < 15), default=0)
