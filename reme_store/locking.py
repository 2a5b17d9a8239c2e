"""Who may change the workspace now?

One lock a workspace, held across processes and threads for every read-modify-write. The thread that holds it may
take it again. The kernel frees it when its owner dies, so a killed process never leaves a workspace locked.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout

from reme_store.errors import WorkspaceLockedError

_locks: "WeakValueDictionary[str, WorkspaceLock]" = WeakValueDictionary()
_locks_guard = threading.Lock()


class WorkspaceLock:
    """A re-entrant lock over one file; one object a process and file, see :func:`workspace_lock`."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._threads = threading.RLock()
        self._file = FileLock(path, timeout=timeout, thread_local=False)
        self._depth = 0
        self._owner: int | None = None

    @property
    def held_here(self) -> bool:
        """Whether the calling thread holds it."""
        return self._owner == threading.get_ident()

    @property
    def depth(self) -> int:
        """How often the holding thread has taken it; 0 when free."""
        return self._depth

    @contextmanager
    def __call__(self) -> Iterator[bool]:
        """Hold the lock; yields True where it was not held by this thread before."""
        if not self._threads.acquire(timeout=self._timeout):
            raise self._busy()
        try:
            first = self._depth == 0
            if first:
                self._take_file()
                self._owner = threading.get_ident()
            self._depth += 1
            try:
                yield first
            finally:
                self._depth -= 1
                if first:
                    self._owner = None
                    self._file.release()
        finally:
            self._threads.release()

    def _take_file(self) -> None:
        try:
            self._file.acquire()
        except Timeout as error:
            raise self._busy() from error

    def _busy(self) -> WorkspaceLockedError:
        return WorkspaceLockedError(
            f"the workspace has been locked for {self._timeout:g} s by another writer", path=str(self._path)
        )


def workspace_lock(path: Path, timeout: float = 60.0) -> WorkspaceLock:
    """Return this process' one lock object of a lock file."""
    key = f"{os.path.realpath(path)}:{os.getpid()}"
    with _locks_guard:
        lock = _locks.get(key)
        if lock is None:
            lock = _locks[key] = WorkspaceLock(path, timeout)
        return lock
