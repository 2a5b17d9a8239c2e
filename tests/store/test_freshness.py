"""When does a question wait for the walk over the disk?"""

import threading

import pytest

from reme_store.errors import StoreFaultError
from reme_store.freshness import SMALL_WORKSPACE, Freshness


def test_a_big_workspace_answers_before_the_walk_ends_unless_changes_were_found() -> None:
    release, found = threading.Event(), threading.Event()

    def look(freshness: Freshness) -> None:
        if not freshness.cancelled:
            release.wait(10)
            freshness.walked(found=True)
            found.wait(10)

    freshness = Freshness(look, lambda: SMALL_WORKSPACE + 1, lambda: False)
    freshness.start()
    freshness.wait()
    release.set()
    threading.Timer(0.05, found.set).start()
    while not freshness._walked.is_set():
        pass
    freshness.wait()
    assert found.is_set(), "changes are known, so the answer waited for them"
    freshness.stop()


def test_a_small_workspace_waits_for_the_walk() -> None:
    ended = threading.Event()

    def look(freshness: Freshness) -> None:
        threading.Event().wait(0.05)
        ended.set()
        freshness.walked(found=False)

    freshness = Freshness(look, lambda: 1, lambda: False)
    freshness.start()
    freshness.wait()
    assert ended.is_set()
    freshness.stop()


def test_a_failed_look_is_told_once_and_then_made_again() -> None:
    calls = []

    def look(freshness: Freshness) -> None:
        calls.append(freshness)
        if len(calls) == 1:
            raise StoreFaultError("the disk is gone")

    freshness = Freshness(look, lambda: 1, lambda: False)
    freshness.start()
    with pytest.raises(StoreFaultError, match="gone"):
        freshness.wait()
    freshness.wait()
    freshness.wait()
    assert len(calls) == 2
    freshness.stop()


def test_who_holds_the_lock_looks_for_himself() -> None:
    looked = []
    held = threading.Event()

    def look(freshness: Freshness) -> None:
        looked.append(threading.current_thread())
        if len(looked) == 1:
            held.wait(10)

    freshness = Freshness(look, lambda: 1, lambda: True)
    freshness.start()
    while not looked:
        pass
    freshness.wait()
    assert looked[1] is threading.current_thread()
    held.set()
    freshness.stop()
