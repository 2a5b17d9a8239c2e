"""Which versions of a file does the history hold, and how does one of them come back?

A version is named by the sha256 of its bytes. The journal keeps the text before each change; what another program
wrote over between two changes is known by its version only, and said to be not available.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain

from reme_store.errors import EditConflictError, InvalidRequestError, NoteNotFoundError
from reme_store.history import Actor, Entry, History, Step, Transaction
from reme_store.models import Answer
from reme_store.paths import is_within
from reme_store.transactions import Discard, Plan, Rename, Write
from reme_store.workspace import Workspace, version

_OUTSIDE = Actor(tool="")


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A state a file was in."""

    version: str
    """sha256 of the bytes; empty where the change took the file away."""
    time: str
    """When it came about; empty where nobody saw it."""
    tool: str
    """Tool or graph that made it; empty for another program."""
    run_id: str = ""
    reason: str = ""
    available: bool = False
    """Whether its text can be had."""


@dataclass(frozen=True, slots=True)
class _Passage:
    """What one transaction did to the file."""

    entry: Entry
    before: str | None
    after: str | None
    text: bytes | None


class Versions:
    """The versions of the files of one workspace."""

    def __init__(self, workspace: Workspace, history: History) -> None:
        self._workspace, self._history = workspace, history

    def of(self, path: str) -> list[FileVersion]:
        """Return the versions of a file, newest first; earlier names of a moved file count."""
        first, *displaced = self._lineages(path)
        kept = {passage.before for passages in (first, *displaced) for passage in passages if passage.text is not None}
        current = self._workspace.version_of(path)
        kept.add(current)
        found = []
        if first and current is not None and current != first[0].after:
            found.append(FileVersion(current, self._changed_at(path), "", available=True))
        for passages in (first, *displaced):
            found += _versions(passages, kept)
        return found

    def text(self, path: str, wanted: str) -> tuple[str, bytes]:
        """Return the full version and the bytes of one version of a file.

        Raises:
            InvalidRequestError: there is no such version, or its text is gone.
        """
        known = {each.version: each.available for each in self.of(path) if each.version}
        matches = [full for full in known if wanted and full.startswith(wanted)]
        if len(matches) != 1:
            raise InvalidRequestError(
                f"{path!r} has {len(matches)} versions {wanted!r}; history names those there are", path=path
            )
        for passage in chain.from_iterable(self._lineages(path)):
            if passage.before == matches[0] and passage.text is not None:
                return matches[0], passage.text
        current = self._workspace.read_or_none(path)
        if current is None or version(current) != matches[0]:
            raise InvalidRequestError(
                f"the text of version {wanted!r} of {path!r} is no longer kept; history says which are available",
                path=path,
            )
        return matches[0], current

    def of_run(self, run_id: str) -> list[Transaction]:
        """Return what a run changed and is not undone yet, newest first."""
        undone: set[str] = set()
        found = []
        for entry in self._history.entries():
            transaction = entry.transaction
            if transaction.undoes:
                undone.add(transaction.undoes)
            elif run_id and transaction.actor.run_id == run_id and transaction.id not in undone:
                found.append(transaction)
        return found

    def plan_undo(self, transaction: Transaction) -> Plan:
        """Plan the way back from a transaction; records of the program stay.

        Raises:
            EditConflictError: a file was changed since.
        """
        entry = next(entry for entry in self._history.entries() if entry.transaction.id == transaction.id)
        back = {new: old for old, new in transaction.moves.items()}
        writes: list[Write | Discard | Rename] = []
        renames: list[Write | Discard | Rename] = []
        for step in reversed(transaction.steps):
            if step.to:
                renames.append(self._undo_rename(step, transaction))
            elif step.kind == "put":
                writes.append(self._undo_put(entry, step))
        return Plan([*writes, *renames], back, undoes=transaction.id)

    def _undo_put(self, entry: Entry, step: Step) -> Write | Discard:
        path = entry.transaction.moves.get(step.path, step.path)
        current = self._workspace.read_or_none(path)
        if (None if current is None else version(current)) != step.after:
            raise EditConflictError(f"{path!r} was changed since", path=path)
        text = self._history.text_before(entry, step)
        if step.before is None:
            return Discard(path, step.after or "")
        if text is None:
            raise EditConflictError(f"the text before of {path!r} is no longer kept", path=path)
        return Write(path, current, text)

    def _undo_rename(self, step: Step, transaction: Transaction) -> Rename:
        before = next(
            (put.before for put in transaction.steps if put.kind == "put" and put.path == step.path), step.before
        )
        there = self._workspace.absolute(step.to)
        leaves = any(other.kind == "rename" and other.to == step.path for other in transaction.steps)
        if not there.exists() or (self._workspace.absolute(step.path).exists() and not leaves):
            raise EditConflictError(
                f"{step.path!r} cannot come back: something else is there, or it is gone from where it was put",
                path=step.path,
            )
        if there.is_file() and before == step.before and self._workspace.version_of(step.to) != step.before:
            raise EditConflictError(f"{step.to!r} was changed since", path=step.to)
        return Rename(step.to, step.path, before or "")

    def _lineages(self, path: str) -> list[list[_Passage]]:
        """Return what was done to a file, newest first, followed back to its earlier names.

        After it come the files that stood at one of these paths until a move put another one there.
        """
        lineages: list[list[_Passage]] = [[]]
        names = [path]
        watched = {path}
        for entry in self._history.entries(watched):
            back = {new: old for old, new in entry.transaction.moves.items()}
            discarded = {step.path for step in entry.transaction.steps if step.kind == "trash"}
            for number, name in enumerate(names[:]):
                names[number] = back.get(name, name)
                passage = self._passage(entry, names[number], moved=name in back)
                if passage is not None:
                    lineages[number].append(passage)
                displaced = self._passage(entry, name, moved=False) if name in back and name in discarded else None
                if displaced is not None:
                    names.append(name)
                    lineages.append([replace(displaced, after=None)])
            watched.clear()
            watched.update(names)
        return lineages

    def _passage(self, entry: Entry, name: str, *, moved: bool) -> _Passage | None:
        for step in entry.transaction.steps:
            if step.kind == "put" and step.path == name:
                return _Passage(entry, step.before, step.after, self._history.text_before(entry, step))
        for step in entry.transaction.steps:
            if step.to and is_within(name, step.path):
                data = (
                    self._workspace.read_or_none(step.to + name.removeprefix(step.path))
                    if step.kind == "trash"
                    else None
                )
                before = step.before or (None if data is None else version(data))
                return _Passage(entry, before, before if moved else None, data)
        return None

    def _changed_at(self, path: str) -> str:
        seconds = self._workspace.absolute(path).stat().st_mtime
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def history_answer(path: str, versions: list[FileVersion]) -> Answer:
    """Answer the versions of a file."""
    lines = [
        " ".join(
            (f"{each.version[:12] or '(gone)':12}", each.time or "?", each.tool or "outside", each.run_id, each.reason)
        ).rstrip()
        for each in versions
    ]
    metadata = {"path": path, "versions": [asdict(each) for each in versions]}
    return Answer("\n".join(lines) or f"{path}: no change is recorded", metadata)


def unified_diff(path: str, old: bytes, new: bytes, old_label: str, new_label: str = "now") -> str:
    """Return the unified diff of two texts of a file; ends of lines count."""
    before, after = (data.decode("utf-8", "replace").splitlines(keepends=True) for data in (old, new))
    lines = difflib.unified_diff(before, after, f"{path}@{old_label}", f"{path}@{new_label}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def unknown_run(run_id: str) -> NoteNotFoundError:
    """Make the error for a run of which nothing is left to undo."""
    return NoteNotFoundError(f"no change of a run {run_id!r} is left to undo; history names the runs of a file")


def _versions(passages: Sequence[_Passage], kept: set[str | None]) -> Iterator[FileVersion]:
    """Yield the versions a file had, newest first; one nobody saw come about stands between two that differ."""
    for number, passage in enumerate(passages):
        yield _made_by(passage.entry.transaction, passage.after, kept)
        older = passages[number + 1].after if number + 1 < len(passages) else None
        if passage.before is not None and passage.before != older:
            yield FileVersion(passage.before, "", "", available=passage.before in kept)


def _made_by(transaction: Transaction, after: str | None, kept: set[str | None]) -> FileVersion:
    actor = transaction.actor
    available = after is not None and after in kept
    return FileVersion(after or "", transaction.time, actor.tool, actor.run_id, actor.reason, available)
