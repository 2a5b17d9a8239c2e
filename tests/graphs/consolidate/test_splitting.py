"""May this plan take that note apart?"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_graphs.consolidate.splitting import Split, assemble, measure, split_faults
from reme_graphs.offline.splits import split_plan
from reme_store.text.front_matter import parse_note
from reme_store.text.wikilinks import fold_edges, parse_wikilinks

PATH = "digest/wiki/manual.md"
HEAD = "---\nname: manual\ndescription: d\ntags: [x]  # mine\n---\n"
SETUP = "## Setup\n\nInstall it.\nuses:: [[digest/wiki/tool.md]]\n\n```\n## not a heading\n```\n"
USE = "## Use\n\nPress the button.\n\n- see [[digest/wiki/button.md]]\n"
OLD = f"{HEAD}# Manual\n\nFor everything.\n\nderived_from:: [[daily/2026-01-02/a.md]]\n\n{SETUP}\n{USE}"
OVERVIEW = "# Manual\n\nFor everything.\n\nderived_from:: [[daily/2026-01-02/a.md]]\n"
CHILDREN = [
    {"name": "manual-setup", "description": "setup", "body": SETUP},
    {"name": "manual-use", "description": "use", "body": USE},
]


def faults(overview: str = OVERVIEW, children: Any = None) -> list[str]:
    return split_faults(PATH, OLD, assemble(PATH, OLD, overview, CHILDREN if children is None else children))


def child(number: int, **more: str) -> list[dict[str, str]]:
    return [{**c, **more} if n == number else c for n, c in enumerate(CHILDREN)]


def test_a_whole_plan_stands_and_gets_its_links() -> None:
    made = assemble(PATH, OLD, OVERVIEW, CHILDREN)
    assert split_faults(PATH, OLD, made) == []
    assert made.parent.startswith(HEAD)
    assert made.parent.endswith("## Parts\n\n- [[digest/wiki/manual-setup.md]]\n- [[digest/wiki/manual-use.md]]\n")
    use = made.children["digest/wiki/manual-use.md"]
    assert use == f"---\nname: manual-use\ndescription: use\n---\n{USE}\npart_of:: [[{PATH}]]\n"


def test_links_the_plan_has_are_not_added_again() -> None:
    overview = OVERVIEW + "\n- [[digest/wiki/manual-setup.md]]\n- [[digest/wiki/manual-use.md]]\n"
    made = assemble(PATH, OLD, overview, child(1, body=f"{USE}\npart_of:: [[{PATH}]]"))
    assert "## Parts" not in made.parent
    assert made.children["digest/wiki/manual-use.md"].count("part_of::") == 1


def test_front_matter_of_a_plan_is_not_taken_for_text() -> None:
    made = assemble(PATH, OLD, f"---\nname: other\n---\n{OVERVIEW}", child(0, body=f"---\nname: y\n---\n{SETUP}"))
    assert split_faults(PATH, OLD, made) == []
    assert made.parent.startswith(HEAD + "# Manual")
    assert made.children["digest/wiki/manual-setup.md"].count("---\n") == 2


@pytest.mark.parametrize(
    ("children", "said"),
    [
        (child(0, body=SETUP.replace("Install it.", "")), "'Install it.'"),
        (child(0, body=SETUP.replace("Install it.", "Install it now.")), "stand nowhere"),
        (child(0, body=SETUP.replace("uses:: [[", "[[")), "uses:: [[digest/wiki/tool.md]]"),
        (child(1, body=USE.replace("button.md", "button.md#top")), "anchor"),
        (child(1, name="manual"), "parent's name"),
        ([*CHILDREN, {"name": "manual-more", "description": "", "body": "New words."}], "takes over no line"),
    ],
)
def test_a_plan_that_loses_or_spoils_something_is_refused(children: Any, said: str) -> None:
    assert said in "\n".join(faults(children=children))


def test_an_overview_that_keeps_everything_is_no_split() -> None:
    assert any("not shorter" in fault for fault in faults(overview=parse_note(OLD).body))


def test_size_sections_and_spread_make_a_note_overloaded() -> None:
    assert measure(OLD, 10_000) is None
    assert measure(HEAD + "# T\n\n" + "word " * 5_000, 10_000) is not None
    many = HEAD + "".join(f"## Part {n}\n\ntext\n\n" for n in range(13))
    found = measure(many, 10_000)
    assert found is not None
    assert found.reasons == ("13 sections, more than 12",)
    words = [f"w{n}x{k}" for n in range(4) for k in range(12)]
    spread = HEAD + "".join(
        f"## S{n}\n\n" + (" ".join(words[n * 12 : n * 12 + 12]) + "\n") * 20 + "\n" for n in range(4)
    )
    found = measure(spread, 10_000)
    assert found is not None
    assert "share 0%" in found.reasons[0]


BLOCKS = st.sampled_from(
    [
        "A line of text.",
        "- an item\n- an item",
        "uses:: [[digest/wiki/tool.md]]",
        "see [[digest/wiki/other.md]] and [is_a:: [[digest/wiki/kind.md]]]",
        "```\n## code\n```",
        "### Deeper\n\ntext 你好",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "derived_from:: [[daily/2026-01-02/a.md]]",
    ]
)


@settings(deadline=None)
@given(st.lists(st.lists(BLOCKS, min_size=1, max_size=4), min_size=2, max_size=20), st.booleans())
def test_the_rules_plan_only_splits_that_lose_nothing(sections: list[list[str]], titled: bool) -> None:
    body = "".join(f"## Section {n}\n\n" + "\n\n".join(blocks) + "\n\n" for n, blocks in enumerate(sections))
    old = HEAD + ("# Manual\n\nIntro.\n\n" if titled else "") + body
    plan = split_plan(PATH, old, 500)
    if plan["children"]:
        made = assemble(PATH, old, plan["overview"], plan["children"])
        assert split_faults(PATH, old, made) == []
        assert pairs(PATH, old) <= pairs(PATH, made.parent).union(*(pairs(p, t) for p, t in made.children.items()))
        assert len(made.children) == len(plan["children"])


def pairs(path: str, text: str) -> set[tuple[str, str | None]]:
    return {(edge.target_path, edge.predicate) for edge in fold_edges(path, parse_wikilinks(text))}


def test_sections_by_day_stay_in_order_and_name_their_span() -> None:
    days = [f"2026-01-{n:02d}" for n in range(1, 15)]
    body = "".join(
        f"## {day}\n\n- I went to Porto on day {day} and met Ana there again.\n- It was fun.\n\n" for day in days
    )
    plan = split_plan("digest/personal/ana.md", f"---\nname: ana\n---\n# Ana\n\n{body}", 10_000)
    names = [c["name"] for c in plan["children"]]
    assert names == ["ana-2026-01-01-to-2026-01-05", "ana-2026-01-06-to-2026-01-09", "ana-2026-01-10-to-2026-01-14"]
    assert plan["overview"] == "# Ana\n"


@pytest.mark.parametrize(
    "body", ["", "# Only a title\n\ntext\n", "## One section\n\ntext\n", "## a\n\nx\n\n## b\n\ny\n"]
)
def test_what_has_nothing_to_divide_stays_whole(body: str) -> None:
    assert split_plan(PATH, HEAD + body, 10_000) == {"overview": "", "children": []}


def test_a_split_of_a_note_without_front_matter() -> None:
    old = OLD.removeprefix(HEAD)
    made = assemble(PATH, old, OVERVIEW, CHILDREN)
    assert isinstance(made, Split)
    assert made.parent.startswith("# Manual\n")
    assert split_faults(PATH, old, made) == []


@pytest.mark.parametrize("underline", ["===", "---"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_underlined_headings_are_sections_too(underline: str, end: str) -> None:
    parts = [f"Part {n}\n{underline}\n\n" + f"Word{n} goes here in a sentence of its own. " * 20 for n in range(14)]
    old = (HEAD + "\n\n".join(parts) + "\n").replace("\n", end)
    assert measure(old, 10_000) is not None
    plan = split_plan(PATH, old, 10_000)
    made = assemble(PATH, old, plan["overview"], plan["children"])
    assert len(made.children) >= 2
    assert split_faults(PATH, old, made) == []
    kept = [line for text in made.children.values() for line in parse_note(text).body.splitlines()]
    assert [line for line in kept if line.startswith("Part ")] == [f"Part {n}" for n in range(14)]
    assert kept.count(underline) == 14


def test_a_rule_below_a_list_or_a_blank_line_is_no_section() -> None:
    body = "Text.\n\n---\n\n- item\n---\n\n" * 3 + "word " * 300
    assert split_plan(PATH, HEAD + body, 10_000) == {"overview": "", "children": []}
