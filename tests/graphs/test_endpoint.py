"""Does a real client over HTTP meet a provider's moods as the design says?"""

import json
from pathlib import Path
from typing import Any

import pytest

from reme_graphs.auto_memory.graph import graph as auto_memory
from reme_graphs.auto_resource.graph import graph as auto_resource
from tests.support.note_writer import context_of
from tests.support.openai_server import Endpoint, Fault, Hang, openai_endpoint

CHAT = [{"role": "user", "content": "I live in Lisbon now.", "created_at": "2026-03-05T09:00:00+08:00"}]
NOTE = "daily/2026-03-05/chat.md"
WRITE = ("write", {"path": NOTE, "content": "The user lives in Lisbon.\n"})
KEY = "sk-test-aB3dE6gH9jK2mN5pQ8sT1vW4"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def run(workspace: Path, endpoint: Endpoint, **context: Any) -> Any:
    inputs: Any = {"messages": CHAT, "session_id": "chat"}
    return auto_memory.invoke(inputs, context=context_of(workspace, "tiny", base_url=endpoint.base_url, **context))


def test_an_endpoint_writes_the_note_and_the_usage_adds_up(workspace: Path) -> None:
    with openai_endpoint([WRITE, "Done."]) as endpoint:
        state = run(workspace, endpoint)
    assert state["receipt"]["success"] and state["receipt"]["engine"] == "tiny"
    assert state["receipt"]["usage"] == {"model_calls": endpoint.answered, "input_tokens": 22, "output_tokens": 10}
    assert "Lisbon" in (workspace / NOTE).read_text()
    tools = endpoint.requests[0]["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["read", "edit", "append", "frontmatter_update", "write"]
    assert "response_format" not in endpoint.requests[0] and "temperature" not in endpoint.requests[0]


def test_a_busy_endpoint_is_asked_again(workspace: Path) -> None:
    faults = [Fault(429, "slow down", {"Retry-After": "0"}), Fault(500, "oops"), Fault(503, "soon")]
    with openai_endpoint([*faults, WRITE, "Done."]) as endpoint:
        state = run(workspace, endpoint)
    assert state["receipt"]["success"] and len(endpoint.requests) == 5
    assert state["receipt"]["usage"]["model_calls"] == endpoint.answered == 2


def test_an_endpoint_that_stays_down_leaves_the_messages_waiting(workspace: Path) -> None:
    with openai_endpoint(lambda body: Fault(500, "the server is on fire")) as endpoint:
        state = run(workspace, endpoint)
    assert not state["receipt"]["success"] and "on fire" in state["receipt"]["errors"][0]
    assert len(endpoint.requests) == 4 and state["receipt"]["usage"]["model_calls"] == 0
    with openai_endpoint([WRITE, "Done."]) as endpoint:
        assert run(workspace, endpoint)["receipt"]["success"]


def test_a_silent_endpoint_is_given_up(workspace: Path) -> None:
    with openai_endpoint([Hang(), WRITE, "Done."]) as endpoint:
        state = run(workspace, endpoint, call_timeout=0.3)
    assert state["receipt"]["success"] and len(endpoint.requests) == 3


def test_a_wrong_key_ends_the_run_with_the_providers_words_and_no_key(workspace: Path) -> None:
    for name in ("one", "two", "three", "four"):
        (workspace / "resource").mkdir(exist_ok=True)
        (workspace / f"resource/{name}.txt").write_text(f"text of {name}\n")
    refused = Fault(401, f"Incorrect API key provided: {KEY}")
    with openai_endpoint(lambda body: refused) as endpoint:
        context = context_of(workspace, "tiny", base_url=endpoint.base_url, max_concurrency=1)
        state = auto_resource.invoke({}, context=context)
        assert len(endpoint.requests) == 1
    assert len(state["failed"]) == 4 and state["notes"] == {} and not state["receipt"]["success"]
    assert "Incorrect API key provided" in state["receipt"]["errors"][0] and KEY not in str(state)
    with openai_endpoint(lambda body: "[SKIP] nothing") as endpoint:
        context = context_of(workspace, "tiny", base_url=endpoint.base_url)
        assert auto_resource.invoke({}, context=context)["receipt"]["success"]
        assert len(endpoint.requests) == 4


def test_a_content_filter_is_not_asked_twice(workspace: Path) -> None:
    with openai_endpoint([Fault(400, "content filter")]) as endpoint:
        state = run(workspace, endpoint)
    assert len(endpoint.requests) == 1 and "content filter" in state["receipt"]["errors"][0]


def test_a_small_model_without_tools_works_in_text(workspace: Path) -> None:
    call = json.dumps({"tool": WRITE[0], "args": WRITE[1]})
    with openai_endpoint([call, "Done."]) as endpoint:
        state = run(workspace, endpoint, tool_calling=False)
    assert state["receipt"]["success"] and "Lisbon" in (workspace / NOTE).read_text()
    assert all("tools" not in body for body in endpoint.requests)


def test_a_model_without_a_key_or_a_known_provider_is_a_failure_that_says_what_to_do(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    inputs: Any = {"messages": CHAT, "session_id": "chat"}
    state = auto_memory.invoke(inputs, context=context_of(workspace, "gpt-nobody"))
    assert not state["receipt"]["success"] and "OPENAI_API_KEY" in state["receipt"]["errors"][0]
    assert (workspace / "reme_session/dialog/chat.jsonl").exists()
    state = auto_memory.invoke(inputs, context=context_of(workspace, "nobody:model"))
    assert not state["receipt"]["success"] and "nobody" in state["receipt"]["errors"][0]
