"""How does a model work with tools until it has an answer?

    ┌─> model ──tool calls──> tools ─┐
    │     └──answer──> check ──faults┤
    └────────────────────────────────┘

A plain loop: its messages live for the time of one call and are never checkpointed; what lasts is what the tools
wrote. Faults go back to the same agent in the same conversation: one round for the shape of an answer, ``repairs``
rounds for faults that the check found. Calls are capped, so are repetitions of one call, and so is the time.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel, ValidationError

from reme_graphs import prompts
from reme_graphs.errors import ModelOutputError
from reme_graphs.model_calls import Limits, call_model
from reme_graphs.structured import fault_messages, parse_reply
from reme_graphs.text_tools import Tool, bind
from reme_graphs.usage import Usage, add_usage, no_usage

Value = TypeVar("Value")
Check = Callable[[Any], list[str]]

SAME_CALLS = 3
"""How often one call is carried out in a row; after that it is refused, twice, then the agent ends."""
SHAPE_REPAIRS = 1


@dataclass(frozen=True, slots=True)
class AgentResult(Generic[Value]):
    """What an agent ended with."""

    value: Value
    """The reply of the final tool, or the last message's text where there is none."""
    text: str
    usage: Usage


def run_agent(
    model: BaseChatModel,
    tools: Sequence[BaseTool],
    messages: Sequence[BaseMessage],
    *,
    limits: Limits,
    final: type[BaseModel] | None = None,
    check: Check | None = None,
    repairs: int = 2,
) -> AgentResult[Any]:
    """Let the model work with the tools until its answer stands.

    Args:
        messages: system and user messages to start from.
        final: the structured reply that ends the work, bound as one more tool; None = a plain message ends it.
        check: given the reply (or the text), returns its faults, empty when it stands.
        repairs: rounds in which such faults go back to the agent.

    Raises:
        ModelOutputError: no answer that stands within the calls and repairs; carries the usage.
        ModelCallError: the model did not answer; carries the usage of the calls before.
    """
    agent = _Agent(
        model=model, tools=tools, messages=messages, limits=limits, final=final, check=check, repairs=repairs
    )
    return agent.run()


class _Agent:
    def __init__(
        self,
        *,
        model: BaseChatModel,
        tools: Sequence[BaseTool],
        messages: Sequence[BaseMessage],
        limits: Limits,
        final: type[BaseModel] | None,
        check: Check | None,
        repairs: int,
    ) -> None:
        every: list[Tool] = [*tools, final] if final else [*tools]
        self.model = bind(model, every, tool_calling=limits.tool_calling)
        self.tools = {tool.name: tool for tool in tools}
        self.messages, self.limits, self.final, self.check = list(messages), limits, final, check
        self.repairs, self.shape_repairs = repairs, SHAPE_REPAIRS
        self.final_name = final.__name__ if final else None
        self.usage = no_usage()
        self.last_call, self.times = "", 0
        self.until = time.monotonic() + limits.max_seconds

    def run(self) -> AgentResult[Any]:
        for _ in range(self.limits.max_calls):
            answer = self._ask()
            self._use_tools(answer)
            if self._is_final(answer):
                value, stands = self._judge(answer)
                if stands:
                    return AgentResult(value, answer.text, self.usage)
        raise self._failed(f"no answer after {self.limits.max_calls} model calls")

    def _ask(self) -> AIMessage:
        left = self.until - time.monotonic()
        if left <= 0 and self.usage["model_calls"]:
            raise self._failed(f"no answer that stands within {self.limits.max_seconds:g} seconds")
        answer, cost = call_model(self.model, self.messages, self.limits, spent=self.usage, seconds=left)
        self.usage = add_usage(self.usage, cost)
        self.messages.append(answer)
        return answer

    def _is_final(self, answer: AIMessage) -> bool:
        names = _called(answer)
        return not names or self.final_name in names

    # ---- tools ----

    def _use_tools(self, answer: AIMessage) -> None:
        for call in answer.tool_calls:
            if call["name"] != self.final_name:
                self.messages.append(self._carried_out(call))
        for broken in answer.invalid_tool_calls:
            if broken["name"] != self.final_name and broken["id"]:
                text = f"Error: the arguments of {broken['name']} are not valid JSON; call it again with valid JSON."
                self.messages.append(ToolMessage(text, tool_call_id=broken["id"], name=broken["name"], status="error"))

    def _carried_out(self, call: ToolCall) -> ToolMessage:
        tool = self.tools.get(call["name"])
        if tool is None:
            known = ", ".join(sorted(self.tools))
            return _refusal(call, f"there is no tool {call['name']!r}; the tools are {known}")
        times = self._repetition(call)
        if times > SAME_CALLS + 2:
            raise self._failed(f"the model keeps calling {call['name']} with the same arguments")
        if times > SAME_CALLS:
            return _refusal(call, "you made this call before and nothing changed since; do something else or finish")
        return _invoked(tool, call)

    def _repetition(self, call: ToolCall) -> int:
        """Return how often this very call was made in a row."""
        key = json.dumps([call["name"], call["args"]], sort_keys=True, default=str)
        self.times = self.times + 1 if key == self.last_call else 1
        self.last_call = key
        return self.times

    # ---- answers ----

    def _judge(self, answer: AIMessage) -> tuple[Any, bool]:
        """Return the value and whether it stands; else the faults are on their way back to the agent."""
        if self.final is None:
            value: Any = answer.text
        else:
            try:
                value = parse_reply(answer, self.final)
            except ModelOutputError as fault:
                self.shape_repairs = self._spent(self.shape_repairs, str(fault))
                self.messages += self._sent_back(answer, str(fault))
                return None, False
        faults = self.check(value) if self.check else []
        if faults:
            listed = "\n".join(f"- {fault}" for fault in faults)
            self.repairs = self._spent(self.repairs, "; ".join(faults))
            self.messages += self._returned(
                answer, prompts.render("shared/repair_work.user", faults=prompts.escape(listed))
            )
        return value, not faults

    def _spent(self, left: int, fault: str) -> int:
        if left <= 0:
            raise self._failed(fault)
        return left - 1

    def _sent_back(self, answer: AIMessage, fault: str) -> list[BaseMessage]:
        assert self.final is not None  # noqa: S101 - only a structured reply has a shape
        open_calls = {call["id"] for call in answer.tool_calls if call["name"] == self.final_name}
        open_calls |= {call["id"] for call in answer.invalid_tool_calls if call["name"] == self.final_name}
        messages = fault_messages(answer, self.final, fault)
        return [m for m in messages if not isinstance(m, ToolMessage) or m.tool_call_id in open_calls]

    def _returned(self, answer: AIMessage, text: str) -> list[BaseMessage]:
        finals = [call for call in answer.tool_calls if call["name"] == self.final_name]
        return [_reply(call, text) for call in finals] or [HumanMessage(text)]

    def _failed(self, text: str) -> ModelOutputError:
        return ModelOutputError(text, usage=self.usage)


def _called(answer: AIMessage) -> set[str | None]:
    return {call["name"] for call in answer.tool_calls} | {call["name"] for call in answer.invalid_tool_calls}


def _invoked(tool: BaseTool, call: ToolCall) -> ToolMessage:
    try:
        result = tool.invoke({**call, "type": "tool_call"})
    except (ValidationError, ToolException) as error:
        return _refusal(call, str(error))
    return (
        result
        if isinstance(result, ToolMessage)
        else ToolMessage(str(result), tool_call_id=call["id"] or "", name=call["name"])
    )


def _refusal(call: ToolCall, text: str) -> ToolMessage:
    return _reply(call, f"Error: {text}")


def _reply(call: ToolCall, text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")
