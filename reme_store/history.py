"""What was changed, when, by whom, why, and what was the text before?

The journal is both the write-ahead log of changes to several files and the memory of every change. It is a folder of
segments ``<number>.log``; a segment is a sequence of frames:

    "RMJ1" · kind (1 byte) · length of the head (u32) · length of the texts (u32) · crc32 of both (u32) · head · texts

Head is JSON; texts are zstd frames one after another, and the head says at which offset each lies. A ``B`` frame
(begin) holds a transaction and is durable before its first file is touched. An ``E`` frame (end) says that nothing of
it is left to do, a ``U`` frame (undo) that it is being taken back. One transaction is open at a time. After a torn tail
a new segment begins. Whole segments go when they are too old or the folder is too big.
"""

import json
import os
import secrets
import struct
import threading
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import zstandard

from reme_store.workspace import disk_faults, make_folder, sync_folder

SEGMENT_BYTES: Final = 1024 * 1024
_MAGIC: Final = b"RMJ1"
_FRAME: Final = struct.Struct("<4scIII")
_BEGIN, _END, _UNDO = b"B", b"E", b"U"

StepKind = Literal["put", "trash", "rename", "record"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change, and why."""

    tool: str = ""
    run_id: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One file of a transaction.

    put: ``temporary`` takes the place of ``path``, or ``path`` goes when it is empty. trash and rename: ``path``
    becomes ``to``. record: like put, for the program's own files.
    """

    kind: StepKind
    path: str
    temporary: str = ""
    to: str = ""
    before: str | None = None
    """Version before; None where there was no file. Empty for a folder."""
    after: str | None = None
    """Version after; None where there is no file any more."""
    text: tuple[int, int] | None = None
    """Offset and length of the compressed bytes before, within the frame's texts."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """Changes that land together."""

    id: str
    time: str
    """UTC, ISO 8601."""
    actor: Actor
    steps: tuple[Step, ...]
    moves: Mapping[str, str] = field(default_factory=dict)
    """Old to new path of every file that was moved."""
    undoes: str = ""
    """Id of the transaction that this one takes back."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A transaction and where its texts lie."""

    transaction: Transaction
    segment: str
    offset: int
    """Of the texts, in the segment."""


_actor: ContextVar[Actor | None] = ContextVar("reme_store_actor", default=None)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Name who makes the changes inside."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def actor_or(tool: str) -> Actor:
    """Return who is acting, or a tool on its own account."""
    return _actor.get() or Actor(tool=tool)


def new_transaction_id() -> str:
    """Return an id that sorts by time and is unique."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}"


class History:
    """The journal of one workspace. Appending needs the workspace's lock; reading does not."""

    def __init__(self, folder: Path, *, max_age_days: float = 90, max_bytes: int = 256 * 1024 * 1024) -> None:
        self._folder, self._max_age_days, self._max_bytes = folder, max_age_days, max_bytes
        self._guard = threading.RLock()
        self._tail = (self._segments() or [_segment_name(1)])[-1]
        self._at = 0
        self._open: tuple[str, _Frame, bool] | None = None

    def begin(self, transaction: Transaction, texts: Sequence[bytes | None]) -> None:
        """Record durably what is about to happen; ``texts`` are the bytes before, one a step."""
        compressor = zstandard.ZstdCompressor(level=3)
        packed, steps, at = [], [], 0
        for step, text in zip(transaction.steps, texts, strict=True):
            place = None
            if text is not None:
                packed.append(compressor.compress(text))
                place = (at, len(packed[-1]))
                at += len(packed[-1])
            steps.append({**_fields(step), "text": place})
        head = {**_fields(transaction), "actor": _fields(transaction.actor), "steps": steps}
        self._append(_BEGIN, head, b"".join(packed), durable=True)

    def end(self, transaction_id: str) -> None:
        """Say that a transaction is complete. Not durable by itself: redoing a complete one changes nothing."""
        self._append(_END, {"id": transaction_id}, b"", durable=False)

    def undo(self, transaction_id: str) -> None:
        """Record durably that a transaction is being taken back."""
        self._append(_UNDO, {"id": transaction_id}, b"", durable=True)

    def pending(self) -> tuple[Entry, bool] | None:
        """Return the transaction that did not end, and whether it is to be taken back."""
        with self._guard:
            self._catch_up()
            if self._open is None:
                return None
            segment, frame, undoing = self._open
            return _entry(segment, frame, self._read(segment)), undoing

    def entries(self, paths: Collection[str] = ()) -> Iterator[Entry]:
        """Yield the transactions still kept, newest first; only those that name one of the paths, where some are given.

        ``paths`` may change while the caller iterates.
        """
        taken_back: set[str] = set()
        for segment in reversed(self._segments()):
            data = self._read(segment)
            for frame in reversed(list(_frames(data))):
                head = data[frame.head : frame.texts]
                if frame.kind == _UNDO:
                    taken_back.add(json.loads(head)["id"])
                elif frame.kind == _BEGIN and _names_any(head, paths):
                    entry = _entry(segment, frame, data)
                    if entry.transaction.id not in taken_back:
                        yield entry

    def text_before(self, entry: Entry, step: Step) -> bytes | None:
        """Return the bytes a step replaced, or None where it replaced nothing or they are gone."""
        if step.text is None:
            return None
        try:
            with (self._folder / entry.segment).open("rb") as file:
                file.seek(entry.offset + step.text[0])
                return zstandard.ZstdDecompressor().decompress(file.read(step.text[1]))
        except (FileNotFoundError, zstandard.ZstdError):
            return None

    def prune(self, now: float | None = None) -> list[str]:
        """Drop the oldest segments that are over age or over size; the newest one stays."""
        segments = self._segments()[:-1]
        sizes = {name: (self._folder / name).stat() for name in segments}
        total = sum(info.st_size for info in sizes.values())
        oldest = (time.time() if now is None else now) - self._max_age_days * 86400
        dropped = []
        for name in segments:
            if sizes[name].st_mtime >= oldest and total <= self._max_bytes:
                break
            (self._folder / name).unlink(missing_ok=True)
            total -= sizes[name].st_size
            dropped.append(name)
        return dropped

    def _segments(self) -> list[str]:
        try:
            return sorted(path.name for path in self._folder.iterdir() if path.name.endswith(".log"))
        except FileNotFoundError:  # whoever removed it gave up the history, not the files
            return []

    def _read(self, segment: str, at: int = 0) -> bytes:
        try:
            with (self._folder / segment).open("rb") as file:
                file.seek(at)
                return file.read()
        except FileNotFoundError:
            return b""

    def _append(self, kind: bytes, head: Mapping[str, Any], texts: bytes, *, durable: bool) -> None:
        with self._guard:
            self._catch_up()
            segment, size = self._place_to_append()
            packed = _packed(head)
            crc = zlib.crc32(texts, zlib.crc32(packed))
            frame = _FRAME.pack(_MAGIC, kind, len(packed), len(texts), crc) + packed + texts
            with disk_faults(f"history/{segment}"):
                _append_at(self._folder / segment, size, frame, durable=durable)
            self._catch_up()

    def _place_to_append(self) -> tuple[str, int]:
        """Return the last segment and its end, or a new one where the last is full or its tail is torn."""
        segment = self._tail
        path = self._folder / segment
        size = path.stat().st_size if path.exists() else 0
        if size != self._at or (size >= SEGMENT_BYTES and self._open is None):
            return _segment_name(int(segment.split(".")[0]) + 1), 0
        return segment, size

    def _catch_up(self) -> None:
        """Read the frames appended since the last look, by this process or another."""
        while True:
            segment = self._tail
            path = self._folder / segment
            if path.exists() and path.stat().st_size > self._at:
                base = self._at
                for frame in _frames(self._read(segment, base)):
                    self._take(segment, frame.shifted(base))
                    self._at = base + frame.end
            following = _segment_name(int(segment.split(".")[0]) + 1)
            if not (self._folder / following).exists():
                return
            self._tail, self._at = following, 0

    def _take(self, segment: str, frame: "_Frame") -> None:
        if frame.kind == _BEGIN:
            self._open = (segment, frame, False)
        elif frame.kind == _END:
            self._open = None
        elif self._open is not None:
            self._open = (*self._open[:2], True)


@dataclass(frozen=True, slots=True)
class _Frame:
    kind: bytes
    head: int
    texts: int
    end: int

    def shifted(self, base: int) -> "_Frame":
        """Return the frame with offsets from the beginning of the segment."""
        return _Frame(self.kind, base + self.head, base + self.texts, base + self.end)


def _frames(data: bytes) -> Iterator[_Frame]:
    """Hop over whole frames; a torn or damaged one ends the walk."""
    at = 0
    while at + _FRAME.size <= len(data):
        magic, kind, head_length, texts_length, crc = _FRAME.unpack_from(data, at)
        head = at + _FRAME.size
        texts = head + head_length
        end = texts + texts_length
        if magic != _MAGIC or end > len(data) or zlib.crc32(memoryview(data)[head:end]) != crc:
            return
        yield _Frame(kind, head, texts, end)
        at = end


def _fields(value: Actor | Step | Transaction) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _entry(segment: str, frame: _Frame, data: bytes) -> Entry:
    return Entry(_transaction(json.loads(data[frame.head : frame.texts])), segment, frame.texts)


def _packed(value: object) -> bytes:
    """Render JSON; a file name that is no UTF-8 comes back as it was."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _names_any(head: bytes, paths: Collection[str]) -> bool:
    """Tell cheaply whether a head may name a path or a folder above it."""
    return not paths or any(_packed(part) in head for path in paths for part in (path, *_folders_above(path)))


def _folders_above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _segment_name(number: int) -> str:
    return f"{number:08d}.log"


def _transaction(head: Mapping[str, Any]) -> Transaction:
    steps = tuple(Step(**{**step, "text": tuple(step["text"]) if step["text"] else None}) for step in head["steps"])
    return Transaction(head["id"], head["time"], Actor(**head["actor"]), steps, head["moves"], head["undoes"])


def _append_at(path: Path, size: int, frame: bytes, *, durable: bool) -> None:
    """Append after the last whole frame, and leave the file as it was when the disk refuses."""
    fresh = not path.exists()
    make_folder(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        try:
            view, at = memoryview(frame), size
            while view:
                written = os.pwrite(descriptor, view, at)
                view, at = view[written:], at + written
            if durable:
                os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    if fresh:
        sync_folder(path.parent)
