"""What is an MCP client offered, and how does it read an answer?

The tools of the store and the graphs, with the same JSON schemas and words as everywhere; what a tool does to the
memory is told by its annotations. Answers are text for a model and the artifact as structured content.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, Tool, ToolAnnotations

from reme_graphs.descriptions import DESCRIPTIONS
from reme_graphs.embedding import ReMe
from reme_store.errors import InvalidRequestError
from reme_store.tool_arguments import TOOLS, render_arguments, tool_description, tool_parameters

READING: Final = frozenset(
    (
        "search", "node_search", "traverse", "read", "read_image", "list", "stat", "frontmatter_read", "tags_list",
        "tags_stat", "daily_list", "proactive", "history", "diff", "health_check", "version", "help",
    )
)  # fmt: skip
"""Tools that change nothing."""

ADDING: Final = frozenset(("append", "prepend", "daily_create", "daily_reindex", "upload", "download", "reindex"))
"""Tools that change something, and never take away or replace what a person wrote."""

REPEATABLE: Final = frozenset(
    ("frontmatter_update", "frontmatter_delete", "daily_create", "daily_reindex", "reindex", "restore")
)
"""Changing tools that do nothing more when they are called again."""

ARTIFACT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "success": {"type": "boolean", "description": "False where the call was refused or something failed"},
        "answer": {"type": "string", "description": "What the call came to, in words"},
        "metadata": {"type": "object", "description": "The same for a program"},
    },
    "required": ["success", "answer"],
}
"""Schema of every answer."""


def graph_names() -> list[str]:
    """Return the graphs that are no tool as well."""
    return [name for name in DESCRIPTIONS if name not in TOOLS]


def choose(names: str) -> list[str]:
    """Return the offered names: all, or those of a list with commas.

    Raises:
        InvalidRequestError: one of them is neither tool nor graph.
    """
    known = [*TOOLS, *graph_names()]
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise InvalidRequestError(f"no tool or graph named {', '.join(unknown)}; there are {', '.join(known)}")
    return chosen or known


def offer(reme: ReMe, name: str) -> Tool:
    """Return how a tool or graph is described to a client."""
    if name in TOOLS:
        about, schema, annotations = tool_description(name), tool_parameters(name), _annotations(name)
    else:
        about, schema = DESCRIPTIONS[name], reme.graphs[name].compiled.get_input_jsonschema()
        annotations = _annotations_of_graph(reme)
    return Tool(name=name, description=about, input_schema=schema, output_schema=ARTIFACT, annotations=annotations)


def _annotations(name: str) -> ToolAnnotations:
    reads = name in READING
    return ToolAnnotations(
        title=name.replace("_", " "),
        read_only_hint=reads,
        destructive_hint=not reads and name not in ADDING,
        idempotent_hint=reads or name in REPEATABLE,
        open_world_hint=False,
    )


def _annotations_of_graph(reme: ReMe) -> ToolAnnotations:
    """A run with nothing new does nothing; a model may be asked, which is elsewhere."""
    return ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=reme.engine != "offline"
    )


def misfit(graph: Tool, inputs: Mapping[str, Any]) -> str:
    """Return what is wrong with the names of a graph's inputs; empty where nothing is."""
    known = graph.input_schema.get("properties", {})
    unknown = [f"{key} is none of its inputs" for key in inputs if key not in known]
    missing = [f"{key} is missing" for key in graph.input_schema.get("required", ()) if key not in inputs]
    faults = [*unknown, *missing]
    takes = ", ".join(render_arguments(graph.input_schema))
    return f"the inputs of {graph.name} do not fit ({'; '.join(faults)}); it takes {takes}" if faults else ""


def answer(artifact: Mapping[str, Any]) -> CallToolResult:
    """Return an artifact, or a receipt with its state, as a client reads it."""
    untold = [line for line in artifact.get("errors", ()) if line not in artifact["answer"]]
    content: list[ContentBlock] = [TextContent(text="\n".join([artifact["answer"], *untold]))]
    image = artifact.get("metadata", {}).get("base64")
    told = dict(artifact)
    if image:
        content.append(ImageContent(data=image, mime_type=artifact["metadata"]["mime"]))
        told["metadata"] = {key: value for key, value in artifact["metadata"].items() if key != "base64"}
    return CallToolResult(content=content, structured_content=told, is_error=not artifact["success"])


def fault(error: Exception) -> CallToolResult:
    """Return a fault that an operator must look at: the caller is told its words."""
    told = {"success": False, "answer": f"Error: {error}", "metadata": {}}
    return answer(told)
