"""Which tools and graphs are there, and what does each take?"""

from collections.abc import Mapping
from typing import Any

from reme_graphs.cli.words import UsageError
from reme_graphs.descriptions import DESCRIPTIONS
from reme_store.tool_arguments import TOOLS, render_job, tool_description, tool_parameters, type_of

OWN = {
    "start": "run the server of a workspace",
    "find_reme": "say where a server answers",
    "status": "show workspace, server, size and what waits",
    "doctor": "check everything, and say what to do",
    "retry": "take up what failed: conversations and resources that wait for their note",
    "resume": "list unfinished runs, answer one that waits, or go on with one that was killed",
    "mcp": "serve the memory to an MCP client",
}


def explain_all() -> dict[str, Any]:
    """Return one line a tool and graph, and the commands that are neither."""
    jobs = [_job(name) for name in (*TOOLS, *(name for name in DESCRIPTIONS if name not in TOOLS)) if name != "help"]
    lines = [render_job(job["name"], job["description"], job["parameters"]) for job in jobs]
    own = [f"{name} — {about}" for name, about in OWN.items()]
    metadata = {"job_count": len(jobs), "jobs": jobs}
    return {"success": True, "answer": "\n".join([*lines, *own]), "metadata": metadata}


def explain(name: str) -> dict[str, Any]:
    """Return what one tool or graph does, and its arguments.

    Raises:
        UsageError: nothing has that name.
    """
    if name in OWN:
        return {"success": True, "answer": f"{name} — {OWN[name]}; reme {name} --help shows more", "metadata": {}}
    if name not in TOOLS and name not in DESCRIPTIONS:
        raise UsageError(f"nothing is called {name!r}; 'reme help' lists the tools and graphs")
    job = _job(name)
    parameters = job["parameters"]
    lines = [_argument(key, spec, key in parameters.get("required", ())) for key, spec in _properties(parameters)]
    answer = "\n".join([f"{name} — {job['description']}", *([""] if lines else []), *lines])
    return {"success": True, "answer": answer, "metadata": job}


def _job(name: str) -> dict[str, Any]:
    if name in TOOLS:
        return {"name": name, "description": tool_description(name), "parameters": tool_parameters(name)}
    from reme_graphs.embedding import BUILDERS  # noqa: PLC0415 - LangGraph takes a second to load

    schema = BUILDERS[name].compile().get_input_jsonschema()
    return {"name": name, "description": DESCRIPTIONS[name], "parameters": schema}


def _properties(parameters: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return list(parameters.get("properties", {}).items())


def _argument(key: str, spec: Mapping[str, Any], required: bool) -> str:
    told = "required" if required else f"default {spec['default']!r}" if spec.get("default") is not None else "optional"
    return f"  {key} ({type_of(spec)}, {told}): {spec.get('description', '')}"
