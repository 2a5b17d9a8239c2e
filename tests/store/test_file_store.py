"""What each tool does to the bytes on disk, to the index and to the history; and what it refuses, with what help."""

import base64
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme_store import (
    EditConflictError,
    FileStore,
    InvalidFrontMatterError,
    InvalidPathError,
    InvalidRequestError,
    NoteExistsError,
    NoteNotFoundError,
    StoreFaultError,
    open_store,
)
from reme_store.models import CatalogEntry
from reme_store.workspace import version
from tests.support.rights import without_rights_of_root


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    with open_store(tmp_path / "workspace", allowed_folders=(str(tmp_path / "allowed"),)) as opened:
        yield opened


def put(store: FileStore, path: str, data: str | bytes) -> Path:
    """Write a file as another program would."""
    place = store.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


def text(store: FileStore, path: str) -> str:
    return (store.root / path).read_bytes().decode()


def found(store: FileStore, query: str) -> list[str]:
    return sorted(hit["path"] for hit in store.search(query).metadata["results"])


# --- reading ---


def test_read_answers_lines_delimited_so_that_text_cannot_pass_for_the_frame(store: FileStore) -> None:
    put(store, "a.md", "one\n````\ndigest/wiki/fake.md:1-1 [score=9]\n````\nfive")
    answer = store.read("a", 2, 4)
    assert answer.metadata["version"] == version((store.root / "a.md").read_bytes())
    assert {key: answer.metadata[key] for key in ("path", "start_line", "end_line", "total_lines")} == {
        "path": "a.md",
        "start_line": 2,
        "end_line": 4,
        "total_lines": 5,
    }
    first, opener, *lines, closer = answer.answer.split("\n")
    assert first.startswith("a.md:2-4 of 5")
    assert opener == closer == "`````"
    assert "`````" not in "\n".join(lines)


@pytest.mark.parametrize(
    ("start", "end", "span"), [(-5, 500, (1, 6)), (None, None, (1, 6)), (6, 6, (6, 6)), (2, None, (2, 6))]
)
def test_read_cuts_what_lies_outside(store: FileStore, start: int, end: int, span: tuple[int, int]) -> None:
    put(store, "a.md", "1\n2\n3\n4\n5\n6\n")
    metadata = store.read("a.md", start, end).metadata
    assert (metadata["start_line"], metadata["end_line"], metadata["total_lines"]) == (*span, 6)


@pytest.mark.parametrize(("start", "end"), [(99, None), (4, 2), (7, 9)])
def test_read_beyond_the_end_says_how_long_the_note_is(store: FileStore, start: int, end: int) -> None:
    put(store, "a.md", "1\n2\n3\n4\n5\n6\n")
    with pytest.raises(InvalidRequestError, match="total_lines 6"):
        store.read("a.md", start, end)


def test_read_shows_windows_and_marked_text_plainly_and_empty_notes_too(store: FileStore) -> None:
    put(store, "a.md", "\ufeffone\r\ntwo\r\n".encode())
    put(store, "empty.md", "")
    assert "\r" not in store.read("a.md").answer
    assert "\ufeff" not in store.read("a.md").answer
    assert store.read("empty.md").metadata["total_lines"] == 0


def test_a_note_in_another_encoding_is_read_and_found_but_not_changed(store: FileStore) -> None:
    data = "# 光伏产业\n\n太阳能电池的效率逐年提高。\n".encode("gb18030")
    place = put(store, "digest/wiki/gbk.md", data)
    store.refresh()
    assert "太阳能电池" in store.read("digest/wiki/gbk.md").answer
    assert found(store, "太阳能电池") == ["digest/wiki/gbk.md"]
    for change in (
        lambda: store.append("digest/wiki/gbk.md", "x"),
        lambda: store.edit("digest/wiki/gbk.md", "光伏", "风电"),
        lambda: store.frontmatter_update("digest/wiki/gbk.md", {"a": 1}),
        lambda: store.write("digest/wiki/gbk.md", "x", overwrite=True),
        lambda: store.apply({"digest/wiki/gbk.md": "x"}),
    ):
        with pytest.raises(InvalidRequestError, match="UTF-8"):
            change()
    assert place.read_bytes() == data


def test_text_with_a_nul_is_a_note_and_binary_is_none(store: FileStore) -> None:
    put(store, "nul.md", "walrus\x00\n")
    put(store, "binary.md", bytes(range(256)) * 8)
    store.refresh()
    assert found(store, "walrus") == ["nul.md"]
    store.append("nul.md", "more")
    assert text(store, "nul.md") == "walrus\x00\nmore\n"
    with pytest.raises(InvalidRequestError, match="no text"):
        store.read("binary.md")
    problems = store.health_check().metadata["health"]["problems"]
    assert {"nul.md", "binary.md"} <= {problem["path"] for problem in problems}


def test_an_image_is_read_up_to_a_bound(store: FileStore) -> None:
    put(store, "digest/a.PNG", b"\x89PNG" + bytes(5 * 1024 * 1024 - 4))
    put(store, "digest/b.png", b"\x89PNG" + bytes(5 * 1024 * 1024 - 3))
    put(store, "digest/c.md", "x")
    answer = store.read_image("digest/a.PNG")
    assert answer.metadata["mime"] == "image/png"
    assert len(base64.b64decode(answer.metadata["base64"])) == 5 * 1024 * 1024
    with pytest.raises(InvalidRequestError, match="5242881 bytes"):
        store.read_image("digest/b.png")
    with pytest.raises(InvalidRequestError, match="no image"):
        store.read_image("digest/c.md")


def test_list_shows_what_is_there_and_says_when_it_stops(store: FileStore) -> None:
    for name in "abc":
        put(store, f"digest/wiki/{name}.md", "x")
    put(store, "digest/wiki/.hidden.md", "x")
    answer = store.list("digest/wiki", limit=2)
    assert [entry["path"] for entry in answer.metadata["entries"]] == ["digest/wiki/a.md", "digest/wiki/b.md"]
    assert answer.metadata["truncated"] is True
    everything = store.list(".", recursive=True).metadata
    assert everything["truncated"] is False
    assert not any(entry["path"].startswith("reme_metadata") for entry in everything["entries"])
    for path, limit in (("nope", 10), ("digest/wiki/a.md", 10), ("digest", 0), ("digest", -1), ("..", 5)):
        with pytest.raises(InvalidRequestError):
            store.list(path, limit=limit)


def test_stat_of_a_folder_beats_the_note_of_its_name(store: FileStore) -> None:
    put(store, "digest/solar.md", "x")
    put(store, "digest/solar/panel.md", "x")
    assert store.stat("digest/solar").metadata["is_dir"] is True
    assert store.stat("digest/solar.md").metadata["is_file"] is True
    assert store.stat("nope").metadata == {
        "path": "nope.md",
        "exists": False,
        "is_dir": False,
        "is_file": False,
        "size": None,
        "mtime": None,
    }
    assert store.stat(".").metadata["is_dir"] is True


def test_tags_are_counted_and_lead_to_notes(store: FileStore) -> None:
    store.write("digest/wiki/a.md", "x", name="A", metadata={"tags": ["Energy", "#solar"]})
    store.write("digest/wiki/b.md", "x", metadata={"tags": "energy, wind"})
    assert store.tags_list().metadata["tags"][0]["count"] == 1
    assert {entry["tag"] for entry in store.tags_list().metadata["tags"]} == {"Energy", "solar", "energy", "wind"}
    stat = store.tags_stat("#ENERGY").metadata
    assert [note["path"] for note in stat["notes"]] == ["digest/wiki/a.md", "digest/wiki/b.md"]
    with pytest.raises(InvalidRequestError):
        store.tags_stat(" ")


def test_what_is_no_text_is_no_tag(store: FileStore) -> None:
    put(store, "none.md", "no front matter")
    put(store, "null.md", "---\ntags:\n---\n")
    put(store, "odd.md", "---\ntags: [plain, 2026, true, null, [x], {k: v}]\n---\n")
    store.refresh()
    assert {entry["tag"]: entry["count"] for entry in store.tags_list().metadata["tags"]} == {
        "plain": 1,
        "2026": 1,
        "true": 1,
    }


def test_only_markdown_has_front_matter(store: FileStore) -> None:
    block = "---\ntopics: []\n---\nmore: 1\n"
    for given in ({"name": "n"}, {"description": "d"}, {"metadata": {"k": 1}}):
        with pytest.raises(InvalidRequestError, match="not markdown"):
            store.write("a.yaml", "k: 1", **given)  # type: ignore[arg-type]
    store.write("a.yaml", block)
    store.edit("a.yaml", "topics: []", "topics: [x]")
    store.prepend("a.yaml", "---\n# first")
    assert text(store, "a.yaml") == "---\n# first\n---\ntopics: [x]\n---\nmore: 1\n"
    store.write("a.yaml", "k: 2", overwrite=True)
    assert text(store, "a.yaml") == "k: 2\n"
    put(store, "a.csv", "\ufeffa;b\r\n")
    store.write("a.csv", "c;d\n1;2", overwrite=True)
    assert text(store, "a.csv") == "\ufeffc;d\r\n1;2\r\n"


@pytest.mark.parametrize("name", ["d.md", "d.jsonl"])
def test_a_folder_may_be_called_like_a_note(store: FileStore, name: str) -> None:
    put(store, f"{name}/x.md", "walrus")
    store.write("s.md", f"[[{name}/x.md]]")
    store.refresh()
    store.move(name, f"e-{name}")
    assert text(store, "s.md") == f"[[e-{name}/x.md]]\n"
    assert found(store, "walrus") == [f"e-{name}/x.md"]
    store.delete(f"e-{name}", recursive=True)
    assert found(store, "walrus") == []
    assert store.health_check().metadata["health"]["drift"] == []


def test_what_may_not_be_read_keeps_nobody_from_the_rest(tmp_path: Path) -> None:
    with without_rights_of_root(), open_store(tmp_path) as store:
        for path in ("a.md", "shut.md", "folder/in.md"):
            put(store, path, f"walrus [[{path}]]")
        store.refresh()
        put(store, "shut.md", "walrus changed")
        put(store, "new.md", "walrus")
        closed = [(store.root / "shut.md", 0o644), (store.root / "new.md", 0o644), (store.root / "folder", 0o755)]
        (store.root / "folder").chmod(0o444)
        assert store.refresh()["deleted"] == 0
        for place, _ in closed:
            place.chmod(0)
        assert store.refresh() == {"added": 0, "modified": 0, "deleted": 0, "unchanged": 3}
        assert {path for path in found(store, "walrus") if path != "shut.md"} >= {"a.md"}
        store.move("a.md", "b.md")
        assert text(store, "b.md") == "walrus [[b.md]]"
        assert [entry["path"] for entry in store.list(".", recursive=True).metadata["entries"] if entry["is_dir"]]
        health = store.health_check().metadata["health"]
        assert {entry["path"] for entry in health["problems"]} >= {"shut.md", "new.md", "folder"}
        for fails in (store.read, store.stat, lambda path: store.write(path, "x"), store.list):
            with pytest.raises(StoreFaultError, match="folder"):
                fails("folder" if fails == store.list else "folder/in.md")
        assert store.reindex().metadata["counts"]["added"] == 0
        for place, mode in closed:
            place.chmod(mode)
        store.refresh()
        assert found(store, "walrus") == ["b.md", "folder/in.md", "new.md", "shut.md"]


def test_what_the_disk_refuses_leaves_no_folders_behind(tmp_path: Path) -> None:
    with without_rights_of_root(), open_store(tmp_path) as store:
        put(store, "folder/in.md", "x").parent.chmod(0o555)
        for refused in (lambda: store.move("folder/in.md", "made/in.md"), lambda: store.delete("folder/in.md")):
            with pytest.raises(StoreFaultError, match=r"folder/in\.md"):
                refused()
        assert not (store.root / "made").exists()
        assert not list((store.root / "reme_metadata/trash").iterdir())
        (store.root / "folder").chmod(0o755)


# --- changing ---


def test_a_write_is_found_at_once_and_a_change_replaces_what_was_found(store: FileStore) -> None:
    store.write("digest/wiki/a", "walrus", name="a")
    assert found(store, "walrus") == ["digest/wiki/a.md"]
    store.edit("digest/wiki/a", "walrus", "narwhal")
    assert (found(store, "walrus"), found(store, "narwhal")) == ([], ["digest/wiki/a.md"])
    store.delete("digest/wiki/a")
    assert found(store, "narwhal") == []


def test_write_compares_before_it_replaces(store: FileStore) -> None:
    made = store.write("a.md", "one").metadata["version"]
    put(store, "a.md", "edited by hand\n")
    with pytest.raises(EditConflictError):
        store.write("a.md", "two", overwrite=True, expected_version=made)
    with pytest.raises(EditConflictError):
        store.write("never.md", "two", expected_version=made)
    assert text(store, "a.md") == "edited by hand\n"
    now = store.read("a.md").metadata["version"]
    store.write("a.md", "two", expected_version=now)
    assert text(store, "a.md") == "two\n"


def test_what_changes_nothing_touches_nothing(store: FileStore) -> None:
    store.write("a.md", "one", name="n")
    before = (store.root / "a.md").stat()
    store.write("a.md", "one", name="n", overwrite=True)
    store.frontmatter_update("a.md", {"name": "n"})
    store.apply({"a.md": text(store, "a.md"), "never.md": None})
    assert (store.root / "a.md").stat().st_ctime_ns == before.st_ctime_ns
    assert len(store.history("a.md").metadata["versions"]) == 1


def test_front_matter_is_refused_where_there_can_be_none(store: FileStore) -> None:
    put(store, "a.csv", "x,y\n")
    put(store, "broken.md", "---\nname: [unclosed\n---\nbody\n")
    with pytest.raises(InvalidRequestError, match="not markdown"):
        store.frontmatter_update("a.csv", {"a": 1})
    with pytest.raises(InvalidFrontMatterError, match="line"):
        store.frontmatter_read("broken.md")
    with pytest.raises(InvalidFrontMatterError):
        store.frontmatter_delete("broken.md", ["name"])
    with pytest.raises(InvalidRequestError, match="empty"):
        store.frontmatter_update("broken.md", {})


def test_a_tool_redoes_its_change_on_a_text_that_changed_under_it(store: FileStore) -> None:
    store.write("a.md", "one")
    carried_out = store.workspace.stage

    def stage_and_lose_the_race(path: str, data: bytes) -> str:
        temporary = carried_out(path, data)
        store.workspace.stage = carried_out  # type: ignore[method-assign]  # only once
        put(store, "a.md", "one\nby hand\n")
        return temporary

    store.workspace.stage = stage_and_lose_the_race  # type: ignore[method-assign]  # an editor saves right now
    store.append("a.md", "by tool")
    assert text(store, "a.md") == "one\nby hand\nby tool\n"


def test_missing_notes_are_named_with_what_was_meant(store: FileStore) -> None:
    store.write("digest/wiki/solar-power.md", "x")
    for call in (
        lambda: store.read("digest/wiki/solar-powr"),
        lambda: store.edit("wiki/solar-power.md", "x", "y"),
        lambda: store.append("digest/personal/solar-power.md", "y"),
        lambda: store.move("solar-power", "digest/wiki/b.md"),
        lambda: store.delete("solar-power.md"),
    ):
        with pytest.raises(NoteNotFoundError, match=r"digest/wiki/solar-power\.md"):
            call()


# --- moving and deleting ---


def test_a_move_takes_every_link_along_and_no_other_byte(store: FileStore) -> None:
    body = "see [[./digest/wiki/a.md#Sec|A]], ![[digest/wiki/a.md]]; `[[digest/wiki/a.md]]`\r\n| x |\n"
    put(store, "daily/2026-01-01.md", body)
    put(store, "digest/wiki/a.md", "---\nself: '[[digest/wiki/a.md]]'\n---\nrel:: [[digest/wiki/a.md]]\n")
    put(store, "digest/wiki/other.md", "[[digest/wiki/a]] [[digest/wiki/a.md.bak]]\n")
    store.refresh()
    answer = store.move("digest/wiki/a.md", "digest/personal/new name.md")
    assert answer.metadata["moved"] == ["digest/personal/new name.md"]
    assert answer.metadata["links_changed"] == 4
    assert answer.metadata["by_file"] == [
        {"path": "daily/2026-01-01.md", "count": 2},
        {"path": "digest/personal/new name.md", "count": 2},
    ]
    expected = body.replace("./digest/wiki/a.md#Sec", "digest/personal/new name.md#Sec", 1)
    assert text(store, "daily/2026-01-01.md") == expected.replace(
        "![[digest/wiki/a.md", "![[digest/personal/new name.md"
    )
    assert "[[digest/wiki/a.md]]" not in text(store, "digest/personal/new name.md")
    assert text(store, "digest/wiki/other.md") == "[[digest/wiki/a]] [[digest/wiki/a.md.bak]]\n"
    assert {link.source_path for link in store.inlinks("digest/personal/new name.md")} == {
        "daily/2026-01-01.md",
        "digest/personal/new name.md",
    }
    assert store.inlinks("digest/wiki/a.md") == []


def test_a_move_may_leave_the_links(store: FileStore) -> None:
    store.write("a.md", "[[b.md]]")
    store.write("b.md", "x")
    assert store.move("b.md", "digest/b.md", retarget=False).metadata["links_changed"] == 0
    assert text(store, "a.md") == "[[b.md]]\n"


def test_a_folder_moves_with_all_that_is_in_it(store: FileStore) -> None:
    put(store, "projects/solar/plan.md", "[[projects/solar/deep/data.md]] ![[projects/solar/chart.png]]\n")
    put(store, "projects/solar/deep/data.md", "[[projects/solar/plan.md|back]]\n")
    put(store, "projects/solar/chart.png", b"\x89PNG")
    put(store, "projects/solar/.obsidian/app.json", "{}")
    put(store, "daily/d.md", "[[projects/solar/plan.md]] [[projects/solarium.md]]\n")
    store.refresh()
    answer = store.move("projects/solar", "archive/2026/sun")
    assert answer.metadata["links_changed"] == 4
    assert (
        text(store, "archive/2026/sun/plan.md") == "[[archive/2026/sun/deep/data.md]] ![[archive/2026/sun/chart.png]]\n"
    )
    assert text(store, "archive/2026/sun/deep/data.md") == "[[archive/2026/sun/plan.md|back]]\n"
    assert text(store, "daily/d.md") == "[[archive/2026/sun/plan.md]] [[projects/solarium.md]]\n"
    assert (store.root / "archive/2026/sun/.obsidian/app.json").exists()
    assert not (store.root / "projects/solar").exists()
    assert set(store.index.known()) >= {"archive/2026/sun/plan.md", "archive/2026/sun/deep/data.md"}
    assert store.refresh() == {"added": 0, "modified": 0, "deleted": 0, "unchanged": 3}


def test_moves_that_cannot_be_meant_are_refused_with_help(store: FileStore) -> None:
    store.write("digest/wiki/a.md", "x")
    store.write("digest/wiki/b.md", "x")
    put(store, "digest/wiki/f/c.md", "x")
    put(store, "resource/t.csv", "x")
    for source, target, help_text in (
        ("digest/wiki/a.md", "b.md", "./b.md"),
        ("digest/wiki/a.md", "digest/wiki/b.md", "overwrite"),
        ("digest/wiki/a.md", "digest/wiki/f", "digest/wiki/f/a.md"),
        ("digest/wiki/f", "digest/wiki/f/g", "into itself"),
        ("digest/wiki", "digest/x", "layout"),
        ("resource/t.csv", "resource/u", "suffix"),
        ("digest/wiki/a.md", "digest/wiki/B.md", "case"),
        ("digest/wiki/a.md", "digest/wiki/x[1].md", "breaks links"),
        ("digest/wiki/a.md", "reme_metadata/a.md", "keeps for itself"),
        ("digest/wiki/f", "digest/personal", "never replaced"),
    ):
        with pytest.raises(InvalidRequestError) as caught:
            store.move(source, target)
        assert help_text in str(caught.value), (source, target)
    assert store.move("digest/wiki/a.md", "digest/wiki/a.md").metadata["links_changed"] == 0
    assert store.move("digest/wiki/a.md", "digest/wiki/A.md").metadata["moved"] == ["digest/wiki/A.md"]
    assert store.move("digest/wiki/A.md", "./top.md").metadata["moved"] == ["top.md"]
    assert store.move("top", "topmost").metadata["moved"] == ["topmost.md"]


def test_a_replaced_note_is_in_the_trash_and_in_the_history(store: FileStore) -> None:
    store.write("digest/a.md", "new")
    store.write("digest/b.md", "old")
    old = store.version_of("digest/b.md")
    store.move("digest/a.md", "digest/b.md", overwrite=True)
    assert text(store, "digest/b.md") == "new\n"
    assert [path.read_text() for path in (store.root / "reme_metadata/trash").rglob("*.md")] == ["old\n"]
    assert old is not None


def test_a_note_against_the_rules_can_be_moved_to_a_better_name(store: FileStore) -> None:
    put(store, "C# notes.md", "sharp\n")
    store.refresh()
    assert found(store, "sharp") == ["C# notes.md"]
    assert any(problem["path"] == "C# notes.md" for problem in store.health_check().metadata["health"]["problems"])
    store.move("C# notes.md", "digest/c-sharp.md")
    assert found(store, "sharp") == ["digest/c-sharp.md"]


def test_catalogs_follow_a_move_and_what_was_processed_stays_processed(store: FileStore) -> None:
    store.write("daily/2026-01-01.md", "see [[digest/wiki/hub.md]]")
    store.write("daily/2026-01-02.md", "see [[digest/wiki/hub.md]]")
    store.write("digest/wiki/hub.md", "me: [[digest/wiki/hub.md]]")
    hashes = {path: store.version_of(path) or "" for path in ("daily/2026-01-01.md", "digest/wiki/hub.md")}
    store.catalog("dream").update({path: CatalogEntry(sha) for path, sha in hashes.items()})
    store.catalog("dream").update({"daily/2026-01-02.md": CatalogEntry("stale")})
    store.move("digest/wiki/hub.md", "digest/wiki/center.md")
    entries = store.catalog("dream").items()
    assert set(entries) == {"daily/2026-01-01.md", "daily/2026-01-02.md", "digest/wiki/center.md"}
    assert entries["daily/2026-01-01.md"].sha256 == store.version_of("daily/2026-01-01.md")
    assert entries["digest/wiki/center.md"].sha256 == store.version_of("digest/wiki/center.md")
    assert entries["daily/2026-01-02.md"].sha256 == "stale"


def test_a_deletion_tells_which_links_it_leaves_behind(store: FileStore) -> None:
    store.write("digest/a.md", "[[digest/f/x.md]] [[digest/f/x.md#s]]")
    store.write("digest/b.md", "[[digest/f/y.md]]")
    store.write("digest/f/x.md", "[[digest/f/y.md]] [[digest/f/x.md]]")
    store.write("digest/f/y.md", "")
    answer = store.delete("digest/f", recursive=True)
    assert answer.metadata["deleted"] == ["digest/f/x.md", "digest/f/y.md"]
    assert answer.metadata["inbound"] == {
        "files_touched": 2,
        "links_total": 3,
        "by_file": [{"path": "digest/a.md", "count": 2}, {"path": "digest/b.md", "count": 1}],
    }
    assert sorted(store.index.known()) == ["digest/a.md", "digest/b.md"]
    broken = [p for p in store.health_check().metadata["health"]["problems"] if "target" in p]
    assert {problem["target"] for problem in broken} == {"digest/f/x.md", "digest/f/y.md"}


@pytest.mark.parametrize(
    "path", [".", "./", "", "daily", "digest/wiki", "reme_metadata", "reme_metadata/lock", "digest/..", "reme_session"]
)
def test_what_belongs_to_the_workspace_is_not_deleted(store: FileStore, path: str) -> None:
    with pytest.raises(InvalidRequestError):
        store.delete(path, recursive=True)
    assert (store.root / "digest/wiki").is_dir()


# --- many files at once ---


def test_apply_lands_files_and_records_together(store: FileStore) -> None:
    store.write("digest/wiki/old.md", "x")
    versions = store.apply(
        {"digest/wiki/a": "one\n", "digest/wiki/b.md": b"two\n", "digest/wiki/old.md": None},
        expected={"digest/wiki/a.md": None},
        records={"ledger/dream.json": b"{}"},
    )
    assert versions == {
        "digest/wiki/a": version(b"one\n"),
        "digest/wiki/b.md": version(b"two\n"),
        "digest/wiki/old.md": None,
    }
    assert store.records.read("ledger/dream.json") == b"{}"
    assert found(store, "one") == ["digest/wiki/a.md"]
    assert store.records.names("ledger/") == ["ledger/dream.json"]


def test_apply_changes_nothing_where_one_version_is_another(store: FileStore) -> None:
    store.write("a.md", "one")
    for expected in ({"a.md": "0" * 64}, {"a.md": None}, {"missing.md": version(b"")}):
        with pytest.raises(EditConflictError):
            store.apply({"b.md": "two", "a.md": "three"}, expected=expected, records={"ledger/l.json": b"1"})
    assert not (store.root / "b.md").exists()
    assert store.records.read("ledger/l.json") is None
    assert text(store, "a.md") == "one\n"


def test_paths_of_an_application_are_checked_like_any_other(store: FileStore) -> None:
    for path in ("../x.md", "reme_metadata/x.md", "a[1].md", "/etc/x.md"):
        with pytest.raises(InvalidPathError):
            store.apply({path: "x"})
    for name in ("lock", "../x", "history/00000001.log", "ledger/.x", "ledger", "trash/x"):
        with pytest.raises(InvalidPathError):
            store.records.write(name, b"x")


# --- history ---


def test_history_names_who_and_why_and_versions_come_back(store: FileStore) -> None:
    first = store.write("a.md", "one").metadata["version"]
    with store.journal(tool="auto_dream", run_id="run-7", reason="unit 3"):
        second = store.edit("a.md", "one", "two").metadata["version"]
    put(store, "a.md", "by hand\n")
    store.append("a.md", "three")
    versions = store.history("a.md").metadata["versions"]
    assert [(each["tool"], each["run_id"], each["reason"]) for each in versions] == [
        ("append", "", ""),
        ("", "", ""),
        ("auto_dream", "run-7", "unit 3"),
        ("write", "", ""),
    ]
    assert [each["version"] for each in versions[2:]] == [second, first]
    assert [each["available"] for each in versions] == [True, True, False, True]
    diff = store.diff("a.md", first[:10]).metadata["diff"]
    assert "-one\n" in diff
    assert "+three\n" in diff
    assert store.restore("a.md", first).metadata == {"path": "a.md", "version": first}
    assert text(store, "a.md") == "one\n"
    assert found(store, "one") == ["a.md"]
    with pytest.raises(InvalidRequestError, match="no longer kept"):
        store.restore("a.md", second)
    with pytest.raises(InvalidRequestError):
        store.restore("a.md", "ffff")


def test_history_follows_moves_and_survives_deletion(store: FileStore) -> None:
    first = store.write("digest/a.md", "me: [[digest/a.md]]").metadata["version"]
    store.move("digest/a.md", "digest/b.md")
    store.move("digest/b.md", "digest/f/c.md")
    store.delete("digest/f", recursive=True)
    versions = store.history("digest/f/c.md").metadata["versions"]
    assert [each["tool"] for each in versions] == ["delete", "move", "move", "write"]
    assert versions[0]["version"] == ""
    last = versions[1]["version"]
    store.restore("digest/f/c.md", last)
    assert text(store, "digest/f/c.md") == "me: [[digest/f/c.md]]\n"
    store.restore("digest/f/c.md", first)
    assert text(store, "digest/f/c.md") == "me: [[digest/a.md]]\n"


def test_history_of_what_never_was_is_an_error_with_help(store: FileStore) -> None:
    put(store, "new.md", "x")
    assert store.history("new.md").metadata["versions"] == []
    with pytest.raises(NoteNotFoundError):
        store.history("never.md")


def test_a_run_is_undone_whole_and_only_once(store: FileStore) -> None:
    store.write("digest/a.md", "[[digest/b.md]]")
    store.write("digest/b.md", "b")
    store.write("digest/c.md", "c")
    before = {path: text(store, path) for path in ("digest/a.md", "digest/b.md", "digest/c.md")}
    with store.journal(tool="agent", run_id="r1", reason="test"):
        store.move("digest/b.md", "digest/z.md")
        store.edit("digest/z.md", "b", "changed")
        store.append("digest/a.md", "more")
        store.delete("digest/c.md")
        store.write("digest/new.md", "n")
    answer = store.undo_run("r1")
    assert answer.metadata["skipped"] == []
    assert set(answer.metadata["undone"]) >= {*before, "digest/new.md"}
    assert {path: text(store, path) for path in before} == before
    assert not (store.root / "digest/new.md").exists()
    assert not (store.root / "digest/z.md").exists()
    assert sorted(store.index.known()) == sorted(before)
    for run in ("r1", "never", ""):
        with pytest.raises(NoteNotFoundError):
            store.undo_run(run)


def test_an_undo_leaves_what_was_changed_since(store: FileStore) -> None:
    with store.journal(tool="agent", run_id="r1"):
        store.write("a.md", "a")
        store.write("b.md", "b")
    store.append("a.md", "by a person")
    answer = store.undo_run("r1")
    assert answer.metadata["undone"] == ["b.md"]
    assert [entry["path"] for entry in answer.metadata["skipped"]] == ["a.md"]
    assert text(store, "a.md") == "a\nby a person\n"
    with pytest.raises(EditConflictError, match=r"a\.md"):
        store.undo_run("r1")


def test_one_file_is_named_once_in_an_application(store: FileStore) -> None:
    with pytest.raises(InvalidPathError, match="same file"):
        store.apply({"a": "one", "a.md": "two"})


# --- in and out ---


def test_copies_come_and_go_only_where_the_caller_allowed(store: FileStore, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "in.csv").write_bytes(b"a,b\n")
    (tmp_path / "secret.txt").write_bytes(b"s")
    (allowed / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert store.upload("resource/2026-01-01/in.csv", str(allowed / "in.csv")).metadata["bytes"] == 4
    assert store.download("resource/2026-01-01/in.csv", str(allowed / "out.csv")).metadata["bytes"] == 4
    assert (allowed / "out.csv").read_bytes() == b"a,b\n"
    for source in (
        tmp_path / "secret.txt",
        allowed / "link.txt",
        allowed / ".." / "secret.txt",
        allowed / "none",
        "in.csv",
    ):
        with pytest.raises(InvalidPathError):
            store.upload("resource/x.txt", str(source))
    for destination in (tmp_path / "x.csv", allowed / "no" / "x.csv"):
        with pytest.raises(InvalidPathError):
            store.download("resource/2026-01-01/in.csv", str(destination))
    with pytest.raises(NoteExistsError):
        store.download("resource/2026-01-01/in.csv", str(allowed / "out.csv"))
    with pytest.raises(NoteExistsError):
        store.upload("resource/2026-01-01/in.csv", str(allowed / "in.csv"))


# --- disk and index ---


def test_refresh_counts_what_other_programs_did(store: FileStore) -> None:
    store.refresh()
    put(store, "a.md", "one")
    put(store, "b.md", "two")
    assert store.refresh() == {"added": 2, "modified": 0, "deleted": 0, "unchanged": 0}
    put(store, "a.md", "uno")
    (store.root / "b.md").rename(store.root / "c.md")
    assert store.refresh() == {"added": 1, "modified": 1, "deleted": 1, "unchanged": 0}
    os.utime(store.root / "a.md", (1, 1))
    assert store.refresh() == {"added": 0, "modified": 0, "deleted": 0, "unchanged": 2}
    answer = store.reindex()
    assert answer.answer == "🔄 Reindexed 2 file(s)"
    assert answer.metadata["counts"] == {"added": 0, "modified": 0, "deleted": 0, "unchanged": 2}


def test_what_changed_while_the_store_was_closed_is_found_by_the_first_search(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.write("a.md", "walrus")
    (tmp_path / "a.md").write_text("narwhal", encoding="utf-8")
    (tmp_path / "digest/wiki/b.md").write_text("narwhal too", encoding="utf-8")
    with open_store(tmp_path) as store:
        assert found(store, "narwhal") == ["a.md", "digest/wiki/b.md"]
        assert found(store, "walrus") == []


def test_a_question_under_the_lock_does_not_wait_for_a_walk_that_needs_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("walrus", encoding="utf-8")
    with open_store(tmp_path) as store, store.lock():
        assert found(store, "walrus") == ["a.md"]


def test_two_open_stores_of_one_workspace_see_each_other(tmp_path: Path) -> None:
    with open_store(tmp_path) as first, open_store(tmp_path) as second:
        first.write("a.md", "walrus")
        assert found(second, "walrus") == ["a.md"]
        second.move("a.md", "./b.md")
        assert found(first, "walrus") == ["b.md"]


def test_many_threads_write_and_search_one_store(store: FileStore) -> None:
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(5):
                store.write(f"digest/wiki/n{number}-{turn}.md", f"word{number}x{turn}")
                store.append("shared.md", f"line {number} {turn}")
                assert found(store, f"word{number}x{turn}") == [f"digest/wiki/n{number}-{turn}.md"]
        except BaseException as error:  # noqa: BLE001 - handed to the test's own thread
            faults.append(error)

    store.write("shared.md", "start")
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(text(store, "shared.md").splitlines()) == 21


def test_a_scan_hashes_what_is_on_disk_now(store: FileStore) -> None:
    store.write("daily/2026-01-01/a.md", "x")
    put(store, "daily/2026-01-01/b.md", "y")
    put(store, "daily/2026-01-01/c.csv", "z")
    assert {path: state.sha256 for path, state in store.scan("daily/2026-01-01").items()} == {
        "daily/2026-01-01/a.md": version(b"x\n"),
        "daily/2026-01-01/b.md": version(b"y"),
    }
    assert set(store.scan("daily", (".csv",))) == {"daily/2026-01-01/c.csv"}
    assert store.scan("daily/2026-09-09") == {}


def test_symbolic_links_out_are_neither_read_listed_nor_indexed(store: FileStore, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("password is heliotrope", encoding="utf-8")
    (store.root / "ext.md").symlink_to(outside / "secret.md")
    (store.root / "out").symlink_to(outside)
    store.refresh()
    assert found(store, "heliotrope") == []
    assert not {"ext.md", "out"} & {entry["path"] for entry in store.list(".").metadata["entries"]}
    for call in (store.read, store.stat, store.delete, store.list, lambda path: store.append(path, "x")):
        for path in ("ext.md", "out/secret.md"):
            with pytest.raises(InvalidPathError):
                call(path)
    assert (outside / "secret.md").read_text(encoding="utf-8") == "password is heliotrope"


def test_a_symbolic_link_inside_is_a_note_of_its_own_that_changes_with_what_it_means(store: FileStore) -> None:
    store.write("digest/wiki/a.md", "walrus")
    (store.root / "alias.md").symlink_to("digest/wiki/a.md")
    store.refresh()
    assert set(store.index.known()) == {"alias.md", "digest/wiki/a.md"}
    store.edit("alias.md", "walrus", "narwhal")
    assert (store.root / "alias.md").is_symlink()
    assert text(store, "digest/wiki/a.md") == "narwhal\n"
    assert store.search("walrus").metadata["results"] == []
    assert store.refresh()["modified"] == 0
    for change in (lambda: store.delete("alias.md"), lambda: store.move("alias", "./b.md")):
        with pytest.raises(InvalidPathError, match=r"digest/wiki/a\.md"):
            change()
    store.delete("digest/wiki/a.md")
    assert set(store.index.known()) == set()


def test_health_tells_drift_and_what_a_person_should_look_at(store: FileStore) -> None:
    store.write("digest/wiki/a.md", "[[digest/wiki/missing.md]] ![[digest/chart.png]]")
    put(store, "digest/chart.png", b"\x89PNG")
    assert store.health_check().answer.startswith("✅ ReMe v")
    put(store, "digest/wiki/new.md", "x")
    put(store, "digest/wiki/a.md", "changed")
    put(store, "digest/wiki/n.sync-conflict-20260101-101010-ABC.md", "x")
    put(store, "digest/wiki/bad.md", "---\na: [\n---\n")
    health = store.health_check().metadata["health"]
    assert health["healthy"] is False
    assert {(entry["path"], entry["kind"]) for entry in health["drift"]} == {
        ("digest/wiki/a.md", "modified"),
        ("digest/wiki/bad.md", "added"),
        ("digest/wiki/new.md", "added"),
    }
    store.refresh()
    store.note_job("auto_dream")
    store.note_job("auto_dream", "the model did not answer")
    answer = store.health_check()
    health = answer.metadata["health"]
    assert answer.answer.startswith("✅ ReMe v")
    assert {problem["path"] for problem in health["problems"]} == {
        "digest/wiki/bad.md",
        "digest/wiki/n.sync-conflict-20260101-101010-ABC.md",
    }
    assert set(health["components"]) == {"file_store", "file_graph", "keyword_index", "embedding_model", "file_watcher"}
    assert health["components"]["file_store"]["n_files"] == 3
    assert health["jobs"]["auto_dream"]["last_success"]
    assert "did not answer" in health["jobs"]["auto_dream"]["last_error"]


def test_a_file_that_a_move_overwrote_is_in_the_history_of_its_path(store: FileStore) -> None:
    store.write("p.md", "first")
    store.append("p.md", "second")
    store.write("q.md", "other")
    store.move("q.md", "p.md", overwrite=True)
    versions = store.history("p.md").metadata["versions"]
    assert [(each["tool"], each["available"]) for each in versions] == [
        ("move", True),
        ("write", True),
        ("move", False),
        ("append", True),
        ("write", True),
    ]
    for each, expected in zip(versions[-2:], ("first\nsecond\n", "first\n"), strict=True):
        store.restore("p.md", each["version"])
        assert text(store, "p.md") == expected


def test_an_upload_keeps_the_suffix_of_its_source(store: FileStore, tmp_path: Path) -> None:
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed/plan.pdf").write_bytes(b"%PDF")
    with pytest.raises(InvalidPathError, match=r"\.pdf"):
        store.upload("resource/plan", str(tmp_path / "allowed/plan.pdf"))
    store.upload("resource/plan.pdf", str(tmp_path / "allowed/plan.pdf"))
    assert (store.root / "resource/plan.pdf").read_bytes() == b"%PDF"


def test_records_may_be_removed_while_the_store_is_open(store: FileStore) -> None:
    store.write("a.md", "walrus [[b.md]]")
    with open_store(store.root) as other:
        other.refresh()
        shutil.rmtree(store.root / "reme_metadata")
        assert store.history("a.md").metadata["versions"] == []
        store.append("a.md", "narwhal")
        other.write("b.md", "walrus")
        store.move("b.md", "c.md")
        other.delete("c.md")
        assert text(store, "a.md") == "walrus [[c.md]]\nnarwhal\n"
        assert found(other, "walrus") == found(store, "walrus") == ["a.md"]
        assert [each["tool"] for each in store.history("a.md").metadata["versions"]] == ["move", "append", ""]


def test_a_move_that_overwrote_a_note_is_undone_whole(store: FileStore) -> None:
    before = {"p.md": "P [[q.md]]\n", "q.md": "Q [[p.md]] [[q.md]]\n", "l.md": "[[q.md]] [[p.md]]\n"}
    for path, data in before.items():
        put(store, path, data)
    store.refresh()
    with store.journal(tool="dream", run_id="r1"):
        moved = store.move("q.md", "p.md", overwrite=True)
    assert moved.metadata["by_file"] == [{"path": "l.md", "count": 1}, {"path": "p.md", "count": 1}]
    assert text(store, "p.md") == "Q [[p.md]] [[p.md]]\n"
    store.undo_run("r1")
    assert {path: text(store, path) for path in before} == before
    assert store.health_check().metadata["health"]["drift"] == []


def test_a_place_that_cannot_be_meant_is_a_mistake_of_the_caller(store: FileStore) -> None:
    store.write("note.md", "n")
    store.write("other.md", "o")
    store.write("folder/in.md", "i")
    for refused in (
        lambda: store.write("note.md/x.md", "x"),
        lambda: store.move("other.md", "note.md/x.md"),
        lambda: store.move("folder", "note.md/folder"),
        lambda: store.upload("note.md/x.pdf", "/x.pdf"),
    ):
        with pytest.raises(InvalidPathError, match=r"'note\.md' is a file"):
            refused()
    for overwrite in (False, True):
        with pytest.raises(NoteExistsError, match="is a file"):
            store.move("folder", "note.md", overwrite=overwrite)
    with pytest.raises(InvalidPathError, match=r"'made/other\.md'"):
        store.move("other.md", "made/")


def test_names_that_are_no_utf_8_move_with_their_folder(store: FileStore) -> None:
    folder = os.fsencode(store.root) + b"/odd"
    Path(os.fsdecode(folder)).mkdir()
    Path(os.fsdecode(folder + b"/\xff\xe9.md")).write_bytes(b"walrus")
    put(store, "odd/ok.md", "walrus")
    store.write("l.md", "[[odd/ok.md]]")
    store.refresh()
    store.move("odd", "even")
    assert text(store, "l.md") == "[[even/ok.md]]\n"
    assert os.fsdecode(b"even/\xff\xe9.md") in store.index.known()
    store.delete("even", recursive=True)
    assert {each["tool"] for each in store.history("even/ok.md").metadata["versions"]} == {"delete", "move", ""}
    assert store.health_check().metadata["health"]["drift"] == []
