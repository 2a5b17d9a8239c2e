"""How does a change of a file reach the disk, the index, the catalogs and the history together?

Write -> parse -> chunk -> index -> catalog, in this order and under the workspace's lock. Files are the truth: a change
lands on disk first, whole; everything derived follows before the call returns. What a crash kept from following is
repaired from the files by the next one to take the lock.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from reme_store import history
from reme_store.errors import EditConflictError, StoreFaultError
from reme_store.freshness import Freshness
from reme_store.history import History, Transaction
from reme_store.index.catalog import Catalog
from reme_store.locking import WorkspaceLock
from reme_store.models import FileState
from reme_store.note_index import NoteIndex
from reme_store.paths import TEXT_SUFFIXES, is_memory, is_within, suffix_of
from reme_store.text.wikilinks import retarget_wikilinks
from reme_store.transactions import Plan, Transactions
from reme_store.workspace import Scan, Workspace, is_unchanged

_ATTEMPTS = 10
"""How often a change is made anew on a text that another program replaced meanwhile."""
_CATALOG_SUFFIX = ".jsonl.zst"
_BATCH_FILES = 512
"""How many files a refresh reads before they go to the index."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Where disk and index may differ."""

    scan: Scan
    suspects: tuple[str, ...]
    """Files that are new or whose times or size changed."""
    missing: tuple[str, ...]
    """Files that the index knows and the disk does not."""


class Commits:
    """The one way in which files of a workspace change."""

    def __init__(self, workspace: Workspace, history_log: History, index: NoteIndex, lock: WorkspaceLock) -> None:
        self._workspace, self._index, self._lock = workspace, index, lock
        self._transactions = Transactions(workspace, history_log)
        self._catalogs: dict[str, Catalog] = {}
        self._guard = threading.Lock()
        self._seen: dict[str, FileState] = {}
        self._aliases: Mapping[str, str] = {}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the workspace's lock, across processes and threads; the thread that has it may take it again."""
        with self._lock() as first:
            if first:
                self._recover()
            yield

    @property
    def held_here(self) -> bool:
        """Whether the calling thread holds the lock."""
        return self._lock.held_here

    def close(self) -> None:
        """Release the catalogs."""
        for catalog in self._catalogs.values():
            catalog.close()

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

    def refresh(self, watcher: Freshness | None = None) -> dict[str, int]:
        """Bring the index up to date with the disk; answer counts added, modified, deleted, unchanged.

        The walk needs no lock; what it found is looked at again under the lock.
        """
        with self.lock():
            pass  # a crash of another process is repaired first
        drift = self.drift()
        if watcher is not None:
            watcher.walked(found=bool(drift.suspects or drift.missing))
        counts = {"added": 0, "modified": 0, "deleted": 0}
        if drift.missing or drift.scan.leftovers:
            counts["deleted"] = self._drop(drift)
        for start in range(0, len(drift.suspects), _BATCH_FILES):
            if watcher is not None and watcher.cancelled:
                break
            self._take_in(drift.suspects[start : start + _BATCH_FILES], counts)
        return {**counts, "unchanged": len(drift.scan.stats) - counts["added"] - counts["modified"]}

    def reindex(self) -> dict[str, int]:
        """Read every file again and begin the index anew; the old one answers meanwhile."""
        with self.lock():
            known = dict(self._index.known())
            scan = self._workspace.walk("", TEXT_SUFFIXES)
            counts = {"added": 0, "modified": 0, "deleted": len(known.keys() - scan.stats.keys()), "unchanged": 0}
            self._index.rebuild(self._loaded(scan.stats, known, counts))
            return counts

    def drift(self) -> Drift:
        """Return which files may differ from what the index knows, by their times alone."""
        known = self._index.known()
        scan = self._workspace.walk("", TEXT_SUFFIXES)
        self._aliases = scan.aliases
        suspects = [path for path, info in scan.stats.items() if not self._vouched(path, known.get(path), info)]
        missing = known.keys() - scan.stats.keys()
        if scan.unreadable:
            missing = {path for path in missing if not any(is_within(path, folder) for folder in scan.unreadable)}
        return Drift(scan, tuple(suspects), tuple(missing))

    def _vouched(self, path: str, state: FileState | None, info: os.stat_result) -> bool:
        """Tell whether the times vouch for a file, those seen when it was last found unchanged included."""
        if state is None:
            return False
        seen = self._seen.get(path)
        return is_unchanged(state, info) or (
            seen is not None and seen.sha256 == state.sha256 and is_unchanged(seen, info)
        )

    def _drop(self, drift: Drift) -> int:
        """Take in what went since, and sweep what a killed process left; answer how many files went."""
        with self.lock():
            for leftover in drift.scan.leftovers:
                self._workspace.discard(leftover)
            known = self._index.known()
            gone = [path for path in drift.missing if path in known and not self._workspace.holds(path)]
            if gone:
                self._index.apply([], gone)
            return len(gone)

    def _take_in(self, paths: Iterable[str], counts: dict[str, int]) -> None:
        """Take in files that are new or changed; other writers get their turn between two batches."""
        with self.lock():
            known = self._index.known()
            changed = [(path, *loaded) for path in paths if (loaded := self._load_changed(path, known)) is not None]
            counts["added"] += sum(path not in known for path, _, _ in changed)
            counts["modified"] += sum(path in known for path, _, _ in changed)
            if changed:
                self._index.apply(changed, [])

    def _load_changed(self, path: str, known: Mapping[str, FileState]) -> tuple[bytes, FileState] | None:
        """Read a file; None where it is gone, cannot be read, or has the bytes the index knows."""
        loaded = self._load_readable(path)
        if loaded is not None and path in known and known[path].sha256 == loaded[1].sha256:
            self._seen[path] = loaded[1]
            return None
        return loaded

    def _load_readable(self, path: str) -> tuple[bytes, FileState] | None:
        """Read a file; None where it is gone or refused: one such file keeps nobody from the others."""
        try:
            return self._workspace.load(path)
        except StoreFaultError:
            return None

    def _loaded(
        self, paths: Iterable[str], known: Mapping[str, FileState], counts: dict[str, int]
    ) -> Iterator[tuple[str, bytes, FileState]]:
        for path in paths:
            loaded = self._load_readable(path)
            if loaded is not None:
                same = path in known and known[path].sha256 == loaded[1].sha256
                counts["unchanged" if same else "modified" if path in known else "added"] += 1
                yield (path, *loaded)

    def _derive(self, transaction: Transaction) -> None:
        """Bring index and catalogs up to date with a transaction, then end it."""
        try:
            self._index_files(self.files_of(transaction))
            self._rekey(transaction)
        except OSError as error:
            raise StoreFaultError(
                f"the files are changed, but not yet their index ({error.strerror or error}); "
                "the next call makes up for it"
            ) from error
        self._transactions.end(transaction)

    def files_of(self, transaction: Transaction) -> list[str]:
        """Return the user's files a transaction touched, those inside moved or deleted folders included."""
        files = {*transaction.moves, *transaction.moves.values()}
        for step in transaction.steps:
            if step.kind == "record":
                continue
            files.update(path for path in (step.path, step.to) if path and is_memory(path))
            if step.before == "":
                files.update(path for path in self._index.known() if is_within(path, step.path))
            if step.before == "" and is_memory(step.to):
                files.update(self._workspace.walk(step.to, TEXT_SUFFIXES).stats)
        return sorted(files)

    def _index_files(self, paths: Iterable[str]) -> None:
        known = self._index.known()
        changed, deleted = [], []
        touched = set(paths)
        touched.update(alias for alias, real in self._aliases.items() if real in touched)
        for path in sorted(touched):
            if not is_memory(path) or suffix_of(path) not in TEXT_SUFFIXES:
                continue
            loaded = self._load_readable(path)
            if loaded is not None:
                changed.append((path, *loaded))
            elif path in known and not self._workspace.holds(path):
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


def _retarget_bytes(data: bytes, moves: Mapping[str, str]) -> bytes:
    try:
        return retarget_wikilinks(data.decode("utf-8"), moves)[0].encode()
    except UnicodeDecodeError:
        return data
