"""Does open_reme give a program its memory: with and async with, own threads, review and resume?"""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from reme_graphs import ReMe, checkpoints, open_reme
from reme_graphs.embedding import BUILDERS
from reme_store.errors import InvalidRequestError

MESSAGES = [
    {"role": "user", "content": "We decided to use TimescaleDB for telemetry because the zones live in Postgres."},
    {"role": "user", "content": "I prefer short answers without an introduction."},
    {"role": "assistant", "content": "Noted."},
]
TALK: dict[str, Any] = {"messages": MESSAGES, "session_id": "talk", "date": "2026-03-03"}


def _threads(reme: ReMe) -> set[str]:
    with checkpoints.open_checkpoints(checkpoints.checkpoint_path(reme.store.root)) as saver:
        return {found.config["configurable"]["thread_id"] for found in saver.list(None)}


def test_a_conversation_is_remembered_and_found(tmp_path: Path) -> None:
    with open_reme(tmp_path / "memory") as reme:
        state = reme.auto_memory.invoke(TALK)
        assert state["receipt"]["engine"] == "offline"
        assert state["note_path"] == "daily/2026-03-03/talk.md"
        assert "TimescaleDB" in reme.store.search("telemetry database").answer


def test_every_graph_is_an_attribute(tmp_path: Path) -> None:
    with open_reme(tmp_path) as reme:
        for name in BUILDERS:
            assert getattr(reme, name).name == name


def test_a_finished_run_of_its_own_leaves_no_thread(tmp_path: Path) -> None:
    with open_reme(tmp_path) as reme:
        reme.auto_memory.invoke(TALK)
        assert list(reme.auto_dream.stream({"date": "2026-03-03"}))
        assert _threads(reme) == set()


def test_a_thread_named_by_the_caller_stays(tmp_path: Path) -> None:
    with open_reme(tmp_path) as reme:
        reme.auto_memory.invoke(TALK, {"configurable": {"thread_id": "mine"}})
    with open_reme(tmp_path) as reme:
        assert _threads(reme) == {"mine"}
        snapshot = reme.auto_memory.compiled.get_state({"configurable": {"thread_id": "mine"}})
        assert snapshot.values["receipt"]["success"]


def test_a_review_waits_over_a_restart_and_goes_on_with_the_answer(tmp_path: Path) -> None:
    with open_reme(tmp_path, review=True) as reme:
        reme.auto_memory.invoke(TALK)
        asked = reme.auto_dream.invoke({"date": "2026-03-03"})
        assert asked["__interrupt__"]
        assert reme.store.scan("digest") == {}
    with open_reme(tmp_path, review=True) as reme:
        [run] = reme.unfinished()
        assert run.graph == "auto_dream"
        assert all(unit["diff"] for unit in run.interrupts[0].value["units"])
        state = reme.resume(run.thread, "accept")
        assert state["receipt"]["success"]
        assert set(reme.store.scan("digest")) == {result["target_path"] for result in state["integrate_results"]}
        assert reme.unfinished() == []
        assert _threads(reme) == set()


def test_only_own_threads_are_resumed_by_their_id(tmp_path: Path) -> None:
    with open_reme(tmp_path, review=True) as reme:
        reme.auto_memory.invoke(TALK)
        config = {"configurable": {"thread_id": "mine"}}
        reme.auto_dream.invoke({"date": "2026-03-03"}, config)
        assert reme.unfinished() == []
        with pytest.raises(InvalidRequestError, match="a thread of yours"):
            reme.resume("mine", "accept")
        state = reme.auto_dream.invoke(Command(resume="accept"), config)
        assert state["receipt"]["success"]


def test_a_context_of_one_run_goes_before_that_of_the_opening(tmp_path: Path) -> None:
    with open_reme(tmp_path) as reme:
        reme.auto_memory.invoke(TALK)
        state = reme.auto_dream.invoke({"date": "2026-03-03"}, context={"dry_run": True})
        assert state["receipt"]["metadata"]["diffs"]
        assert reme.store.scan("digest") == {}


async def test_async_with_runs_on_the_loop(tmp_path: Path) -> None:
    async with open_reme(tmp_path) as reme:
        state = await reme.auto_memory.ainvoke(TALK)
        assert state["receipt"]["success"]
        events = [event async for event in reme.auto_dream.astream({"date": "2026-03-03"})]
        assert {event["graph"] for event in events} == {"auto_dream"}
        assert await asyncio.to_thread(_threads, reme) == set()


async def test_async_review_is_resumed(tmp_path: Path) -> None:
    async with open_reme(tmp_path, review=True) as reme:
        await reme.auto_memory.ainvoke(TALK)
        await reme.auto_dream.ainvoke({"date": "2026-03-03"})
        [run] = await reme.aunfinished()
        state = await reme.aresume(run.thread, "accept")
        assert state["receipt"]["success"]
        assert await reme.aunfinished() == []


def test_a_memory_opened_with_with_can_be_awaited(tmp_path: Path) -> None:
    with open_reme(tmp_path) as reme:
        state = asyncio.run(reme.auto_memory.ainvoke(TALK))
        assert state["receipt"]["success"]


def test_two_openings_share_one_workspace(tmp_path: Path) -> None:
    with open_reme(tmp_path) as first, open_reme(tmp_path) as second:
        first.auto_memory.invoke(TALK)
        assert "TimescaleDB" in second.store.search("telemetry").answer


def test_without_a_workspace_the_caller_is_told_what_to_name() -> None:
    with pytest.raises(InvalidRequestError, match="REME_WORKSPACE"), open_reme():
        pass


def test_fifty_dreams_leave_a_small_database(tmp_path: Path) -> None:
    day, path = "2026-01-12", tmp_path / "reme_metadata" / "checkpoints.sqlite"
    with open_reme(tmp_path) as reme:
        for run in range(50):
            for number in range(20 if run == 0 else 1):
                note = f"daily/{day}/note-{number}.md"
                text = f"# Note {number}\n\nWe use pump {run}{number} because it is quiet. {'It hums. ' * 50}\n"
                reme.store.write(note, text, overwrite=True)
            state = reme.auto_dream.invoke({"date": day, "max_units": 50})
            assert state["receipt"]["success"], state["receipt"]
    assert sum(file.stat().st_size for file in path.parent.glob("checkpoints.sqlite*")) < 1_000_000
    assert b"It hums" not in path.read_bytes()
