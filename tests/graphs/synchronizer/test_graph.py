"""Does a task in progress survive, whatever the model does?"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from reme_graphs.synchronizer.graph import graph
from reme_store.text.front_matter import parse_note
from tests.support.scripted_model import ScriptedModel, calling

DAY = "2026-01-12"
TALK = [
    {"role": "user", "content": "Let us migrate the billing database in steps."},
    {"role": "assistant", "content": "Step one is done."},
]
NOTE = f"daily/{DAY}/migrate-billing-database/migrate-billing-database.md"
Run = Callable[..., dict[str, Any]]


def task(**more: Any) -> dict[str, Any]:
    base = {
        "title": "Migrate Billing Database",
        "description": "moving billing to Postgres",
        "objective": "move billing to Postgres",
        "plan": ["dump", "restore"],
        "progress": ["dumped"],
        "findings": ["two tables are unused"],
        "decisions": ["use pg_dump"],
        "next": [{"text": "restore", "done": False}],
    }
    return {**base, **more}


def section(text: str, title: str) -> str:
    return text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0].strip()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the graph with updates the model answers in turn, or offline."""

    def call(*updates: Any, messages: Any = TALK, offline: bool = False, **inputs: Any) -> dict[str, Any]:
        answers = [one if isinstance(one, str | Exception) else calling(("TaskUpdate", one)) for one in updates]
        model = ScriptedModel(answers=answers)
        context = {"workspace": str(tmp_path / "ws"), "model": "offline" if offline else model, "timezone": "UTC"}
        result: dict[str, Any] = graph.invoke({"messages": messages, "date": DAY, **inputs}, context=context)
        assert not model.answers, "the model was asked less often than scripted"
        return {**result, "asked": model.asked}

    return call


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def test_the_note_comes_back_whole(run: Run, ws: Path) -> None:
    result = run(task())
    assert result["summary"] == (ws / NOTE).read_text()
    assert result["actions"] == f"created {NOTE} (+0 materials)"
    assert result["applied"] == [{"op": "create", "path": NOTE}]
    assert result["receipt"]["success"] is True
    assert result["receipt"]["usage"]["model_calls"] == 1


def test_ten_calls_keep_every_line_in_order(run: Run, ws: Path) -> None:
    messages = list(TALK)
    for number in range(10):
        messages.append({"role": "assistant", "content": f"Did part {number}."})
        only = {"progress": [f"part {number}"], "findings": [f"finding {number}"], "decisions": [f"decision {number}"]}
        run(task(**only, objective=""), messages=messages)
    text = (ws / NOTE).read_text()
    for title, word in (("Progress", "part"), ("Findings", "finding"), ("Decisions", "decision")):
        assert [int(n) for n in re.findall(rf"{word} (\d)", section(text, title))] == list(range(10))


def test_a_model_that_forgets_and_renames_loses_nothing(run: Run, ws: Path) -> None:
    run(task(progress=["dumped", "checked"]))
    more = [*TALK, {"role": "assistant", "content": "Restored."}]
    bad = task(
        title="Postgres billing restore",
        objective="",
        plan=[],
        progress=["restored to Postgres"],
        findings=[],
        decisions=[],
        next=[],
    )
    result = run(bad, messages=more)
    assert result["actions"] == f"updated {NOTE} (+0 materials)"
    text = (ws / NOTE).read_text()
    assert [line[19:] for line in section(text, "Progress").split("\n")] == [
        "dumped",
        "checked",
        "restored to Postgres",
    ]
    assert section(text, "Findings") == "- two tables are unused"
    assert section(text, "Plan") == "1. dump\n2. restore"
    assert parse_note(text).front_matter["title"] == "Migrate Billing Database"


def test_a_claimed_completion_needs_a_person(run: Run, ws: Path) -> None:
    run(task(completed=True))
    assert "status: active\n" in (ws / NOTE).read_text()
    said = [*TALK, {"role": "user", "content": "Great, the migration is finished."}]
    run(task(completed=True, next=[]), messages=said)
    assert "status: completed\n" in (ws / NOTE).read_text()


def test_extracted_materials_get_fresh_names_and_are_made_once(run: Run, ws: Path) -> None:
    trace = {"name": "Error trace.md", "content": "Traceback (most recent call last)", "note": "what failed"}
    folder = (ws / NOTE).parent
    folder.mkdir(parents=True)
    (folder / "error-trace.md").write_text("mine\n")
    first = run(task(materials=[trace, {"name": "nothing.pdf", "content": "", "note": ""}]))
    assert first["actions"] == f"created {NOTE} (+2 materials)"
    assert (folder / "error-trace.md").read_text() == "mine\n"
    assert (folder / "error-trace-2.md").read_text() == "Traceback (most recent call last)\n"
    listed = section((ws / NOTE).read_text(), "Materials")
    base = f"daily/{DAY}/migrate-billing-database"
    assert listed == f"- [[{base}/error-trace-2.md]] — what failed\n- [[{base}/error-trace.md]]"
    again = run(task(materials=[trace]))
    assert again["actions"].endswith("(+0 materials)")
    assert len(list(folder.iterdir())) == 3


def test_files_of_any_type_and_depth_join_once(run: Run, ws: Path) -> None:
    run(task())
    folder = (ws / NOTE).parent
    (folder / "out").mkdir()
    (folder / "out" / "plot 1.png").write_bytes(b"\x89PNG")
    (folder / "数据.csv").write_text("a,b\n")
    assert run(task())["actions"].endswith("(+2 materials)")
    listed = section((ws / NOTE).read_text(), "Materials")
    assert "- [out/plot 1.png](out/plot%201.png)" in listed
    assert run(task())["actions"].endswith("(+0 materials)")


def test_the_next_day_inherits_and_leaves_the_predecessor_alone(run: Run, ws: Path) -> None:
    run(task())
    before = (ws / NOTE).read_bytes()
    result = run(task(objective="", plan=[], progress=["restored"]), date="2026-01-14")
    path = "daily/2026-01-14/migrate-billing-database/migrate-billing-database.md"
    assert result["actions"] == f"inherited {path} (+0 materials)"
    text = (ws / path).read_text()
    assert f'inherits: "[[{NOTE}]]"\n' in text
    assert section(text, "Objective") == "move billing to Postgres"
    assert section(text, "Plan") == "1. dump\n2. restore"
    assert "dumped" not in section(text, "Progress")
    assert (ws / NOTE).read_bytes() == before


def test_a_completed_or_too_old_task_is_not_inherited(run: Run) -> None:
    run(task())
    assert run(task(), date="2026-02-20")["actions"].startswith("created ")
    assert run(task(), date="2026-01-15", inherit_window_days=0)["actions"].startswith("created ")
    done = [*TALK, {"role": "user", "content": "The whole task is done."}]
    run(task(completed=True, next=[]), messages=done, date="2026-02-20")
    assert run(task(), date="2026-02-21")["actions"].startswith("created ")


def test_a_window_of_any_size_looks_at_the_days_there_are(run: Run) -> None:
    run(task(), date="1999-01-02")
    assert run(task(), inherit_window_days=10**12)["actions"].startswith("inherited ")


def test_a_broken_front_matter_is_said_and_the_task_goes_on_in_its_folder(run: Run, ws: Path) -> None:
    run(task())
    (ws / NOTE).write_text((ws / NOTE).read_text().replace("status: active", "status: [active"))
    result = run(task(progress=["restored"]))
    assert result["actions"].startswith(f"updated {NOTE}")
    assert "front matter" in result["receipt"]["errors"][0]
    assert "restored" in section(result["summary"], "Progress")


def test_a_step_without_words_or_a_material_without_a_name_does_not_cost_the_update(run: Run, ws: Path) -> None:
    unnamed = {"name": "", "content": "the trace", "note": ""}
    result = run(task(next=[{"text": ""}, {"text": "restore"}], materials=[unnamed, {"name": "empty", "content": ""}]))
    assert section(result["summary"], "Next") == "- [ ] restore"
    assert (ws / NOTE).with_name("material.md").read_text() == "the trace\n"
    assert result["actions"].endswith("(+1 materials)")


def test_nothing_kept_means_no_workspace(run: Run) -> None:
    assert run(task(skip=True))["workspace"] is None
    assert run(messages=[])["workspace"] is None


def test_the_hint_decides(run: Run) -> None:
    assert run(task(title="Anything"), workspace="数据库迁移")["workspace"] == f"daily/{DAY}/数据库迁移/"
    assert run(task(title="Other"), workspace="数据库迁移")["actions"].startswith("updated ")
    hinted = run(task(title="Whatever"), workspace=f"daily/{DAY}/数据库迁移/")
    assert hinted["actions"].startswith(f"updated daily/{DAY}/数据库迁移/")
    made = run(task(title="New"), workspace=f"daily/{DAY}/my-folder")
    assert made["actions"].startswith(f"created daily/{DAY}/my-folder/my-folder.md")


def test_long_and_strange_titles_become_safe_folders(run: Run) -> None:
    long = run(task(title="数据" * 100))["workspace"]
    assert len(long.split("/")[2]) <= 60
    assert run(task(title="CON"), messages=["Let us build it."])["workspace"] == f"daily/{DAY}/con-note/"
    assert run(task(title="???"), messages=["Let us fix it."])["workspace"] == f"daily/{DAY}/task/"


def test_a_folder_of_that_name_with_another_note_is_left_alone(run: Run, ws: Path) -> None:
    other = ws / NOTE
    other.parent.mkdir(parents=True)
    other.write_text("# A note of mine\n")
    result = run(task())
    assert result["actions"].startswith(f"created daily/{DAY}/migrate-billing-database-2/")
    assert other.read_text() == "# A note of mine\n"


@pytest.mark.parametrize(
    "inputs",
    [{"date": "2026-13-01"}, {"workspace": "../x/"}, {"inherit_window_days": -1}, {"date": "tomorrow"}],
)
def test_a_callers_mistake_ends_in_the_receipt_without_a_call(run: Run, inputs: dict[str, Any]) -> None:
    result = run(**inputs)
    assert result["receipt"]["success"] is False
    assert result["receipt"]["errors"]
    assert (result["asked"], result["summary"], result["used_llm"]) == ([], None, False)


def test_a_failing_model_ends_in_the_receipt(run: Run, ws: Path) -> None:
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    error = openai.BadRequestError("content filter", response=httpx.Response(400, request=request), body=None)
    result = run(error)
    assert result["receipt"]["success"] is False
    assert "content filter" in result["receipt"]["errors"][0]
    assert result["failed"][0]["op"] == "judge"
    unusable = run("no idea", "still none")
    assert unusable["receipt"]["success"] is False
    assert unusable["receipt"]["usage"]["model_calls"] == 2
    assert not list(ws.rglob("migrate*"))


def test_a_model_that_is_down_may_be_replaced_by_rules_where_the_caller_allows_it(tmp_path: Path) -> None:
    def down(_: Any) -> Any:
        request = httpx.Request("POST", "http://127.0.0.1/v1")
        response = httpx.Response(500, request=request, headers={"retry-after": "0"})
        return openai.InternalServerError("no answer", response=response, body=None)

    talk = [
        {"role": "user", "content": "Please migrate the billing database."},
        {"role": "assistant", "content": "Dumped."},
    ]
    context = {"workspace": str(tmp_path / "ws"), "model": ScriptedModel(answers=down), "timezone": "UTC"}
    refused = graph.invoke({"messages": talk, "date": DAY}, context=context)
    assert refused["receipt"]["success"] is False
    done = graph.invoke({"messages": talk, "date": DAY}, context={**context, "fallback_offline": True})
    assert done["actions"].startswith("created ")
    assert "offline" in done["receipt"]["errors"][0]


def test_a_note_that_cannot_be_written_is_said_and_materials_stay(run: Run, ws: Path) -> None:
    run(task())
    (ws / NOTE).write_bytes((ws / NOTE).read_bytes() + b"\xff\xfe broken")
    result = run(
        task(materials=[{"name": "proof", "content": "kept", "note": ""}]),
        workspace=f"daily/{DAY}/migrate-billing-database/",
    )
    assert result["receipt"]["success"] is False
    assert [row["op"] for row in result["failed"]] == ["update"]
    assert {"op": "write_material", "path": NOTE.replace("migrate-billing-database.md", "proof.md")} in result[
        "applied"
    ]
    assert result["summary"] is None


def test_secrets_reach_neither_prompt_nor_note(run: Run, ws: Path) -> None:
    key = "sk-" + "a1B2c3D4" * 4
    result = run(task(findings=[f"the key is {key}"]), messages=[*TALK, {"role": "user", "content": f"use {key}"}])
    assert key not in result["asked"][0].prompt
    assert key not in (ws / NOTE).read_text()


def test_the_prompt_shows_the_latest_messages_within_its_budget(tmp_path: Path) -> None:
    model = ScriptedModel(answers=[calling(("TaskUpdate", {"skip": True}))])
    messages = [{"role": "user", "content": f"message {n} " + "words " * 60} for n in range(200)]
    context = {"workspace": str(tmp_path / "ws"), "model": model, "max_input_chars": 20_000}
    graph.invoke({"messages": messages}, context=context)
    prompt = model.asked[0].prompt
    assert len(prompt) <= 20_000
    assert "message 199 " in prompt and "message 0 " not in prompt
    assert "earlier messages are not shown" in prompt
    assert str(tmp_path) not in prompt


def test_offline_keeps_the_conversations_own_sentences(run: Run, ws: Path) -> None:
    code = "\n\n```sql\n" + "select 1;\n" * 4 + "```"
    asked = "Please migrate the billing database to PostgreSQL 16. We decided to freeze writes on Sunday."
    done = "I dumped all 42 tables. The cause of the slow dump is the audit table. Next we need to restore them."
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": done + code}]
    result = run(messages=messages, offline=True)
    assert result["actions"].startswith("created ") and result["used_llm"] is False
    text = result["summary"]
    assert section(text, "Objective") == "Please migrate the billing database to PostgreSQL 16."
    assert "I dumped all 42 tables." in section(text, "Progress")
    assert "We decided to freeze writes on Sunday." in section(text, "Decisions")
    assert "Next we need to restore them." in section(text, "Next")
    assert "The cause of the slow dump is the audit table." in section(text, "Findings")
    assert result["actions"].endswith("(+1 materials)")
    before = {path: path.read_bytes() for path in ws.rglob("*.md")}
    run(messages=messages, offline=True)
    assert {path: path.read_bytes() for path in ws.rglob("*.md")} == before


def test_offline_skips_what_is_no_task_and_says_why(run: Run) -> None:
    result = run(
        messages=[{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi."}], offline=True
    )
    assert result["actions"] == "[SKIP]"
    assert result["receipt"]["engine"] == "offline"
    assert result["receipt"]["metadata"]["skipped"]


async def test_it_runs_in_an_event_loop(tmp_path: Path) -> None:
    model = ScriptedModel(answers=[calling(("TaskUpdate", task()))])
    result = await graph.ainvoke(
        {"messages": TALK, "date": DAY}, context={"workspace": str(tmp_path / "ws"), "model": model}
    )
    assert result["actions"].startswith("created ")


def test_progress_is_told(tmp_path: Path) -> None:
    model = ScriptedModel(answers=[calling(("TaskUpdate", task()))])
    context = {"workspace": str(tmp_path / "ws"), "model": model}
    events = list(graph.stream({"messages": TALK, "date": DAY}, context=context, stream_mode="custom"))
    assert all({"event", "graph", "done", "total"} <= set(event) for event in events)
    assert events[-1]["done"] == events[-1]["total"]
