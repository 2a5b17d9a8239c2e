"""How does a conversation become a note?"""

from typing import Literal

from langgraph.graph import END, START, StateGraph

from reme_graphs.auto_memory.nodes import link_source, normalize, open_note, refresh_day, save_dialog, write_note
from reme_graphs.auto_memory.state import Input, State
from reme_graphs.context import Context


def after_normalize(state: State) -> Literal["save_dialog", "__end__"]:
    """Go on unless the arguments were refused."""
    return "__end__" if state.get("receipt") else "save_dialog"


def after_save(state: State) -> Literal["open_note", "__end__"]:
    """Go on where messages wait for a note."""
    return "__end__" if state.get("receipt") else "open_note"


builder = StateGraph(State, input_schema=Input, context_schema=Context)
builder.add_node(normalize)
builder.add_node(save_dialog)
builder.add_node(open_note)
builder.add_node(write_note)
builder.add_node(link_source)
builder.add_node(refresh_day)
builder.add_edge(START, "normalize")
builder.add_conditional_edges("normalize", after_normalize)
builder.add_conditional_edges("save_dialog", after_save)
builder.add_edge("open_note", "write_note")
builder.add_edge("write_note", "link_source")
builder.add_edge("link_source", "refresh_day")
builder.add_edge("refresh_day", END)

graph = builder.compile(name="auto_memory")
