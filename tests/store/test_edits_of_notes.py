"""How does the text of a note change when it is written, added to or edited?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store.editing import append_text, edit_text, prepend_text, write_text
from reme_store.errors import EditConflictError, InvalidFrontMatterError, InvalidRequestError
from reme_store.text.front_matter import parse_note

BROKEN = "---\nname: a: b\n---\nbody\n"


@pytest.mark.parametrize(
    ("existing", "content", "given_name", "metadata", "expected"),
    [
        (None, "body", "N", {}, "---\nname: N\n---\n\nbody\n"),
        (None, "body", "", {}, "body\n"),
        (None, "body", "  ", {"k": None}, "body\n"),
        (None, "", "N", {}, "---\nname: N\n---\n"),
        (None, "---\nz: 1 # c\nname: inner\n---\nbody", "N", {}, "---\nz: 1 # c\nname: N\n---\nbody\n"),
        (None, "---\na: [x, y]\n---\nbody\n", "", {}, "---\na: [x, y]\n---\nbody\n"),
        (None, "---\nrule\n---\nbody", "N", {}, "---\nname: N\n---\n\n---\nrule\n---\nbody\n"),
        (None, "a\r\nb", "N", {}, "---\r\nname: N\r\n---\r\n\r\na\r\nb\r\n"),
        ("old\n", "new", "", {}, "new\n"),
        ("old\n", "new", "N", {}, "---\nname: N\n---\n\nnew\n"),
        ("\ufeffold\n", "new", "", {}, "\ufeffnew\n"),
        (
            "\ufeff---\r\nname: x # c\r\nz: '1'\r\n---\r\n\r\nold\r\n",
            "a\nb",
            "N",
            {"q": [1]},
            "\ufeff---\r\nname: N # c\r\nz: '1'\r\nq:\r\n  - 1\r\n---\r\n\r\na\r\nb\r\n",
        ),
        ("---\na: 1\nb: 1\n---\n\nx\n", "---\nb: 2\nc: 2\n---\ny", "", {"c": 3}, "---\na: 1\nb: 2\nc: 3\n---\n\ny\n"),
    ],
)
def test_write_merges_front_matter_and_replaces_the_body(
    existing: str | None, content: str, given_name: str, metadata: dict[str, object], expected: str
) -> None:
    after = write_text(existing, content, given_name, "", metadata)
    assert after == expected
    if existing is not None or not content.startswith("---"):
        assert write_text(after, content, given_name, "", metadata) == after


def test_a_name_given_beats_metadata_and_metadata_the_block_in_content() -> None:
    content = "---\nname: c\ndescription: c\nk: c\n---\nbody"
    after = write_text(None, content, "N", "", {"name": "m", "description": "m"})
    assert parse_note(after).front_matter == {"name": "N", "description": "m", "k": "c"}


def test_a_note_with_a_broken_block_is_not_written_over() -> None:
    with pytest.raises(InvalidFrontMatterError, match="line 2"):
        write_text(BROKEN, "new", "N")
    with pytest.raises(InvalidFrontMatterError, match="line 2"):
        write_text(BROKEN, "new")


def test_content_with_a_block_that_is_no_yaml_is_refused_with_the_line() -> None:
    with pytest.raises(InvalidFrontMatterError, match="line 3"):
        write_text(None, "---\nok: 1\nname: a: b\n---\nx")


@pytest.mark.parametrize(
    "value", [object(), b"x", float("nan"), float("inf"), {"k": {1: object()}}, "\ud800", 10**2000]
)
def test_a_value_that_is_no_json_is_a_callers_mistake(value: object) -> None:
    with pytest.raises(InvalidRequestError):
        write_text(None, "x", metadata={"k": value})
    with pytest.raises(InvalidRequestError):
        write_text("---\na: 1\n---\n", "x", metadata={"k": value})


def test_half_a_character_is_refused_wherever_text_enters() -> None:
    for call in (
        lambda: write_text(None, "\ud800"),
        lambda: append_text("a", "\udc00"),
        lambda: prepend_text("a", "\udc00"),
        lambda: edit_text("a", "a", "\udc00"),
        lambda: write_text(None, "x", "\ud800"),
    ):
        with pytest.raises(InvalidRequestError, match="half a character"):
            call()


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ("a\n", "b", "a\nb\n"),
        ("a", "b\n", "a\nb\n"),
        ("", "b", "b\n"),
        ("\ufeff", "b", "\ufeffb\n"),
        ("a\r\n", "b\nc", "a\r\nb\r\nc\r\n"),
        ("---\na: 1\n---", "b", "---\na: 1\n---\nb\n"),
        (BROKEN, "b", BROKEN + "b\n"),
    ],
)
def test_append_starts_on_a_new_line_and_adds_no_blank_one(text: str, content: str, expected: str) -> None:
    assert append_text(text, content) == expected


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ("a\n", "b", "b\na\n"),
        ("\ufeffa", "b", "\ufeffb\na"),
        ("---\nk: 1\n---\n\na", "b", "---\nk: 1\n---\nb\n\na"),
        ("---\nk: 1\n---", "b", "---\nk: 1\n---\nb\n"),
        ("---\r\nk: 1\r\n---\r\na\r\n", "b\nc", "---\r\nk: 1\r\n---\r\nb\r\nc\r\na\r\n"),
        ("---\nk: 1\n---\na", "---\nrule", "---\nk: 1\n---\n---\nrule\na"),
    ],
)
def test_prepend_goes_below_front_matter(text: str, content: str, expected: str) -> None:
    assert prepend_text(text, content) == expected


def test_prepend_refuses_where_it_would_make_or_miss_front_matter() -> None:
    with pytest.raises(InvalidFrontMatterError, match="line 2"):
        prepend_text(BROKEN, "b")
    with pytest.raises(InvalidRequestError, match=r"\*\*\*"):
        prepend_text("a", "---\nk: 1\n---")


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a b", "b", "c", "a c"),
        ("---\na: 1\n---\na: 1", "a: 1", "z", "---\na: 1\n---\nz"),
        ("x\r\ny\r\n", "x\ny", "1\n2", "1\r\n2\r\n"),
        ("x\ny\n", "x\r\ny", "1\r\n2", "1\n2\n"),
        ("x\r\ny\nz\n", "y\nz", "1\n2", "x\r\n1\n2\n"),
        ("x\r\ny\nz\n", "x\ny\nz", "1", "1\n"),
        ("a\r\n", "a", "b\nc", "b\r\nc\r\n"),
        ("a.b", ".", "$1\\1", "a$1\\1b"),
        (BROKEN, "name: a: b", "name: ab", "---\nname: ab\n---\nbody\n"),
    ],
)
def test_edit_changes_one_place_in_the_line_ends_it_has(text: str, old: str, new: str, expected: str) -> None:
    assert edit_text(text, old, new) == (expected, 1)


def test_edit_names_the_lines_where_a_text_occurs_more_than_once() -> None:
    with pytest.raises(EditConflictError, match=r"2 times, on lines 4, 6"):
        edit_text("---\na: 1\n---\nx\ny\nx\n", "x", "z")
    assert edit_text("---\nx: x\n---\nx\ny\nx\n", "x", "z", replace_all=True) == ("---\nx: x\n---\nz\ny\nz\n", 2)
    with pytest.raises(EditConflictError, match="30 times"):
        edit_text("x\n" * 30, "x", "y")


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        ("a: 1", "front matter; use frontmatter_update"),
        ("1\n---\nbo", "reaches from the front matter"),
        ("BODY", "line 4: body"),
        ("nowhere", "read the note again"),
    ],
)
def test_edit_says_why_a_text_is_not_found(old: str, reason: str) -> None:
    with pytest.raises(EditConflictError, match=reason):
        edit_text("---\na: 1\n---\nbody\n", old, "x")


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("a", "a"), ("a\nb", "a\r\nb")])
def test_an_edit_that_changes_nothing_is_refused(old: str, new: str) -> None:
    with pytest.raises(InvalidRequestError):
        edit_text("a\nb", old, new)


LINES = st.lists(st.sampled_from(["a", "b ", "", "- c", "[[x]]", "---", "é"]), max_size=6)


@settings(deadline=None)
@given(LINES, LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_additions_keep_line_ends_and_every_byte_that_was_there(
    lines: list[str], more: list[str], end: str, head: bool, bom: bool
) -> None:
    body = end.join(["first", *lines])
    front = f"---{end}k: 'v' # c{end}---{end}" if head else ""
    text, content = ("\ufeff" if bom else "") + front + body + end, "\n".join(["new", *more])
    appended, prepended = append_text(text, content), prepend_text(text, content)
    added = content.replace("\n", end)
    assert appended.startswith(text) and appended[len(text) :].rstrip("\r\n") == added.rstrip("\r\n")
    assert prepended.startswith(text[: len(text) - len(body + end)]) and prepended.endswith(body + end)
    for after in (appended, prepended):
        assert (after.count("\n") == after.count("\r\n")) == (end == "\r\n")
        assert parse_note(after).front_matter == ({"k": "v"} if head else {})
