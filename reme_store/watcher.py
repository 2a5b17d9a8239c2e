"""How does the index hear of files that other programs change? By watching, and by looking at all of it when in doubt.

Events only say that something happened: what changed is decided by the store's refresh, by content hash, so an atomic
save, a burst or a touch is never more than one change, and an event that came while the store was looking is looked at
again. One process a workspace holds the lease and watches; the others catch up when they are asked. A watcher that
dies begins again with a full look at the disk.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from filelock import FileLock, Timeout
from watchfiles import DefaultFilter, watch

from reme_store.file_store import FileStore
from reme_store.models import Change, FileState
from reme_store.paths import METADATA, is_memory

Listener = Callable[[tuple[Change, ...]], None]
"""Is told, in the watcher's thread, what changed; in a burst once."""

Events = Callable[[Path, threading.Event, bool], Iterator[object]]
"""Yields once for each burst below a folder until the event is set; the flag asks for polling."""

_BURST_MS = 300
_QUIET_MS = 50
_STOP_CHECK_MS = 200
_RETRY_SECONDS = 1.0
_LEASE_SECONDS = 2.0

_logger = logging.getLogger(__name__)


class MemoryFilter(DefaultFilter):
    """Lets through what may be memory: nothing hidden, temporary or of the store's own."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def __call__(self, change: object, path: str) -> bool:
        """Whether an event on an absolute path matters, whatever kind of change it is."""
        del change
        try:
            relative = Path(path).relative_to(self._root).as_posix()
        except ValueError:
            return False
        return relative != "." and relative.split("/", 1)[0] != METADATA and is_memory(relative)


def file_events(root: Path, stop: threading.Event, poll: bool) -> Iterator[object]:
    """Yield the bursts that the system, or polling, reports."""
    yield from watch(
        root,
        watch_filter=MemoryFilter(root),
        debounce=_BURST_MS,
        step=_QUIET_MS,
        stop_event=stop,
        rust_timeout=_STOP_CHECK_MS,
        force_polling=poll or None,
        raise_interrupt=False,
    )


class Watcher:
    """Keeps a store's index up to date with the disk, in a thread of its own."""

    def __init__(self, store: FileStore, listener: Listener | None = None, *, events: Events = file_events) -> None:
        self._store, self._listener, self._events = store, listener, events
        self._lease = FileLock(store.workspace.metadata / "watcher.lock", thread_local=False)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._poll = False
        self._hashes: dict[str, str] = {}
        self.restarts = 0
        """How often the watching began again after it failed."""

    def start(self) -> None:
        """Begin to watch, or to wait for the lease where another process watches."""
        if self._thread is not None:
            return
        self._stop.clear()
        self._hashes = _hashes(self._store.index.known())
        self._thread = threading.Thread(target=self._run, name="reme-watcher", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and give the lease back."""
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        self._say("stopped")

    def _say(self, state: str) -> None:
        self._store.file_watcher = state

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._lease.acquire(timeout=0)
            except Timeout:
                self._say("another process watches")
                self._stop.wait(_LEASE_SECONDS)
                continue
            try:
                self._watch()
            finally:
                self._lease.release()

    def _watch(self) -> None:
        """Watch until stopped; after a failure look at everything and begin again."""
        while not self._stop.is_set():
            try:
                self._follow()
            except (OSError, RuntimeError) as error:  # limits of the system, a vanished folder, faults of watchfiles
                self._fall_back(error)
                self._stop.wait(_RETRY_SECONDS)

    def _fall_back(self, error: Exception) -> None:
        self.restarts += 1
        if isinstance(error, OSError) and not self._poll:
            self._poll = True
            _logger.warning("The system cannot watch this workspace (%s); it is polled instead.", error)
        else:
            _logger.warning("Watching failed (%s); it begins again.", error)
        self._say(f"restarting: {error}")

    def _follow(self) -> None:
        events = self._events(self._store.root, self._stop, self._poll)
        self._say("polling" if self._poll else "watching")
        self._look()
        for _ in events:
            self._look()

    def _look(self) -> None:
        """Bring the index up to date and tell the listener what is no longer as it was last told."""
        self._store.refresh()
        after = _hashes(self._store.index.known())
        changes = changes_between(self._hashes, after)
        self._hashes = after
        if changes and self._listener is not None:
            self._listener(changes)


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Return what happened between two states, paths with their content hashes, in the order of paths."""
    changes = [Change(path, "deleted") for path in before if path not in after]
    for path, sha256 in after.items():
        if path not in before:
            changes.append(Change(path, "added"))
        elif before[path] != sha256:
            changes.append(Change(path, "modified"))
    return tuple(sorted(changes, key=lambda change: change.path))


def _hashes(known: Mapping[str, FileState]) -> dict[str, str]:
    return {path: state.sha256 for path, state in known.items()}
