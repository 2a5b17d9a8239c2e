"""In which order are topics read?"""

from langgraph.graph import END, START, StateGraph

from reme_graphs.context import Context
from reme_graphs.proactive.nodes import read_topics
from reme_graphs.proactive.state import ProactiveInput, ProactiveState

builder = StateGraph(ProactiveState, context_schema=Context, input_schema=ProactiveInput)
builder.add_node("read_topics", read_topics)
builder.add_edge(START, "read_topics")
builder.add_edge("read_topics", END)
graph = builder.compile(name="proactive")
