"""What fails, how far, and what the next run does about it."""

import json
import time
from collections import defaultdict
from typing import Any

import httpx
import openai
import pytest
from langchain_openai.chat_models.base import OpenAITimeoutError

from tests.support.dreaming import Dreamer, Memory, create, outcome, source, three, unit, update
from tests.support.scripted_model import Asked, calling

TEA = "Theme TEA"


def refused(status: int, text: str, **headers: str) -> Exception:
    """What an OpenAI client raises."""
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx.Response(status, request=request, json={"error": {"message": text}}, headers=headers)
    kinds = {
        400: openai.BadRequestError,
        401: openai.AuthenticationError,
        403: openai.PermissionDeniedError,
        429: openai.RateLimitError,
    }
    return kinds.get(status, openai.InternalServerError)(text, response=response, body=None)


def timed_out() -> Exception:
    return OpenAITimeoutError(request=httpx.Request("POST", "http://127.0.0.1/v1"))


LASTING: dict[str, Any] = {
    "400": lambda: refused(400, "SAYS-400"),
    "429 for an hour": lambda: refused(429, "SAYS-429", **{"retry-after": "3600"}),
    "empty": lambda: "",
    "truncated": lambda: '{"action": "CREATE", "target_pa',
    "prose": lambda: "I have thought about it and there is nothing to do.",
    "wrong tool": lambda: calling(("delete", {"path": "digest/wiki/x.md"})),
    "endless loop": lambda: calling(("node_search", {"query": "tea"})),
    "wrong arguments": lambda: calling(("IntegrateOutcome", {"action": "DESTROY", "target_path": ""})),
    "something else": lambda: RuntimeError("SAYS-BROKEN"),
}


@pytest.mark.parametrize("kind", LASTING)
def test_a_unit_whose_model_fails_fails_alone_and_is_done_next_time(memory: Memory, kind: str) -> None:
    dreamer = three(memory)
    plan = dreamer.plans[TEA]
    dreamer.plans[TEA] = lambda asked, turn: LASTING[kind]()
    state = memory.dream(dreamer)
    assert sorted(memory.digest()) == ["digest/procedure/pump-lesson.md", "digest/wiki/solar-lesson.md"]
    assert [row["name"] for row in state["failed_units"]] == [TEA]
    assert state["failed_units"][0]["error"]
    assert state["receipt"]["success"] is False
    assert any(TEA in line for line in state["receipt"]["errors"])
    assert source("tea") not in state["checkpoint_paths"]
    assert source("tea") in state["failed_paths"]
    answered = len(dreamer.asked) - (
        len(dreamer.of(TEA)) if kind in ("400", "429 for an hour", "something else") else 0
    )
    assert state["receipt"]["usage"]["model_calls"] == answered, "usage counts answered calls, of failed units too"
    assert len(dreamer.of(TEA)) <= 12, "a hard cap"
    dreamer.plans[TEA], asked = plan, len(dreamer.asked)
    again = memory.dream(dreamer)
    assert again["receipt"]["success"], again["receipt"]
    assert dreamer.calls()[asked:] == [TEA], "neither extracted again nor its siblings"
    assert len(memory.digest()) == 3


@pytest.mark.parametrize("kind", ["429", "500", "timeout"])
def test_a_busy_provider_is_asked_again_at_the_call(memory: Memory, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    dreamer, failed = three(memory), []
    plan = dreamer.plans[TEA]
    error = {
        "429": lambda: refused(429, "later", **{"retry-after": "0"}),
        "500": lambda: refused(500, "no"),
        "timeout": timed_out,
    }[kind]

    def once(asked: Asked, turn: int) -> Any:
        if not failed:
            failed.append(1)
            return error()
        return plan(asked, turn)

    dreamer.plans[TEA] = once
    state = memory.dream(dreamer)
    assert state["receipt"]["success"], state["receipt"]
    assert len(memory.digest()) == 3


@pytest.mark.parametrize("status", [401, 403])
def test_a_denied_model_ends_the_run_and_the_rest_waits(memory: Memory, status: int) -> None:
    dreamer = three(memory)
    plans = dict(dreamer.plans)
    dreamer.plans = dict.fromkeys(plans, lambda asked, turn: refused(status, "SAYS-DENIED"))
    state = memory.dream(dreamer, at_once=1)
    assert len(dreamer.asked) == 2, "after the first denied call no other is made"
    assert memory.digest() == {}
    assert "SAYS-DENIED" in str(state["receipt"]["errors"])
    ledger = json.loads((memory.root / "reme_metadata/ledger/dream.json").read_text())
    assert [row["attempts"] for row in ledger["units"].values()] == [0, 0, 0]
    dreamer.plans = plans
    assert memory.dream(dreamer)["receipt"]["success"]
    assert dreamer.calls().count("extract") == 1
    assert len(memory.digest()) == 3


def test_a_denied_extraction_catalogs_nothing(memory: Memory) -> None:
    dreamer = three(memory)
    dreamer.extraction = refused(401, "SAYS-DENIED")
    state = memory.dream(dreamer)
    assert state["receipt"]["success"] is False
    assert state["checkpoint_paths"] == []
    assert sorted(state["failed_paths"]) == sorted(source(stem) for stem in ("pump", "tea", "solar"))
    dreamer.extraction = None
    assert memory.dream(dreamer)["receipt"]["success"]


@pytest.mark.parametrize(
    "answer",
    ["", '{"units": [{"name": "Th', "Nothing to remember here.", calling(("ExtractedUnits", {"units": "none"}))],
)
def test_an_unusable_extraction_is_repaired_once_and_then_fails_visibly(memory: Memory, answer: Any) -> None:
    dreamer = three(memory)
    dreamer.extraction = answer or calling()
    state = memory.dream(dreamer)
    assert dreamer.calls() == ["extract", "extract"]
    assert state["receipt"]["success"] is False
    assert state["receipt"]["errors"]
    assert state["checkpoint_paths"] == []


def test_failures_back_off_and_are_given_up_until_the_source_changes(memory: Memory) -> None:
    path = memory.note("tea")
    dreamer = Dreamer([unit("Tea", path)], {"Tea": lambda asked, turn: refused(400, "SAYS-400")})
    record = memory.root / "reme_metadata/ledger/dream.json"
    for attempt in range(1, 6):
        state = memory.dream(dreamer)
        assert len(dreamer.of("Tea")) == attempt
        assert [row["name"] for row in state["failed_units"]] == ["Tea"]
        if attempt in (2, 3, 4):
            resting = memory.dream(dreamer)
            assert len(dreamer.of("Tea")) == attempt, "it rests before its next try"
            assert resting["receipt"]["success"] is False, "something remains to be retried"
            assert "SAYS-400" in str(resting["receipt"]["errors"])
        ledger = json.loads(record.read_text())
        for row in ledger["units"].values():
            row["not_before"] = 0.0
        record.write_text(json.dumps(ledger))
    state = memory.dream(dreamer)
    assert len(dreamer.of("Tea")) == 5
    assert "failed too often" in str(state["receipt"]["errors"])
    assert dreamer.calls().count("extract") == 1
    memory.note("tea", "A new text.")
    dreamer.plans["Tea"] = create("digest/wiki/tea.md", "ESSENCE", path)
    assert memory.dream(dreamer)["receipt"]["success"]
    assert "ESSENCE" in memory.read("digest/wiki/tea.md")


def test_a_provider_that_is_down_is_replaced_offline_only_if_the_user_chose_so(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    text = (
        "- We decided to use PostgreSQL 16 for billing.\n- The migration starts on 2026-04-01 and Ana Lopes owns it.\n"
    )
    memory.put(source("plan"), f"# Billing database\n\n## Decisions\n\n{text}")
    down = refused(503, "SAYS-DOWN")
    dreamer = Dreamer(plans=defaultdict(lambda: lambda asked, turn: down), extraction=down)
    state = memory.dream(dreamer)
    assert memory.digest() == {}
    assert state["receipt"]["success"] is False
    state = memory.dream(dreamer, fallback_offline=True)
    assert "PostgreSQL 16" in "".join(memory.digest().values())
    assert "SAYS-DOWN" in str(state["receipt"]["errors"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("date", "2026-13-45"), ("date", "../x"), ("scan_days", -1), ("max_units", 0), ("topic_count", "many")],
)
def test_a_mistake_of_the_caller_ends_in_the_receipt(memory: Memory, name: str, value: Any) -> None:
    dreamer = three(memory)
    state = memory.dream(dreamer, inputs={"date": "2026-01-12", name: value})
    assert state["receipt"]["success"] is False
    assert str(value).split("/")[-1] in str(state["receipt"]["errors"])
    assert dreamer.asked == []


def test_the_agent_is_told_what_is_wrong_and_may_repair_it_twice(memory: Memory) -> None:
    path, target = memory.note("tea"), "digest/wiki/tea.md"

    def plan(asked: Asked, turn: int) -> Any:
        if turn == 0:
            return calling(
                ("write", {"path": target, "content": "ESSENCE\n", "name": "tea"}), outcome("CREATE", target)
            )
        assert path in asked.messages[-1].text
        if turn == 1:
            return calling(outcome("CREATE", target))
        return calling(
            ("edit", {"path": target, "old": "ESSENCE\n", "new": f"ESSENCE\n\nderived_from:: [[{path}]]\n"}),
            outcome("CREATE", target),
        )

    dreamer = Dreamer([unit("Tea", path)], {"Tea": plan})
    assert memory.dream(dreamer)["receipt"]["success"]
    assert len(dreamer.of("Tea")) == 3


def test_a_model_does_again_what_the_offline_engine_did_only_if_the_user_chose_so(memory: Memory) -> None:
    text = (
        "- We decided to use PostgreSQL 16 for billing.\n- The migration starts on 2026-04-01 and Ana Lopes owns it.\n"
    )
    path = memory.put(source("plan"), f"# Billing database\n\n## Decisions\n\n{text}")
    assert memory.dream(None)["receipt"]["engine"] == "offline"
    dreamer = Dreamer([unit("Plan", path)], {"Plan": create("digest/wiki/plan.md", "ESSENCE", path)})
    assert memory.dream(dreamer)["receipt"]["success"]
    assert dreamer.asked == []
    assert memory.dream(dreamer, redo_offline=True)["receipt"]["success"]
    assert dreamer.calls() == ["extract", "Plan"]
    assert "ESSENCE" in memory.read("digest/wiki/plan.md")
    memory.dream(dreamer, redo_offline=True)
    assert dreamer.calls() == ["extract", "Plan"], "once is enough"


def test_a_unit_named_in_signs_only_is_integrated(memory: Memory) -> None:
    path = memory.note("signs")
    dreamer = Dreamer([unit("!?", path, summary="…")], {"!?": create("digest/wiki/signs.md", "ESSENCE", path)})
    assert memory.dream(dreamer)["receipt"]["success"]
    assert "ESSENCE" in memory.read("digest/wiki/signs.md")


def test_a_unit_that_takes_too_long_fails_alone(memory: Memory) -> None:
    dreamer = three(memory)
    path = memory.put("digest/wiki/kettle.md", "---\nname: kettle\n---\nOLD\n")
    dreamer.plans["Theme TEA"] = update("REFINE", path, "OLD", "OLD and NEW")
    state = memory.dream(dreamer, max_unit_seconds=1e-9)
    assert [(row["name"], "seconds" in row["error"]) for row in state["failed_units"]] == [("Theme TEA", True)]
    assert len(dreamer.of("Theme TEA")) == 1
    assert len(state["integrate_results"]) == 2
    assert state["receipt"]["usage"]["model_calls"] == len(dreamer.asked), "failed units count too"
