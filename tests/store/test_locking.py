"""One writer at a time, whatever thread or process; a dead one does not keep the workspace."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reme_store.errors import WorkspaceLockedError
from reme_store.locking import WorkspaceLock, workspace_lock
from tests.support.children import python

HOLD = """
import sys
from pathlib import Path
from reme_store.locking import WorkspaceLock
with WorkspaceLock(Path(sys.argv[1]), 5)():
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator["subprocess.Popen[str]"]:
    with python(HOLD, path) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child


def test_the_holder_may_take_it_again_and_sees_when_it_was_first(tmp_path: Path) -> None:
    lock = workspace_lock(tmp_path / "lock")
    with lock() as first, lock() as second:
        assert (first, second, lock.depth) == (True, False, 2)
    assert lock.depth == 0


def test_one_object_a_file_and_process(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    first = workspace_lock(tmp_path / "lock")
    assert workspace_lock(tmp_path / "link" / "lock") is first
    assert workspace_lock(tmp_path / "other") is not first


def test_another_process_is_told_apart_and_waited_for(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path / "lock") as child:
        with pytest.raises(WorkspaceLockedError), WorkspaceLock(tmp_path / "lock", 0.1)():
            pass
        child.communicate("go\n", timeout=10)
        with WorkspaceLock(tmp_path / "lock", 5)() as first:
            assert first


def test_a_killed_owner_leaves_it_free(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path / "lock") as child:
        child.kill()
        child.communicate(timeout=10)
        with WorkspaceLock(tmp_path / "lock", 5)() as first:
            assert first


def test_another_thread_waits_its_turn(tmp_path: Path) -> None:
    lock, seen = WorkspaceLock(tmp_path / "lock", 5), []

    def work(name: str) -> None:
        for _ in range(20):
            with lock():
                seen.append(name)
                seen.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(seen[at] == seen[at + 1] for at in range(0, len(seen), 2))
    assert len(seen) == 120


def test_a_thread_that_waits_too_long_is_told(tmp_path: Path) -> None:
    lock, told = WorkspaceLock(tmp_path / "lock", 0.05), []

    def work() -> None:
        try:
            with lock():
                pass
        except WorkspaceLockedError as error:
            told.append(error)

    with lock():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert [Path(error.path).name for error in told] == ["lock"]
