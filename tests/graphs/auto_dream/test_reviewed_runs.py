"""A person between the drafts and the digest."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from reme_graphs.drafts import create_draft_tool
from reme_store.file_store import open_store
from tests.support.dreaming import Dreamer, Memory, compiled_with, create, derived, outcome, source, three, unit, update
from tests.support.scripted_model import calling

PUMP = "digest/wiki/heat-pump.md"
Rows = list[dict[str, Any]]


def review(memory: Memory, dreamer: Dreamer, *answers: Callable[[Rows], Any]) -> tuple[dict[str, Any], list[Rows]]:
    """Run with review; answer one interrupt after the other. Returns the state and what was asked."""
    compiled, asked = compiled_with(InMemorySaver()), []
    state = memory.dream(dreamer, compiled, review=True)
    for answer in answers:
        rows = state["__interrupt__"][0].value["units"]
        asked.append(rows)
        state = memory.dream(dreamer, compiled, Command(resume=answer(rows)), review=True)
    assert "__interrupt__" not in state, "somebody is still to be asked"
    return state, asked


def by_name(rows: Rows, name: str) -> str:
    return next(row["unit_id"] for row in rows if row["name"] == name)


def test_without_a_checkpointer_it_is_refused_at_the_start(memory: Memory) -> None:
    dreamer = three(memory)
    state = memory.dream(dreamer, review=True)
    assert state["receipt"]["success"] is False
    assert "checkpointer" in state["receipt"]["errors"][0]
    assert dreamer.asked == []


def test_accepted_lands_rejected_is_settled_unnamed_waits(memory: Memory) -> None:
    dreamer = three(memory)

    def answer(rows: Rows) -> Any:
        assert memory.digest() == {}
        assert all(f"+ESSENCE-{row['target_path'].rpartition('/')[2].split('-')[0]}" in row["diff"] for row in rows)
        chosen = {by_name(rows, "Theme PUMP"): "accept", by_name(rows, "Theme TEA"): "reject"}
        return {"decisions": {unit_id: {"decision": decision} for unit_id, decision in chosen.items()}}

    state, asked = review(memory, dreamer, answer)
    assert [len(rows) for rows in asked] == [3]
    assert list(memory.digest()) == ["digest/procedure/pump-lesson.md"]
    assert [row["action"] for row in state["integrate_results"]] == ["CREATE", "REJECTED"]
    assert state["receipt"]["success"], "waiting is no failure"
    assert "1 waiting" in state["summary"]
    assert source("tea") in state["checkpoint_paths"]
    assert source("solar") not in state["checkpoint_paths"]
    asked_before = len(dreamer.asked)
    again = memory.dream(dreamer)
    assert dreamer.calls()[asked_before:] == ["Theme SOLAR"]
    assert [row["target_path"] for row in again["integrate_results"]] == ["digest/wiki/solar-lesson.md"]


def test_an_edited_text_lands_after_the_checks(memory: Memory) -> None:
    dreamer = three(memory)
    mine = f"---\nname: tea-lesson\n---\nMINE.\n\n{derived(source('tea'))}"
    bad = "---\nname: solar-lesson\n---\nNo source.\n"

    def answer(rows: Rows) -> Any:
        decisions: dict[str, Any] = {row["unit_id"]: {"decision": "accept"} for row in rows}
        decisions[by_name(rows, "Theme TEA")] = {"decision": "edit", "text": mine}
        decisions[by_name(rows, "Theme SOLAR")] = {"decision": "edit", "text": bad}
        return {"decisions": decisions}

    state, _ = review(memory, dreamer, answer)
    assert memory.read("digest/personal/tea-lesson.md") == mine
    assert not (memory.root / "digest/wiki/solar-lesson.md").exists()
    assert [row["name"] for row in state["failed_units"]] == ["Theme SOLAR"]
    assert source("solar") in state["failed_units"][0]["error"]


def test_a_conflict_under_review_asks_once_more_about_the_changed_unit(memory: Memory) -> None:
    memory.put(PUMP, "---\nname: heat-pump\ndescription: heat pump\n---\n# Heat pump\n\n## Log\n")
    first, second, third = memory.note("defrost"), memory.note("noise"), memory.note("tulip")
    plans = {
        f"Pump {stem.upper()}": update("REFINE", PUMP, "## Log\n", f"## Log\n\nADDED-{stem}\n{derived(path)}")
        for stem, path in (("defrost", first), ("noise", second))
    }
    plans["Tulip"] = create("digest/wiki/tulip.md", "ESSENCE", third)
    units = [unit(name, path, summary=name) for name, path in zip(plans, (first, second, third), strict=True)]

    def once_more(rows: Rows) -> str:
        assert [row["name"] for row in rows] == ["Pump NOISE"]
        assert "ADDED-defrost" in memory.read(PUMP)
        assert "+ADDED-noise" in rows[0]["diff"]
        assert "-" not in [line[0] for line in rows[0]["diff"].split("\n")[2:]], "made from the note as it is now"
        return "accept"

    state, asked = review(memory, Dreamer(units, plans), lambda rows: "accept", once_more)
    assert len(asked) == 2
    text = memory.read(PUMP)
    assert (text.count("ADDED-defrost"), text.count("ADDED-noise")) == (1, 1)
    assert len(state["integrate_results"]) == 3


def test_a_note_edited_by_a_person_during_the_review_is_asked_about_again(memory: Memory) -> None:
    memory.put(PUMP, "---\nname: heat-pump\n---\n# Heat pump\n\n## Log\n")
    path = memory.note("defrost")
    plan = update("REFINE", PUMP, "## Log\n", f"## Log\n\nADDED\n{derived(path)}")

    def edits(rows: Rows) -> str:
        memory.put(PUMP, memory.read(PUMP) + "TYPED\n")
        return "accept"

    _, asked = review(memory, Dreamer([unit("Defrost", path)], {"Defrost": plan}), edits, lambda rows: "accept")
    assert "TYPED" in memory.read(PUMP)
    assert "ADDED" in memory.read(PUMP)
    assert len(asked) == 2


def test_an_answer_without_meaning_lets_all_wait_and_is_an_error(memory: Memory) -> None:
    state, _ = review(memory, three(memory), lambda rows: "whatever")
    assert memory.digest() == {}
    assert state["receipt"]["success"] is False
    assert "whatever" not in memory.files()
    assert "the answer of the review" in state["receipt"]["errors"][0]


def test_a_large_draft_is_read_through_the_draft_tool(memory: Memory) -> None:
    path, target = memory.note("long"), "digest/wiki/long.md"
    dreamer = Dreamer(
        [unit("Long", path)], {"Long": create(target, "a line of words\n\n" * 3_000 + "THE-END", path, description="d")}
    )

    def answer(rows: Rows) -> str:
        assert "THE-END" not in rows[0]["diff"]
        assert rows[0]["draft_id"] in rows[0]["diff"]
        with open_store(memory.root) as store:
            tool = create_draft_tool(store)
            whole = _called(tool, draft_id=rows[0]["draft_id"])
            assert whole.artifact["success"]
            assert "+THE-END" in whole.artifact["metadata"]["diff"]
            assert "+THE-END" in whole.content
            assert "THE-END" not in _called(tool, draft_id=rows[0]["draft_id"], start_line=1, end_line=9).content
            missing = _called(tool, draft_id="dream-none")
            assert (missing.status, missing.artifact["success"]) == ("error", False)
        return "accept"

    review(memory, dreamer, answer)
    assert "THE-END" in memory.read(target)


def _called(tool: Any, **args: Any) -> Any:
    return tool.invoke({"type": "tool_call", "id": "1", "name": "draft", "args": args})


@pytest.mark.parametrize("word", ["accept", "reject"])
def test_a_unit_that_changes_nothing_is_not_asked_about(memory: Memory, word: str) -> None:
    dreamer, path = three(memory), memory.note("same")
    memory.put("digest/wiki/same.md", f"---\nname: same\n---\nSame.\n\n{derived(path)}")
    dreamer.units.append(unit("Same", path))
    dreamer.plans["Same"] = lambda asked, turn: calling(outcome("CORROBORATE", "digest/wiki/same.md"))
    state, asked = review(memory, dreamer, lambda rows: word)
    assert len(asked[0]) == 3
    assert len(state["integrate_results"]) == 4
    assert len(memory.digest()) == (4 if word == "accept" else 1)
