"""The one resolver: what it refuses, what it adds, and what it tells a caller who is wrong."""

import os
from pathlib import Path
from typing import Any

import pytest

from reme_store import open_store
from reme_store.errors import InvalidPathError, NoteExistsError, NoteNotFoundError
from reme_store.paths import PathResolver, is_conflict_copy, is_memory, is_within, near, with_suffix


@pytest.fixture
def paths(tmp_path: Path) -> PathResolver:
    (tmp_path / "digest" / "wiki").mkdir(parents=True)
    return PathResolver(tmp_path)


def put(paths: PathResolver, path: str, text: str = "x\n") -> None:
    place = paths.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "path",
    [
        "../e.md",
        "a/../b.md",
        "a:b.md",
        "CON.md",
        "con.tar.md",
        "a/ b.md",
        "/etc/e.md",
        "~/x",
        "",
        "  ",
        "C:\\x.md",
        "a\\b.md",
    ],
)
def test_a_path_outside_the_rules_is_no_new_note(paths: PathResolver, path: str) -> None:
    with pytest.raises(InvalidPathError):
        paths.new(path)


@pytest.mark.parametrize(
    "name", ["a[1]", "a]", "a#b", "a|b", "a\nb", "a\x00b", "a\x7fb", "a?", 'a"b', "LPT1", "x ", "end.", "\ud800"]
)
def test_names_that_break_links_or_file_systems_are_not_new_names(paths: PathResolver, name: str) -> None:
    with pytest.raises(InvalidPathError):
        paths.new(f"digest/{name}/note.md")


@pytest.mark.parametrize("name", [".hidden.md", "~$x.md", ".x.swp", "x~", "a.sync-conflict-20260101-120000-ABCDEFG.md"])
def test_hidden_temporary_and_conflict_names_are_refused(paths: PathResolver, name: str) -> None:
    with pytest.raises(InvalidPathError):
        paths.new(f"digest/{name}")


def test_names_are_counted_in_bytes(paths: PathResolver) -> None:
    assert paths.new("digest/" + "长" * 84 + ".md")
    with pytest.raises(InvalidPathError, match="bytes long"):
        paths.new("digest/" + "长" * 85 + ".md")


@pytest.mark.parametrize(
    "name", ["my note (v1).md", "光伏产业.md", "naïve café.md", "v1.2.md", "a^b.md", "日本語/ノート.md"]
)
def test_names_of_every_script_are_new_names(paths: PathResolver, name: str) -> None:
    assert paths.new(f"digest/{name}") == f"digest/{name}"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("digest/a", "digest/a.md"),
        ("v1.2", "v1.2.md"),
        ("a.csv", "a.csv"),
        ("a.PNG", "a.PNG"),
        ("./digest//a.md", "digest/a.md"),
    ],
)
def test_a_path_without_a_known_suffix_means_markdown(paths: PathResolver, path: str, named: str) -> None:
    assert paths.new(path) == named
    assert with_suffix(path.removeprefix("./").replace("//", "/")) == named


def test_an_existing_name_against_the_rules_stays_readable(paths: PathResolver) -> None:
    put(paths, "C# notes.md")
    put(paths, "old [draft]/a:b.md")
    assert paths.note("C# notes.md") == "C# notes.md"
    assert paths.writable("old [draft]/a:b.md") == "old [draft]/a:b.md"
    with pytest.raises(InvalidPathError):
        paths.new("D# notes.md")
    assert paths.new("old [draft]/new.md") == "old [draft]/new.md"


def test_a_folder_comes_before_the_note_of_its_name_only_where_it_may(paths: PathResolver) -> None:
    put(paths, "digest/wiki/solar.md")
    put(paths, "digest/wiki/solar/panel.md")
    assert paths.target("digest/wiki/solar") == "digest/wiki/solar"
    assert paths.note("digest/wiki/solar") == "digest/wiki/solar.md"
    assert paths.target("digest/wiki/solar/panel") == "digest/wiki/solar/panel.md"


@pytest.mark.parametrize(
    ("existing", "wanted"),
    [
        ("digest/wiki/Site Map.md", "digest/wiki/site map.md"),
        ("digest/wiki/café.md", "digest/wiki/cafe\u0301.md"),
        ("digest/wiki/STRASSE.md", "digest/wiki/straße.md"),
        ("digest/wiki/Deep/x.md", "digest/wiki/deep/x.md"),
    ],
)
def test_a_new_path_equal_but_for_case_or_composition_names_the_existing_one(
    paths: PathResolver, existing: str, wanted: str
) -> None:
    put(paths, existing)
    with pytest.raises(NoteExistsError) as caught:
        paths.new(wanted)
    assert existing.startswith(caught.value.path)
    assert caught.value.path in str(caught.value)


def test_metadata_is_read_but_not_written(paths: PathResolver) -> None:
    put(paths, "reme_metadata/reports/r.md")
    assert paths.note("reme_metadata/reports/r.md")
    for path in ("reme_metadata/x.md", "Reme_Metadata/x.md"):
        with pytest.raises(InvalidPathError):
            paths.new(path)
    with pytest.raises(InvalidPathError):
        paths.writable("reme_metadata/reports/r.md")


def test_a_symbolic_link_that_leaves_is_refused_everywhere(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (outside / "secret.md").write_text("s", encoding="utf-8")
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    (root / "dangling.md").symlink_to(tmp_path / "nowhere.md")
    paths = PathResolver(root)
    for call in (paths.note, paths.new, paths.target, paths.writable):
        for path in ("link.md", "folder/secret.md", "folder/new.md", "dangling.md"):
            with pytest.raises(InvalidPathError):
                call(path)
    with pytest.raises(InvalidPathError):
        paths.folder("folder")


def test_a_symbolic_link_that_stays_means_what_it_points_to(paths: PathResolver) -> None:
    put(paths, "digest/wiki/a.md")
    (paths.root / "alias.md").symlink_to(paths.root / "digest/wiki/a.md")
    assert paths.writable("alias.md") == "digest/wiki/a.md"


def test_the_root_itself_may_be_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert PathResolver(tmp_path / "link").note("a.md") == "a.md"


def test_a_missing_note_names_near_matches(tmp_path: Path) -> None:
    known = ["digest/wiki/solar-power.md", "digest/wiki/wind.md", "daily/2026-01-01/solar-power.md"]
    paths = PathResolver(tmp_path, lambda: known)
    with pytest.raises(NoteNotFoundError, match=r"digest/wiki/solar-power\.md"):
        paths.note("wiki/solar-power.md")
    assert near("digest/wiki/solar-pwer.md", known)[0] == "digest/wiki/solar-power.md"
    assert near("zzz", known) == []


def test_whether_a_path_is_memory() -> None:
    assert is_memory("digest/wiki/a.md")
    assert is_memory("Bob's notes (copy).md")
    for path in (
        "reme_metadata/a.md",
        ".obsidian/a.md",
        "a/.b/c.md",
        "a/~$b.md",
        "b~",
        "n (Bob's conflicted copy 2026-01-01).md",
    ):
        assert not is_memory(path), path
    assert is_conflict_copy("n.sync-conflict-20260101-101010-ABC.md")
    assert not is_conflict_copy("how a conflict copy comes about.md")


def test_within_goes_by_whole_segments() -> None:
    assert is_within("a/b", "a")
    assert is_within("a", "a")
    assert is_within("x", "")
    assert not is_within("ab/c", "a")


def test_unreadable_bytes_in_a_name_are_no_reason_to_fail(paths: PathResolver) -> None:
    os.close(os.open(bytes(paths.root) + b"/digest/wiki/\xff.md", os.O_CREAT | os.O_WRONLY))
    assert paths.new("digest/wiki/other.md") == "digest/wiki/other.md"


def test_a_symbolic_link_that_leads_nowhere_is_named_and_hurts_nobody(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        (tmp_path / "loop.md").symlink_to("loop.md")
        (tmp_path / "dangling.md").symlink_to("missing.md")
        for ask in (store.read, store.stat, lambda path: store.write(path, "x")):
            with pytest.raises(InvalidPathError, match=r"'loop\.md' is a symbolic link"):
                ask("loop.md")
        with pytest.raises(InvalidPathError, match=r"missing\.md"):
            store.write("dangling.md", "x")
        assert [entry["path"] for entry in store.list(".").metadata["entries"] if not entry["is_dir"]] == []
        assert store.health_check().metadata["health"]["healthy"]


def test_a_path_too_long_is_told_so_by_every_tool(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for long, told in (("x" * 253, "253|256"), ("x/" * 1500 + "a.md", "2048")):
            for ask in (store.read, store.stat, store.list, store.delete, lambda path: store.write(path, "x")):
                with pytest.raises((InvalidPathError, NoteNotFoundError), match=f"{told}|there is no"):
                    ask(long)


def test_a_folder_that_is_read_as_a_note_is_told_so(paths: PathResolver) -> None:
    with pytest.raises(NoteNotFoundError, match="list shows"):
        paths.note("digest")


def test_what_somebody_makes_meanwhile_is_no_twin_of_itself(
    paths: PathResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def after_another_process(place: Any) -> Any:
        (paths.root / "daily" / "Sub").mkdir(parents=True, exist_ok=True)
        return scandir(place)

    monkeypatch.setattr(os, "scandir", after_another_process)
    paths.check_new("daily/Sub/note.md")
    with pytest.raises(NoteExistsError, match="daily/Sub"):
        paths.check_new("daily/sub/note.md")


def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        os.mkfifo(tmp_path / "pipe.md")
        for ask in (store.read, store.delete, lambda path: store.append(path, "x")):
            with pytest.raises(NoteNotFoundError):
                ask("pipe.md")
        with pytest.raises(InvalidPathError, match="pipe"):
            store.write("pipe.md", "x", overwrite=True)
        store.reindex()
        assert store.health_check().metadata["health"]["healthy"]
