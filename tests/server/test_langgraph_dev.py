"""Does ``langgraph dev`` serve the graphs to a client, offline, and keep its threads in the workspace?"""

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from reme_graphs.descriptions import DESCRIPTIONS
from reme_graphs.embedding import BUILDERS
from tests.support.langgraph_dev import Server

INPUTS = {
    "session_id": "server-talk",
    "date": "2026-03-02",
    "messages": [
        {"role": "user", "content": "We decided to use SQLite for the checkpoints because it needs no server."},
        {"role": "assistant", "content": "Noted."},
    ],
}


async def _remember(server: Server) -> tuple[str, list[Any]]:
    async with get_client(url=server.url) as client:
        thread = await client.threads.create()
        stream = client.runs.stream(
            thread["thread_id"], "auto_memory", input=INPUTS, stream_mode=["custom", "updates", "values"]
        )
        return thread["thread_id"], [part async for part in stream]


async def _state(server: Server, thread: str) -> Mapping[str, Any]:
    async with get_client(url=server.url) as client:
        state = await client.threads.get_state(thread)
    assert isinstance(state["values"], Mapping)
    return state["values"]


async def test_every_graph_is_served_with_a_description(server: Server) -> None:
    async with get_client(url=server.url) as client:
        assistants = await client.assistants.search(limit=100)
    assert {assistant["graph_id"]: assistant["description"] for assistant in assistants} == DESCRIPTIONS


@pytest.mark.parametrize("name", BUILDERS)
async def test_schemas_give_studio_its_forms(server: Server, name: str) -> None:
    async with get_client(url=server.url) as client:
        [assistant] = await client.assistants.search(graph_id=name)
        schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    assert schemas["input_schema"]["properties"]
    context = schemas["context_schema"]["properties"]
    assert {"workspace", "model", "timezone"} <= set(context)
    assert all(field.get("description") for field in context.values())


async def test_a_run_on_a_thread_streams_its_steps_and_writes_the_note(server: Server) -> None:
    thread, parts = await _remember(server)
    kinds = {part.event for part in parts}
    assert {"custom", "updates", "values"} <= kinds
    assert "error" not in kinds
    final = [part.data for part in parts if part.event == "values"][-1]
    assert final["receipt"]["success"]
    assert final["receipt"]["engine"] == "offline"
    note = server.workspace / final["note_path"]
    assert "because it needs no server" in note.read_text(encoding="utf-8")
    assert (await _state(server, thread))["note_path"] == final["note_path"]


async def test_health_is_a_route_of_its_own(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        answer = await client.get("/health_check")
    assert answer.status_code == httpx.codes.OK
    assert answer.json()["metadata"]["health"]["healthy"] is True


async def test_tools_and_graphs_are_routes_too(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        written = await client.post("/write", json={"path": "digest/wiki/route.md", "content": "Reached by a route."})
        assert written.json()["metadata"]["created"] is True
        found = await client.post("/search", json={"query": "reached route"})
        assert found.json()["metadata"]["results"][0]["path"] == "digest/wiki/route.md"
        dreamt = await client.post("/auto_dream", json={"date": "2026-03-02"})
        assert dreamt.json()["success"]
        assert dreamt.json()["engine"] == "offline"


async def test_a_callers_mistake_is_a_400_with_the_tools_own_words(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        missing = await client.post("/read", json={"path": "digest/wiki/nothing.md"})
        assert missing.status_code == httpx.codes.BAD_REQUEST
        assert "digest/wiki/nothing.md" in missing.json()["answer"]
        assert (await client.post("/read", content=b"[1]")).status_code == httpx.codes.BAD_REQUEST
        assert (await client.post("/read", json={})).status_code == httpx.codes.BAD_REQUEST


async def test_a_route_of_a_graph_streams_its_progress(server: Server) -> None:
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        answer = await client.post("/auto_memory", json=INPUTS, headers={"Accept": "text/event-stream"})
    events = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]
    assert events[-1] == "result"
    assert set(events[:-1]) <= {"progress"}


async def test_a_thread_outlives_the_server(start_server: Callable[[Path], Server], tmp_path: Path) -> None:
    first = start_server(tmp_path / "workspace")
    thread, _ = await _remember(first)
    first.stop()
    with sqlite3.connect(tmp_path / "workspace" / "reme_metadata" / "checkpoints.sqlite") as file:
        assert file.execute("SELECT count(*) FROM checkpoints WHERE thread_id = ?", (thread,)).fetchone()[0] > 0
    second = start_server(tmp_path / "workspace")
    assert (await _state(second, thread))["receipt"]["success"]
    second.stop()
