"""Does the maintainer take apart only what is overloaded, and lose nothing?"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from reme_graphs.consolidate.graph import builder, graph
from reme_store.text.front_matter import parse_note
from reme_store.text.wikilinks import fold_edges, parse_wikilinks
from tests.support.scripted_model import ScriptedModel, calling

PARENT = "digest/wiki/manual.md"
Run = Callable[..., dict[str, Any]]


def overloaded(seed: int = 1) -> str:
    """A note of two matters and of more than 20000 characters."""
    rng = random.Random(seed)
    blocks = []
    for part in ("Setup", "Use"):
        lines = [
            f"Words on {part} number {rng.randrange(10**6)} are said here and are never lost again." for _ in range(150)
        ]
        links = [f"uses:: [[digest/wiki/{part.lower()}-{n}.md]]" for n in range(rng.randrange(1, 5))]
        blocks.append("\n".join([f"## {part}", "", *lines, "", *links, ""]))
    return "---\nname: manual\ndescription: d\n---\n# Manual\n\nOne for all.\n\n" + "\n".join(blocks)


def plan_of(text: str, **more: Any) -> dict[str, Any]:
    setup, use = text.split("## Setup", 1)[1].split("## Use", 1)
    children = [
        {"name": "manual-setup", "description": "setup", "body": "## Setup" + setup},
        {"name": "manual-use", "description": "use", "body": "## Use" + use},
    ]
    return {"overview": "# Manual\n\nOne for all.\n", "children": children, **more}


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"


@pytest.fixture
def put(ws: Path) -> Callable[[str, str], None]:
    def write(path: str, text: str) -> None:
        (ws / path).parent.mkdir(parents=True, exist_ok=True)
        (ws / path).write_text(text)

    return write


@pytest.fixture
def run(ws: Path) -> Run:
    """Run the graph with plans the model answers in turn; without any, offline."""

    def call(
        *plans: Any, compiled: Any = graph, config: Any = None, inputs: Any = None, **context: Any
    ) -> dict[str, Any]:
        answers = [plan if isinstance(plan, str) else calling(("SplitPlan", plan)) for plan in plans]
        model: Any = ScriptedModel(answers=answers) if plans else "offline"
        given = {"workspace": str(ws), "model": model, "timezone": "UTC", **context}
        result: dict[str, Any] = compiled.invoke(inputs if inputs is not None else {}, config, context=given)
        return result

    return call


def user_files(ws: Path) -> dict[str, str]:
    found = (path for path in ws.rglob("*") if path.is_file() and "reme_metadata" not in path.parts)
    return {path.relative_to(ws).as_posix(): path.read_text() for path in found}


def test_an_overloaded_note_is_taken_apart_by_a_models_plan(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, overloaded())
    put("digest/wiki/linking.md", f"see [[{PARENT}|it]]\n")
    result = run(plan_of(overloaded()))
    assert result["splits"] == [
        {"path": PARENT, "children": ["digest/wiki/manual-setup.md", "digest/wiki/manual-use.md"]}
    ]
    assert (ws / "digest/wiki/linking.md").read_text() == f"see [[{PARENT}|it]]\n"
    assert (ws / result["report"]).read_text().startswith("# Consolidate ")
    assert result["receipt"]["success"] is True


def test_a_plan_that_loses_a_line_is_sent_back_and_then_refused(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, overloaded())
    good = plan_of(overloaded())
    bad = {**good, "children": good["children"][:1]}
    refused = run(bad, bad, bad)
    assert refused["receipt"]["success"] is False
    assert "stand nowhere" in refused["receipt"]["errors"][0]
    assert refused["receipt"]["usage"]["model_calls"] == 3
    assert user_files(ws)[PARENT] == overloaded()
    assert len(run(bad, good)["splits"]) == 1


def test_a_model_that_is_not_sure_leaves_the_note_whole(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, overloaded())
    result = run({"overview": "", "children": []})
    assert (result["splits"], result["receipt"]["success"]) == ([], True)
    assert user_files(ws) == {PARENT: overloaded()}


def test_what_was_left_whole_is_not_asked_again_until_it_changes_and_keeps_no_other_note_waiting(
    run: Run, put: Any
) -> None:
    whole = {"overview": "", "children": []}
    put(PARENT, overloaded() + "\n## More\n\n" + "Even more words on something else.\n" * 300)
    put("digest/wiki/other.md", overloaded(2).replace("manual", "other"))
    assert [run(whole)["receipt"]["usage"]["model_calls"] for _ in range(3)] == [1, 1, 0]
    [row, _] = run(whole)["receipt"]["metadata"]["overloaded"]
    assert (row["path"], row["before"]) == (PARENT, "left whole")
    assert run(whole, inputs={"paths": [PARENT]})["receipt"]["usage"]["model_calls"] == 1
    put(PARENT, overloaded(3) + "\n## More\n\n" + "Even more words on something else.\n" * 300)
    assert run(whole)["receipt"]["usage"]["model_calls"] == 1


def test_a_note_whose_plan_failed_comes_after_the_others_and_a_few_times_only(run: Run, put: Any) -> None:
    bad = plan_of(overloaded(), overview="", children=[{"name": "manual-x", "description": "", "body": "mine"}])
    put(PARENT, overloaded() + "\n## More\n\n" + "Even more words on something else.\n" * 300)
    put("digest/wiki/other.md", overloaded(2).replace("manual", "other"))
    named = [(run(bad, bad, bad)["receipt"]["errors"] or [""])[0].split(" ")[0] for _ in range(11)]
    assert named[:2] == [PARENT, "digest/wiki/other.md"]
    assert [named.count(path) for path in (PARENT, "digest/wiki/other.md", "")] == [5, 5, 1]


def test_a_rejected_split_is_settled(run: Run, put: Any) -> None:
    put(PARENT, overloaded())
    compiled = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    run(compiled=compiled, config=config, review=True)
    run(compiled=compiled, config=config, inputs=Command(resume="reject"), review=True)
    again = run(compiled=compiled, config={"configurable": {"thread_id": "u"}}, review=True)
    assert "__interrupt__" not in again
    assert again["receipt"]["metadata"]["overloaded"][0]["before"] == "rejected"


def test_a_split_makes_no_source_out_of_nothing(run: Run, put: Any) -> None:
    put(PARENT, overloaded())
    assert len(run()["receipt"]["metadata"]["without_provenance"]) == 3
    put(PARENT, "Seen.\n\nderived_from:: [[daily/2026-01-02.md]]\n")
    assert run()["receipt"]["metadata"]["without_provenance"] == []


def test_a_file_without_text_keeps_no_note_from_being_looked_after(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, overloaded())
    (ws / "digest/wiki/binary.md").write_bytes(bytes(range(256)) * 20)
    result = run()
    assert len(result["splits"]) == 1
    assert "digest/wiki/binary.md" in [row["path"] for row in result["receipt"]["metadata"]["problems"]]


def test_a_note_in_another_encoding_is_left_whole_without_a_call(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, "")
    data = "".join(f"## 第{n}章\n\n" + f"这是第{n}章的内容，讲述很多不同的事情。\n" * 100 for n in range(14)).encode(
        "gb18030"
    )
    (ws / PARENT).write_bytes(data)
    result = run({"overview": "", "children": []})
    assert (result["splits"], result["receipt"]["usage"]["model_calls"]) == ([], 0)
    assert "UTF-8" in result["receipt"]["errors"][0]
    assert (ws / PARENT).read_bytes() == data


def test_line_ends_follow_the_note(run: Run, ws: Path, put: Any) -> None:
    put(PARENT, "")
    (ws / PARENT).write_bytes(overloaded().replace("\n", "\r\n").encode())
    for path in ("digest/wiki/manual.md", *run()["splits"][0]["children"]):
        data = (ws / path).read_bytes()
        assert data.count(b"\n") == data.count(b"\r\n")


def test_children_whose_names_differ_in_case_only_are_refused(run: Run, put: Any) -> None:
    put(PARENT, overloaded())
    plan = plan_of(overloaded())
    plan["children"][0]["name"], plan["children"][1]["name"] = "manual-a", "manual-A"
    assert "only in case" in run(plan, plan, plan)["receipt"]["errors"][0]


def test_a_child_does_not_replace_a_note(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, overloaded())
    put("digest/wiki/manual-use.md", "mine\n")
    plan = plan_of(overloaded())
    result = run(plan, plan, plan)
    assert "exists already" in result["receipt"]["errors"][0]
    assert (ws / "digest/wiki/manual-use.md").read_text() == "mine\n"


@pytest.mark.parametrize("seed", range(20))
def test_offline_splits_keep_every_line_and_pair(run: Run, put: Any, ws: Path, seed: int) -> None:
    old = overloaded(seed)
    put(PARENT, old)
    [made] = run()["splits"]
    files = user_files(ws)
    parts = {path: files[path] for path in (PARENT, *made["children"])}
    kept = [line for text in parts.values() for line in parse_note(text).body.split("\n")]
    lines = [line for line in parse_note(old).body.split("\n") if line.strip()]
    assert all(kept.count(line) >= lines.count(line) for line in set(lines))
    edges = {(e.target_path, e.predicate) for p, t in parts.items() for e in fold_edges(p, parse_wikilinks(t))}
    assert {(e.target_path, e.predicate) for e in fold_edges(PARENT, parse_wikilinks(old))} <= edges
    assert all(
        (PARENT, "part_of") in {(e.target_path, e.predicate) for e in fold_edges(p, parse_wikilinks(parts[p]))}
        for p in made["children"]
    )


def test_a_second_run_finds_nothing_and_changes_nothing(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, overloaded())
    run()
    before = user_files(ws)
    assert run()["splits"] == []
    assert user_files(ws) == before


def test_one_split_a_run_and_the_worst_first(run: Run, put: Any) -> None:
    put("digest/wiki/a.md", overloaded(1))
    put("digest/wiki/b.md", overloaded(2) + "\n## More\n\n" + "Even more words on something else.\n" * 300)
    assert [row["path"] for row in run()["splits"]] == ["digest/wiki/b.md"]
    assert [row["path"] for row in run(inputs={"max_splits": 5})["splits"]] == ["digest/wiki/a.md"]


def test_a_dry_run_shows_the_change_and_makes_none(run: Run, put: Any, ws: Path) -> None:
    put(PARENT, overloaded())
    result = run(dry_run=True)
    diffs = result["receipt"]["metadata"]["diffs"]
    assert set(diffs) == {PARENT, "digest/wiki/manual-setup.md", "digest/wiki/manual-use.md"}
    assert result["splits"] == []
    assert user_files(ws) == {PARENT: overloaded()}


@pytest.mark.parametrize(("answer", "count"), [("accept", 1), ("reject", 0), ({"decisions": {}}, 0), ("{broken", 0)])
def test_a_review_decides(run: Run, put: Any, ws: Path, answer: Any, count: int) -> None:
    put(PARENT, overloaded())
    compiled = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    asked = run(compiled=compiled, config=config, review=True)["__interrupt__"]
    [row] = asked[0].value["units"]
    assert {"unit_id", "action", "target_path", "draft_id", "diff"} <= set(row)
    assert user_files(ws) == {PARENT: overloaded()}
    done = run(compiled=compiled, config=config, inputs=Command(resume=answer), review=True)
    assert len(done["splits"]) == count


def test_a_review_without_a_checkpointer_is_refused(run: Run, put: Any) -> None:
    put(PARENT, overloaded())
    result = run(review=True)
    assert result["receipt"]["success"] is False
    assert "checkpointer" in result["receipt"]["errors"][0]


@pytest.mark.parametrize(
    "inputs",
    [
        {"paths": ["digest/wiki/none.md"]},
        {"paths": ["../x"]},
        {"paths": ["daily/2026-01-02.md"]},
        {"max_splits": -1},
        {"paths": "x"},
    ],
)
def test_a_callers_mistake_ends_in_the_receipt(run: Run, put: Any, inputs: dict[str, Any]) -> None:
    put("daily/2026-01-02.md", "x\n")
    result = run(inputs=inputs)
    assert result["receipt"]["success"] is False
    assert result["receipt"]["errors"]
    assert (result["splits"], result["report"]) == ([], "")


def test_a_note_that_does_not_fit_the_prompt_is_divided_by_its_sections_and_that_is_said(run: Run, put: Any) -> None:
    put(PARENT, overloaded())
    result = run(plan_of(overloaded()), max_input_chars=20_000)
    assert "max_input_chars" in result["receipt"]["errors"][0]
    assert result["receipt"]["success"] is True
    assert [len(row["children"]) for row in result["splits"]] == [2]
    assert result["receipt"]["usage"]["model_calls"] == 0


def test_the_report_names_what_a_person_should_look_at(run: Run, put: Any, ws: Path) -> None:
    put("digest/wiki/a.md", "same text\n")
    put("digest/wiki/b.md", "same text\n")
    put("digest/wiki/c.md", "see [[digest/wiki/gone.md]] and [[digest/wiki/a.md]]\n")
    put("digest/wiki/d.md", "---\nname: [\n---\nbroken\n")
    put("digest/wiki/e.sync-conflict-20260102-101010-ABC.md", "copy\n")
    put("daily/2020-01-02/t/t.md", "---\ntitle: t\nstatus: active\nupdated: 2020-01-02\n---\n")
    before = user_files(ws)
    result = run()
    data = result["receipt"]["metadata"]
    assert data["duplicates"][0]["paths"] == ["digest/wiki/a.md", "digest/wiki/b.md"]
    assert data["broken_links"] == [{"path": "digest/wiki/c.md", "target": "digest/wiki/gone.md"}]
    assert data["stale_tasks"] == [{"path": "daily/2020-01-02/t/t.md", "updated": "2020-01-02"}]
    assert data["problems"][0]["path"] == "digest/wiki/d.md"
    assert data["conflict_copies"] == ["digest/wiki/e.sync-conflict-20260102-101010-ABC.md"]
    page = (ws / result["report"]).read_text()
    assert "## Broken links (1)\n\n- `digest/wiki/c.md` → `digest/wiki/gone.md`" in page
    assert "[[" not in page
    assert user_files(ws) == before


async def test_it_runs_in_an_event_loop(ws: Path, put: Any) -> None:
    put(PARENT, overloaded())
    result = await graph.ainvoke({}, context={"workspace": str(ws), "model": "offline"})
    assert len(result["splits"]) == 1
