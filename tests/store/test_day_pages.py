"""What are the notes of a day called, and what of a day's page is a person's?"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store import open_store
from reme_store.daily import (
    daily_create,
    daily_list,
    daily_reindex,
    parse_day,
    proactive,
    render_index_page,
    session_stem,
    strip_index_block,
)
from reme_store.errors import InvalidPathError, InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.paths import fold, is_memory, name_fault
from reme_store.text.day_list import CLOSER, OPENER

ONE = [{"path": "daily/2026-01-02/Topic One.md", "name": "Topic One", "description": "d"}]
TWO = [*ONE, {"path": "daily/2026-01-02/b.md", "name": "B <!-- x", "description": "[[y]]"}]
DAY = "2026-01-02"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    with open_store(tmp_path / "w", timezone="UTC") as opened:
        yield opened


def test_a_line_links_the_note_with_its_name_and_description() -> None:
    line = "- [[daily/2026-01-02/Topic One.md]] name: Topic One description: d"
    assert render_index_page("", ONE) == f"{OPENER}\n{line}\n{CLOSER}\n"


@pytest.mark.parametrize(
    "page",
    [
        "",
        "mine\n",
        "mine",
        "mine\r\nmore\r\n",
        " ",
        f"\ufeff{OPENER}\n{CLOSER}\n",
        f"before\n\n{OPENER}\n- old\n{CLOSER}\n\nafter\n",
        f"{OPENER}\r\n{CLOSER}\r\nafter\r\n",
        f"`{OPENER}` opens the list, `{CLOSER}` closes it\n",
        f"```\n{OPENER}\n- shown\n{CLOSER}\n```\n",
        f"{OPENER}\nnever closed\n",
        f"one\n\n{OPENER}\n{CLOSER}\n\ntwo\n\n{OPENER}\n{CLOSER}\n\nthree\n",
        f"---\nname: x\n---\nmine\n\n{OPENER}\n- old\n{CLOSER}\n",
    ],
)
def test_a_persons_text_stays_whatever_the_list_becomes(page: str) -> None:
    own = strip_index_block(page)
    first = render_index_page(page, ONE)
    second = render_index_page(first, TWO)
    assert strip_index_block(first) == strip_index_block(second) == own
    assert render_index_page(second, TWO) == second
    assert render_index_page(second, ONE) == first
    assert first.count("Topic One.md") == 1
    assert (first.count("\n") == first.count("\r\n")) == ("\r\n" in page)


PIECES = ["mine", "\n", "\n\n", OPENER + "\n", CLOSER + "\n", "- x", "```\n", "`", " ", "---\n"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
def test_a_second_list_replaces_the_first_and_nothing_else(page: str) -> None:
    first = render_index_page(page, ONE)
    assert render_index_page(render_index_page(first, TWO), ONE) == first
    lines = [line for line in strip_index_block(page).split("\n") if line]
    assert [line for line in strip_index_block(first).split("\n") if line] == lines


@pytest.mark.parametrize("session_id", ["s-1", "abc_2", "9f8e7d6c-1111-4222-8333-9f8e7d6c5b4a", "会话", "a b", "a@b.c"])
def test_a_safe_session_id_is_its_file_name(session_id: str) -> None:
    assert session_stem(session_id) == session_id


@pytest.mark.parametrize("session_id", ["", "  ", "..", ".", "../x", "a/b", "a\\b", "a\0b"])
def test_a_session_id_with_path_syntax_is_refused(session_id: str) -> None:
    with pytest.raises(InvalidPathError):
        session_stem(session_id)


IDS = st.one_of(
    st.text(min_size=1, max_size=12),
    st.text("aA-_. ~:#é\u0301ß(c)", min_size=1, max_size=6),
    st.sampled_from(
        ["con", "CON", "Foo", "foo", ".hidden", "~x", "x~", "x.", "a:b", "a_b", "x" * 300, "é" * 200, "nul.md"]
    ),
).filter(lambda text: bool(text.strip()) and not set(text) & set("/\\\0") and text not in {".", ".."})


@settings(max_examples=400, deadline=None)
@given(IDS, IDS)
def test_two_session_ids_never_share_a_file_name(one: str, other: str) -> None:
    names = [session_stem(one), session_stem(other), session_stem(session_stem(one))]
    assert (fold(names[0]) == fold(names[1])) == (one == other)
    assert (names[2] == names[0]) == (session_stem(one) == one)
    for name in names:
        assert name_fault(f"{name}.md") == ""
        assert is_memory(f"daily/{DAY}/{name}.md")


@pytest.mark.parametrize(
    "text", ["2026-02-30", "20260305", "2026-3-5", "today", "2026-03-05 ", "2026-W10-1", "../2026"]
)
def test_what_is_no_day_is_a_callers_mistake(text: str) -> None:
    with pytest.raises(InvalidRequestError, match="YYYY-MM-DD"):
        parse_day(text)


def test_a_daily_note_is_made_once_and_listed_on_its_page(store: FileStore) -> None:
    made = daily_create(store, DAY, "s-1", "Solar: plan", "d")
    assert made.metadata == {"path": f"daily/{DAY}/s-1.md", "created": True}
    page = store.read_note(f"daily/{DAY}.md").text
    assert f"- [[daily/{DAY}/s-1.md]] name: Solar: plan description: d\n" in page
    store.append(f"daily/{DAY}/s-1.md", "text")
    before = store.read_note(f"daily/{DAY}/s-1.md")
    assert daily_create(store, DAY, "s-1", "other").metadata["created"] is False
    assert store.read_note(f"daily/{DAY}/s-1.md") == before
    assert daily_list(store, DAY).metadata["notes"] == [
        {"path": f"daily/{DAY}/s-1.md", "name": "Solar: plan", "description": "d"}
    ]


def test_a_day_without_notes_gets_no_page(store: FileStore) -> None:
    assert daily_reindex(store, DAY).metadata == {"path": f"daily/{DAY}.md", "count": 0}
    assert store.version_of(f"daily/{DAY}.md") is None


def test_a_page_that_is_not_utf_8_keeps_its_bytes(store: FileStore) -> None:
    daily_create(store, DAY, "s-1")
    page = store.root / f"daily/{DAY}.md"
    page.write_bytes("caf\xe9 au lait, d\xe9j\xe0 vu\n".encode("latin-1"))
    before = page.read_bytes()
    with pytest.raises(InvalidRequestError, match="UTF-8"):
        daily_reindex(store, DAY)
    assert page.read_bytes() == before


def test_topics_of_a_day_are_read_with_their_yaml(store: FileStore) -> None:
    text = "date: 2026-01-02\ntopics:\n  - title: Solar\n    reason: asked twice\n"
    assert proactive(store, DAY).metadata["skipped"] is True
    store.apply({f"daily/{DAY}/interests.yaml": text})
    answer = proactive(store, DAY)
    assert answer.metadata["topics"] == [{"title": "Solar", "reason": "asked twice"}]
    assert answer.metadata["content"] == text
    assert proactive(store, DAY, include_content=False).metadata["content"] is None


@pytest.mark.parametrize("text", ["- a\n", "topics: x\n", "topics: [1]\n", "a: b: c\n", "a: &a [*a]\ntopics: []\n"])
def test_topics_that_cannot_be_read_are_no_empty_list(store: FileStore, text: str) -> None:
    store.apply({f"daily/{DAY}/interests.yaml": text})
    with pytest.raises(InvalidRequestError, match=r"interests\.yaml"):
        proactive(store, DAY)


def test_search_finds_the_notes_of_a_day_and_what_a_person_wrote_on_its_page_but_not_the_list(store: FileStore) -> None:
    store.write(f"daily/{DAY}.md", "A heron stood there.\n")
    store.write(f"daily/{DAY}/s.md", "Nothing else.\n", name="Quokka census", description="counted at dusk")
    daily_reindex(store, DAY)
    page = f"daily/{DAY}.md"
    assert "Quokka census" in store.read_note(page).text
    assert {hit["path"] for hit in store.search("quokka census").metadata["results"]} == {f"daily/{DAY}/s.md"}
    assert [hit["path"] for hit in store.search("heron").metadata["results"]] == [page]
    assert [link.target_path for link in store.outlinks(page)] == [f"daily/{DAY}/s.md"]


def test_what_stands_below_the_list_keeps_its_line(store: FileStore) -> None:
    daily_create(store, DAY, "s")
    page = f"daily/{DAY}.md"
    store.append(page, "\nAn ibis came later.\n")
    hit = store.search("ibis").metadata["results"][0]
    lines = store.read_note(page).text.split("\n")
    assert hit["path"] == page and hit["end_line"] == lines.index("An ibis came later.") + 1


def test_topics_of_a_day_are_read_by_proactive_not_found_by_search(store: FileStore) -> None:
    path = f"daily/{DAY}/interests.yaml"
    store.apply({path: f"date: {DAY}\ntopics:\n- title: Narwhal songs\n  reason: r\n"})
    assert store.search("narwhal songs").metadata["results"] == []
    assert proactive(store, DAY).metadata["topics"][0]["title"] == "Narwhal songs"
