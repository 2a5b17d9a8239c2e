"""The same failures through ChatOpenAI against an endpoint on loopback."""

import json
from typing import Any

import pytest

from reme_graphs.auto_dream.graph import graph
from tests.support.dreaming import DAY, Memory, derived, source
from tests.support.openai_server import Fault, Hang, openai_endpoint

STEMS = ("pump", "tea", "solar")


def respond(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Extract, write, end."""
    tools = {tool["function"]["name"] for tool in body["tools"]}
    shown = json.dumps(body["messages"])
    if "ExtractedUnits" in tools:
        rows = [
            {"name": f"Theme {s.upper()}", "bucket": "wiki", "summary": f"{s} lesson", "paths": [source(s)]}
            for s in STEMS
        ]
        return "ExtractedUnits", {"units": rows, "topics": []}
    stem = next(stem for stem in STEMS if f"Unit: Theme {stem.upper()}" in shown)
    path = f"digest/wiki/{stem}-lesson.md"
    if any(message["role"] == "tool" for message in body["messages"]):
        return "IntegrateOutcome", {"action": "CREATE", "target_path": path, "note": ""}
    text = f"ESSENCE-{stem}\n\n{derived(source(stem))}"
    return "write", {"path": path, "content": text, "name": f"{stem}-lesson", "description": stem}


class Endpoint:
    """Answers, with faults in the conversation on tea: each once, or the last for ever."""

    def __init__(self, *faults: Any, lasting: bool = False) -> None:
        self.faults, self.lasting = list(faults), lasting

    def __call__(self, body: dict[str, Any]) -> Any:
        if "Unit: Theme TEA" in json.dumps(body["messages"]) and self.faults:
            return self.faults[0] if self.lasting else self.faults.pop(0)
        return respond(body)


def dream(memory: Memory, endpoint: Any, timeout: float = 20.0) -> dict[str, Any]:
    for stem in STEMS:
        memory.note(stem)
    context = {
        "workspace": str(memory.root),
        "model": "some-model",
        "base_url": endpoint.base_url,
        "call_timeout": timeout,
    }
    state: dict[str, Any] = graph.invoke({"date": DAY}, context=context)
    return state


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429, "later", {"Retry-After": "0"}),
        Fault(500),
        Fault(503, "", {"Retry-After": "0"}),
        "",
        "no call",
        Hang(),
    ],
    ids=["429", "500", "503", "empty", "prose", "timeout"],
)
def test_what_passes_is_asked_again_and_the_unit_lands(memory: Memory, fault: Any) -> None:
    with openai_endpoint(Endpoint(fault)) as endpoint:
        state = dream(memory, endpoint, timeout=1.0 if isinstance(fault, Hang) else 20.0)
        assert state["receipt"]["success"], state["receipt"]
        assert state["receipt"]["usage"]["model_calls"] == endpoint.answered
    assert len(memory.digest()) == 3


@pytest.mark.parametrize(
    "fault",
    [
        Fault(400, "SAYS-WHY"),
        Fault(404, "SAYS-WHY"),
        Fault(429, "SAYS-WHY", {"Retry-After": "900"}),
        "",
        ("unknown_tool", {}),
    ],
    ids=["400", "404", "429 for long", "empty", "wrong tool"],
)
def test_what_lasts_fails_its_unit_only(memory: Memory, fault: Any) -> None:
    with openai_endpoint(Endpoint(fault, lasting=True)) as endpoint:
        state = dream(memory, endpoint)
        assert [row["name"] for row in state["failed_units"]] == ["Theme TEA"]
        assert ("SAYS-WHY" in state["failed_units"][0]["error"]) is isinstance(fault, Fault)
        assert state["receipt"]["usage"]["model_calls"] == endpoint.answered
    assert len(memory.digest()) == 2
    with openai_endpoint(Endpoint()) as endpoint:
        again = dream(memory, endpoint)
        assert again["receipt"]["success"]
        assert endpoint.answered == 2, "write and end of the one unit that was left"
    assert len(memory.digest()) == 3


def test_a_wrong_key_ends_the_run_with_the_provider_s_words(memory: Memory) -> None:
    with openai_endpoint(lambda body: Fault(401, "SAYS-WRONG-KEY")) as endpoint:
        state = dream(memory, endpoint)
        assert len(endpoint.requests) == 1
    assert "SAYS-WRONG-KEY" in str(state["receipt"]["errors"])
    assert state["receipt"]["success"] is False
    assert (memory.digest(), state["checkpoint_paths"]) == ({}, [])
