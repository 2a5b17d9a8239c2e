"""Which resources are to be read, which are gone, and which note belongs to each?

What is new is decided by content hash against the catalog ``resource``. A note is named after its resource; where
another owner has that name, the later one carries its extension too. Nothing is written here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from typing import Any

from reme_graphs.auto_resource.ledger import ResourceRecord, load_records
from reme_graphs.auto_resource.reading import SUFFIXES
from reme_graphs.context import OFFLINE
from reme_store.errors import InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.models import FileState
from reme_store.paths import fold, is_within, name_fault
from reme_store.text.front_matter import parse_note

FOLDER = "resource"
CATALOG = "resource"
SOURCE_KEY = "source_resource"
CHANGES = ("added", "modified", "deleted")
DATED = re.compile(r"resource/(\d{4}-\d{2}-\d{2})/")


@dataclass(frozen=True, slots=True)
class ToRead:
    """A resource to interpret."""

    path: str
    note_path: str
    moved_from: str = ""


@dataclass(slots=True)
class Plan:
    """What a run has to do."""

    reads: list[ToRead] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)
    """Resources that are gone, with the note each owned; empty where none."""
    refused: dict[str, str] = field(default_factory=dict)
    """Resources that are not taken, with the reason."""
    unchanged: int = 0


def plan_run(
    store: FileStore, changes: Sequence[Any], zone: tzinfo, now: datetime, *, redo_offline: bool = False
) -> Plan:
    """Plan a run over the given changes, or over everything below resource/ where there are none.

    Args:
        zone: zone in which the day of a file outside a date folder is counted.
        now: present moment, against which pauses after failures are measured.
        redo_offline: take up again what the offline engine has read.
    """
    planner = _Planner(store, zone, now, redo_offline=redo_offline)
    if changes:
        planner.take_changes(changes)
    else:
        planner.scan()
    return planner.plan()


def waiting_resources(store: FileStore) -> list[dict[str, str]]:
    """Return the changes with which auto_resource takes up what no note reflects yet, failures in their pause too."""
    done = store.catalog(CATALOG).items()
    return [
        {"path": path, "change": "modified"}
        for path, state in sorted(store.scan(FOLDER, SUFFIXES).items())
        if path not in done or done[path].sha256 != state.sha256
    ]


class _Planner:
    def __init__(self, store: FileStore, zone: tzinfo, now: datetime, *, redo_offline: bool) -> None:
        self.store, self.zone, self.now, self.redo_offline = store, zone, now, redo_offline
        self.states: Mapping[str, FileState] = store.scan(FOLDER, SUFFIXES)
        self.catalog = store.catalog(CATALOG).items()
        self.records = dict(load_records(store))
        self.result = Plan()
        self.wanted: dict[str, None] = {}
        self.missing: dict[str, None] = {}
        self.is_refreshed = False
        """Whether the link graph knows what people have done to notes until now."""

    # ---- what changed ----

    def scan(self) -> None:
        """Find out everything that is not as it was processed."""
        for path, state in sorted(self.states.items()):
            pause = self._record(path).pause(state.sha256, self.now)
            if not self._is_new(path):
                self.result.unchanged += 1
            elif pause:
                self.result.refused[path] = pause
            else:
                self.wanted[path] = None
        known = {*self.catalog, *(path for path, record in self.records.items() if record.note)}
        self.missing = dict.fromkeys(sorted(path for path in known if path not in self.states))

    def take_changes(self, changes: Sequence[Any]) -> None:
        """Take what a caller or watcher saw, judged by what the disk says now."""
        for change in changes:
            fields = change if isinstance(change, Mapping) else {"path": change}
            path = str(fields.get("path", ""))
            try:
                self._take(path, str(fields.get("change", "")))
            except InvalidRequestError as error:
                self.result.refused[path] = str(error)

    def _take(self, given: str, kind: str) -> None:
        if kind not in CHANGES:
            raise InvalidRequestError(f"the change must be one of {', '.join(CHANGES)}, not {kind!r}")
        path = self.store.paths.candidate(given)
        if not is_within(path, FOLDER):
            raise InvalidRequestError(f"{given!r} is not below {FOLDER}/")
        if path in self.states:
            self._take_present(path)
        elif self.store.version_of(path) is not None:
            raise InvalidRequestError(f"{path!r} is not read: the types are {', '.join(SUFFIXES)}")
        elif kind == "deleted" or path in self.catalog or path in self.records:
            self.missing[path] = None
        else:
            raise self.store.paths.missing(path)

    def _take_present(self, path: str) -> None:
        if self._is_new(path):
            self.wanted[path] = None
        else:
            self.result.unchanged += 1

    def _is_new(self, path: str) -> bool:
        entry = self.catalog.get(path)
        if entry is None or entry.sha256 != self.states[path].sha256:
            return True
        return self.redo_offline and entry.engine == OFFLINE

    # ---- notes ----

    def plan(self) -> Plan:
        """Return the plan with a note for every resource."""
        moved = self._moves()
        for path in sorted(self.wanted):
            source = moved.get(path, "")
            if source:
                self.records.pop(source, None)
            note = self._owned_note(path) or self._free_note(path, source)
            self.records[path] = ResourceRecord(path, note=note)
            self.result.reads.append(ToRead(path, note, source))
        for path in self.missing:
            if path not in moved.values():
                self.result.gone[path] = self._owned_note(path)
        return self.result

    def _moves(self) -> dict[str, str]:
        """Return renamed resources, new path to old: same content, the old path gone, its note known.

        That the old path is gone may not have been told yet.
        """
        gone = {path for path in {*self.catalog, *self.records} if path not in self.states} if self.wanted else set()
        lost = {self._known_hash(path): path for path in sorted(gone) if self._owned_note(path)}
        moves: dict[str, str] = {}
        for path in sorted(self.wanted):
            source = lost.pop(self.states[path].sha256, None)
            if source is not None and not self._owned_note(path):
                moves[path] = source
        return moves

    def _known_hash(self, path: str) -> str:
        entry = self.catalog.get(path)
        return entry.sha256 if entry else self._record(path).sha256

    def _record(self, path: str) -> ResourceRecord:
        return self.records.get(path) or ResourceRecord(path)

    def _owned_note(self, path: str) -> str:
        """Return the note a resource has: where its record says, else the one whose front matter names it.

        A person may have moved the note, and a record may be lost.
        """
        recorded = self._record(path).note
        if recorded and self.store.version_of(recorded) is not None:
            return recorded
        if recorded and not self.is_refreshed:
            self.store.refresh()
            self.is_refreshed = True
        linking = sorted({link.source_path for link in self.store.inlinks(path)})
        return next((note for note in linking if owns(self.store, note, path)), recorded)

    def _free_note(self, path: str, moved_from: str) -> str:
        day = self._day_of(path)
        own = self._record(moved_from).note
        taken = {fold(record.note) for record in self.records.values() if record.note}
        for name in note_names(path):
            note = f"daily/{day}/{name}"
            if fold(note) not in taken and (note == own or self.store.version_of(note) is None):
                return note
        raise AssertionError("unreachable: the names do not end")

    def _day_of(self, path: str) -> str:
        found = DATED.match(path)
        if found and _is_date(found[1]):
            return found[1]
        moment = datetime.fromtimestamp(self.states[path].mtime_ns / 1e9, UTC)
        return moment.astimezone(self.zone).date().isoformat()


def note_names(path: str) -> Iterable[str]:
    """Yield the names a resource's note may have, the best first."""
    stem, _, suffix = path.rsplit("/", 1)[-1].rpartition(".")
    safe = _safe_stem(stem)
    yield f"{safe}.md"
    yield f"{safe}-{suffix.lower()}.md"
    number = 2
    while True:
        yield f"{safe}-{suffix.lower()}-{number}.md"
        number += 1


def _safe_stem(stem: str) -> str:
    """Return a stem that may name a note: what breaks links becomes a dash, and it is short enough for its suffix."""
    plain = re.sub(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\[\]#]+', "-", stem).strip(" .~") or "resource"
    while len(plain.encode()) > 220:
        plain = plain[:-1]
    return plain if not name_fault(f"{plain}.md") else f"resource-{plain.lstrip('.~$')}"


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def owns(store: FileStore, note_path: str, resource: str) -> bool:
    """Say whether a note on disk names the resource as its source."""
    if not note_path or store.version_of(note_path) is None:
        return False
    front_matter = parse_note(store.read_note(note_path).text).front_matter
    return bool(front_matter.get(SOURCE_KEY) == f"[[{resource}]]")
