"""How does an agent of LangChain remember by itself?

``MemoryMiddleware`` recalls before the agent's first call and hands the new messages to auto_memory after its last.
What was recalled is shown to the model in each call, framed as data before the latest question. It is never part of
the conversation, so it is not remembered again. Nothing that goes wrong in the memory breaks the agent: it is logged.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from reme_graphs import prompts
from reme_graphs.embedding import ReMe

logger = logging.getLogger(__name__)


class RememberingState(AgentState[Any]):
    """What the middleware keeps beside the agent's messages."""

    reme_recalled: NotRequired[Annotated[str, PrivateStateAttr]]
    """What search found for the latest question; empty: nothing."""
    reme_remembered: NotRequired[Annotated[int, PrivateStateAttr]]
    """How many messages of the conversation were handed to auto_memory."""


class MemoryMiddleware(AgentMiddleware[RememberingState, Any, Any]):
    """Recalls before the agent and remembers after it."""

    state_schema = RememberingState

    def __init__(self, reme: ReMe, *, session_id: str = "", limit: int = 5) -> None:
        """Bind the middleware to an open memory.

        Args:
            reme: the memory; whoever opened it closes it.
            session_id: name of the conversation in the memory; empty: the agent's thread.
            limit: most hits that are recalled.
        """
        super().__init__()
        self._reme = reme
        self._session_id = session_id
        self._limit = limit

    def before_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Search for the latest question."""
        return {"reme_recalled": self._recall(state["messages"])}

    async def abefore_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Do the same beside the event loop."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Show the model what was recalled, for this call only."""
        return handler(_with_memory(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Do the same on an event loop."""
        return await handler(_with_memory(request))

    def after_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Hand the messages since the last time to auto_memory."""
        with _unbroken("remember"):
            final = self._reme.auto_memory.invoke(self._inputs(state))
            return _cursor(state, final)
        return None

    async def aafter_agent(self, state: RememberingState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Do the same on an event loop."""
        with _unbroken("remember"):
            final = await self._reme.auto_memory.ainvoke(self._inputs(state))
            return _cursor(state, final)
        return None

    def _recall(self, messages: Sequence[AnyMessage]) -> str:
        """Return what search finds for the latest question; empty: nothing."""
        question = next((message.text for message in reversed(messages) if isinstance(message, HumanMessage)), "")
        with _unbroken("recall"):
            if question.strip():
                found = self._reme.store.search(question, limit=self._limit)
                return found.answer if found.metadata["results"] else ""
        return ""

    def _inputs(self, state: RememberingState) -> dict[str, Any]:
        messages = state["messages"]
        known = state.get("reme_remembered", 0)
        new = messages[known:] if known <= len(messages) else messages
        session = self._session_id or str(get_config().get("configurable", {}).get("thread_id", ""))
        return {"messages": [message.model_dump(mode="json") for message in new], "session_id": session}


def _with_memory(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Put what was recalled before the latest question."""
    recalled = request.state.get("reme_recalled", "")
    if not recalled:
        return request
    shown = HumanMessage(prompts.render("embedding/recall.user", memory=prompts.frame("recalled notes", str(recalled))))
    places = [place for place, message in enumerate(request.messages) if isinstance(message, HumanMessage)]
    place = places[-1] if places else 0
    return request.override(messages=[*request.messages[:place], shown, *request.messages[place:]])


def _cursor(state: RememberingState, final: dict[str, Any]) -> dict[str, Any] | None:
    """Go on behind these messages only if they are remembered; otherwise they are handed over again."""
    receipt = final["receipt"]
    if not receipt["success"]:
        logger.warning("the conversation is not remembered yet: %s", "; ".join(receipt["errors"]) or receipt["answer"])
        return None
    return {"reme_remembered": len(state["messages"])}


@contextmanager
def _unbroken(task: str) -> Iterator[None]:
    """Log what goes wrong in the memory: the agent of the host goes on without it."""
    try:
        yield
    except Exception:  # the one border where a fault of ours must not become the host's
        logger.exception("the memory could not %s", task)
