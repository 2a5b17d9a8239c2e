"""How do changes to several files land together, or not at all?

A transaction is staged (every new text waits beside its place), checked (every file is still what it was when the
change was made), recorded in the journal, and only then carried out by renames. Killed before the record, nothing
happened and the temporaries are swept. Killed after it, the next one to take the workspace's lock carries out the
rest: what still has its temporary was not placed yet. A failure while carrying out is recorded too and taken back.
All of this runs under the workspace's lock.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from reme_store.errors import EditConflictError, StoreFaultError
from reme_store.history import Actor, History, Step, Transaction, new_transaction_id
from reme_store.workspace import TRASH, Workspace, version


@dataclass(frozen=True, slots=True)
class Write:
    """Give a file new bytes, or remove it for good where ``after`` is None (its bytes stay in the journal)."""

    path: str
    before: bytes | None
    after: bytes | None
    record: bool = False
    """A file of the program's own: no one else edits it."""


@dataclass(frozen=True, slots=True)
class Discard:
    """Put a file or folder into the trash."""

    path: str
    before: str
    """Version of the file; empty for a folder."""


@dataclass(frozen=True, slots=True)
class Rename:
    """Give a file or folder another path that is free."""

    path: str
    to: str
    before: str
    """Version of the file; empty for a folder."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What shall land together, in this order."""

    changes: Sequence[Write | Discard | Rename]
    moves: Mapping[str, str] = field(default_factory=dict)
    undoes: str = ""


class Transactions:
    """Carry out plans on one workspace."""

    def __init__(self, workspace: Workspace, history: History) -> None:
        self._workspace, self._history = workspace, history

    def run(self, plan: Plan, actor: Actor) -> Transaction:
        """Carry out a plan; :meth:`end` must follow once everything derived from the files is up to date.

        Raises:
            EditConflictError: a file is not what the plan was made from; nothing was changed.
            StoreFaultError: the disk refused; nothing was changed.
        """
        transaction = self._stage(plan, actor)
        try:
            self._prepare(transaction)
            self._history.begin(
                transaction, [change.before if isinstance(change, Write) else None for change in plan.changes]
            )
        except (EditConflictError, StoreFaultError):
            self._drop_temporaries(transaction.steps)
            raise
        try:
            for step in transaction.steps:
                self._check(step)
                self._carry_out(step)
            self._workspace.sync_folders(_touched(transaction))
        except (EditConflictError, StoreFaultError):
            self._take_back(
                transaction, [change.before if isinstance(change, Write) else None for change in plan.changes]
            )
            raise
        return transaction

    def end(self, transaction: Transaction) -> None:
        """Say that nothing of a transaction is left to do."""
        self._history.end(transaction.id)

    def recover(self, retarget: Callable[[bytes, Mapping[str, str]], bytes]) -> Transaction | None:
        """Finish or take back what a killed process left; :meth:`end` must follow.

        ``retarget`` rewrites the links of a note that someone edited after the crash and that was to be retargeted.
        """
        pending = self._history.pending()
        if pending is None:
            return None
        entry, undoing = pending
        transaction = entry.transaction
        if undoing:
            self._take_back_steps(transaction, [self._history.text_before(entry, step) for step in transaction.steps])
        else:
            for step in transaction.steps:
                self._redo(step, transaction.moves, retarget)
        self._workspace.sync_folders(_touched(transaction))
        return transaction

    def _stage(self, plan: Plan, actor: Actor) -> Transaction:
        now = datetime.now(UTC)
        transaction_id = new_transaction_id()
        steps: list[Step] = []
        try:
            steps.extend(self._stage_one(change, transaction_id) for change in plan.changes)
        except StoreFaultError:
            self._drop_temporaries(steps)
            raise
        return Transaction(
            transaction_id, now.isoformat(timespec="milliseconds"), actor, tuple(steps), plan.moves, plan.undoes
        )

    def _stage_one(self, change: Write | Discard | Rename, transaction_id: str) -> Step:
        if isinstance(change, Discard):
            to = f"{TRASH}/{transaction_id}/{change.path}"
            return Step("trash", change.path, to=to, before=change.before)
        if isinstance(change, Rename):
            return Step("rename", change.path, to=change.to, before=change.before, after=change.before)
        before = None if change.before is None else version(change.before)
        step = Step("record" if change.record else "put", change.path, before=before)
        if change.after is None:
            return step
        return replace(step, temporary=self._workspace.stage(change.path, change.after), after=version(change.after))

    def _prepare(self, transaction: Transaction) -> None:
        """Check and make durable all that one rename alone does not need."""
        if len(transaction.steps) == 1:
            return
        self._workspace.sync_folders([step.temporary for step in transaction.steps if step.temporary])
        written = {step.path for step in transaction.steps if step.kind == "put"}
        for step in transaction.steps:
            if not (step.to and step.path in written):
                self._check_version(step)

    def _check(self, step: Step) -> None:
        self._check_version(step)
        if step.to and os.path.lexists(self._workspace.absolute(step.to)):
            raise EditConflictError(f"{step.to!r} was made by another program meanwhile; look again", path=step.to)

    def _check_version(self, step: Step) -> None:
        """Refuse to replace a file that is no longer what the change was made from."""
        if step.kind != "record" and self._version_now(step.path) != step.before:
            raise EditConflictError(
                f"{step.path!r} was changed by another program meanwhile; read it again", path=step.path
            )

    def _version_now(self, path: str) -> str | None:
        return "" if self._workspace.absolute(path).is_dir() else self._workspace.version_of(path)

    def _carry_out(self, step: Step) -> None:
        if step.to:
            self._workspace.rename(step.path, step.to)
        elif step.temporary:
            self._workspace.place(step.temporary, step.path)
        else:
            self._workspace.discard(step.path)

    def _redo(
        self, step: Step, moves: Mapping[str, str], retarget: Callable[[bytes, Mapping[str, str]], bytes]
    ) -> None:
        present = os.path.lexists(self._workspace.absolute(step.path))
        if step.to:
            unchanged = step.kind == "rename" or self._version_now(step.path) == step.before
            if present and unchanged and not os.path.lexists(self._workspace.absolute(step.to)):
                self._workspace.rename(step.path, step.to)
        elif not step.temporary:
            if present and self._version_now(step.path) == step.before:
                self._workspace.discard(step.path)
        elif self._workspace.absolute(step.temporary).exists():
            self._place_or_merge(step, moves, retarget)

    def _place_or_merge(
        self, step: Step, moves: Mapping[str, str], retarget: Callable[[bytes, Mapping[str, str]], bytes]
    ) -> None:
        """Place a waiting text; where someone edited the file since, keep the edit and only retarget its links."""
        current = self._workspace.read_or_none(step.path)
        if step.kind == "record" or (None if current is None else version(current)) == step.before:
            self._workspace.place(step.temporary, step.path)
            return
        self._workspace.discard(step.temporary)
        if current is not None and moves and retarget(current, moves) != current:
            self._workspace.place(self._workspace.stage(step.path, retarget(current, moves)), step.path)

    def _take_back(self, transaction: Transaction, texts: Sequence[bytes | None]) -> None:
        self._history.undo(transaction.id)
        self._take_back_steps(transaction, texts)
        self._workspace.sync_folders(_touched(transaction))
        self._history.end(transaction.id)

    def _take_back_steps(self, transaction: Transaction, texts: Sequence[bytes | None]) -> None:
        for step, text in reversed(list(zip(transaction.steps, texts, strict=True))):
            if step.to:
                if os.path.lexists(self._workspace.absolute(step.to)) and not os.path.lexists(
                    self._workspace.absolute(step.path)
                ):
                    self._workspace.rename(step.to, step.path)
                self._workspace.prune_empty(step.to.rpartition("/")[0])
            elif step.temporary and self._workspace.absolute(step.temporary).exists():
                self._workspace.discard(step.temporary)
            elif self._workspace.version_of(step.path) == step.after:
                self._put_back(step.path, text)

    def _put_back(self, path: str, text: bytes | None) -> None:
        if text is None:
            self._workspace.discard(path)
        else:
            self._workspace.place(self._workspace.stage(path, text), path)

    def _drop_temporaries(self, steps: Sequence[Step]) -> None:
        """Leave nothing of a plan that was not recorded, the folders made for it included."""
        for step in steps:
            if step.temporary:
                with suppress(StoreFaultError):
                    self._workspace.discard(step.temporary)
                self._workspace.prune_empty(step.path.rpartition("/")[0])


def _touched(transaction: Transaction) -> Iterator[str]:
    for step in transaction.steps:
        yield step.path
        if step.to:
            yield step.to
