"""How is a tool called by its name, with arguments that come from outside?

Here is what every door shares, without any framework: the functions behind the names, the check of arguments, the
artifact ``{"success", "answer", "metadata"}``, and the words for a caller's mistake. A bug propagates.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError

import reme_store
from reme_store import daily
from reme_store.errors import InvalidRequestError
from reme_store.models import Answer
from reme_store.tool_arguments import TOOLS, render_arguments, render_tool, tool_parameters

Artifact = dict[str, Any]


def call_tool(store: Any, name: str, arguments: Mapping[str, Any]) -> Artifact:
    """Call a tool and return its artifact, also for arguments that do not fit.

    Args:
        store: A ``FileStore``, or any object with the method of the tool.
        name: Which tool.
        arguments: Its arguments by name; null leaves an optional one out.

    Raises:
        InvalidRequestError: there is no tool of that name.
    """
    if name not in TOOLS:
        raise InvalidRequestError(f"there is no tool {name!r}; there are {', '.join(TOOLS)}")
    schema = TOOLS[name]
    try:
        checked = schema.model_validate(without_nulls(schema, arguments))
        return answer_tool(store, name, {field: getattr(checked, field) for field in schema.model_fields})
    except (InvalidRequestError, ValidationError) as error:
        return refusal(name, error)


def answer_tool(store: Any, name: str, arguments: Mapping[str, Any]) -> Artifact:
    """Do what a tool does with arguments that fit."""
    function = OWN_TOOLS.get(name)
    answer = function(store, **arguments) if function else getattr(store, name)(**arguments)
    if not isinstance(answer, Answer):
        raise TypeError(f"{name} answered {type(answer).__name__}, not an Answer")
    return {"success": True, "answer": answer.answer, "metadata": answer.metadata}


def without_nulls(schema: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without the nulls by which models leave out an optional one."""
    fields = schema.model_fields
    return {
        key: value
        for key, value in arguments.items()
        if value is not None or key not in fields or fields[key].is_required()
    }


def refusal(name: str, error: InvalidRequestError | ValidationError) -> Artifact:
    """Return the artifact of a caller's mistake.

    Raises:
        ValidationError: it is no fault of this tool's arguments, but a bug.
    """
    if isinstance(error, ValidationError) and error.title != TOOLS[name].__name__:
        raise error
    path = getattr(error, "path", "")
    return {"success": False, "answer": f"Error: {_told(name, error)}", "metadata": {"path": path} if path else {}}


def _told(name: str, error: InvalidRequestError | ValidationError) -> str:
    if isinstance(error, InvalidRequestError):
        return str(error)
    faults = [f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in error.errors()]
    takes = ", ".join(render_arguments(tool_parameters(name))) or "no arguments"
    return f"the arguments of {name} do not fit ({'; '.join(faults)}); it takes {takes}"


def _version(store: Any) -> Answer:  # noqa: ARG001  # every tool takes the store
    return Answer(f"✅ ReMe v{reme_store.__version__}", {"version": reme_store.__version__})


def _help(store: Any) -> Answer:  # noqa: ARG001  # every tool takes the store
    lines = [render_tool(name) for name in TOOLS if name != "help"]
    return Answer("\n".join(lines), {"job_count": len(lines)})


OWN_TOOLS: Final[Mapping[str, Callable[..., Answer]]] = {
    "daily_create": daily.daily_create,
    "daily_list": daily.daily_list,
    "daily_reindex": daily.daily_reindex,
    "proactive": daily.proactive,
    "version": _version,
    "help": _help,
}
"""Tools that are functions over a store; all others are its methods."""
