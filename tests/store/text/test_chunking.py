"""How notes fall into chunks."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store.models import FileChunk
from reme_store.text.chunking import chunk_id, chunk_markdown, chunk_plain, index_chunk, weighted_texts
from reme_store.text.front_matter import parse_note

A, B = "a" * 60, "b" * 60
NOTE = f"# T\n\nintro\n\n## A\n\n{A}\n\n## B\n\n{B}\n\n### B1\n\nb1\n\n## C\n\nc\n"
TABLE = "| A | B |\n|---|---|\n" + "".join(f"| row {n:02} | value {n:04} x |\n" for n in range(12))


def cut(text: str, chunk_chars: int = 100, *, embed_toc: bool = True) -> list[FileChunk]:
    return chunk_markdown("n.md", text, body_line=1, chunk_chars=chunk_chars, embed_toc=embed_toc)


def ranges(chunks: list[FileChunk]) -> list[tuple[int, int]]:
    return [(chunk.start_line, chunk.end_line) for chunk in chunks]


def terms_text(chunk: FileChunk) -> str:
    return "\n".join(text for text, _ in weighted_texts(chunk))


def test_a_chunk_shows_the_headings_of_the_whole_note_in_order() -> None:
    chunks = cut(NOTE)
    assert len(chunks) == 4
    assert chunks[0].text == "# T\n\nintro\n\n## A\n\n## B\n\n### B1\n\n## C"
    for chunk in chunks:
        places = [chunk.text.index(f"{heading}") for heading in ("# T", "## A", "## B", "### B1", "## C")]
        assert places == sorted(places)


def test_without_skeleton_a_chunk_is_its_content() -> None:
    assert [chunk.text for chunk in cut(NOTE, embed_toc=False)] == ["intro", A, f"{B}\n\n### B1\n\nb1", "c"]


def test_only_the_headings_a_chunk_stands_under_are_its_terms() -> None:
    by_place = {chunk.start_line: terms_text(chunk) for chunk in cut(NOTE)}
    assert by_place[7] == f"T\nA\n{A}"
    assert by_place[19] == "T\nC\nc"


def test_a_note_that_fits_is_one_chunk() -> None:
    (chunk,) = cut(NOTE, 10_000)
    assert (chunk.start_line, chunk.end_line, chunk.text) == (1, 19, NOTE.strip())


def test_a_limit_below_100_is_100() -> None:
    assert ranges(cut(NOTE, 1)) == ranges(cut(NOTE, 100))


def test_each_part_of_a_table_repeats_header_and_separator() -> None:
    chunks = cut(TABLE)
    assert ranges(chunks) == [(3, 5), (6, 8), (9, 11), (12, 14)]
    for number, chunk in enumerate(chunks, 1):
        assert chunk.text.startswith(f"[Part {number}/4]\n\n| A | B |\n|---|---|\n| row")


def test_a_part_of_a_table_stands_under_its_heading() -> None:
    chunks = cut("# H\n\n" + TABLE)
    assert chunks[0].text.startswith("# H\n\n[Part 1/4]\n\n| A | B |")
    assert ranges(chunks)[0] == (5, 7)


def test_each_part_of_a_fence_is_fenced() -> None:
    chunks = cut("```python\n" + "".join(f"x = {n:04}\n\n" for n in range(12)) + "```\n")
    assert len(chunks) == 2
    for chunk in chunks:
        core = chunk.text.split("\n\n", 1)[1]
        assert core.startswith("```python\n")
        assert core.endswith("\n```")
    assert "x = 0000\n\nx = 0001" in chunks[0].text


def test_a_list_is_packed_by_items() -> None:
    chunks = cut("".join(f"- item number {n:05} z\n" for n in range(10)))
    assert ranges(chunks) == [(1, 4), (5, 8), (9, 10)]


def test_an_item_over_the_limit_stays_whole() -> None:
    item = "- long\n  - " + "y" * 116 + "\n"
    chunks = cut("- a\n" + item + "- b\n" * 2)
    assert item.strip() in [chunk.text.split("\n\n", 1)[1] for chunk in chunks]


def test_a_long_paragraph_is_cut_at_lines() -> None:
    assert ranges(cut("\n".join(["l" * 30] * 8))) == [(1, 3), (4, 6), (7, 8)]


def test_one_line_somewhat_over_the_limit_is_one_chunk_without_part() -> None:
    (chunk,) = cut("y" * 250)
    assert chunk.text == "y" * 250


def test_one_endless_line_is_cut() -> None:
    chunks = cut("word " * 2_000)
    assert len(chunks) > 50
    assert all(len(chunk.text) < 300 for chunk in chunks)


def test_underlined_headings_become_marked_ones() -> None:
    assert cut("Title\n=====\r\n\ntext\n")[0].text == "# Title\n\ntext"
    assert cut("Title\n=====\n\n" + "p" * 80 + "\n\n" + "q" * 80)[0].text.startswith("# Title\n\npp")


def test_skipped_levels_headings_only_and_nothing() -> None:
    assert len(cut("# a\n### b\n## c")) == 1
    assert len(cut("# a\n\n# b\n")) == 1
    assert cut("\n \n\n") == []


def test_lines_are_those_of_the_file() -> None:
    (chunk,) = chunk_markdown("n.md", "\n# H\r\none\r\ntwo\r\n", body_line=4)
    assert (chunk.start_line, chunk.end_line, chunk.text) == (5, 7, "# H\none\ntwo")


def test_the_id_names_place_and_text() -> None:
    (chunk,) = cut("hello")
    assert chunk.id == chunk_id("n.md", 1, 1, "hello")
    assert len(chunk.id) == 64


def test_a_big_skeleton_keeps_only_ancestors_and_neighbours() -> None:
    chunks = cut("".join(f"# Heading number {n}\n\n{'t' * 90}\n\n" for n in range(200)))
    middle = chunks[100].text
    assert "number 99\n" in middle
    assert "number 101" in middle
    assert "number 98" not in middle
    assert "number 102" not in middle


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{'  ' * n}- level {n}\n" for n in range(400)) + "narwhal",
        "> " * 1_500 + "narwhal",
        "x" * 2_000_000 + " narwhal",
        "".join(f"# H{n}\n\ntext {n}\n" for n in range(4_000)) + "narwhal",
        "| a | b |\n|---|---|\n" + "| cell | cell |\n" * 20_000 + "| narwhal | z |\n",
        "[[" * 200_000 + " narwhal",
        "`" * 100_001 + " narwhal",
    ],
    ids=["lists", "quotes", "line", "headings", "rows", "brackets", "ticks"],
)
def test_hostile_text_is_chunked_in_bounded_time_and_size(text: str) -> None:
    began = time.process_time()
    chunks = cut(text, 10_000)
    assert time.process_time() - began < 5
    assert any("narwhal" in chunk.text for chunk in chunks)
    assert max(len(chunk.text) for chunk in chunks) < 41_000
    assert sum(len(chunk.text) for chunk in chunks) < 3 * len(text) + 1_000


def test_plain_windows_overlap_and_end_at_lines() -> None:
    chunks = chunk_plain("n.txt", "".join(f"line {n:03}\n" for n in range(100)), chunk_chars=300)
    assert all(len(chunk.text) <= 300 for chunk in chunks)
    for before, after in pairwise(chunks):
        assert after.start_line <= before.end_line + 1
        assert before.text[-50:] in after.text


@pytest.mark.parametrize("fill", ["x", "word ", "字"])
def test_plain_windows_do_not_cut_a_wikilink(fill: str) -> None:
    link = "[[digest/wiki/a-note-with-a-name.md]]"
    for shift in range(40):
        text = (fill * 80)[: 60 + shift] + link + (fill * 200)[:150]
        assert any(link in chunk.text for chunk in chunk_plain("n.txt", text, chunk_chars=100))


def test_the_index_chunk_says_what_the_note_is_called() -> None:
    text = "---\nname: Alpha\ndescription: of the beginning\ntags: [x, y]\nkind: letter\n---\n\n# Head\n"
    chunk = index_chunk("digest/wiki/alpha-note.md", parse_note(text), ["Head"])
    assert chunk is not None
    assert chunk.metadata["chunk_type"] == "index"
    assert (chunk.start_line, chunk.end_line) == (1, 6)
    for word in ("Alpha", "beginning", "x y", "letter", "alpha-note", "Head"):
        assert word in chunk.text
    weights = dict(weighted_texts(chunk))
    assert weights["Alpha"] > weights["of the beginning"] > weights["letter"]


def test_a_title_stands_in_for_a_name() -> None:
    chunk = index_chunk("a.md", parse_note("---\ntitle: Other\n---\n"), [])
    assert chunk is not None
    assert chunk.metadata["fields"]["name"] == "Other"


PIECES = ["# a", "## b", "### c", "some text of a line", "", "- item one", "  - nested", "| a | b |", "|---|---|",
          "```", "> quote", "    code", "1. first", "长长的一行文字没有空格", "[[digest/wiki/a.md]]"]  # fmt: skip


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=60), st.booleans(), st.integers(100, 200))
def test_every_line_that_is_no_heading_is_in_some_chunk(lines: list[str], embed_toc: bool, limit: int) -> None:
    text = "\n".join(lines)
    shown = [line for chunk in cut(text, limit, embed_toc=embed_toc) for line in terms_text(chunk).split("\n")]
    for line in lines:
        if line.strip() and not line.startswith("#"):
            assert any(line.strip() in other for other in shown)
