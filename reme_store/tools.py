"""How does a store answer as LangChain tools?

Every tool answers with content and artifact ``{"success", "answer", "metadata"}``. A caller's mistake comes back as
a message of status ``error`` that carries the artifact too, in any agent without configuration; a bug propagates.
What a model reads of the tools stands in :mod:`reme_store.tool_arguments`, what they do in
:mod:`reme_store.tool_calls`.
"""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ValidationError

from reme_store.errors import InvalidRequestError
from reme_store.tool_arguments import TOOLS, tool_description
from reme_store.tool_calls import Artifact, answer_tool, refusal, without_nulls


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
        schema = self._arguments()
        if isinstance(tool_input, str):
            return {next(iter(schema.model_fields)): tool_input} if schema.model_fields else {}
        return without_nulls(schema, tool_input) if isinstance(tool_input, dict) else tool_input

    def _arguments(self) -> type[BaseModel]:
        schema = self.args_schema
        if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
            raise TypeError(f"the schema of {self.name} is no model")
        return schema

    def _refusal(self, error: InvalidRequestError | ValidationError, tool_call_id: str | None) -> Any:
        artifact = refusal(self.name, error)
        answer = artifact["answer"]
        if tool_call_id is None:
            return answer
        return ToolMessage(answer, artifact=artifact, tool_call_id=tool_call_id, name=self.name, status="error")


def _create_tool(store: Any, name: str) -> BaseTool:
    return StoreTool(
        name=name,
        description=tool_description(name),
        args_schema=TOOLS[name],
        func=_call_of(store, name),
        response_format="content_and_artifact",
    )


def _call_of(store: Any, name: str) -> Callable[..., tuple[str, Artifact]]:
    def call(**arguments: Any) -> tuple[str, Artifact]:
        artifact = answer_tool(store, name, arguments)
        return artifact["answer"], artifact

    return call
