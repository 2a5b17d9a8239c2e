"""Does an agent of LangChain recall and remember by itself, and never break over its memory?"""

import logging
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from reme_graphs import ReMe, open_reme
from reme_graphs.middleware import MemoryMiddleware
from tests.support.scripted_model import ScriptedModel

FACT = "We decided to use TimescaleDB for telemetry because the zones live in Postgres."


def _agent(reme: ReMe, model: ScriptedModel, **options: Any) -> Any:
    return create_agent(model, middleware=[MemoryMiddleware(reme, **options)], checkpointer=InMemorySaver())


def _say(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def _thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def test_what_was_said_on_one_thread_is_recalled_on_another(tmp_path: Path) -> None:
    model = ScriptedModel(answers=["Noted.", "TimescaleDB."])
    with open_reme(tmp_path) as reme:
        agent = _agent(reme, model)
        agent.invoke(_say(FACT), _thread("monday"))
        agent.invoke(_say("Which database holds the telemetry?"), _thread("tuesday"))
    first, second = model.asked
    assert "TimescaleDB" not in "".join(message.text for message in first.messages[:-1])
    assert FACT in second.prompt
    assert "<material" in second.prompt


def test_what_is_recalled_is_no_part_of_the_conversation(tmp_path: Path) -> None:
    model = ScriptedModel(answers=["Noted.", "TimescaleDB.", "Yes."])
    with open_reme(tmp_path) as reme:
        agent = _agent(reme, model)
        agent.invoke(_say(FACT), _thread("monday"))
        agent.invoke(_say("Which database holds the telemetry?"), _thread("tuesday"))
        final = agent.invoke(_say("Are you sure about the telemetry?"), _thread("tuesday"))
    assert [message.text for message in final["messages"]] == [
        "Which database holds the telemetry?",
        "TimescaleDB.",
        "Are you sure about the telemetry?",
        "Yes.",
    ]
    assert "<material" not in (tmp_path / "reme_session" / "dialog" / "tuesday.jsonl").read_text(encoding="utf-8")


def test_each_message_is_handed_over_once(tmp_path: Path) -> None:
    model = ScriptedModel(answers=["Noted.", "Sure."])
    with open_reme(tmp_path) as reme:
        agent = _agent(reme, model)
        agent.invoke(_say(FACT), _thread("monday"))
        agent.invoke(_say("I prefer short answers without an introduction."), _thread("monday"))
    dialog = (tmp_path / "reme_session" / "dialog" / "monday.jsonl").read_text(encoding="utf-8")
    assert len(dialog.splitlines()) == 4


async def test_it_works_on_an_event_loop(tmp_path: Path) -> None:
    model = ScriptedModel(answers=["Noted.", "TimescaleDB."])
    async with open_reme(tmp_path) as reme:
        agent = _agent(reme, model)
        await agent.ainvoke(_say(FACT), _thread("monday"))
        parts = [part async for part in agent.astream(_say("Which database holds the telemetry?"), _thread("tuesday"))]
    assert parts
    assert FACT in model.asked[1].prompt


def test_a_memory_that_fails_is_logged_and_the_agent_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel(answers=["Still here."])
    with open_reme(tmp_path) as reme:
        agent = _agent(reme, model)

        def fail(*_: Any, **__: Any) -> Any:
            raise OSError("disk gone")

        monkeypatch.setattr(reme.store, "search", fail)
        with caplog.at_level(logging.ERROR):
            final = agent.invoke(_say(FACT), _thread("monday"))
    assert final["messages"][-1].text == "Still here."
    assert "could not recall" in caplog.text


def test_messages_that_could_not_be_remembered_are_handed_over_again(tmp_path: Path) -> None:
    model = ScriptedModel(answers=["Noted.", "Sure."])
    with open_reme(tmp_path, model=ScriptedModel(answers=[OSError("provider down"), "[SKIP] small talk"])) as reme:
        agent = _agent(reme, model)
        agent.invoke(_say(FACT), _thread("monday"))
        state = agent.get_state(_thread("monday"))
        assert state.values.get("reme_remembered", 0) == 0
        agent.invoke(_say("And now?"), _thread("monday"))
        assert agent.get_state(_thread("monday")).values["reme_remembered"] == 4


def test_the_hosts_thread_holds_nothing_of_the_memorys_run(tmp_path: Path) -> None:
    saver = InMemorySaver()
    with open_reme(tmp_path) as reme:
        agent = create_agent(ScriptedModel(answers=["Noted."]), middleware=[MemoryMiddleware(reme)], checkpointer=saver)
        agent.invoke(_say(FACT), _thread("monday"))
        threads = {found.config["configurable"]["thread_id"] for found in saver.list(None)}
        spaces = {found.config["configurable"]["checkpoint_ns"] for found in saver.list(None)}
        assert threads == {"monday"}
        assert spaces == {""}
        assert reme.unfinished() == []
