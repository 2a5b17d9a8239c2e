"""What does front matter say, and which bytes change when its keys do?"""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store.errors import InvalidFrontMatterError, InvalidRequestError
from reme_store.text.front_matter import delete_front_matter, parse_note, render_front_matter, update_front_matter


@pytest.mark.parametrize(
    ("text", "values", "body", "line"),
    [
        ("---\nname: N\n---\nb\n", {"name": "N"}, "b\n", 4),
        ("\ufeff---\r\nname: N\r\n---\r\nb", {"name": "N"}, "b", 4),
        ("---\n---\nb", {}, "b", 3),
        ("---\n# c\n---\nb", {}, "b", 4),
        ("---\na: 1\n---", {"a": 1}, "", 3),
        ("b\n---\na: 1\n---\n", {}, "b\n---\na: 1\n---\n", 1),
        ("----\nx\n----\n", {}, "----\nx\n----\n", 1),
        ("--- \na: 1\n---\n", {}, "--- \na: 1\n---\n", 1),
        ("\ufeffb", {}, "b", 1),
    ],
)
def test_a_block_stands_between_two_lines_of_dashes(text: str, values: dict[str, Any], body: str, line: int) -> None:
    note = parse_note(text)
    assert (note.front_matter, note.body, note.body_line, note.fault) == (values, body, line, "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nname: N\nbody", 1),
        ("---", 1),
        ("---\nok: 1\nname: a: b\n---\n", 3),
        ("---\nSwim\n---\n", 2),
        ("---\n- a\n---\n", 2),
        ("---\na: 1\n\tb: 2\n---\n", 3),
        ("---\na: *x\n---\n", 2),
        ("---\nok: 1\na: x\x07\n---\n", 3),
        ("---\na: &a [*a]\n---\n", 2),
        ("---\na: " + "[" * 90 + "]" * 90 + "\n---\n", 2),
        ("---\na: " + "[" * 9000 + "\n---\n", 2),
        ("---\na: &a [" + "x, " * 300 + "]\nb: &b [" + "*a, " * 300 + "]\n---\n", 2),
    ],
)
def test_a_block_that_cannot_be_read_is_body_and_says_where(text: str, line: int) -> None:
    note = parse_note(text)
    assert (note.body, note.body_line, note.front_matter) == (text, 1, {})
    assert note.fault.startswith(f"line {line}: ")
    with pytest.raises(InvalidFrontMatterError, match=f"line {line}: "):
        update_front_matter(text, {"k": 1})
    with pytest.raises(InvalidFrontMatterError, match=f"line {line}: "):
        delete_front_matter(text, ["a"])


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("7", 7),
        ("1.10", 1.1),
        ("true", True),
        ("~", None),
        ("", None),
        ("007", "007"),
        ("12:30:45", "12:30:45"),
        ("2026-03-05", "2026-03-05"),
        ("2026-03-05 10:00:00", "2026-03-05T10:00:00"),
        ("2026-02-30", "2026-02-30"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("=", "="),
        ("!thing x", "x"),
        ("[[a.md]]", "[[a.md]]"),
        ("[[[a.md]], '[[b.md]]']", ["[[a.md]]", "[[b.md]]"]),
        ("{k: [1, 2]}", {"k": [1, 2]}),
        ("'yes'", "yes"),
    ],
)
def test_values_reach_a_caller_as_json(source: str, value: Any) -> None:
    got = parse_note(f"---\nk: {source}\n---\n").front_matter["k"]
    assert json.dumps(got) == json.dumps(value)


def test_of_a_key_that_stands_twice_the_last_counts_and_changes() -> None:
    note = parse_note("---\na: 1\nb: 1\na: 2\n---\n")
    assert (note.front_matter, note.duplicates) == ({"a": 2, "b": 1}, ("a",))
    assert update_front_matter("---\na: 1\na: 2\n---\n", {"a": 3}) == "---\na: 1\na: 3\n---\n"
    assert delete_front_matter("---\na: 1\nb: 1\na: 2\n---\n", ["a"])[0] == "---\nb: 1\n---\n"


@pytest.mark.parametrize(
    ("text", "updates", "expected"),
    [
        ("---\na: 1 # c\n---\n", {"a": 2}, "---\na: 2 # c\n---\n"),
        ("---\na: # c\n---\n", {"a": 2}, "---\na: 2 # c\n---\n"),
        ("---\na: 1\n---\n", {"a": True}, "---\na: true\n---\n"),
        ("---\na:   'x'\n---\n", {"a": "x"}, "---\na:   'x'\n---\n"),
        ("---\nb: &x foo\na: *x # c\n---\n", {"a": "new"}, "---\nb: &x foo\na: new # c\n---\n"),
        ("---\n  a: 1\n  b: 2\n---\n", {"c": [1]}, "---\n  a: 1\n  b: 2\n  c:\n    - 1\n---\n"),
        ("---\na: 1\n...\n---\n", {"b": 2}, "---\na: 1\nb: 2\n...\n---\n"),
        ("---\na: |\n  x\n  # y\n\n# c\nb: 1\n---\n", {"a": "z"}, "---\na: z\n\n# c\nb: 1\n---\n"),
        ("---\na: [x, y] # c\n---\n", {"a": ["z"]}, "---\na: [z] # c\n---\n"),
        ("---\na: [x,\n  y]\nb: 1\n---\n", {"a": "z"}, "---\na: z\nb: 1\n---\n"),
        ("---\r\na: 1\r\n---\r\nx", {"b": ["y"]}, "---\r\na: 1\r\nb:\r\n  - y\r\n---\r\nx"),
        ("\ufeff---\na: 1\n---", {"a": 2}, "\ufeff---\na: 2\n---"),
        ("---\n# c\n---\n", {"a": 2}, "---\n# c\na: 2\n---\n"),
        ("x", {"a": 2}, "---\na: 2\n---\nx"),
        ("\ufeffx\r\n", {"a": 2}, "\ufeff---\r\na: 2\r\n---\r\nx\r\n"),
        ("---\nup: '[[a]]'\n---\n", {"up": "[[b😀]]"}, '---\nup: "[[b😀]]"\n---\n'),
        ("---\na: 1\n---\n", {"d": "2026-03-05", "n": "12:30"}, "---\na: 1\nd: 2026-03-05\nn: '12:30'\n---\n"),
    ],
)
def test_only_the_lines_of_a_key_change(text: str, updates: dict[str, Any], expected: str) -> None:
    assert update_front_matter(text, updates) == expected
    assert update_front_matter(expected, updates) == expected


@pytest.mark.parametrize("text", ["---\na: &x foo\nb: *x\n---\n", "---\n{a: 1}\n---\n", "---\na: x\rc: y\n---\n"])
def test_what_cannot_change_alone_is_refused(text: str) -> None:
    with pytest.raises(InvalidFrontMatterError):
        delete_front_matter(text, ["a"])


@pytest.mark.parametrize("updates", [{}, {"": 1}, {"a\nb": 1}, {"k": float("nan")}, {"k": object()}, {"k": "\ud800"}])
def test_what_is_no_front_matter_is_a_callers_mistake(updates: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        update_front_matter("---\na: 1\n---\n", updates)


def test_deleting_names_what_was_missing_and_changes_nothing_for_it() -> None:
    text = "---\na: 1\n---\nx"
    assert delete_front_matter(text, ["z"]) == (text, [], ["z"])
    with pytest.raises(InvalidRequestError):
        delete_front_matter(text, [])


TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "",
            "yes",
            "007",
            "1e5",
            "2026-03-05",
            "a: b",
            "# c",
            "- x",
            "[[a]]",
            "'",
            '"',
            "x\n y",
            "\u2028",
            "\x85",
            "😀",
            "~",
            "=",
            "*a",
            "{",
            "\\",
        ]
    ),
).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["k", "1", "x y"]), inner, max_size=2)
    ),
    max_leaves=5,
)
ENTRIES = {
    "scalar": ["scalar: text # note"],
    "quoted": ["quoted: 'it''s'   # note"],
    "double": ['double: "a \\" b"'],
    "flow": ["flow: [a, 'b', {c: 1}] # note"],
    "long": ["long: [a,", "  b]"],
    "literal": ["literal: |", "  one", "  # no note", "", "  two"],
    "folded": ["folded: >-", "  one", "  two"],
    "block": ["block:", "  - a # note", "  - b: 1", "    c: 2"],
    "margin": ["margin:", "- a", "- b"],
    "nested": ["nested:", "  x: 1", "  y: [[a.md]]"],
    "empty": ["empty:"],
    "anchor": ["anchor: &mark text"],
    "plain": ["plain: one", "  two"],
    "007": ["007: 012"],
    "时间": ["时间: 12:30"],
}
BLOCKS = st.lists(
    st.one_of(
        st.sampled_from(sorted(ENTRIES)).map(lambda key: (key, ENTRIES[key])),
        st.sampled_from([("", [""]), ("", ["# note"])]),
    ),
    max_size=7,
    unique_by=lambda entry: entry[0] or object(),
)


def rendered(block: list[tuple[str, list[str]]], end: str, bom: bool, body: str) -> str:
    lines = ["---", *(line for _, lines in block for line in lines), "---"]
    return ("\ufeff" if bom else "") + end.join(lines) + end + body


@settings(max_examples=300, deadline=None)
@given(
    BLOCKS,
    st.dictionaries(st.sampled_from([*sorted(ENTRIES), "new", "x: y"]), VALUES, min_size=1, max_size=3),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["", "body", "\nbody\n---\n"]),
)
def test_any_update_changes_only_its_keys(
    block: list[tuple[str, list[str]]], updates: dict[str, Any], end: str, bom: bool, body: str
) -> None:
    text = rendered(block, end, bom, body)
    before = parse_note(text)
    assert before.fault == ""
    after = update_front_matter(text, updates)
    note = parse_note(after)
    assert json.dumps(note.front_matter, sort_keys=True) == json.dumps(
        {**before.front_matter, **updates}, sort_keys=True
    )
    assert note.body == before.body == body
    kept = [line for key, lines in block if key not in updates for line in lines]
    assert _holds_in_order(after.split(end), kept)
    assert after.startswith("\ufeff") == bom
    assert (after.count("\n") == after.count("\r\n") + body.count("\n")) == (end == "\r\n")
    assert update_front_matter(after, updates) == after


@settings(max_examples=200, deadline=None)
@given(
    BLOCKS,
    st.lists(st.sampled_from([*sorted(ENTRIES), "gone"]), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_deletion_removes_only_the_lines_of_its_keys(
    block: list[tuple[str, list[str]]], keys: list[str], end: str
) -> None:
    text = rendered(block, end, False, "body")
    after, removed, missing = delete_front_matter(text, keys)
    there = {key for key, _ in block if key}
    assert (set(removed), set(missing)) == (set(keys) & there, set(keys) - there)
    assert after == rendered([(key, lines) for key, lines in block if key not in keys], end, False, "body")


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(TEXTS.filter(lambda key: bool(key.strip()) and "\n" not in key), VALUES, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_rendered_reads_back(values: dict[str, Any], end: str) -> None:
    note = parse_note(render_front_matter(values, newline=end) + "body")
    assert json.dumps(note.front_matter, sort_keys=True) == json.dumps(values, sort_keys=True)
    assert (note.body, note.fault) == ("body", "")


def _holds_in_order(lines: list[str], wanted: list[str]) -> bool:
    rest = iter(lines)
    return all(line in rest for line in wanted)
