"""Which answers count as a structured reply, and which are a fault?"""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from reme_graphs.errors import ModelOutputError
from reme_graphs.model_calls import Limits
from reme_graphs.structured import (
    ExtractedUnits,
    IntegrateOutcome,
    SelectedTopics,
    SplitPlan,
    TaskUpdate,
    ask,
    parse_reply,
)
from tests.support.scripted_model import ScriptedModel, calling

UNIT = {"name": "Tea", "bucket": "personal", "summary": "Likes tea.", "paths": ["daily/2026-01-02/a.md"]}
UNITS = {"units": [UNIT], "topics": [{"title": "Tea ceremonies"}]}
TEXT = json.dumps(UNITS)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f'<think>Maybe {{"units": []}} … no.</think>\n{TEXT}',
        f"Here it is:\n\n{TEXT}\n\nMore?",
        json.dumps([UNIT]),
        f"The list:\n```\n{json.dumps([UNIT])}\n```",
    ],
)
def test_unambiguous_json_in_text_is_a_reply(text: str) -> None:
    assert parse_reply(AIMessage(text), ExtractedUnits).units[0].name == "Tea"


@pytest.mark.parametrize(
    "text", ["", "There is nothing to remember.", TEXT[: len(TEXT) * 2 // 3], "[]", '{"units": null}', "{}"]
)
def test_an_unusable_text_is_a_fault_not_nothing(text: str) -> None:
    with pytest.raises(ModelOutputError):
        parse_reply(AIMessage(text), ExtractedUnits)


@pytest.mark.parametrize("schema", [ExtractedUnits, IntegrateOutcome, SelectedTopics, TaskUpdate, SplitPlan])
def test_an_empty_call_is_a_fault(schema: type[BaseModel]) -> None:
    for args in ({}, dict.fromkeys(schema.model_fields), {name: [7] for name in schema.model_fields}):
        with pytest.raises(ModelOutputError):
            parse_reply(calling((schema.__name__, args)), schema)


def test_a_truncated_outer_object_does_not_let_an_inner_list_pass() -> None:
    whole = json.dumps({"topics": [{"title": "a", "keywords": []}, {"title": "b"}]})
    with pytest.raises(ModelOutputError):
        parse_reply(AIMessage(whole[:-6]), SelectedTopics)


def test_harmless_slips_are_read() -> None:
    args = {
        "title": "Move",
        "plan": '["dump", "restore"]',
        "next": ["check", {"text": "tell", "done": True}],
        "findings": None,
    }
    update = parse_reply(calling(("TaskUpdate", args)), TaskUpdate)
    assert update.plan == ["dump", "restore"] and update.findings == []
    assert [(step.text, step.done) for step in update.next] == [("check", False), ("tell", True)]


def test_a_fault_is_quoted_once_and_the_usage_adds_up() -> None:
    model = ScriptedModel(answers=[calling(("ExtractedUnits", {})), calling(("ExtractedUnits", UNITS))])
    value, usage = ask(model, [HumanMessage("material")], ExtractedUnits, Limits())
    assert value.topics[0].title == "Tea ceremonies" and usage["model_calls"] == 2
    assert "units" in model.asked[1].results[0].text and model.asked[0].tools == ["ExtractedUnits"]


def test_two_unusable_answers_are_a_failure_that_knows_its_cost() -> None:
    model = ScriptedModel(answers=["nothing", "still nothing"])
    with pytest.raises(ModelOutputError) as failure:
        ask(model, [HumanMessage("material")], ExtractedUnits, Limits())
    assert failure.value.usage["model_calls"] == 2 and failure.value.usage["input_tokens"] == 20


def test_without_tool_calling_the_schema_stands_in_the_prompt() -> None:
    model = ScriptedModel(answers=[TEXT])
    value, _ = ask(model, [HumanMessage("material")], ExtractedUnits, Limits(tool_calling=False))
    assert value.units[0].bucket == "personal"
    assert model.asked[0].tools == [] and "ExtractedUnits" in model.asked[0].prompt


def test_half_a_character_in_a_text_does_no_harm() -> None:
    read = IntegrateOutcome(action="CREATE", target_path="digest/wiki/a.md", note="so \ud800 it is")
    assert read.note == "so ? it is"
