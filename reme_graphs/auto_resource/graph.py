"""How do resources become notes?"""

from collections.abc import Sequence

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from reme_graphs.auto_resource.nodes import finish, interpret, plan, refresh_days, remove
from reme_graphs.auto_resource.state import Input, State
from reme_graphs.context import Context


def after_plan(state: State) -> Sequence[Send] | str:
    """One task a resource; straight on where there is none; end where the arguments were refused."""
    if state.get("receipt"):
        return END
    tasks = [Send("interpret", job) for job in state["jobs"]]
    tasks += [Send("remove", removal) for removal in state["removals"]]
    return tasks or "refresh_days"


builder = StateGraph(State, input_schema=Input, context_schema=Context)
builder.add_node(plan)
builder.add_node(interpret)
builder.add_node(remove)
builder.add_node(refresh_days)
builder.add_node(finish)
builder.add_edge(START, "plan")
builder.add_conditional_edges("plan", after_plan, ["interpret", "remove", "refresh_days", END])
builder.add_edge("interpret", "refresh_days")
builder.add_edge("remove", "refresh_days")
builder.add_edge("refresh_days", "finish")
builder.add_edge("finish", END)

graph = builder.compile(name="auto_resource")
