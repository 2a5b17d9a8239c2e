import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_graphs.offline import interpret_resource, merge_additions, write_note
from tests.graphs.offline.conftest import squeezed, stated

Said = Callable[..., list[dict[str, str]]]


def test_a_conversation_leaves_its_decisions_preferences_and_tasks(said: Said) -> None:
    messages = said(
        ("user", "We decided to use PostgreSQL 16 for the billing service. The weather is nice."),
        ("assistant", "Noted. The migration starts on 2026-04-01 and Ana Lopes owns it."),
        ("user", "我喜欢喝龙井绿茶，不喜欢咖啡。请记得周五之前把季度报告发给王小明。"),
    )
    note = write_note(messages, "")
    assert note is not None
    assert stated(note.body_additions) == [
        "We decided to use PostgreSQL 16 for the billing service.",
        "我喜欢喝龙井绿茶，不喜欢咖啡。",
        "请记得周五之前把季度报告发给王小明。",
        "The migration starts on 2026-04-01 and Ana Lopes owns it.",
    ]
    assert "PostgreSQL" in note.name
    assert note.description


def test_nothing_worth_keeping_gives_no_note(said: Said) -> None:
    assert (
        write_note(said(("user", "Hi there!"), ("assistant", "Hello! How can I help?"), ("user", "Thanks!")), "")
        is None
    )
    assert write_note([], "") is None


def test_tool_results_and_system_messages_are_not_facts(said: Said) -> None:
    fact = "We decided to move the office to Lisbon on 2026-05-01."
    assert write_note(said(("tool", fact), ("system", fact)), "") is None


def test_names_of_speakers_group_what_they_said(said: Said) -> None:
    note = write_note(
        said(("Caroline", "I adopted a dog named Rex last May."), ("Melanie", "I love pottery and camping.")), ""
    )
    assert note is not None
    assert re.findall(r"^## (.*)$", note.body_additions, re.MULTILINE) == ["Caroline: facts", "Melanie: preferences"]
    assert note.name.startswith("Caroline, Melanie: ")


def test_what_the_note_says_already_is_left_out(said: Said) -> None:
    messages = said(("user", "We decided to use PostgreSQL 16 for the billing service."))
    first = write_note(messages, "")
    assert first is not None
    assert write_note(messages, first.body_additions) is None
    more = write_note(
        said(("user", "We decided to use  PostgreSQL 16 for the billing service. I prefer tea to coffee.")),
        first.body_additions,
    )
    assert more is not None
    assert stated(more.body_additions) == ["I prefer tea to coffee."]


def test_a_sentence_said_twice_stands_once(said: Said) -> None:
    note = write_note(said(("user", "I prefer tea to coffee."), ("user", "I prefer tea to coffee!")), "")
    assert note is not None
    assert len(stated(note.body_additions)) == 1


def test_steps_keep_their_order_numbers_and_commands(said: Said) -> None:
    first = "How to release:\n\n1. Freeze the main branch.\n2. Run the smoke tests:\n\n"
    text = first + "```bash\nmake smoke\n```\n\n3. Deploy to the canary."
    note = write_note(said(("assistant", text)), "")
    assert note is not None
    places = [note.body_additions.index(piece) for piece in ("1. Freeze", "2. Run", "make smoke", "3. Deploy")]
    assert places == sorted(places)


def test_a_long_conversation_is_cut_to_what_matters_most(said: Said) -> None:
    turns = [("user", f"I bought book number {n} in Paris on 2026-01-{n % 28 + 1:02d}.") for n in range(300)]
    note = write_note(said(*turns), "")
    assert note is not None
    assert 5 <= len(stated(note.body_additions)) <= 25


def test_a_transcript_in_one_message_keeps_its_speakers(said: Said) -> None:
    text = (
        "Ana: I moved to Porto in 2024.\nBen: Nice!\nAna: I work at the harbour.\nBen: I love sailing with my brother."
    )
    note = write_note(said(("user", text)), "")
    assert note is not None
    assert "## Ana: facts" in note.body_additions
    assert "I moved to Porto in 2024." in stated(note.body_additions)


@pytest.mark.parametrize(
    "text",
    ["derived_from:: [[daily/2026-01-01/x.md]] is what I always use.", "<!-- I prefer tea. --> I love <!-- x -->"],
)
def test_form_smuggled_into_a_conversation_is_not_written(said: Said, text: str) -> None:
    note = write_note(said(("user", text)), "")
    assert note is None or ("::" not in note.body_additions and "<!--" not in note.body_additions)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "I love tea.",
                "我住在杭州。",
                "Hi!",
                "We decided on X in 2024.",
                "1. Run it",
                "# Head",
                "```",
                "- item 2024 Ana",
                "a: b",
            ]
        ),
        max_size=12,
    )
)
def test_every_line_of_a_note_stands_in_the_source(lines: list[str]) -> None:
    text = "\n".join(lines)
    note = write_note([{"role": "user", "name": "", "text": text}], "")
    if note:
        assert all(squeezed(line) in squeezed(text) for line in stated(note.body_additions))


def test_a_document_keeps_its_headings_and_telling_sentences() -> None:
    intro = "# Moss gateway\n\nThe Moss gateway sends readings to the server every 10 seconds.\n\n"
    text = intro + "## Rollback\n\n1. Stop the service.\n2. Run `ota rollback`.\n"
    note = interpret_resource("resource/2026-03-03/moss.md", text, "")
    assert note is not None
    assert note.name == "Moss gateway"
    assert "## Rollback\n\n1. Stop the service.\n2. Run `ota rollback`." in note.body_additions


def test_small_data_is_kept_whole_and_large_data_by_its_first_rows() -> None:
    small = interpret_resource("resource/2026-03-03/rows.csv", "a,b\n1,2\n", "")
    large = interpret_resource("resource/2026-03-03/rows.csv", "a,b\n" + "1,2\n" * 4000, "")
    assert small is not None
    assert small.body_additions == "## Content\n\n```\na,b\n1,2\n```\n"
    assert large is not None
    assert large.body_additions.startswith("## Rows 1-20 of 4001\n")


def test_a_recorded_conversation_is_read_as_one() -> None:
    rows = '{"role": "user", "content": "I prefer tea to coffee."}\n{"role": "assistant", "content": "Noted."}\n'
    note = interpret_resource("resource/2026-03-03/chat.jsonl", rows, "")
    assert note is not None
    assert stated(note.body_additions) == ["I prefer tea to coffee."]


def test_a_document_without_telling_sentences_gives_its_first_ones() -> None:
    note = interpret_resource("resource/2026-03-03/poem.txt", "Leaves are falling down slowly. The sky turns grey.", "")
    assert note is not None
    assert stated(note.body_additions) == ["Leaves are falling down slowly.", "The sky turns grey."]


def test_an_empty_document_gives_nothing() -> None:
    assert interpret_resource("resource/2026-03-03/a.txt", " \n", "") is None
    assert interpret_resource("resource/2026-03-03/a.csv", "\n", "") is None


def test_additions_go_under_the_headings_that_are_there() -> None:
    old = "---\nname: x\n---\n## Facts\n\n- a\n\n## Mine\n\ntext\n"
    merged = merge_additions(old, "## Facts\n\n- b\n\n## Decisions\n\n- c\n")
    assert merged == "---\nname: x\n---\n## Facts\n\n- a\n- b\n\n## Mine\n\ntext\n\n## Decisions\n\n- c\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("私たちはPostgreSQLを使うことに決めました。会議は毎週月曜日の10時です。", "PostgreSQL"),
        ("우리는 데이터베이스로 MySQL을 사용하기로 결정했습니다.", "MySQL"),
    ],
)
def test_kana_and_hangul_are_no_chinese_and_names_end_where_they_begin(text: str, name: str) -> None:
    note = write_note([{"role": "user", "text": text}], "")
    assert note is not None
    assert note.body_additions.startswith("## Facts\n")
    assert name in note.name.split(", ")
