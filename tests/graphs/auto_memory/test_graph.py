"""Does auto_memory lose nothing, double nothing and keep what it should, whatever goes wrong?"""

import asyncio
import json
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from reme_graphs.auto_memory.graph import builder, graph
from reme_graphs.auto_memory.ledger import load_ledger, waiting_sessions
from reme_store import open_store
from tests.support.children import python
from tests.support.note_writer import context_of, prompts_of, writer
from tests.support.scripted_model import ScriptedModel, calling

CHAT = [
    {"role": "user", "content": "I live in Lisbon now. MSG-ONE", "created_at": "2026-03-05T09:00:00+08:00"},
    {"role": "assistant", "content": "Noted, Lisbon.", "created_at": "2026-03-05T09:00:05+08:00"},
]
NOTE = "daily/2026-03-05/chat.md"
DIALOG = "reme_session/dialog/chat.jsonl"


def say(text: str, second: int = 0, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "created_at": 1772676000 + second, **more}


def run(
    workspace: Path,
    messages: list[Any],
    model: Any = "offline",
    *,
    session: str = "chat",
    inputs: dict[str, Any] | None = None,
    **context: Any,
) -> Any:
    return graph.invoke(
        {"messages": messages, "session_id": session, **(inputs or {})}, context=context_of(workspace, model, **context)
    )


def rows(workspace: Path, path: str = DIALOG) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (workspace / path).read_text(encoding="utf-8").split("\n") if line]


def test_a_conversation_becomes_a_note_with_its_source_and_its_day(workspace: Path) -> None:
    model = writer({"MSG-ONE": "The user lives in Lisbon."})
    state = run(workspace, CHAT, model)
    note = (workspace / NOTE).read_text()
    assert "The user lives in Lisbon." in note
    assert f'source_conversation: "[[{DIALOG}]]"' in note
    assert f"[[{NOTE}]]" in (workspace / "daily/2026-03-05.md").read_text()
    assert state["receipt"]["success"] and state["receipt"]["usage"] == {
        "model_calls": 3,
        "input_tokens": 30,
        "output_tokens": 9,
    }
    assert sorted(model.asked[0].tools) == ["append", "edit", "frontmatter_update", "read", "write"]
    assert str(workspace) not in prompts_of(model)


def test_the_same_messages_again_cost_nothing(workspace: Path) -> None:
    run(workspace, CHAT, writer({"MSG-ONE": "The user lives in Lisbon."}))
    before = {path: path.read_bytes() for path in workspace.rglob("*.md")}
    silent = ScriptedModel(answers=[])
    state = run(workspace, CHAT, silent)
    assert silent.asked == [] and state["new_messages"] == 0 and state["receipt"]["success"]
    assert state["note_path"] == NOTE
    assert {path: path.read_bytes() for path in workspace.rglob("*.md")} == before


def test_a_failed_call_keeps_the_dialog_and_the_messages_come_again(workspace: Path) -> None:
    state = run(workspace, CHAT, ScriptedModel(answers=[RuntimeError("weights are broken")]))
    assert not state["receipt"]["success"] and "weights are broken" in state["receipt"]["errors"][0]
    assert len(rows(workspace)) == 2 and not (workspace / NOTE).exists()
    with open_store(workspace) as store:
        assert waiting_sessions(store) == [{"session_id": "chat", "date": ""}]
    again = writer({"MSG-ONE": "FACT"})
    state = graph.invoke({"messages": [], "session_id": "chat"}, context=context_of(workspace, again))
    assert state["new_messages"] == 2 and "MSG-ONE" in prompts_of(again) and "FACT" in (workspace / NOTE).read_text()
    with open_store(workspace) as store:
        assert waiting_sessions(store) == []


def test_a_retry_goes_to_the_day_of_its_messages(workspace: Path) -> None:
    run(workspace, CHAT, ScriptedModel(answers=[RuntimeError("down")]))
    later = {"role": "user", "content": "We got a dog. MSG-DOG", "created_at": "2026-03-07T09:00:00+08:00"}
    state = run(workspace, [*CHAT, later], writer({"MSG-ONE": "FACT-lisbon", "MSG-DOG": "FACT-dog"}))
    assert state["note_path"] == "daily/2026-03-07/chat.md" and state["new_messages"] == 3
    assert "FACT-lisbon" in (workspace / NOTE).read_text()
    assert "FACT-lisbon" not in (workspace / "daily/2026-03-07/chat.md").read_text()


def test_nothing_written_and_no_reason_is_a_failure_after_one_repair(workspace: Path) -> None:
    model = ScriptedModel(answers=["All good.", "Really, all good."])
    state = run(workspace, CHAT, model)
    assert not state["receipt"]["success"] and len(model.asked) == 2
    assert "[SKIP]" in model.asked[1].messages[-1].text
    assert (
        run(workspace, CHAT, ScriptedModel(answers=["[SKIP] small talk"]))["receipt"]["metadata"]["skipped"]
        == "small talk"
    )


def test_the_writer_changes_its_own_note_only(workspace: Path) -> None:
    (workspace / "digest/wiki").mkdir(parents=True)
    (workspace / "digest/wiki/a.md").write_text("keep me\n")
    steps = [
        calling(("write", {"path": "digest/wiki/a.md", "content": "stolen", "overwrite": True})),
        calling(("write", {"path": NOTE, "content": "FACT\n"})),
        "Done.",
    ]
    model = ScriptedModel(answers=steps)
    assert run(workspace, CHAT, model)["receipt"]["success"]
    assert (workspace / "digest/wiki/a.md").read_text() == "keep me\n" and model.asked[1].results[0].status == "error"


def test_without_a_session_the_day_page_takes_the_note(workspace: Path) -> None:
    state = run(workspace, CHAT, writer({"MSG-ONE": "FACT"}), session="")
    assert (state["note_path"], state["session_path"]) == (
        "daily/2026-03-05.md",
        "reme_session/dialog/2026-03-05.jsonl",
    )
    page = (workspace / "daily/2026-03-05.md").read_text()
    assert "FACT" in page and 'source_conversation: "[[reme_session/dialog/2026-03-05.jsonl]]"' in page


@pytest.mark.parametrize(
    "inputs", [{"date": "2026-13-45"}, {"session_id": "../x"}, {"date": "../2026-01-01"}, {"messages": "hello"}]
)
def test_a_mistake_of_the_caller_ends_in_the_receipt(workspace: Path, inputs: dict[str, Any]) -> None:
    model = ScriptedModel(answers=[])
    state = run(workspace, CHAT, model, inputs=inputs)
    assert not state["receipt"]["success"] and state["receipt"]["errors"] and model.asked == []
    assert not (workspace / "reme_session").exists() or not list((workspace / "reme_session").rglob("*.jsonl"))


def test_no_messages_is_a_success_that_says_so(workspace: Path) -> None:
    state = run(workspace, [])
    assert state["receipt"]["success"] and state["receipt"]["metadata"]["skipped"] == "no messages"


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Asia/Shanghai", "2026-03-29"), ("Europe/Lisbon", "2026-03-28"), ("America/New_York", "2026-03-28")],
)
def test_the_day_is_that_of_the_latest_message_in_the_zone(workspace: Path, zone: str, day: str) -> None:
    """The night in which Lisbon changes its clocks: half past eleven in the evening before."""
    messages = [
        say("early MSG-ONE") | {"created_at": "2026-03-28T23:30:00Z"},
        say("before") | {"created_at": "2026-03-27T10:00:00Z"},
    ]
    assert run(workspace, messages, writer({"MSG-ONE": "FACT"}), timezone=zone)["note_path"] == f"daily/{day}/chat.md"


def test_an_unknown_zone_is_a_mistake_of_the_caller(workspace: Path) -> None:
    assert "Mars" in run(workspace, CHAT, timezone="Mars/Base")["receipt"]["errors"][0]


def test_secrets_reach_neither_file_nor_prompt(workspace: Path) -> None:
    key = "sk-aB3dE6gH9jK2mN5pQ8sT1vW4"
    model = writer(lambda prompt: ["FACT"])
    run(workspace, [say(f"my key is {key}")], model, inputs={"memory_hint": f"look for {key}"})
    assert key not in prompts_of(model)
    assert not [path for path in workspace.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert "[secret: API key]" in rows(workspace)[0]["content"]
    run(workspace, [say(f"my key is {key}")], model, session="open", mask_secrets=False)
    assert key in (workspace / "reme_session/dialog/open.jsonl").read_text()


def test_recalled_memory_and_tool_results_are_named_for_what_they_are(workspace: Path) -> None:
    messages = [
        say("question"),
        HumanMessage("RECALLED-TEXT", additional_kwargs={"recalled": True}),
        {"role": "tool", "tool_call_id": "t", "content": "R" * 1500 + "TOOL-END"},
        AIMessage("answer"),
    ]
    model = writer(lambda prompt: ["FACT"])
    run(workspace, messages, model)
    prompt = model.asked[0].prompt
    assert "RECALLED-TEXT" not in prompt and "TOOL-END" not in prompt and "tool result, no fact" in prompt
    assert any("RECALLED-TEXT" in row["content"] for row in rows(workspace))
    assert any("TOOL-END" in row["content"] for row in rows(workspace))


def test_what_nobody_says_needs_no_model(workspace: Path) -> None:
    silent = ScriptedModel(answers=[])
    state = run(workspace, [{"role": "tool", "tool_call_id": "t", "content": "result"}], silent)
    assert state["receipt"]["success"] and silent.asked == [] and run(workspace, [])["receipt"]["success"]


@pytest.mark.parametrize("text", ["word and more words. ", "我们决定在四月上线新的计费系统。"])
def test_one_message_of_two_megabytes_goes_in_parts_and_all_of_it_is_read(workspace: Path, text: str) -> None:
    pieces = [f"<{n}>{text * 300}" for n in range(2_000_000 // len(text.encode()) // 300)]
    model = writer(lambda prompt: [f"FACT-{n}" for n in (0, len(pieces) - 1) if f"<{n}>" in prompt])
    state = run(workspace, [say("".join(pieces))], model, max_input_chars=60_000)
    shown = prompts_of(model)
    assert state["receipt"]["success"] and all(f"<{n}>" in shown for n in range(len(pieces)))
    assert max(len(asked.prompt) for asked in model.asked) <= 60_000
    note = (workspace / NOTE).read_text()
    assert note.count("FACT-0\n") == 1 and note.count(f"FACT-{len(pieces) - 1}\n") == 1
    assert state["receipt"]["metadata"]["coverage"] == {"messages": 1, "taken_up": 1, "parts": state["parts"]}


def test_a_failure_in_the_middle_of_a_long_message_repeats_only_the_rest(workspace: Path) -> None:
    text = "".join(f"<{n}>{'words ' * 600}" for n in range(20))

    def fail(asked: Any) -> Exception | None:
        return RuntimeError("no") if "<15>" in asked.prompt else None

    run(
        workspace,
        [say(text)],
        writer(lambda prompt: [f"FACT-{n}" for n in range(20) if f"<{n}>" in prompt], fail),
        max_input_chars=20_000,
    )
    model = writer(lambda prompt: [f"FACT-{n}" for n in range(20) if f"<{n}>" in prompt])
    run(workspace, [say(text)], model, max_input_chars=20_000)
    assert "<0>" not in prompts_of(model) and "<19>" in prompts_of(model)
    note = (workspace / NOTE).read_text()
    assert all(note.count(f"FACT-{n}\n") == 1 for n in range(20))


def test_six_calls_at_once_on_one_session_keep_all_thirty_messages(workspace: Path) -> None:
    model = writer(lambda prompt: [f"FACT-{n:02d}" for n in range(30) if f"MSG-{n:02d}" in prompt])

    def call(start: int) -> Any:
        return run(workspace, [say(f"MSG-{n:02d}", n) for n in range(start, start + 5)], model)

    with ThreadPoolExecutor(6) as pool:
        states = list(pool.map(call, range(0, 30, 5)))
    assert all(state["receipt"]["success"] for state in states)
    assert [row["content"] for row in rows(workspace)] == [f"MSG-{n:02d}" for n in range(30)]
    note = (workspace / NOTE).read_text()
    assert all(note.count(f"FACT-{n:02d}") == 1 for n in range(30))


SENDER = """
import sys
from reme_graphs.auto_memory.graph import graph
workspace, start = sys.argv[1], int(sys.argv[2])
said = "We decided to use part {} because it is light."
messages = [
    {"role": "user", "content": said.format(n), "created_at": 1772676000 + n} for n in range(start, start + 5)
]
sys.stdin.readline()
state = graph.invoke({"messages": messages, "session_id": "chat"}, context={"workspace": workspace, "timezone": "UTC"})
sys.exit(not state["receipt"]["success"])
"""


def test_six_processes_on_one_session_keep_all_thirty_messages(workspace: Path) -> None:
    with ExitStack() as stack:
        senders = [stack.enter_context(python(SENDER, workspace, start)) for start in range(0, 30, 5)]
        for sender in senders:
            assert sender.stdin
            sender.stdin.write("go\n")
            sender.stdin.flush()
        assert [sender.wait(300) for sender in senders] == [0] * 6
    assert [row["content"].split()[5] for row in rows(workspace)] == [str(n) for n in range(30)]
    note = (workspace / "daily/2026-03-05/chat.md").read_text()
    lines = [line for line in note.split("\n") if line.startswith("- ")]
    assert lines and len(set(lines)) == len(lines)
    assert run(workspace, [], timezone="UTC")["new_messages"] == 0


def test_a_model_that_fails_at_random_loses_and_doubles_nothing(workspace: Path) -> None:
    dice = random.Random(7)

    def fail(asked: Any) -> Exception | None:
        return RuntimeError("at random") if dice.random() < 0.35 else None

    model = writer(lambda prompt: [f"FACT-{n:03d}" for n in range(60) if f"MSG-{n:03d}" in prompt], fail)
    sent: list[Any] = []
    for n in range(60):
        sent.append(say(f"MSG-{n:03d} " + "filler " * 200, n))
        run(workspace, sent[-8:], model, max_input_chars=9_000)
    while len(model.asked) < 200 or not run(workspace, sent, model, max_input_chars=9_000)["receipt"]["success"]:
        run(workspace, [*sent, say(f"more {len(model.asked)}", 100 + len(model.asked))], model, max_input_chars=9_000)
    note = (workspace / NOTE).read_text()
    assert [note.count(f"FACT-{n:03d}") for n in range(60)] == [1] * 60
    assert len({row["id"] for row in rows(workspace)}) == len(rows(workspace))


def test_a_crash_between_note_and_receipt_repeats_nothing(workspace: Path) -> None:
    compiled = builder.compile(checkpointer=InMemorySaver(), interrupt_after=["write_note"])
    config: Any = {"configurable": {"thread_id": "t"}}
    model = writer({"MSG-ONE": "FACT"})
    compiled.invoke({"messages": CHAT, "session_id": "chat"}, config, context=context_of(workspace, model))
    calls = len(model.asked)
    state = compiled.invoke(None, config, context=context_of(workspace, model))
    assert state["receipt"]["success"] and len(model.asked) == calls
    assert run(workspace, CHAT, model)["new_messages"] == 0 and (workspace / NOTE).read_text().count("FACT") == 1


def test_a_persons_edit_during_the_work_is_kept(workspace: Path) -> None:
    run(workspace, CHAT, writer({"MSG-ONE": "FACT-one"}))

    def edit_meanwhile(asked: Any) -> None:
        text = (workspace / NOTE).read_text()
        if len(asked.results) == 2 and "BY HAND" not in text:
            (workspace / NOTE).write_text(text + "\nBY HAND\n")

    model = writer({"MSG-TWO": "FACT-two"}, edit_meanwhile)
    assert run(workspace, [say("MSG-TWO", 60)], model)["receipt"]["success"]
    note = (workspace / NOTE).read_text()
    assert note.count("BY HAND") == 1 and note.count("FACT-two") == 1 and note.count("FACT-one") == 1


def test_a_note_whose_block_does_not_parse_is_left_alone(workspace: Path) -> None:
    (workspace / "daily/2026-03-05").mkdir(parents=True)
    broken = "---\nname: [open\n---\ntext\n"
    (workspace / NOTE).write_text(broken)
    state = run(workspace, CHAT, writer({"MSG-ONE": "FACT"}))
    assert not state["receipt"]["success"] and (workspace / NOTE).read_text() == broken


def test_offline_needs_no_model_and_a_model_may_do_it_again(workspace: Path) -> None:
    messages = [say("We decided to use PostgreSQL 16 for the billing service. MSG-ONE")]
    state = run(workspace, messages)
    assert state["receipt"]["engine"] == "offline" and state["receipt"]["usage"]["model_calls"] == 0
    note = (workspace / NOTE).read_text()
    assert "PostgreSQL 16" in note and "name:" in note
    assert run(workspace, messages)["new_messages"] == 0 and (workspace / NOTE).read_text() == note
    model = writer({"MSG-ONE": "FACT"})
    assert run(workspace, messages, model)["new_messages"] == 0
    assert run(workspace, messages, model, redo_offline=True)["new_messages"] == 1
    assert "FACT" in (workspace / NOTE).read_text()
    assert run(workspace, messages, model, redo_offline=True)["new_messages"] == 0


def test_the_offline_engine_stands_in_only_where_the_user_chose_so(workspace: Path) -> None:
    messages = [say("We decided to use PostgreSQL 16 for the billing service.")]
    down = ScriptedModel(answers=lambda asked: ConnectionError("no route"))
    state = run(workspace, messages, down, fallback_offline=True)
    assert state["receipt"]["success"] and "offline" in state["receipt"]["engine"]
    assert "PostgreSQL 16" in (workspace / NOTE).read_text()


def test_the_ledger_lost_costs_work_but_no_message(workspace: Path) -> None:
    run(workspace, CHAT, writer({"MSG-ONE": "FACT"}))
    with open_store(workspace) as store:
        assert load_ledger(store, "chat").reflected
        store.records.delete("ledger/auto_memory/chat.json")
    state = run(workspace, CHAT, writer({"MSG-ONE": "FACT"}))
    assert state["new_messages"] == 2 and (workspace / NOTE).read_text().count("FACT") == 1


def test_progress_comes_on_the_custom_stream_also_async(workspace: Path) -> None:
    async def collect() -> list[Any]:
        inputs: Any = {"messages": CHAT, "session_id": "chat"}
        stream = graph.astream(inputs, context=context_of(workspace, writer({"MSG-ONE": "FACT"})), stream_mode="custom")
        return [event async for event in stream]

    events = asyncio.run(collect())
    assert events[-1] == {"event": "part", "graph": "auto_memory", "done": 1, "total": 1}
    assert all(set(event) == {"event", "graph", "done", "total"} for event in events)


def test_a_next_run_on_the_same_thread_inherits_no_argument(workspace: Path) -> None:
    saver = InMemorySaver()
    compiled = builder.compile(checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}}
    first: Any = {"messages": CHAT, "session_id": "chat", "date": "2026-01-01", "memory_hint": "dogs"}
    second: Any = {"messages": [say("MSG-TWO")]}
    compiled.invoke(first, config, context=context_of(workspace, writer({"MSG-ONE": "FACT"})))
    state = compiled.invoke(second, config, context=context_of(workspace, writer({"MSG-TWO": "FACT-two"})))
    assert state["note_path"] == "daily/2026-03-05.md" and state["new_messages"] == 1
    assert b"I live in Lisbon" not in b"".join(str(item).encode() for item in saver.get_tuple(config) or ())


def test_the_schemas_give_a_form(workspace: Path) -> None:
    schema = graph.get_input_jsonschema()
    assert set(schema["properties"]) == {"messages", "session_id", "date", "memory_hint"} and schema["required"] == [
        "messages"
    ]
    assert "workspace" in (graph.get_context_jsonschema() or {})["properties"]


async def test_nothing_blocks_the_event_loop(workspace: Path) -> None:
    inputs: Any = {"messages": CHAT, "session_id": "chat"}
    with blockbuster_ctx():
        state = await graph.ainvoke(inputs, context=context_of(workspace, writer({"MSG-ONE": "FACT"})))
    assert state["receipt"]["success"]
