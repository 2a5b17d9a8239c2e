"""A chat model that answers from a list, or from a function of what it was asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field, PrivateAttr


@dataclass
class Asked:
    """One call as the model saw it."""

    messages: list[BaseMessage]
    tools: list[str] = field(default_factory=list)

    @property
    def prompt(self) -> str:
        return "\n".join(message.text for message in self.messages if message.type in ("system", "human"))

    @property
    def system(self) -> str:
        return "\n".join(message.text for message in self.messages if message.type == "system")

    @property
    def results(self) -> list[BaseMessage]:
        return [message for message in self.messages if message.type == "tool"]


Answer = AIMessage | Exception | str
Answering = Callable[[Asked], Answer]


def calling(*calls: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """An answer that calls tools: pairs of name and arguments."""
    listed = [
        {"name": name, "args": args, "id": f"call-{n}", "type": "tool_call"} for n, (name, args) in enumerate(calls)
    ]
    return AIMessage(content=text, tool_calls=listed)


class ScriptedModel(BaseChatModel):
    """Give the answers in turn; an exception among them is raised. A function decides for itself."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    answers: Any
    """A list of answers, or a function from ``Asked`` to an answer."""
    asked: list[Any] = Field(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=Lock)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = Asked(list(messages), [tool["function"]["name"] for tool in kwargs.get("tools", [])])
        with self._lock:
            self.asked.append(asked)
            answer = self.answers(asked) if callable(self.answers) else self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        message = AIMessage(answer) if isinstance(answer, str) else answer.model_copy()
        message.usage_metadata = {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}
        return ChatResult(generations=[ChatGeneration(message=message)])
