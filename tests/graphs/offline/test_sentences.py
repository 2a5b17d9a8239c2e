import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_graphs.offline.sentences import heading_lines, split_blocks, split_sentences

CASES = {
    "abbreviations": ("Dr. Ana met Mr. Lee at 5 p.m. on Mon. in St. Gallen. It went well.", 2),
    "decimals and versions": ("PostgreSQL 16.2 replaced v1.2.3 at 3.5 GB. Python 3.11 stays.", 2),
    "address of a page": ("See https://example.org/a.b?c=d.e for more. It is short.", 2),
    "initials": ("J. R. Smith wrote it. We read it.", 2),
    "lower case talk": ("i like tea. it is good! is it? yes", 4),
    "ellipsis inside": ("Well... maybe later. Fine.", 2),
    "quote closes": ('She said "stop." Then she left.', 2),
    "Chinese": ("我喜欢喝龙井绿茶，不喜欢咖啡。请记得周五之前把报告发给王小明。", 2),
    "Chinese without space after English": ("用 v2.3 版本。Use 3.5 GB。好！", 3),
    "Chinese reported speech": ("“今天很忙。”他说。明天再来。", 2),
    "Chinese question and exclamation": ("真的吗？太好了！我们走吧。", 3),
    "line breaks end turns": ("Ana: hello\nBen: hi there", 2),
    "one word": ("Noted.", 1),
}


@pytest.mark.parametrize("name", CASES)
def test_sentences_end_where_a_reader_ends_them(name: str) -> None:
    text, count = CASES[name]
    assert len(split_sentences(text)) == count, split_sentences(text)


def test_a_line_wrapped_by_an_editor_is_one_sentence() -> None:
    text = "We decided to use PostgreSQL for the billing service\nbecause the joins stay simple."
    assert split_sentences(text) == [text.replace("\n", " ")]


@settings(deadline=None)
@given(st.text(alphabet="ab .!?。！？\n1“”\"'中文Z", max_size=80))
def test_splitting_loses_and_adds_no_letter(text: str) -> None:
    assert re.sub(r"\s", "", "".join(split_sentences(text))) == re.sub(r"\s", "", text)


def test_blocks_keep_items_whole_and_code_apart() -> None:
    text = (
        "# How\n\nIntro. More.\n\n1. Stop it. Wait\n   for a minute.\n2. Run:\n\n"
        "```bash\n# not a heading\nmake\n```\n\n| a | b |\n- [x] done\n"
    )
    found = [(b.kind, b.text, b.mark, b.ticked) for b in split_blocks(text)]
    assert found == [
        ("heading", "How", "#", None),
        ("paragraph", "Intro. More.", "", None),
        ("item", "Stop it. Wait for a minute.", "1.", None),
        ("item", "Run:", "2.", None),
        ("code", "# not a heading\nmake", "```bash", None),
        ("table", "| a | b |", "", None),
        ("item", "done", "-", True),
    ]


@pytest.mark.parametrize("line", ["2.4 上报看门狗", "3.11 is out", "-5 degrees outside", "-- and so on"])
def test_a_number_or_a_sign_is_no_list_mark(line: str) -> None:
    assert [b.kind for b in split_blocks(line)] == ["paragraph"]


def test_headings_inside_a_fence_are_no_headings() -> None:
    assert heading_lines(["# a", "```", "# b", "```", "## c"]) == [0, 4]
