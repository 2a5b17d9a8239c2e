"""How does a store answer as LangChain tools?

Every tool answers with content and artifact ``{"success", "answer", "metadata"}``. A caller's mistake comes back as
a message of status ``error`` that carries the artifact too, in any agent without configuration; a bug propagates.
What a model reads of the tools stands in :mod:`reme_store.tool_arguments`.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ValidationError

import reme_store
from reme_store import daily
from reme_store.errors import InvalidRequestError
from reme_store.models import Answer
from reme_store.tool_arguments import TOOLS

Artifact = dict[str, Any]


def create_store_tools(store: Any, *names: str) -> list[BaseTool]:
    """Make LangChain tools over a store.

    Args:
        store: A ``FileStore``, or any object with the methods of the named tools.
        names: Which tools, in this order; none means all.

    Raises:
        InvalidRequestError: There is no tool of such a name.
    """
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        raise InvalidRequestError(f"no tool named {', '.join(unknown)}; there are {', '.join(TOOLS)}")
    return [_create_tool(store, name) for name in names or TOOLS]


class StoreTool(StructuredTool):
    """A tool whose caller's mistakes come back as an error message with the artifact.

    It has a plain function only; LangChain runs it in a worker thread for async callers.
    """

    @property
    def tool_call_schema(self) -> type[BaseModel]:
        """The arguments as a model gets them: all of them, so there is no second class to make for every binding."""
        return self._arguments()

    def run(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        """Run the tool once; see ``BaseTool.run``."""
        try:
            return super().run(self._by_name(tool_input), *args, **kwargs)
        except (InvalidRequestError, ValidationError) as error:
            return self._refusal(error, kwargs.get("tool_call_id"))

    async def arun(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        """Run the tool once in a worker thread; see ``BaseTool.arun``."""
        try:
            return await super().arun(self._by_name(tool_input), *args, **kwargs)
        except (InvalidRequestError, ValidationError) as error:
            return self._refusal(error, kwargs.get("tool_call_id"))

    def _by_name(self, tool_input: Any) -> Any:
        """Return the arguments by name: a text alone is the first one; null, which models send, leaves one out."""
        fields = self._arguments().model_fields
        if isinstance(tool_input, str):
            return {next(iter(fields)): tool_input} if fields else {}
        if not isinstance(tool_input, dict):
            return tool_input
        return {
            key: value
            for key, value in tool_input.items()
            if value is not None or key not in fields or fields[key].is_required()
        }

    def _arguments(self) -> type[BaseModel]:
        schema = self.args_schema
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            raise TypeError(f"the schema of {self.name} is no model")
        return schema

    def _refusal(self, error: InvalidRequestError | ValidationError, tool_call_id: str | None) -> Any:
        if isinstance(error, ValidationError) and error.title != self._arguments().__name__:
            raise error
        answer = f"Error: {self._told(error)}"
        if tool_call_id is None:
            return answer
        path = getattr(error, "path", "")
        artifact = {"success": False, "answer": answer, "metadata": {"path": path} if path else {}}
        return ToolMessage(answer, artifact=artifact, tool_call_id=tool_call_id, name=self.name, status="error")

    def _told(self, error: InvalidRequestError | ValidationError) -> str:
        if isinstance(error, InvalidRequestError):
            return str(error)
        faults = [f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in error.errors()]
        takes = ", ".join(_arguments_of(tool_parameters(self))) or "no arguments"
        return f"the arguments of {self.name} do not fit ({'; '.join(faults)}); it takes {takes}"


def _create_tool(store: Any, name: str) -> BaseTool:
    return StoreTool(
        name=name,
        description=inspect.getdoc(TOOLS[name]) or name,
        args_schema=TOOLS[name],
        func=_call_of(store, name),
        response_format="content_and_artifact",
    )


def _call_of(store: Any, name: str) -> Callable[..., tuple[str, Artifact]]:
    function = OWN_TOOLS.get(name)

    def call(**arguments: Any) -> tuple[str, Artifact]:
        answer = function(store, **arguments) if function else getattr(store, name)(**arguments)
        if not isinstance(answer, Answer):
            raise TypeError(f"{name} answered {type(answer).__name__}, not an Answer")
        return answer.answer, {"success": True, "answer": answer.answer, "metadata": answer.metadata}

    return call


def _version(store: Any) -> Answer:  # noqa: ARG001  # every tool takes the store
    return Answer(f"✅ ReMe v{reme_store.__version__}", {"version": reme_store.__version__})


def _help(store: Any) -> Answer:
    tools = [tool for tool in create_store_tools(store) if tool.name != "help"]
    lines = [render_job(tool.name, tool.description, tool_parameters(tool)) for tool in tools]
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


def tool_parameters(tool: BaseTool) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, as a model gets it."""
    parameters: dict[str, Any] = convert_to_openai_tool(tool)["function"]["parameters"]
    return parameters


def render_job(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """Render one line of help: ``name — description (arg:type* | arg:type=default)``."""
    return f"{name} — {description.split(chr(10), 1)[0]} ({' | '.join(_arguments_of(parameters))})"


def _arguments_of(parameters: Mapping[str, Any]) -> list[str]:
    required = set(parameters.get("required", []))
    return [
        f"{name}:{_type_of(spec)}" + ("*" if name in required else f"={spec.get('default')!r}")
        for name, spec in parameters.get("properties", {}).items()
    ]


def _type_of(spec: Mapping[str, Any]) -> str:
    kinds = [spec.get("type"), *(option.get("type") for option in spec.get("anyOf", []))]
    return "/".join(str(kind) for kind in kinds if kind and kind != "null") or "any"
