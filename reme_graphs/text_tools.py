"""How do tools reach a model, also one that cannot call tools?

``bind`` gives the model its tools. With ``tool_calling`` off, the declared mode for small models, the tools are
described in the prompt, a call is one JSON object in the answer's text, and results come back as user messages;
the rest of the program sees tool calls either way.
"""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from reme_graphs import prompts
from reme_graphs.errors import ModelDeniedError
from reme_graphs.json_text import json_objects
from reme_graphs.model_calls import CallableModel

Tool = BaseTool | type[BaseModel]

_schemas: dict[tuple[Any, ...], str] = {}
"""Rendered tools: thousands of agents bind the same few, and rendering one costs milliseconds."""


def bind(model: BaseChatModel, tools: Sequence[Tool], *, tool_calling: bool) -> CallableModel:
    """Return the model with its tools.

    Raises:
        ModelDeniedError: the model has no way to bind tools and the text mode was not declared.
    """
    if tool_calling:
        try:
            return model.bind_tools([schema_of(tool) for tool in tools])
        except NotImplementedError as error:
            raise ModelDeniedError(
                "this model cannot call tools; set tool_calling=False to let it answer in JSON"
            ) from error
    description = describe(tools)
    names = frozenset(_name(tool) for tool in tools)
    asking: RunnableLambda[Any, list[BaseMessage]] = RunnableLambda(lambda messages: as_text(messages, description))
    reading: RunnableLambda[AIMessage, AIMessage] = RunnableLambda(lambda answer: as_calls(answer, names))
    return asking | model | reading


def schema_of(tool: Tool) -> dict[str, Any]:
    """Return a tool as models are told of it."""
    key = (tool.name, tool.description, tool.args_schema) if isinstance(tool, BaseTool) else (tool,)
    if not isinstance(key[-1], type):
        return convert_to_openai_tool(tool)
    if key not in _schemas:
        _schemas[key] = json.dumps(convert_to_openai_tool(tool))
    schema: dict[str, Any] = json.loads(_schemas[key])
    return schema


def describe(tools: Sequence[Tool]) -> str:
    """Return the part of a prompt that says which tools there are and how to call one in text."""
    rows = [json.dumps(schema_of(tool)["function"], ensure_ascii=False) for tool in tools]
    return prompts.render("shared/text_tools.user", tools="\n".join(rows))


def as_text(messages: Sequence[BaseMessage], description: str) -> list[BaseMessage]:
    """Return the conversation without tool calls and results; the description closes its first user message."""
    turned = [_turned(message) for message in messages]
    first = next((n for n, message in enumerate(turned) if isinstance(message, HumanMessage)), None)
    if first is None:
        return [*turned, HumanMessage(description)]
    turned[first] = HumanMessage(f"{turned[first].text}\n\n{description}")
    return turned


def _turned(message: BaseMessage) -> BaseMessage:
    if isinstance(message, ToolMessage):
        return HumanMessage(f"Result of {message.name or 'the tool'}:\n{message.text}")
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [{"tool": call["name"], "args": call["args"]} for call in message.tool_calls]
        return AIMessage("\n".join(json.dumps(call, ensure_ascii=False) for call in calls))
    return message


def as_calls(answer: AIMessage, names: frozenset[str]) -> AIMessage:
    """Return the answer with the JSON calls in its text as tool calls; without any it stays as it is."""
    found = [value for value in json_objects(answer.text) if value.get("tool") in names]
    if answer.tool_calls or not found:
        return answer
    calls = [
        {"name": value["tool"], "args": _args(value), "id": f"{answer.id or 'text'}-{number}", "type": "tool_call"}
        for number, value in enumerate(found)
    ]
    return AIMessage(content="", tool_calls=calls, usage_metadata=answer.usage_metadata, id=answer.id)


def _args(value: dict[str, Any]) -> dict[str, Any]:
    args = value.get("args", {})
    return args if isinstance(args, dict) else {}


def _name(tool: Tool) -> str:
    return tool.name if isinstance(tool, BaseTool) else tool.__name__
