"""Does an agent work with its tools until its answer stands, within its limits?"""

from typing import Any

import httpx
import openai
import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool

from reme_graphs.agent import run_agent
from reme_graphs.errors import ModelCallError, ModelDeniedError, ModelOutputError
from reme_graphs.model_calls import Limits
from reme_graphs.structured import IntegrateOutcome
from tests.support.scripted_model import ScriptedModel, calling

START = [SystemMessage("You keep notes."), HumanMessage("Look at a.md.")]
DONE = ("IntegrateOutcome", {"action": "CREATE", "target_path": "digest/wiki/a.md", "note": "new"})


@tool
def read(path: str) -> str:
    """Read a note."""
    return f"text of {path}"


def refused(status: int, headers: dict[str, str] | None = None) -> openai.APIStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx.Response(status, request=request, headers=headers)
    return openai.APIStatusError(f"refused with {status}", response=response, body=None)


def run(answers: Any, limits: Limits | None = None, **options: Any) -> tuple[ScriptedModel, Any]:
    model = ScriptedModel(answers=answers)
    limits = limits or Limits(first_wait=0.0)
    try:
        return model, run_agent(model, [read], START, limits=limits, **options)
    except (ModelOutputError, ModelCallError) as error:
        return model, error


def test_tools_work_until_a_plain_message_ends_it() -> None:
    model, result = run([calling(("read", {"path": "a.md"})), "Done."])
    assert result.value == "Done."
    assert [message.text for message in model.asked[1].results] == ["text of a.md"]
    assert result.usage == {"model_calls": 2, "input_tokens": 20, "output_tokens": 6}


def test_the_final_tool_ends_it_with_a_checked_value() -> None:
    model, result = run([calling(("read", {"path": "a.md"}), DONE)], final=IntegrateOutcome)
    assert result.value.action == "CREATE"
    assert model.asked[0].tools == ["read", "IntegrateOutcome"]


def test_an_unknown_tool_and_wrong_arguments_are_answered_as_errors() -> None:
    model, result = run([calling(("fly", {})), calling(("read", {"wrong": 1})), "Done."])
    assert result.value == "Done."
    unknown, invalid = model.asked[2].results
    assert unknown.status == "error" and "read" in unknown.text
    assert invalid.status == "error" and "path" in invalid.text


def test_a_draft_fault_goes_back_twice_then_it_is_a_failure() -> None:
    model, error = run([calling(DONE)] * 3, final=IntegrateOutcome, check=lambda outcome: ["no source <material>"])
    assert isinstance(error, ModelOutputError) and "no source" in str(error)
    assert error.usage["model_calls"] == 3
    assert "no source" in model.asked[1].results[-1].text


def test_the_shape_of_an_answer_is_repaired_once() -> None:
    bad = calling(("IntegrateOutcome", {"action": "DESTROY", "target_path": "x.md"}))
    model, result = run([bad, calling(DONE)], final=IntegrateOutcome)
    assert result.value.target_path == "digest/wiki/a.md" and "action" in model.asked[1].results[-1].text
    _, error = run([bad, bad], final=IntegrateOutcome)
    assert isinstance(error, ModelOutputError) and error.usage["model_calls"] == 2


def test_broken_arguments_of_a_tool_are_answered() -> None:
    broken = AIMessage(
        "",
        invalid_tool_calls=[{"name": "read", "args": '{"pa', "id": "b1", "error": None, "type": "invalid_tool_call"}],
    )
    model, result = run([broken, "Done."])
    assert result.value == "Done." and "not valid JSON" in model.asked[1].results[0].text


def test_one_call_over_and_over_ends_the_agent() -> None:
    model, error = run(lambda asked: calling(("read", {"path": "a.md"})), Limits(max_calls=50))
    assert isinstance(error, ModelOutputError) and len(model.asked) == 6


def test_calls_are_capped() -> None:
    model, error = run(lambda asked: calling(("read", {"path": f"{len(asked.messages)}.md"})), Limits(max_calls=7))
    assert isinstance(error, ModelOutputError) and len(model.asked) == 7 == error.usage["model_calls"]


def test_a_busy_provider_is_asked_again_and_only_answers_count() -> None:
    model, result = run([refused(429, {"retry-after": "0"}), refused(503), TimeoutError("slow"), "Done."])
    assert result.value == "Done." and len(model.asked) == 4 and result.usage["model_calls"] == 1


def test_a_provider_that_wants_a_long_pause_is_not_waited_for() -> None:
    model, error = run([refused(429, {"retry-after": "3600"})])
    assert isinstance(error, ModelCallError) and len(model.asked) == 1


@pytest.mark.parametrize("failure", [refused(400), refused(404), RuntimeError("broken weights")])
def test_other_failures_end_at_once_with_their_text_and_the_usage_so_far(failure: Exception) -> None:
    model, error = run([calling(("read", {"path": "a.md"})), failure])
    assert isinstance(error, ModelCallError) and str(failure) in str(error)
    assert len(model.asked) == 2 and error.usage["model_calls"] == 1


def test_a_denied_key_stops_every_further_call_of_the_run() -> None:
    limits = Limits(first_wait=0.0)
    _, error = run([refused(401)], limits)
    assert isinstance(error, ModelDeniedError) and "refused with 401" in str(error)
    untouched, error = run(["Done."], limits)
    assert isinstance(error, ModelDeniedError) and untouched.asked == []


def test_without_tool_calling_tools_work_in_text() -> None:
    limits = Limits(tool_calling=False)
    answers = [
        'I look first. {"tool": "read", "args": {"path": "a.md"}}',
        '```json\n{"action": "create", "target_path": "digest/wiki/a.md"}\n```',
    ]
    model, result = run(answers, limits, final=IntegrateOutcome)
    assert result.value.action == "CREATE" and model.asked[0].tools == []
    assert '"read"' in model.asked[0].prompt and "text of a.md" in model.asked[1].prompt


def test_a_model_object_that_cannot_bind_tools_is_refused_with_the_way_out() -> None:
    model = FakeListChatModel(responses=["x"])
    with pytest.raises(ModelDeniedError, match="tool_calling=False"):
        run_agent(model, [read], START, limits=Limits())
    assert run_agent(model, [read], START, limits=Limits(tool_calling=False)).value == "x"


def test_after_the_seconds_no_further_call_is_made() -> None:
    model, error = run([calling(("read", {"path": "a.md"})), "Done."], Limits(max_seconds=0.0))
    assert isinstance(error, ModelOutputError)
    assert "within 0 seconds" in str(error)
    assert len(model.asked) == 1, "the first call is always made"
    assert error.usage["model_calls"] == 1


def test_after_the_seconds_a_busy_provider_is_not_asked_again() -> None:
    model, error = run([refused(503), "Done."], Limits(max_seconds=0.0, first_wait=0.0))
    assert isinstance(error, ModelCallError)
    assert error.transient
    assert len(model.asked) == 1


def test_the_wait_a_provider_asks_for_wins_over_ours() -> None:
    _, result = run([refused(429, {"retry-after": "0"}), "Done."], Limits(max_seconds=10.0, first_wait=50.0))
    assert result.value == "Done."
