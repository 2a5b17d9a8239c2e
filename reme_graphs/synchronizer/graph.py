"""The synchronizer: judge → locate → merge → write → reload."""

from typing import Literal

from langgraph.graph import END, START, StateGraph

from reme_graphs.context import Context
from reme_graphs.synchronizer.nodes import judge, locate, merge, reload, write
from reme_graphs.synchronizer.state import SynchronizerInput, SynchronizerOutput, SynchronizerState


def after_judge(state: SynchronizerState) -> Literal["locate", "reload"]:
    """Go on where there is a task to keep."""
    return "locate" if state.get("update") else "reload"


def after_locate(state: SynchronizerState) -> Literal["merge", "reload"]:
    """Go on where there is a place for the task."""
    return "merge" if state.get("place") else "reload"


def after_merge(state: SynchronizerState) -> Literal["write", "reload"]:
    """Go on where the note could be merged."""
    return "write" if state.get("draft") else "reload"


builder = StateGraph(
    SynchronizerState, context_schema=Context, input_schema=SynchronizerInput, output_schema=SynchronizerOutput
)
builder.add_node("judge", judge)
builder.add_node("locate", locate)
builder.add_node("merge", merge)
builder.add_node("write", write)
builder.add_node("reload", reload)
builder.add_edge(START, "judge")
builder.add_conditional_edges("judge", after_judge)
builder.add_conditional_edges("locate", after_locate)
builder.add_conditional_edges("merge", after_merge)
builder.add_edge("write", "reload")
builder.add_edge("reload", END)

graph = builder.compile(name="synchronizer")
