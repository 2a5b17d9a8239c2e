"""Does a dialog file hold each message once, in its place, however the messages come in?"""

import json
from datetime import UTC
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reme_graphs.auto_memory.dialog import merge_dialog, parse_dialog, render_dialog
from reme_graphs.messages import normalize


def saved(text: str, items: list[Any]) -> str:
    messages, errors = normalize(items, UTC)
    assert errors == []
    return render_dialog(merge_dialog(parse_dialog(text), messages))


def contents(text: str) -> list[str]:
    return [json.loads(line)["content"] for line in text.split("\n") if line]


def say(text: str, moment: int | None = None, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **({"created_at": moment} if moment else {}), **more}


conversations = st.lists(
    st.tuples(
        st.integers(1_000_000_000, 1_000_000_500),
        st.sampled_from(["user", "assistant", "tool"]),
        st.text(min_size=1, max_size=12).filter(str.strip),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[0],
).map(
    lambda rows: [
        {"role": role, "content": text, "created_at": moment, **({"id": f"host-{n}"} if with_id else {})}
        for n, (moment, role, text, with_id) in enumerate(rows)
    ]
)


@given(conversations, st.data())
def test_any_order_repetition_and_split_gives_the_same_file(conversation: list[Any], data: st.DataObject) -> None:
    whole = saved("", sorted(conversation, key=lambda item: item["created_at"]))
    shuffled = data.draw(
        st.permutations([*conversation, *data.draw(st.lists(st.sampled_from(conversation), max_size=5))])
    )
    cut = data.draw(st.integers(0, len(shuffled)))
    assert saved(saved("", shuffled[:cut]), shuffled[cut:]) == whole


@given(conversations)
def test_saving_again_changes_no_byte(conversation: list[Any]) -> None:
    once = saved("", conversation)
    assert saved(once, conversation) == once


def test_a_message_that_gets_its_id_later_is_the_same_in_either_order() -> None:
    without, with_id = say("x", 1_000_000_000), say("x", 1_000_000_000, id="m1")
    assert saved(saved("", [without]), [with_id]) == saved(saved("", [with_id]), [without])
    assert len(contents(saved("", [without, with_id]))) == 1


def test_an_edit_is_recorded_beside_the_first_wording() -> None:
    first = saved("", [say("at five", 1_000_000_000, id="m1")])
    text = saved(first, [say("at six", 1_000_000_000, id="m1")])
    assert contents(text) == ["at five", "at six"]
    assert json.loads(text.split("\n")[1])["edited"] is True
    assert saved(text, [say("at five", 1_000_000_000, id="m1"), say("at six", 1_000_000_000, id="m1")]) == text


def test_ids_that_count_order_one_instant() -> None:
    items = [say(f"turn {n}", 1_000_000_000, id=f"D1:{n}") for n in (10, 2, 1)]
    assert contents(saved("", items)) == ["turn 1", "turn 2", "turn 10"]


def test_messages_without_a_time_stay_behind_their_predecessor() -> None:
    first = saved("", [say("one", 1_000_000_000), say("two"), say("four", 1_000_000_400)])
    assert contents(first) == ["one", "two", "four"]
    assert contents(
        saved(first, [say("one", 1_000_000_000), say("two"), say("three"), say("four", 1_000_000_400), say("five")])
    ) == ["one", "two", "three", "four", "five"]
    assert contents(saved("", [say("a"), say("b"), say("a")])) == ["a", "b"]


def test_unreadable_lines_and_foreign_keys_keep_their_bytes() -> None:
    torn, foreign = (
        '{"id": "x", "ro',
        '{"id": "m0", "role": "user", "content": "old", "created_at": "2001-09-09T01:46:40Z", "mood": "good"}',
    )
    text = f"{foreign}\n{torn}\n"
    assert saved(text, [say("new", 1_000_000_500)]).startswith(text)
    assert saved(text, [say("old", 1_000_000_000, id="m0")]) == text


def test_line_separators_inside_a_message_do_not_split_it() -> None:
    text = saved("", [say("one\u2028two\x85three\nfour", 1_000_000_000)])
    assert text.count("\n") == 1
    assert contents(text) == ["one\u2028two\x85three\nfour"]
