"""User files: whole or not at all, found where they may be memory, and told apart by content."""

import os
import stat
import time
from pathlib import Path

import pytest

from reme_store.errors import NoteNotFoundError, StoreFaultError
from reme_store.workspace import Workspace, is_leftover, is_unchanged, replace_durably, state_of, version


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def put(workspace: Workspace, path: str, data: bytes = b"x\n") -> Path:
    place = workspace.absolute(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def age(place: Path) -> None:
    """Wait until the clock says that the file is not brand-new: what a person's pause does."""
    while time.time_ns() - place.stat().st_ctime_ns < 25_000_000:
        os.sched_yield()


def test_opening_makes_the_folders_and_keeps_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "digest" / "wiki").mkdir(parents=True)
    (tmp_path / "digest" / "wiki" / "a.md").write_text("mine", encoding="utf-8")
    for _ in range(2):
        workspace = Workspace(tmp_path)
    for folder in (
        "daily",
        "digest/personal",
        "digest/procedure",
        "resource",
        "reme_session/dialog",
        "reme_metadata/ledger",
    ):
        assert workspace.absolute(folder).is_dir(), folder
    assert workspace.read("digest/wiki/a.md") == b"mine"


def test_a_staged_text_takes_its_place_in_one_step(workspace: Workspace) -> None:
    place = put(workspace, "digest/a.md", b"old")
    temporary = workspace.stage("digest/a.md", b"new")
    assert place.read_bytes() == b"old"
    assert is_leftover(Path(temporary).name)
    assert Path(temporary).parent == Path("digest")
    workspace.place(temporary, "digest/a.md")
    assert place.read_bytes() == b"new"
    assert workspace.walk("", (".md",)).leftovers == ()


def test_permissions_of_a_file_stay(workspace: Workspace) -> None:
    place = put(workspace, "a.md")
    place.chmod(0o640)
    workspace.place(workspace.stage("a.md", b"new"), "a.md")
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_new_files_follow_the_umask(workspace: Workspace) -> None:
    before = os.umask(0o027)
    try:
        workspace.place(workspace.stage("a.md", b"new"), "a.md")
    finally:
        os.umask(before)
    assert stat.S_IMODE(workspace.absolute("a.md").stat().st_mode) == 0o640


def test_a_missing_file_is_an_error_that_names_it(workspace: Workspace) -> None:
    with pytest.raises(NoteNotFoundError, match=r"a/b\.md"):
        workspace.read("a/b.md")
    put(workspace, "a")
    assert workspace.read_or_none("a/b.md") is None
    assert workspace.version_of("a/b.md") is None


def test_what_the_disk_refuses_is_a_fault_that_names_the_file(workspace: Workspace) -> None:
    put(workspace, "note.md")
    with pytest.raises(StoreFaultError, match=r"note\.md/x\.md"):
        workspace.stage("note.md/x.md", b"x")
    with pytest.raises(NoteNotFoundError):
        workspace.read("digest")


def test_the_walk_finds_what_may_be_memory(workspace: Workspace) -> None:
    for path in ("a.md", "digest/wiki/B.MD", "x/y/z.md", "resource/r.csv", "C# notes.md"):
        put(workspace, path)
    for path in (".hidden.md", ".git/x.md", "reme_metadata/x.md", "x/~$b.md", "x/b.md~", "x/.b.md.swp"):
        put(workspace, path)
    put(workspace, "x/n.sync-conflict-20260101-101010-ABC.md")
    put(workspace, "x/.reme-0123.tmp")
    scan = workspace.walk("", (".md", ".csv"))
    assert sorted(scan.stats) == ["C# notes.md", "a.md", "digest/wiki/B.MD", "resource/r.csv", "x/y/z.md"]
    assert scan.conflict_copies == ("x/n.sync-conflict-20260101-101010-ABC.md",)
    assert scan.leftovers == ("x/.reme-0123.tmp",)
    assert sorted(workspace.walk("x").stats) == ["x/y/z.md"]
    assert workspace.walk("nowhere").stats == {}


def test_the_walk_neither_follows_links_out_nor_hangs_on_pipes_and_loops(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("s", encoding="utf-8")
    workspace = Workspace(tmp_path / "root")
    put(workspace, "a.md")
    (workspace.root / "out.md").symlink_to(outside / "secret.md")
    (workspace.root / "folder").symlink_to(outside)
    (workspace.root / "loop").symlink_to(workspace.root)
    (workspace.root / "gone.md").symlink_to(outside / "nothing.md")
    (workspace.root / "alias.md").symlink_to("a.md")
    os.mkfifo(workspace.root / "pipe.md")
    assert sorted(workspace.walk().stats) == ["a.md", "alias.md"]
    assert workspace.walk().aliases == {"alias.md": "a.md"}


def test_stat_fields_vouch_only_for_a_file_that_is_not_brand_new(workspace: Workspace) -> None:
    place = put(workspace, "a.md", b"abc")
    loaded = workspace.load("a.md")
    assert loaded is not None
    assert not is_unchanged(loaded[1], place.stat()), "could change again within one tick of the clock"
    age(place)
    loaded = workspace.load("a.md")
    assert loaded is not None
    assert loaded == (b"abc", state_of(version(b"abc"), place.stat()))
    assert is_unchanged(loaded[1], place.stat())


def test_a_restored_time_does_not_hide_a_change(workspace: Workspace) -> None:
    place = put(workspace, "a.md", b"abc")
    age(place)
    loaded = workspace.load("a.md")
    assert loaded is not None
    before = place.stat()
    place.write_bytes(b"abd")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_unchanged(loaded[1], place.stat())


def test_empty_folders_go_up_to_the_layout(workspace: Workspace) -> None:
    workspace.absolute("digest/wiki/a/b").mkdir(parents=True)
    workspace.prune_empty("digest/wiki/a/b")
    assert not workspace.absolute("digest/wiki/a").exists()
    assert workspace.absolute("digest/wiki").is_dir()


def test_a_whole_file_is_replaced_or_untouched(workspace: Workspace) -> None:
    place = workspace.metadata / "ledger" / "x.json"
    replace_durably(place, b"1")
    replace_durably(place, b"22")
    assert place.read_bytes() == b"22"
    with pytest.raises(StoreFaultError):
        replace_durably(place / "below.json", b"3")
    assert [path.name for path in place.parent.iterdir()] == ["x.json"]
