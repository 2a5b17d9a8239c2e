"""What an agent may change through a draft view, and what stays untouched meanwhile."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme_graphs.drafts import DraftView, load_draft
from reme_store.errors import (
    EditConflictError,
    InvalidPathError,
    InvalidRequestError,
    NoteExistsError,
    NoteNotFoundError,
)
from reme_store.file_store import FileStore, open_store

NOTE = "digest/wiki/router.md"
TEXT = "---\nname: router\n---\n# Router\n\nIt routes packets.\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    (tmp_path / "digest/wiki").mkdir(parents=True)
    (tmp_path / NOTE).write_text(TEXT)
    (tmp_path / "digest/wiki/other.md").write_text("# Other\n")
    with open_store(tmp_path) as opened:
        yield opened


def test_a_write_is_read_back_by_its_agent_and_seen_by_nobody_else(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1")
    view.write("digest/wiki/new.md", "# New\n\nHello.\n", name="new", description="d")
    assert "Hello." in view.read("digest/wiki/new.md").answer
    assert view.frontmatter_read("digest/wiki/new").metadata["front_matter"] == {"name": "new", "description": "d"}
    assert store.version_of("digest/wiki/new.md") is None
    with pytest.raises(NoteNotFoundError):
        DraftView(store, unit_id="u2").read("digest/wiki/new.md")
    assert load_draft(store, "u1")["text"] == view.draft.text  # type: ignore[index, union-attr]
    assert view.draft.base_version is None  # type: ignore[union-attr]


def test_an_update_starts_from_the_version_that_was_read(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1")
    version = view.read(NOTE).metadata["version"]
    view.edit(NOTE, "It routes packets.", "It routes packets. Fast.")
    view.append(NOTE, "More.\n")
    view.frontmatter_update(NOTE, {"kind": "device"})
    assert view.draft is not None
    assert (
        view.draft.text
        == TEXT.replace("packets.", "packets. Fast.").replace("router\n-", "router\nkind: device\n-") + "More.\n"
    )
    assert (view.draft.base_version, view.draft.base_text) == (version, TEXT)
    assert store.read_note(NOTE).text == TEXT


@pytest.mark.parametrize("change", ["edit", "append", "write", "frontmatter_update"])
def test_a_note_that_was_not_read_cannot_be_changed(store: FileStore, change: str) -> None:
    view = DraftView(store, unit_id="u1")
    with pytest.raises(InvalidRequestError, match="not read"):
        _change(view, change)
    assert view.draft is None
    assert load_draft(store, "u1") is None


@pytest.mark.parametrize("change", ["edit", "append", "write", "frontmatter_update"])
def test_a_note_shown_whole_counts_as_read(store: FileStore, change: str) -> None:
    view = DraftView(store, unit_id="u1", shown=[NOTE])
    _change(view, change)
    assert view.draft is not None


def test_a_note_changed_since_it_was_read_must_be_read_again(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1")
    view.read(NOTE)
    store.edit(NOTE, "packets", "frames")
    with pytest.raises(EditConflictError, match="read it again"):
        view.edit(NOTE, "It routes", "It still routes")
    view.read(NOTE)
    view.edit(NOTE, "It routes", "It still routes")
    assert "frames" in view.draft.text  # type: ignore[union-attr]


def test_a_second_note_is_refused_once_the_first_was_written(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1", shown=[NOTE, "digest/wiki/other.md"])
    view.append(NOTE, "x\n")
    with pytest.raises(InvalidRequestError, match="one note"):
        view.append("digest/wiki/other.md", "y\n")
    with pytest.raises(InvalidRequestError, match="one note"):
        view.write("digest/wiki/third.md", "z\n")


def test_a_fixed_target_refuses_every_other_note(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1", target="daily/2026-01-01/a.md")
    with pytest.raises(InvalidRequestError, match="one note"):
        view.write("daily/2026-01-01/b.md", "x\n")
    view.write("daily/2026-01-01/a.md", "x\n")


def test_the_owner_of_the_view_says_where_may_be_written(store: FileStore) -> None:
    def refuse(path: str) -> None:
        raise InvalidRequestError(f"not {path}")

    view = DraftView(store, unit_id="u1", allowed=refuse)
    with pytest.raises(InvalidRequestError, match="not digest"):
        view.write("digest/wiki/new.md", "x\n")


def test_paths_that_leave_the_workspace_are_refused(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1")
    for path in ("../escape.md", "digest/../../escape.md", "reme_metadata/drafts/x.md", "/etc/passwd"):
        with pytest.raises(InvalidPathError):
            view.write(path, "x\n")


def test_writing_over_a_note_needs_to_be_said(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1", shown=[NOTE])
    with pytest.raises(NoteExistsError, match="overwrite"):
        view.write(NOTE, "# Router\n")
    view.write(NOTE, "# Router\n", overwrite=True)
    assert view.draft.text == "---\nname: router\n---\n\n# Router\n"  # type: ignore[union-attr]


def test_the_record_holds_what_the_landing_needs_and_goes_when_discarded(store: FileStore) -> None:
    view = DraftView(store, unit_id="u1", shown=[NOTE])
    view.append(NOTE, "x\n")
    view.finish({"action": "REFINE"})
    record = json.loads((store.root / "reme_metadata/drafts/u1.json").read_text())
    assert (record["action"], record["target_path"], record["base_version"]) == ("REFINE", NOTE, store.version_of(NOTE))
    view.discard()
    assert load_draft(store, "u1") is None
    assert view.draft is None


def _change(view: DraftView, change: str) -> None:
    if change == "edit":
        view.edit(NOTE, "It routes", "It also routes")
    elif change == "append":
        view.append(NOTE, "x\n")
    elif change == "write":
        view.write(NOTE, "# Router\n", overwrite=True)
    else:
        view.frontmatter_update(NOTE, {"kind": "x"})


def test_a_record_that_a_power_failure_left_empty_is_no_draft(store: FileStore) -> None:
    store.records.write("drafts/u9.json", b"")
    assert load_draft(store, "u9") is None
