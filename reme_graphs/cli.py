"""How does a person or a script call a tool or a graph from the shell?

``reme <tool or graph> key=value …`` opens the workspace itself. A value is read as JSON unless the argument is a text:
``limit=3 search_filter='{"path": "digest"}' query=why``. ``reme retry`` takes up what failed: conversations whose
messages wait for their note, and resources that no note reflects. Exit codes: 0 done, 1 refused or failed, 2 the
command line makes no sense.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from reme_graphs.embedding import ReMe, WorkspaceGraph, open_reme
from reme_graphs.receipts import add_usage, no_usage
from reme_store.errors import StoreError
from reme_store.tools import render_job, tool_parameters

DONE, FAILED, USAGE = 0, 1, 2
RETRY_HELP = "retry — take up what failed: conversations and resources that wait for their note"


class UsageError(Exception):
    """The command line makes no sense; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_intermixed_args(arguments)
    try:
        with open_reme(options.workspace, options.model) as reme:
            result = run(reme, options.name, options.values)
    except UsageError as error:
        print(f"reme: {error}", file=sys.stderr)
        return USAGE
    except StoreError as error:
        print(f"reme: {error}", file=sys.stderr)
        return FAILED
    print(json.dumps(result, ensure_ascii=False, indent=2) if options.json else result["answer"])
    if not options.json:
        for line in _untold(result):
            print(f"reme: {line}", file=sys.stderr)
    return DONE if result["success"] else FAILED


def run(reme: ReMe, name: str, values: Sequence[str]) -> dict[str, Any]:
    """Call one tool or graph.

    Returns:
        ``success``, ``answer`` and ``metadata``; of a graph its whole receipt, and its final state as ``state``.

    Raises:
        UsageError: nothing has that name, or a value is not ``key=value`` or not JSON.
    """
    tools = {tool.name: tool for tool in reme.tools}
    if name == "help":
        return describe(reme)
    if name == "retry":
        parse_values(values, {})
        return retry(reme)
    if name in tools:
        return reme.call(name, parse_values(values, tool_parameters(tools[name])))
    if name in reme.graphs:
        return _run_graph(reme.graphs[name], values)
    raise UsageError(f"nothing is called {name!r}; 'reme help' lists the tools and graphs")


def describe(reme: ReMe) -> dict[str, Any]:
    """Return the help of the tools, and one line a graph in the same form."""
    told = reme.call("help", {})
    names = {tool.name for tool in reme.tools}
    graphs = [
        render_job(graph.name, graph.description, graph.compiled.get_input_jsonschema())
        for graph in reme.graphs.values()
        if graph.name not in names
    ]
    count = told["metadata"]["job_count"] + len(graphs)
    answer = "\n".join([told["answer"], *graphs, RETRY_HELP])
    return {"success": True, "answer": answer, "metadata": {"job_count": count}}


def retry(reme: ReMe) -> dict[str, Any]:
    """Run what waits once more.

    Returns:
        ``success``, ``answer`` with a line a run, ``usage`` of all, and ``metadata`` with the receipts in ``runs``.
    """
    receipts = []
    for name, inputs in reme.waiting():
        about = inputs.get("session_id") or inputs.get("date") or "resource/"
        receipts.append({"graph": name, "about": about, **_finished(reme.graphs[name], inputs)["receipt"]})
    lines = [f"{each['graph']} {each['about']}: {_told(each)}" for each in receipts]
    return {
        "success": all(each["success"] for each in receipts),
        "answer": "\n".join(lines) or "Nothing waits.",
        "usage": add_usage(*(each["usage"] for each in receipts)) if receipts else no_usage(),
        "metadata": {"runs": receipts},
    }


def _told(receipt: Mapping[str, Any]) -> str:
    """Return the answer of a receipt with the errors it does not name."""
    answer = str(receipt["answer"])
    return "\n  ".join([answer, *(error for error in receipt["errors"] if error not in answer)])


def parse_values(values: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read ``key=value`` words by the JSON schema of what they are for."""
    properties = schema.get("properties", {})
    parsed = {}
    for word in values:
        key, separator, value = word.partition("=")
        if not separator:
            raise UsageError(f"{word!r} is not key=value")
        if key not in properties:
            raise UsageError(f"there is no argument {key!r}; there are: {', '.join(properties) or 'none'}")
        parsed[key] = _parse_value(key, value, properties[key])
    return parsed


def _parse_value(key: str, value: str, schema: Mapping[str, Any]) -> Any:
    types = {schema.get("type"), *(option.get("type") for option in schema.get("anyOf", ()))}
    if types == {"string"}:
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        if "string" in types:
            return value
        raise UsageError(f"{key}={value!r} is not JSON: {error}") from error


def _run_graph(graph: WorkspaceGraph, values: Sequence[str]) -> dict[str, Any]:
    state = _finished(graph, parse_values(values, graph.compiled.get_input_jsonschema()))
    return {**state["receipt"], "state": {key: value for key, value in state.items() if key != "receipt"}}


def _finished(graph: WorkspaceGraph, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Run a graph to its end, with its progress on a terminal, and return its final state."""
    state: dict[str, Any] = {}
    for mode, part in graph.stream(inputs, stream_mode=["custom", "values"]):
        if mode == "values":
            state = part
        elif sys.stderr.isatty():
            print(_progress(part), file=sys.stderr)
    return state


def _untold(result: Mapping[str, Any]) -> list[str]:
    """Return the errors of a receipt that its answer does not tell."""
    return [line for line in result.get("errors", ()) if line not in result["answer"]]


def _progress(event: Mapping[str, Any]) -> str:
    return f"{event.get('event', '')} {event.get('done', '')}/{event.get('total', '')}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reme", description=__doc__.splitlines()[0], epilog="reme help lists them.")
    parser.add_argument("name", help="a tool, a graph, retry, or help")
    parser.add_argument("values", nargs="*", metavar="key=value", help="arguments of the tool, inputs of the graph")
    parser.add_argument("--workspace", default="", help="folder of the memory; otherwise REME_WORKSPACE")
    parser.add_argument("--model", default=None, help="who thinks; otherwise REME_MODEL, else offline")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
