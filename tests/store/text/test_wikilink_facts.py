"""What is a wikilink, what does it state, and what of it changes when its note moves?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store.text.front_matter import parse_note
from reme_store.text.wikilinks import fold_edges, parse_wikilinks, retarget_wikilinks


def links(text: str) -> list[tuple[str, str | None]]:
    return [(link.target, link.anchor) for link in parse_wikilinks(text)]


def predicates(text: str) -> list[tuple[str, str | None]]:
    return [(link.target, link.predicate) for link in parse_wikilinks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [[a/b.md]]", [("a/b.md", None)]),
        ("[[a.md#Sec One]]", [("a.md", "Sec One")]),
        ("[[a.md|Al]]", [("a.md", None)]),
        ("[[a.md#s|Al]]", [("a.md", "s")]),
        ("![[img.png]]", [("img.png", None)]),
        ("[[digest/wiki/光伏.md#应用|别名]]", [("digest/wiki/光伏.md", "应用")]),
        ("[[  a.md  ]]", [("a.md", None)]),
        ("[[]] [[ ]]", []),
        ("[[a\nb.md]]", []),
        ("[[a[[b.md]]]]", [("b.md", None)]),
        ("[[[a.md]]]", [("a.md", None)]),
        ("[[#sec]]", []),
        ("[[./#sec]]", []),
        ("[[a.md#s1#s2]]", [("a.md", "s1#s2")]),
        ("[[a.md#^abc]]", [("a.md", "^abc")]),
        ("[[a.md|x|y]]", [("a.md", None)]),
        ("[[a.md|x]y]]", []),
        ("[[a.md|]] [[a.md#]]", []),
        ("[x](a.md)", []),
        (
            "[[Alice]] [[topics/Alice]] [[topics/Alice.md]]",
            [(t, None) for t in ("Alice", "topics/Alice", "topics/Alice.md")],
        ),
        ("| [[a.md\\|Al]] | [[b.md#s\\|B]] |", [("a.md", None), ("b.md", "s")]),
        ("arr[[0]]", [("0", None)]),
        ("[[./a.md]] [[././b.md]]", [("a.md", None), ("b.md", None)]),
        ("", []),
    ],
)
def test_a_target_is_literal(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert links(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```\n[[a]]\n```\n",
        "~~~ md\n[[a]]\n```\n[[a]]\n~~~\n",
        "```\n[[a]]\n",
        "````\n```\n[[a]]\n````\n",
        "> ```\n> [[a]]\n> ```\n",
        "- x\n  ```\n  [[a]]\n  ```\n",
        "text\n\n    [[a]]\n",
        "\t[[a]]\n",
        "- x\n\n      [[a]]\n",
        "`[[a]]` and ``x ` [[a]]``",
        "`x\n[[a]]`",
        "<!-- [[a]] -->",
        "<!--\n[[a]]\n\n[[a]] -->",
        "$[[a]]$",
        "$$\n[[a]]\n$$\n",
    ],
)
def test_quoted_text_holds_no_link(text: str) -> None:
    assert links(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "- x\n    - y [[a]]\n",
        "- x\n\n  [[a]]\n",
        "1. x\n\n   [[a]]\n",
        "paragraph\n    [[a]]\n",
        "> quote [[a]]\n",
        "| x | [[a]] |\n|---|---|\n",
        "it costs $5, [[a]] costs $6",
        "`open [[a]]",
        "``x` [[a]]",
        "\\`[[a]]`",
        "```\nx\n```\n[[a]]\n",
        "> ```\n> x\n\n[[a]]\n",
        "```not `a fence\n[[a]]\n",
        "<!-- x --> [[a]]",
        "<p>[[a]]</p>",
        "# [[a]]\n",
    ],
)
def test_what_only_looks_quoted_holds_its_link(text: str) -> None:
    assert links(text) == [("a", None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("industry:: [[a.md]]", [("a.md", "industry")]),
        ("rel:: [[a.md]], [[b.md]]", [("a.md", "rel"), ("b.md", "rel")]),
        ("- rel:: [[a]]\n* rel:: [[b]]\n", [("a", "rel"), ("b", "rel")]),
        ("1. rel:: [[a]]", [("a", None)]),
        ("> rel:: [[a]]", [("a", None)]),
        ("    rel:: [[a]]", []),
        ("rel::[[a]]\nrel :: [[b]]", [("a", "rel"), ("b", "rel")]),
        ("is_a:: [[a]]\nis-a:: [[b]]", [("a", "is_a"), ("b", None)]),
        ("行业:: [[a]]", [("a", None)]),
        ("1rel:: [[a]]", [("a", None)]),
        ("text rel:: [[a]]", [("a", None)]),
        ("x [rel:: [[a.md]]] y", [("a.md", "rel")]),
        ("[rel:: [[a]] and [[b]]] [[c]]", [("a", "rel"), ("b", "rel"), ("c", None)]),
        ("line:: [inl:: [[a]]] [[b]]", [("a", "inl"), ("b", "line")]),
        ("(rel:: [[a]])", [("a", "rel")]),
        ("[rel::\n[[a]]]", [("a", None)]),
        ("[[z.md]] rel:: [[a.md]]", [("z.md", None), ("a.md", None)]),
        ("rel:: [[a.md]]\r\n[[b.md]]", [("a.md", "rel"), ("b.md", None)]),
        ("[outer:: (inner:: [[a]]) [[b]]]", [("a", "inner"), ("b", "outer")]),
        ("[rel:: never closed [[a]]", [("a", None)]),
        ("[rel:: `]` [[a]]]", [("a", "rel")]),
        ("rel:: `x` [[a]]", [("a", "rel")]),
    ],
)
def test_predicates_stand_at_the_line_or_inline(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert predicates(text) == expected


def test_an_edge_is_one_target_predicate_and_outside_digest_anchor() -> None:
    text = "[[a]] [[a]] [[a#x]]\nr:: [[a]]\n"
    assert [(e.target_anchor, e.predicate) for e in fold_edges("daily/n.md", parse_wikilinks(text))] == [
        (None, None),
        ("x", None),
        (None, "r"),
    ]
    inside = fold_edges("digest/wiki/n.md", parse_wikilinks("[[a#one]] [[a#two]]"))
    assert [(e.target_anchor, e.predicate) for e in inside] == [("one", None)]


FRONT = """---
# [[comment]]
plain: see [[a.md]] # [[comment]]
bare: [[a.md#x|y]]
single: '[[it''s.md]]'
double: "[[a.md\\\\|al]] \\u00e9"
flow: [[[a.md]], '[[a.md]]']
literal: |
  # [[a.md]]
nested:
  - [[a.md]]
---
body
"""


def test_values_of_front_matter_hold_links_and_comments_do_not() -> None:
    assert [link.target for link in parse_wikilinks(FRONT)] == ["a.md", "a.md", "it's.md", *["a.md"] * 5]


def test_a_broken_block_is_body() -> None:
    assert predicates("---\na: b: c\nrel:: [[a]]\n---\n`[[b]]`\n") == [("a", "rel")]


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("[[ a.md ]]", "[[z/b.md]]", 1),
        ("![[a.md#s|x]]", "![[z/b.md#s|x]]", 1),
        ("[[a]] [[A.md]]", "[[a]] [[A.md]]", 0),
        ("[[./a.md]]", "[[z/b.md]]", 1),
        ("rel:: [[a.md]]", "rel:: [[z/b.md]]", 1),
        ("| [[a.md\\|al]] |", "| [[z/b.md\\|al]] |", 1),
        ("`[[a.md]]` [[a.md]]\r\n", "`[[a.md]]` [[z/b.md]]\r\n", 1),
        ("\ufeff[[a.md]]\u2028[[a.md]]", "\ufeff[[z/b.md]]\u2028[[z/b.md]]", 2),
    ],
)
def test_a_move_changes_the_target_alone(text: str, expected: str, count: int) -> None:
    assert retarget_wikilinks(text, {"a.md": "z/b.md"}) == (expected, count)


def test_a_note_that_keeps_its_path_changes_nothing() -> None:
    assert retarget_wikilinks("[[ a.md ]]", {"a.md": "a.md"}) == ("[[ a.md ]]", 0)


@pytest.mark.parametrize("target", ["z/it's, b.md", "@a.md", "z/x & {y}.md", "- a.md", "%a.md", "z/`q`.md", "'q'.md"])
def test_front_matter_reads_as_the_new_target_whatever_its_name(target: str) -> None:
    after, count = retarget_wikilinks(FRONT, {"a.md": target})
    assert count == 7
    values = parse_note(after).front_matter
    assert values["plain"] == f"see [[{target}]]"
    assert values["bare"] == f"[[{target}#x|y]]"
    assert values["flow"] == [f"[[{target}]]"] * 2
    assert values["nested"] == [f"[[{target}]]"]
    assert [link.target for link in parse_wikilinks(after)] == [target, target, "it's.md", *[target] * 5]
    assert "# [[comment]]\n" in after


WORDS = ["[[a.md]]", "[[b.md#h|x]]", "![[a.md]]", "[[", "]]", "|", "\\|", "#", "`", "```\n", "$", "<!--", "-->", "r:: "]
TEXTS = st.lists(
    st.sampled_from([*WORDS, "\n", "\r\n", "    ", "- ", "> ", "x", "[k:: ", "(", ")", "]", "---\n", "é"])
).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_a_move_leaves_every_byte_around_targets_and_is_done_once(text: str) -> None:
    found = parse_wikilinks(text)
    after, count = retarget_wikilinks(text, {"a.md": "dir/new.md"})
    expected, last = [], 0
    for link in found:
        if link.target == "a.md":
            expected += [text[last : link.target_start], "dir/new.md"]
            last = link.target_end
    assert after == "".join([*expected, text[last:]])
    assert count == sum(link.target == "a.md" for link in found)
    assert retarget_wikilinks(after, {"a.md": "dir/new.md"}) == (after, 0)
    assert [(link.anchor, link.alias, link.predicate, link.embed) for link in parse_wikilinks(after)] == [
        (link.anchor, link.alias, link.predicate, link.embed) for link in found
    ]


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_links_come_in_order_and_show_their_source(text: str) -> None:
    found = parse_wikilinks(text)
    assert [link.start for link in found] == sorted(link.start for link in found)
    for link in found:
        source = text[link.start : link.end]
        assert source.startswith("![[" if link.embed else "[[") and source.endswith("]]")
        assert text[link.target_start : link.target_end].strip().removeprefix("./") == link.target


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[[" * 2000, 0),
        ("[[a|" + "|x" * 2000, 0),
        ("[[a#" * 2000, 0),
        ("(" * 500 + "[[a]]" + ")" * 500, 1),
        ("([[a]]" * 500 + ")" * 500 + " x:: y", 500),
        ("[r:: " * 500 + "[[a]]", 1),
        ("- " * 500 + "[[a]]", 1),
        ("> " * 500 + "[[a]]", 1),
        ("<!-- " * 500 + "[[a]]", 0),
        ("r:: [[a]] `x`\n" * 500, 500),
        ("[[a]] " * 500, 500),
    ],
)
def test_hostile_text_gives_the_plain_answer(text: str, count: int) -> None:
    assert len(parse_wikilinks(text)) == count
