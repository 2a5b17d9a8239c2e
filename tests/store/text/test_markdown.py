"""Headings by lines and blocks by the syntax tree, which must agree."""

from hypothesis import given
from hypothesis import strategies as st

from reme_store.text.markdown import is_parsable, read_blocks, read_headings


def _titles(text: str) -> list[str]:
    return [heading.text for heading in read_headings(text)]


def test_atx_and_underlined_headings() -> None:
    assert _titles("# A #\n\ntext\n\nB\n===\n\nC\n---\n\n###### D") == ["# A", "# B", "## C", "###### D"]


def test_headings_in_code_and_comments_are_none() -> None:
    assert _titles("```\n# a\n```\n~~~\n# b\n~~~\n    # c\n<!--\n# d\n-->\n# real") == ["# real"]


def test_a_rule_below_a_list_or_a_blank_is_no_underline() -> None:
    assert _titles("- item\n---\n\n---\n\n> quote\n---\n") == []


def test_a_fence_without_end_hides_the_rest() -> None:
    assert _titles("# a\n````\n```\n# b") == ["# a"]


def test_blocks_have_their_kind_and_lines() -> None:
    text = "# T\n\npara\nmore\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n- x\n- y\n\n```py\n\ncode\n```\n"
    blocks = read_blocks(text)
    assert blocks is not None
    assert [(block.kind, block.first, block.last) for block in blocks] == [
        ("heading", 0, 0),
        ("leaf", 2, 3),
        ("table", 5, 7),
        ("list", 9, 10),
        ("fence", 12, 15),
    ]
    assert blocks[3].items == (9, 10)


def test_deep_nesting_and_giant_lines_are_not_parsed() -> None:
    assert not is_parsable("".join(f"{'  ' * n}- level {n}\n" for n in range(400)))
    assert not is_parsable("> " * 1_500 + "x")
    assert not is_parsable("x" * 2_000_000)
    assert is_parsable(f"```\n{' ' * 200}deep = 1\n```\n")


def test_link_references_inside_quotes_do_not_disturb() -> None:
    assert read_blocks("> [a]: http://x\n\n[b]: http://y\n\ntext [a]\n") is not None


PIECES = ["# a", "## b", "text", "", "- item", "  more", "===", "---", "> q", "| a | b |", "|---|---|", "    code"]


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_the_scan_and_the_tree_find_the_same_marked_headings(lines: list[str]) -> None:
    text = "\n".join(lines)
    blocks = read_blocks(text)
    assert blocks is not None
    scanned = {(h.first, h.text) for h in read_headings(text) if h.first == h.last}
    parsed = {(b.heading.first, b.heading.text) for b in blocks if b.heading and b.heading.first == b.heading.last}
    assert parsed == {item for item in scanned if not _inside(blocks, item[0])}


def _inside(blocks: list, line: int) -> bool:  # type: ignore[type-arg]
    return any(block.kind != "heading" and block.first <= line <= block.last for block in blocks)
