"""May this run dream in this workspace now?

One dream at a time. A node of a run holds an operating-system lock while it works, many nodes of one run together; the
kernel frees it when the process dies. Between two nodes a note in the lock's record says whose turn it is, and holds
for ``GAP_SECONDS``: another run takes over only after that, or when the run has ended.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout
from typing_extensions import TypedDict

from reme_store.file_store import FileStore

RECORD = "ledger/dream-lease.json"
GAP_SECONDS = 5.0


@dataclass(slots=True)
class _Held:
    """The lock of one workspace in this process."""

    file: FileLock
    run_id: str = ""
    nodes: int = 0
    guard: threading.Lock = field(default_factory=threading.Lock)


class _Note(TypedDict):
    """The record: whose turn it is, and until when nobody else may take it (seconds since 1970)."""

    run_id: str
    until: float


_held: dict[str, _Held] = {}
_held_guard = threading.Lock()


@contextmanager
def lease(store: FileStore, run_id: str) -> Iterator[bool]:
    """Work as a run; yields False, without holding anything, while another run is at work."""
    held = _of(store)
    taken = _take(store, held, run_id)
    try:
        yield taken
    finally:
        if taken:
            _give_back(store, held)


def end_lease(store: FileStore, run_id: str) -> None:
    """Say that a run has ended, so that the next may start at once. Called while the run still holds its lease."""
    if _noted(store)["run_id"] == run_id:
        _write(store, "", 0.0)


def _take(store: FileStore, held: _Held, run_id: str) -> bool:
    with held.guard:
        if held.nodes and held.run_id != run_id:
            return False
        if not held.nodes:
            try:
                held.file.acquire()
            except Timeout:
                return False
            noted = _noted(store)
            if noted["run_id"] not in ("", run_id) and noted["until"] > time.time():
                held.file.release()
                return False
            held.run_id = run_id
            _write(store, run_id, 0.0)
        held.nodes += 1
        return True


def _give_back(store: FileStore, held: _Held) -> None:
    with held.guard:
        held.nodes -= 1
        if not held.nodes:
            if _noted(store)["run_id"] == held.run_id:
                _write(store, held.run_id, time.time() + GAP_SECONDS)
            held.file.release()


def _write(store: FileStore, run_id: str, until: float) -> None:
    store.records.write(RECORD, json.dumps(_Note(run_id=run_id, until=until)).encode(), durable=False)


def _noted(store: FileStore) -> _Note:
    data = store.records.read(RECORD)
    try:
        note = json.loads(data or b"{}")
        return _Note(run_id=str(note["run_id"]), until=float(note["until"]))
    except (ValueError, KeyError, TypeError):
        return _Note(run_id="", until=0.0)


def _of(store: FileStore) -> _Held:
    key = f"{os.path.realpath(store.root)}:{os.getpid()}"
    with _held_guard:
        if key not in _held:
            path = Path(store.root, "reme_metadata", "ledger", "dream.lock")
            _held[key] = _Held(FileLock(path, timeout=0, thread_local=False))
        return _held[key]
