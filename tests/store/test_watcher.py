"""Watching a workspace: what other programs change is found, once, whatever happens to the watcher."""

import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme_store import open_store
from reme_store.file_store import FileStore
from reme_store.models import Change
from reme_store.watcher import MemoryFilter, Watcher, changes_between

PATIENCE = 20.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    with open_store(tmp_path / "workspace") as opened:
        yield opened


class Script:
    """Events under the control of a test: a burst, or a fault to raise."""

    def __init__(self) -> None:
        self.steps: queue.Queue[Exception | None] = queue.Queue()
        self.polled: list[bool] = []

    def __call__(self, root: Path, stop: threading.Event, poll: bool) -> Iterator[object]:
        self.polled.append(poll)
        return self._bursts(stop)

    def _bursts(self, stop: threading.Event) -> Iterator[object]:
        while not stop.is_set():
            try:
                step = self.steps.get(timeout=0.05)
            except queue.Empty:
                continue
            if step is not None:
                self.steps.task_done()
                raise step
            yield None
            self.steps.task_done()


class Told:
    """Collects what a watcher tells."""

    def __init__(self) -> None:
        self.batches: queue.Queue[tuple[Change, ...]] = queue.Queue()

    def __call__(self, changes: tuple[Change, ...]) -> None:
        self.batches.put(changes)

    def next(self) -> list[tuple[str, str]]:
        return [(change.path, change.kind) for change in self.batches.get(timeout=PATIENCE)]


def write(store: FileStore, path: str, text: str) -> None:
    target = store.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(target)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def watcher(store: FileStore, script: Script, told: Told) -> Iterator[Watcher]:
    """Yield a watcher that has looked once, so that it looks again only when a test says so."""
    made = Watcher(store, told, events=script)
    made.start()
    write(store, "digest/wiki/first.md", "first")
    script.steps.put(None)
    assert told.next() == [("digest/wiki/first.md", "added")]
    script.steps.join()
    yield made
    made.stop()


def test_a_burst_is_one_batch_by_content(store: FileStore, script: Script, told: Told, watcher: Watcher) -> None:
    write(store, "digest/wiki/new.md", "new")
    write(store, "digest/wiki/first.md", "changed")
    write(store, "digest/wiki/first.md", "changed again")
    script.steps.put(None)
    assert told.next() == [("digest/wiki/first.md", "modified"), ("digest/wiki/new.md", "added")]
    assert store.search("again").metadata["results"][0]["path"] == "digest/wiki/first.md"


def test_a_touch_and_a_rewrite_of_the_same_are_no_change(
    store: FileStore, script: Script, told: Told, watcher: Watcher
) -> None:
    write(store, "digest/wiki/first.md", "first")
    script.steps.put(None)
    write(store, "digest/wiki/b.md", "new")
    script.steps.put(None)
    assert told.next() == [("digest/wiki/b.md", "added")]


def test_a_renamed_folder_is_deletions_and_additions(
    store: FileStore, script: Script, told: Told, watcher: Watcher
) -> None:
    write(store, "digest/wiki/d/a.md", "otter")
    script.steps.put(None)
    told.next()
    (store.root / "digest/wiki/d").rename(store.root / "digest/wiki/e")
    script.steps.put(None)
    assert told.next() == [("digest/wiki/d/a.md", "deleted"), ("digest/wiki/e/a.md", "added")]


def test_a_fault_begins_again_with_a_full_look(store: FileStore, script: Script, told: Told, watcher: Watcher) -> None:
    write(store, "digest/wiki/missed.md", "saved while nobody watched")
    script.steps.put(RuntimeError("the watcher died"))
    assert told.next() == [("digest/wiki/missed.md", "added")]
    assert watcher.restarts == 1
    assert script.polled == [False, False]


def test_a_system_limit_falls_back_to_polling_and_says_so(
    store: FileStore, script: Script, told: Told, watcher: Watcher, caplog: pytest.LogCaptureFixture
) -> None:
    write(store, "digest/wiki/a.md", "x")
    script.steps.put(OSError(28, "inotify watch limit reached"))
    told.next()
    assert script.polled == [False, True]
    assert store.file_watcher == "polling"
    assert "polled instead" in caplog.text


def test_only_one_process_watches_and_the_next_takes_over(store: FileStore, script: Script, told: Told) -> None:
    first, second = Watcher(store, events=Script()), Watcher(store, told, events=script)
    first.start()
    second.start()
    first.stop()
    write(store, "digest/wiki/a.md", "x")
    script.steps.put(None)
    assert told.next() == [("digest/wiki/a.md", "added")]
    second.stop()
    assert store.file_watcher == "stopped"


def test_real_events_reach_the_index(store: FileStore, told: Told) -> None:
    watcher = Watcher(store, told)
    watcher.start()
    write(store, "daily/2026-01-02/first.md", "kestrel")
    assert told.next() == [("daily/2026-01-02/first.md", "added")]
    write(store, "daily/2026-01-02/first.md", "osprey")
    assert told.next() == [("daily/2026-01-02/first.md", "modified")]
    (store.root / "daily/2026-01-02/first.md").unlink()
    assert told.next() == [("daily/2026-01-02/first.md", "deleted")]
    watcher.stop()


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("digest/wiki/a.md", True),
        ("digest/wiki/folder", True),
        ("digest/wiki/.a.md.swp", False),
        ("digest/wiki/~$a.md", False),
        ("reme_metadata/file_store/x", False),
        (".obsidian/x.md", False),
    ],
)
def test_only_what_may_be_memory_matters(tmp_path: Path, path: str, matters: bool) -> None:
    assert MemoryFilter(tmp_path)(None, str(tmp_path / path)) is matters


def test_changes_are_those_between_two_states() -> None:
    before, after = {"same": "1", "gone": "1", "other": "1"}, {"same": "1", "other": "2", "new": "1"}
    assert changes_between(before, after) == (
        Change("gone", "deleted"),
        Change("new", "added"),
        Change("other", "modified"),
    )
