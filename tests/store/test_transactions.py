"""Several files land together or not at all, wherever the process dies or the disk refuses."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from reme_store.errors import EditConflictError, StoreFaultError
from reme_store.history import Actor, History
from reme_store.transactions import Discard, Plan, Rename, Transactions, Write
from reme_store.workspace import Workspace, version
from tests.support.children import run_python

ACTOR = Actor("test", "run-1", "because")

CHILD = """
import os, signal, sys
from pathlib import Path
from reme_store.history import Actor, History
from reme_store.transactions import Discard, Plan, Rename, Transactions, Write
from reme_store.workspace import Workspace, version

root, fatal = Path(sys.argv[1]), int(sys.argv[2])
workspace = Workspace(root)
transactions = Transactions(workspace, History(workspace.metadata / "history"))
calls = 0

def die(event, args):
    global calls
    writing = event == "open" and (args[2] or 0) & (os.O_WRONLY | os.O_RDWR)
    if writing or event in ("os.rename", "os.remove", "os.truncate"):
        calls += 1
        if calls == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
plan = Plan(
    [
        Write("digest/a.md", b"a old", b"a new"),
        Write("digest/made/b.md", None, b"b new"),
        Write("reme_metadata/ledger/l.json", b"{}", b"[]", record=True),
        Discard("digest/gone.md", version(b"gone")),
        Write("digest/src.md", b"src old", b"src new"),
        Rename("digest/src.md", "digest/dst.md", version(b"src new")),
    ],
    moves={"digest/src.md": "digest/dst.md"},
)
transactions.end(transactions.run(plan, Actor("test")))
print(calls)
"""

OLD = {
    "digest/a.md": b"a old",
    "digest/made/b.md": None,
    "reme_metadata/ledger/l.json": b"{}",
    "digest/gone.md": b"gone",
    "digest/src.md": b"src old",
    "digest/dst.md": None,
}
NEW = {
    "digest/a.md": b"a new",
    "digest/made/b.md": b"b new",
    "reme_metadata/ledger/l.json": b"[]",
    "digest/gone.md": None,
    "digest/src.md": None,
    "digest/dst.md": b"src new",
}


def keep_links(data: bytes, moves: Mapping[str, str]) -> bytes:
    return data


def opened(root: Path) -> tuple[Workspace, Transactions, History]:
    workspace = Workspace(root)
    history = History(workspace.metadata / "history")
    return workspace, Transactions(workspace, history), history


def fill(workspace: Workspace, files: Mapping[str, bytes | None]) -> None:
    for path, data in files.items():
        place = workspace.absolute(path)
        if data is None:
            place.unlink(missing_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


def contents(workspace: Workspace, paths: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    return {path: workspace.read_or_none(path) for path in paths}


def leftovers(workspace: Workspace) -> list[str]:
    return [str(path) for path in workspace.root.rglob(".reme-*")]


def sweep(workspace: Workspace) -> None:
    workspace.sweep_records()
    for path in workspace.walk().leftovers:
        workspace.discard(path)


def test_a_plan_lands_whole_and_is_remembered(tmp_path: Path) -> None:
    workspace, transactions, history = opened(tmp_path)
    fill(workspace, {"a.md": b"1", "b.md": b"2"})
    transaction = transactions.run(Plan([Write("a.md", b"1", b"one"), Discard("b.md", version(b"2"))]), ACTOR)
    transactions.end(transaction)
    assert contents(workspace, {"a.md": None, "b.md": None}) == {"a.md": b"one", "b.md": None}
    (entry,) = history.entries()
    assert entry.transaction.id == transaction.id
    assert entry.transaction.actor == ACTOR
    assert history.text_before(entry, entry.transaction.steps[0]) == b"1"
    assert workspace.read(entry.transaction.steps[1].to) == b"2"
    assert history.pending() is None


def test_a_file_that_changed_meanwhile_stops_everything(tmp_path: Path) -> None:
    workspace, transactions, history = opened(tmp_path)
    fill(workspace, {"a.md": b"1", "b.md": b"edited"})
    with pytest.raises(EditConflictError, match=r"b\.md"):
        transactions.run(Plan([Write("a.md", b"1", b"one"), Write("b.md", b"2", b"two")]), ACTOR)
    assert contents(workspace, {"a.md": None, "b.md": None}) == {"a.md": b"1", "b.md": b"edited"}
    assert leftovers(workspace) == []
    assert list(history.entries()) == []


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    workspace, transactions, _ = opened(tmp_path)
    fill(workspace, {"a.md": b"1", "new.md": b"theirs"})
    for plan in (Plan([Write("new.md", None, b"ours")]), Plan([Rename("a.md", "new.md", version(b"1"))])):
        with pytest.raises(EditConflictError):
            transactions.run(plan, ACTOR)
    assert contents(workspace, {"a.md": None, "new.md": None}) == {"a.md": b"1", "new.md": b"theirs"}


def test_a_change_between_record_and_rename_takes_the_rest_back(tmp_path: Path) -> None:
    workspace, transactions, history = opened(tmp_path)
    fill(workspace, {"a.md": b"1", "c.md": b"3"})
    plan = Plan([Write("a.md", b"1", b"one"), Write("b.md", None, b"two"), Rename("c.md", "d.md", version(b"3"))])
    done = workspace.place

    def place_and_edit(temporary: str, path: str) -> None:
        done(temporary, path)
        if path == "b.md":
            fill(workspace, {"c.md": b"edited"})

    workspace.place = place_and_edit  # type: ignore[method-assign]  # another program's edit at the worst moment
    with pytest.raises(EditConflictError):
        transactions.run(plan, ACTOR)
    assert contents(workspace, {"a.md": None, "b.md": None, "c.md": None, "d.md": None}) == {
        "a.md": b"1",
        "b.md": None,
        "c.md": b"edited",
        "d.md": None,
    }
    assert history.pending() is None
    assert list(history.entries()) == []


def test_killed_at_any_step_the_files_end_old_or_new_all_together(tmp_path: Path) -> None:
    fatal, outcomes = 0, []
    while True:
        fatal += 1
        workspace, _, _ = opened(tmp_path / str(fatal))
        fill(workspace, OLD)
        child = run_python(CHILD, workspace.root, fatal)
        for path, data in contents(workspace, OLD).items():
            assert data in (OLD[path], NEW[path]) or path in ("digest/src.md", "digest/dst.md"), (fatal, path)
        _, transactions, history = opened(workspace.root)
        recovered = transactions.recover(keep_links)
        if recovered is not None:
            transactions.end(recovered)
        sweep(workspace)
        now = contents(workspace, OLD)
        assert now in (OLD, NEW), (fatal, now)
        assert leftovers(workspace) == []
        assert history.pending() is None
        outcomes.append(now == NEW)
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL, child.stderr
    assert outcomes == sorted(outcomes), "once recorded, always finished"
    assert outcomes[0] is False
    assert len(outcomes) > 10


def test_recovery_twice_is_recovery_once(tmp_path: Path) -> None:
    workspace, _, _ = opened(tmp_path)
    fill(workspace, OLD)
    assert run_python(CHILD, tmp_path, 9).returncode == -signal.SIGKILL
    for _ in range(2):
        _, transactions, _ = opened(tmp_path)
        transactions.recover(keep_links)
        assert contents(workspace, NEW) == NEW


def test_an_edit_after_the_crash_is_kept_and_its_links_follow(tmp_path: Path) -> None:
    workspace, transactions, history = opened(tmp_path)
    fill(workspace, {"a.md": b"see OLD", "old.md": b"o"})
    workspace.place = lambda *_: os._exit(0)  # type: ignore[method-assign, assignment]  # dies before the first rename
    if (pid := os.fork()) == 0:
        transactions.run(
            Plan(
                [Write("a.md", b"see OLD", b"see NEW"), Rename("old.md", "new.md", version(b"o"))], {"old.md": "new.md"}
            ),
            ACTOR,
        )
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    fill(workspace, {"a.md": b"edited, see OLD"})
    _, transactions, history = opened(tmp_path)
    transaction = transactions.recover(lambda data, moves: data.replace(b"OLD", b"NEW"))
    assert transaction is not None
    assert transaction.moves == {"old.md": "new.md"}
    assert contents(workspace, {"a.md": b"", "new.md": b""}) == {"a.md": b"edited, see NEW", "new.md": b"o"}
    assert history.pending() is not None


def test_a_full_disk_changes_nothing_and_says_so(tmp_path: Path) -> None:
    import resource

    workspace, transactions, history = opened(tmp_path)
    fill(workspace, {"a.md": b"1", "b.md": b"2"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for limit in (0, 4, 5, 40, 200):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            with pytest.raises(StoreFaultError, match="nothing was changed"):
                transactions.run(
                    Plan([Write("a.md", b"1", b"abcd"), Write("b.md", b"2", b"x" * 5 * limit or b"y")]), ACTOR
                )
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            assert contents(workspace, {"a.md": None, "b.md": None}) == {"a.md": b"1", "b.md": b"2"}
            assert leftovers(workspace) == []
            assert history.pending() is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    transactions.end(transactions.run(Plan([Write("a.md", b"1", b"2")]), ACTOR))
    assert workspace.read("a.md") == b"2"


def test_a_folder_for_a_new_file_does_not_outlive_a_failure(tmp_path: Path) -> None:
    workspace, transactions, _ = opened(tmp_path)
    with pytest.raises(EditConflictError):
        transactions.run(Plan([Write("digest/x/y/new.md", None, b"n"), Write("a.md", b"never was", b"x")]), ACTOR)
    assert not workspace.absolute("digest/x").exists()
    assert workspace.absolute("digest").is_dir()
