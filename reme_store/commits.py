"""How does a change of a file reach the disk, the index, the catalogs and the history together?

Write -> parse -> chunk -> index -> catalog, in this order and under the workspace's lock. Files are the truth: a change
lands on disk first, whole; everything derived follows before the call returns. What a crash kept from following is
repaired from the files by the next one to take the lock.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from reme_store import history
from reme_store.errors import EditConflictError
from reme_store.history import History, Transaction
from reme_store.index.catalog import Catalog
from reme_store.locking import WorkspaceLock
from reme_store.models import FileState
from reme_store.note_index import NoteIndex
from reme_store.paths import TEXT_SUFFIXES, is_memory, is_within, suffix_of
from reme_store.text.wikilinks import retarget_wikilinks
from reme_store.transactions import Plan, Transactions
from reme_store.workspace import Workspace, is_unchanged

_ATTEMPTS = 10
"""How often a change is made anew on a text that another program replaced meanwhile."""
_CATALOG_SUFFIX = ".jsonl.zst"
_BATCH_BYTES = 32 * 1024 * 1024
"""How much text a refresh holds in memory before it goes to the index."""


class Commits:
    """The one way in which files of a workspace change."""

    def __init__(self, workspace: Workspace, history_log: History, index: NoteIndex, lock: WorkspaceLock) -> None:
        self._workspace, self._index, self._lock = workspace, index, lock
        self._transactions = Transactions(workspace, history_log)
        self._catalogs: dict[str, Catalog] = {}
        self._guard = threading.Lock()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the workspace's lock, across processes and threads; the thread that has it may take it again."""
        with self._lock() as first:
            if first:
                self._index.catch_up()
                self._recover()
            yield

    def catalog(self, name: str) -> Catalog:
        """Return what a consumer has already processed."""
        with self._guard:
            if name not in self._catalogs:
                self._catalogs[name] = Catalog(self._workspace.metadata / "file_catalog", name)
            return self._catalogs[name]

    def change(self, build: Callable[[], Plan], tool: str, *, retry: bool = True) -> Transaction | None:
        """Carry out a plan under the lock; build it anew where another program changed a file meanwhile.

        Returns:
            What was done, or None where the plan changes nothing.
        """
        with self.lock():
            for attempt in range(_ATTEMPTS):
                plan = build()
                if not plan.changes:
                    return None
                try:
                    transaction = self._transactions.run(plan, history.actor_or(tool))
                except EditConflictError:
                    if not retry or attempt == _ATTEMPTS - 1:
                        raise
                    continue
                self._derive(transaction)
                return transaction
        return None

    def refresh(self, *, reread: bool = False) -> dict[str, int]:
        """Bring the index up to date with the disk; answer counts added, modified, deleted, unchanged.

        Args:
            reread: Whether to read every file again, whatever its times say.
        """
        with self.lock():
            known = dict(self._index.known())
            found = self._workspace.walk("", TEXT_SUFFIXES)
            for leftover in found.leftovers:
                self._workspace.discard(leftover)
            suspects = [path for path, info in found.stats.items() if reread or not _vouched(known.get(path), info)]
            added = modified = 0
            for batch in self._changed(suspects, known):
                added += sum(path not in known for path, _, _ in batch)
                modified += sum(path in known for path, _, _ in batch)
                self._index.apply(batch, [])
            deleted = [path for path in known if path not in found.stats]
            if deleted:
                self._index.apply([], deleted)
            unchanged = len(found.stats) - added - modified
            return {"added": added, "modified": modified, "deleted": len(deleted), "unchanged": unchanged}

    def _changed(
        self, paths: Iterable[str], known: Mapping[str, FileState]
    ) -> Iterator[list[tuple[str, bytes, FileState]]]:
        """Read files and yield those whose hash is new, in batches of bounded size."""
        batch: list[tuple[str, bytes, FileState]] = []
        size = 0
        for path in paths:
            loaded = self._workspace.load(path)
            if loaded is None or (path in known and known[path].sha256 == loaded[1].sha256):
                continue
            batch.append((path, *loaded))
            size += len(loaded[0])
            if size > _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _derive(self, transaction: Transaction) -> None:
        """Bring index and catalogs up to date with a transaction, then end it."""
        self._index_files(self.files_of(transaction))
        self._rekey(transaction)
        self._transactions.end(transaction)

    def files_of(self, transaction: Transaction) -> list[str]:
        """Return the user's files a transaction touched, those inside moved or deleted folders included."""
        files = {*transaction.moves, *transaction.moves.values()}
        for step in transaction.steps:
            if step.kind == "trash" and step.before == "":
                files.update(path for path in self._index.known() if is_within(path, step.path))
            elif step.kind != "record":
                files.add(step.path)
        return sorted(files)

    def _index_files(self, paths: Iterable[str]) -> None:
        known = self._index.known()
        changed, deleted = [], []
        for path in paths:
            if not is_memory(path) or suffix_of(path) not in TEXT_SUFFIXES:
                continue
            loaded = self._workspace.load(path)
            if loaded is not None:
                changed.append((path, *loaded))
            elif path in known:
                deleted.append(path)
        if changed or deleted:
            self._index.apply(changed, deleted)

    def _rekey(self, transaction: Transaction) -> None:
        if not transaction.moves:
            return
        advanced = {
            transaction.moves.get(step.path, step.path): (step.before, step.after)
            for step in transaction.steps
            if step.kind == "put" and step.before is not None and step.after is not None
        }
        for file in (self._workspace.metadata / "file_catalog").glob(f"*{_CATALOG_SUFFIX}"):
            self.catalog(file.name.removesuffix(_CATALOG_SUFFIX)).rekey(transaction.moves, advanced)

    def _recover(self) -> None:
        transaction = self._transactions.recover(_retarget_bytes)
        if transaction is not None:
            self._derive(transaction)


def _vouched(state: FileState | None, info: os.stat_result) -> bool:
    return state is not None and is_unchanged(state, info)


def _retarget_bytes(data: bytes, moves: Mapping[str, str]) -> bytes:
    try:
        return retarget_wikilinks(data.decode("utf-8"), moves)[0].encode()
    except UnicodeDecodeError:
        return data
