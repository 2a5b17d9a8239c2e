"""consolidate: survey → split → land → report."""

from typing import Literal

from langgraph.graph import END, START, StateGraph

from reme_graphs.consolidate.nodes import land, report, split, survey
from reme_graphs.consolidate.state import ConsolidateInput, ConsolidateOutput, ConsolidateState
from reme_graphs.context import Context


def after_survey(state: ConsolidateState) -> Literal["split", "report"]:
    """Take something apart only where something is overloaded."""
    return "split" if state["candidates"] else "report"


builder = StateGraph(
    ConsolidateState, context_schema=Context, input_schema=ConsolidateInput, output_schema=ConsolidateOutput
)
builder.add_node("survey", survey)
builder.add_node("split", split)
builder.add_node("land", land)
builder.add_node("report", report)
builder.add_edge(START, "survey")
builder.add_conditional_edges("survey", after_survey)
builder.add_edge("split", "land")
builder.add_edge("land", "report")
builder.add_edge("report", END)

graph = builder.compile(name="consolidate")
