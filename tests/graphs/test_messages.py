"""Is everything that hosts send read into one plain form?"""

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, message_to_dict

from reme_graphs.messages import CUT, Message, moment_of, normalize, read_message, spoken

SHANGHAI = ZoneInfo("Asia/Shanghai")
NAMES = [
    "role",
    "type",
    "content",
    "text",
    "tool_calls",
    "id",
    "name",
    "function",
    "arguments",
    "created_at",
    "time",
    "metadata",
    "data",
    "kwargs",
    "lc",
]


def read(item: Any, **options: Any) -> Message:
    return read_message(item, SHANGHAI, **options)


@pytest.mark.parametrize(
    "item",
    [
        "hello",
        ("user", "hello"),
        {"role": "user", "content": "hello"},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "user", "content": {"type": "text", "text": "hello"}},
        {"role": "human", "text": "hello"},
        {"type": "human", "content": "hello"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"role": "user", "parts": [{"text": "hello"}]},
        HumanMessage("hello"),
        message_to_dict(HumanMessage("hello")),
        dumpd(HumanMessage("hello")),
    ],
)
def test_a_person_speaks_in_many_forms(item: Any) -> None:
    message = read(item)
    assert (message["role"], message["content"]) == ("user", "hello")
    assert spoken(message)


@pytest.mark.parametrize(
    "item",
    [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"q": 1}'}}],
        },
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "lookup", "input": {"q": 1}}]},
        AIMessage("", tool_calls=[{"name": "lookup", "args": {"q": 1}, "id": "c1"}]),
        message_to_dict(AIMessage("", tool_calls=[{"name": "lookup", "args": {"q": 1}, "id": "c1"}])),
        {"type": "function_call", "call_id": "c1", "name": "lookup", "arguments": '{"q": 1}'},
    ],
)
def test_a_call_without_words_is_kept(item: Any) -> None:
    message = read(item)
    assert message["role"] == "assistant" and not spoken(message)
    assert message["tool_calls"] == [{"id": "c1", "name": "lookup", "args": {"q": 1}}]


@pytest.mark.parametrize(
    "item",
    [
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        ToolMessage("found", tool_call_id="c1"),
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "found"}]}],
        },
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
    ],
)
def test_a_result_of_a_tool_is_no_speech(item: Any) -> None:
    message = read(item)
    assert (message["role"], message["content"], message["tool_call_id"]) == ("tool", "found", "c1")
    assert not spoken(message)


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-05T09:00:00+08:00",
        "2026-03-05T01:00:00Z",
        "2026-03-05 09:00:00",
        1772672400,
        1772672400000,
        "1772672400",
    ],
)
def test_times_in_every_form_are_one_moment(value: Any) -> None:
    assert moment_of(read({"role": "user", "content": "x", "created_at": value})) == datetime(2026, 3, 5, 1, tzinfo=UTC)


def test_created_at_wins_and_metadata_counts() -> None:
    early, late = "2026-03-05T01:00:00Z", "2026-03-06T01:00:00Z"
    both = {"role": "user", "content": "x", "time": late, "timestamp": late, "created_at": early}
    assert read(both)["created_at"] == early
    assert read({"role": "user", "content": "x", "metadata": {"createdAt": early}})["created_at"] == early
    assert read(HumanMessage("x", additional_kwargs={"timestamp": early}))["created_at"] == early


def test_a_time_that_cannot_be_read_gives_way_to_the_next_name() -> None:
    messages, errors = normalize([{"role": "user", "content": "x", "created_at": "soon", "time": 1772672400}], UTC)
    assert messages[0]["created_at"] == "2026-03-05T01:00:00Z" and errors == []


def test_results_of_tools_are_taken_out_of_what_a_person_says() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "It costs 40."},
        {"type": "tool_result", "tool_use_id": "c2", "content": []},
        {"type": "text", "text": "Then I buy it."},
    ]
    for item in ({"role": "user", "content": blocks, "id": "m1"}, HumanMessage(blocks, id="m1")):
        messages, errors = normalize([item], UTC)
        assert errors == []
        assert [(message["id"], message["role"], message["content"]) for message in messages] == [
            ("m1#c1", "tool", "It costs 40."),
            ("m1#c2", "tool", "[empty result]"),
            ("m1", "user", "Then I buy it."),
        ]
        assert [spoken(message) for message in messages] == [False, False, True]
    [first, second], _ = normalize([{"role": "user", "content": blocks[:2]}], UTC)
    assert (first["tool_call_id"], second["tool_call_id"]) == ("c1", "c2")


def test_arguments_of_calls_are_masked_by_their_names_and_reports_too() -> None:
    call = {"id": "1", "function": {"name": "login", "arguments": '{"password": "hunter", "user": "ana"}'}}
    message = read({"role": "assistant", "content": None, "tool_calls": [call]})
    assert message["tool_calls"][0]["args"] == {"password": "[secret: password]", "user": "ana"}
    _, errors = normalize([b"sk-aB3dE6gH9jK2mN5pQ8sT1vW4"], UTC)
    assert "sk-aB3" not in errors[0]


def test_a_result_cannot_claim_to_be_cut_already() -> None:
    assert len(read({"role": "tool", "content": "x" * 5000, "full_sha256": "0" * 64})["content"]) < 2100


def test_bad_messages_are_reported_and_the_rest_is_kept() -> None:
    items = [
        12345,
        {"content": "no role"},
        {"role": "alien", "content": "x"},
        {"role": "user", "content": " "},
        {"role": "user", "content": "good", "time": "soon"},
    ]
    messages, errors = normalize(items, UTC)
    assert [message["content"] for message in messages] == ["good"]
    assert len(errors) == 5 and all(error.startswith("message ") for error in errors)


def test_pictures_and_encoded_data_become_markers() -> None:
    data = "aGVsbG8gd29ybGQhIQ0K" * 50
    blocks = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
        {"type": "thinking", "thinking": "let me see"},
    ]
    text = read({"role": "user", "content": blocks})["content"]
    assert "https://example.org/cat.png" in text and "[audio: 750 bytes" in text and "see" in text
    assert data[:40] not in text and "let me see" not in text
    inline = read({"role": "user", "content": f"![x](data:image/png;base64,{data}) after {data} end"})["content"]
    assert data[:40] not in inline and "after" in inline and "end" in inline and "[image/png: " in inline


def test_long_results_keep_both_ends_and_their_identity() -> None:
    long = "A" * 1024 + "X" + "B" * 1024
    message = read({"role": "tool", "tool_call_id": "t", "content": long})
    assert message["content"] == "A" * 1024 + CUT + "B" * 1024
    other = read({"role": "tool", "tool_call_id": "t", "content": long.replace("X", "Y")})
    assert other["content"] == message["content"] and other["id"] != message["id"]
    assert read({"role": "tool", "tool_call_id": "t", "content": "C" * 2048})["content"] == "C" * 2048
    assert len(read({"role": "user", "content": "u" * 5000})["content"]) == 5000


def test_secrets_are_masked_in_words_and_calls_unless_switched_off() -> None:
    key = "sk-aB3dE6gH9jK2mN5pQ8sT1vW4"
    item = {
        "role": "assistant",
        "content": f"use {key}",
        "tool_calls": [{"id": "1", "name": "f", "args": {"deep": [key]}}],
    }
    assert key not in str(read(item)) and key in str(read(item, mask=False))


def test_recalled_memory_is_no_speech() -> None:
    assert not spoken(read(HumanMessage("I know this", additional_kwargs={"recalled": True})))
    assert not spoken(read(SystemMessage("You know this")))


texts = st.text(min_size=1, max_size=40).filter(lambda text: text.strip())


@given(
    st.sampled_from(["user", "assistant", "tool", "system"]),
    texts,
    st.none() | st.integers(10**9, 2 * 10**9),
    st.none() | texts,
)
def test_reading_a_plain_message_again_changes_nothing(
    role: str, text: str, moment: int | None, name: str | None
) -> None:
    item = {
        "role": role,
        "content": text,
        **({"created_at": moment} if moment else {}),
        **({"name": name} if name else {}),
    }
    message = read(item)
    assert read(message) == message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*NAMES, "x"]), inner, max_size=6),
    max_leaves=25,
)


@given(st.lists(json_values, max_size=4))
def test_whatever_comes_in_is_read_or_reported(items: list[Any]) -> None:
    messages, errors = normalize(items, SHANGHAI)
    assert len(items) <= len(messages) + len(errors)
    for message in messages:
        assert json.loads(json.dumps(message)) == message
        moment_of(message)


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("nan"), 10**30, "0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00", True, [1], "soon"],
)
def test_impossible_times_are_no_times(value: Any) -> None:
    messages, errors = normalize([{"role": "user", "content": "x", "created_at": value}], SHANGHAI)
    assert "created_at" not in messages[0] and len(errors) == 1
