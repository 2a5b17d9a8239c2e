"""In which order does a dream go?"""

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from reme_graphs.auto_dream.nodes import commit, extract, finish, integrate, topics
from reme_graphs.auto_dream.state import DreamInput, DreamState, UnitTask
from reme_graphs.context import Context


def tasks(state: DreamState, unit_ids: list[str]) -> list[Send]:
    """Return one task a unit, in the order of the units."""
    wanted = set(unit_ids)
    return [
        Send(
            "integrate",
            UnitTask(
                unit=unit,
                run_id=state["run_id"],
                hint=state["request"]["hint"],
                attempt=state["outcomes"].get(unit["id"], {}).get("attempts", 0) + 1,
                total=len(state["units"]),
            ),
        )
        for unit in state["units"]
        if unit["id"] in wanted
    ]


def after_extract(state: DreamState) -> list[Send] | Literal["topics", "finish"]:
    """Integrate the units; without any, go on to the topics or to the end."""
    units = tasks(state, [unit["id"] for unit in state["units"]])
    return units or ("topics" if state["topics"] else "finish")


def after_commit(state: DreamState) -> list[Send] | Literal["topics"]:
    """Integrate again what could not land."""
    return tasks(state, state["again"]) or "topics"


SIDE_BY_SIDE = 20
"""Units at work at one time where the caller does not say; ``max_concurrency`` of the context bounds their calls."""

builder = StateGraph(DreamState, context_schema=Context, input_schema=DreamInput)
builder.add_node("extract", extract)
builder.add_node("integrate", integrate)
builder.add_node("commit", commit)
builder.add_node("topics", topics)
builder.add_node("finish", finish)
builder.add_edge(START, "extract")
builder.add_conditional_edges("extract", after_extract, ["integrate", "topics", "finish"])
builder.add_edge("integrate", "commit")
builder.add_conditional_edges("commit", after_commit, ["integrate", "topics"])
builder.add_edge("topics", "finish")
builder.add_edge("finish", END)
graph = builder.compile(name="auto_dream").with_config(max_concurrency=SIDE_BY_SIDE)
