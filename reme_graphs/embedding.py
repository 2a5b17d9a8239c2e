"""How does another program get a memory in a few lines?

``open_reme(workspace)`` opens a workspace, compiles the graphs with its checkpoint file and hands out the store, the
tools and the graphs. A run without a thread gets one of its own, which is dropped when the run is finished and kept
when it was killed or waits for an answer.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from contextvars import Context, copy_context
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Interrupt

from reme_graphs import checkpoints
from reme_graphs.auto_dream.graph import SIDE_BY_SIDE
from reme_graphs.auto_dream.graph import builder as auto_dream
from reme_graphs.auto_memory.graph import builder as auto_memory
from reme_graphs.auto_memory.ledger import waiting_sessions
from reme_graphs.auto_resource.graph import builder as auto_resource
from reme_graphs.auto_resource.planning import waiting_resources
from reme_graphs.checkpoints import Builder, thread_config
from reme_graphs.consolidate.graph import builder as consolidate
from reme_graphs.context import read_context
from reme_graphs.descriptions import DESCRIPTIONS
from reme_graphs.proactive.graph import builder as proactive
from reme_graphs.resources import engine_name, open_workspace
from reme_graphs.synchronizer.graph import builder as synchronizer
from reme_store.errors import InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.tool_calls import call_tool
from reme_store.tools import create_store_tools

BUILDERS: Mapping[str, Builder] = {
    "auto_memory": auto_memory,
    "auto_resource": auto_resource,
    "auto_dream": auto_dream,
    "consolidate": consolidate,
    "synchronizer": synchronizer,
    "proactive": proactive,
}
"""Every graph of this package by its name."""

Inputs = Mapping[str, Any] | Command[Any] | None
Graph = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """A run of an own thread that was killed or waits for an answer."""

    thread: str
    """Pass it to `ReMe.resume`."""
    graph: str
    next: tuple[str, ...]
    """The nodes that run next, or whose end is not yet in a checkpoint."""
    interrupts: tuple[Interrupt, ...]
    """What the run asks; empty where it was killed."""


class WorkspaceGraph:
    """A graph of one workspace: the context is filled in, and each run without a thread gets its own."""

    def __init__(self, name: str, saver: BaseCheckpointSaver[Any], context: Mapping[str, Any]) -> None:
        self.name = name
        self.description = DESCRIPTIONS[name]
        self.compiled: Graph = (
            BUILDERS[name].compile(checkpointer=saver, name=name).with_config(max_concurrency=SIDE_BY_SIDE)
        )
        """The graph itself, for `get_state` and drawing."""
        self._saver = saver
        self._context = dict(context)

    def invoke(
        self, inputs: Inputs = None, config: RunnableConfig | None = None, *, context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Run to the end and return the final state; ``context`` goes before what `open_reme` was given."""
        placed, thread = self._place(config)
        result: dict[str, Any] = _apart().run(
            lambda: self.compiled.invoke(_given(inputs), placed, context=self._merged(context))
        )
        self._drop(placed, thread)
        return result

    async def ainvoke(
        self, inputs: Inputs = None, config: RunnableConfig | None = None, *, context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Do the same on an event loop."""
        if not isinstance(self._saver, AsyncSqliteSaver):
            return await asyncio.to_thread(self.invoke, inputs, config, context=context)
        placed, thread = self._place(config)
        run = self.compiled.ainvoke(_given(inputs), placed, context=self._merged(context))
        result: dict[str, Any] = await asyncio.create_task(run, context=_apart())
        await self._adrop(placed, thread)
        return result

    def stream(
        self,
        inputs: Inputs = None,
        config: RunnableConfig | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        stream_mode: Any = "custom",
    ) -> Iterator[Any]:
        """Run and yield what happens: progress by default, see LangGraph's stream modes for others."""
        placed, thread = self._place(config)
        yield from self.compiled.stream(_given(inputs), placed, context=self._merged(context), stream_mode=stream_mode)
        self._drop(placed, thread)

    async def astream(
        self,
        inputs: Inputs = None,
        config: RunnableConfig | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        stream_mode: Any = "custom",
    ) -> AsyncIterator[Any]:
        """Do the same on an event loop; needs ``async with open_reme(...)``."""
        placed, thread = self._place(config)
        async for part in self.compiled.astream(
            _given(inputs), placed, context=self._merged(context), stream_mode=stream_mode
        ):
            yield part
        await self._adrop(placed, thread)

    def _place(self, config: RunnableConfig | None) -> tuple[RunnableConfig, str]:
        """Return the configuration with a thread in it, and the thread."""
        placed: RunnableConfig = {**(config or {})}
        configurable = dict(placed.get("configurable", {}))
        thread = str(configurable.setdefault("thread_id", checkpoints.new_thread(self.name)))
        placed["configurable"] = configurable
        return placed, thread

    def _merged(self, context: Mapping[str, Any] | None) -> dict[str, Any]:
        return {**self._context, **(context or {})}

    def _drop(self, placed: RunnableConfig, thread: str) -> None:
        if checkpoints.is_own(thread) and checkpoints.is_finished(self.compiled.get_state(placed)):
            self._saver.delete_thread(thread)

    async def _adrop(self, placed: RunnableConfig, thread: str) -> None:
        if checkpoints.is_own(thread) and checkpoints.is_finished(await self.compiled.aget_state(placed)):
            await self._saver.adelete_thread(thread)


class ReMe:
    """An open workspace: ``store``, ``tools`` and one attribute a graph."""

    def __init__(
        self, store: FileStore, saver: BaseCheckpointSaver[Any], context: Mapping[str, Any], engine: str
    ) -> None:
        self.store = store
        self.engine = engine
        """Who thinks: ``offline``, or the model's name."""
        self.tools: list[BaseTool] = create_store_tools(store)
        self.graphs = {name: WorkspaceGraph(name, saver, context) for name in BUILDERS}
        """Every graph by its name."""
        self.auto_memory = self.graphs["auto_memory"]
        self.auto_resource = self.graphs["auto_resource"]
        self.auto_dream = self.graphs["auto_dream"]
        self.consolidate = self.graphs["consolidate"]
        self.synchronizer = self.graphs["synchronizer"]
        self.proactive = self.graphs["proactive"]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool by its name and return its artifact {success, answer, metadata}.

        Raises:
            InvalidRequestError: there is no such tool. Faulty arguments are an artifact without success.
        """
        return call_tool(self.store, tool, arguments)

    def waiting(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the graph and the inputs of each run that takes up what failed: conversations, then resources."""
        sessions = [("auto_memory", {"messages": [], **inputs}) for inputs in waiting_sessions(self.store)]
        changes = waiting_resources(self.store)
        return [*sessions, *([("auto_resource", {"changes": changes})] if changes else [])]

    def unfinished(self) -> list[UnfinishedRun]:
        """Return the runs on own threads that were killed or wait for an answer, oldest first."""
        found = checkpoints.unfinished(checkpoints.checkpoint_path(self.store.root), BUILDERS)
        return [
            UnfinishedRun(thread, checkpoints.graph_of(thread), checkpoints.open_nodes(state), state.interrupts)
            for thread, state in found.items()
        ]

    async def aunfinished(self) -> list[UnfinishedRun]:
        """Do the same beside the event loop."""
        return await asyncio.to_thread(self.unfinished)

    def resume(self, thread: str, answer: Any = None) -> dict[str, Any]:
        """Go on with an unfinished run; ``answer`` is what it asked for, None where it was killed."""
        return self._graph_of(thread).invoke(_resumption(answer), thread_config(thread))

    async def aresume(self, thread: str, answer: Any = None) -> dict[str, Any]:
        """Do the same on an event loop."""
        return await self._graph_of(thread).ainvoke(_resumption(answer), thread_config(thread))

    def _graph_of(self, thread: str) -> WorkspaceGraph:
        if not checkpoints.is_own(thread):
            raise InvalidRequestError(
                f"{thread!r} is a thread of yours: resume it with the graph's invoke(None, config), "
                "or invoke(Command(resume=...), config)"
            )
        return self.graphs[checkpoints.graph_of(thread)]


class Opening:
    """A workspace about to be opened: the block of a ``with`` or an ``async with``."""

    def __init__(self, context: Mapping[str, Any]) -> None:
        self._context = dict(context)
        self._stack = ExitStack()
        self._astack = AsyncExitStack()

    def __enter__(self) -> ReMe:
        with ExitStack() as stack:
            store, engine = self._open_store(stack)
            saver = stack.enter_context(checkpoints.open_checkpoints(checkpoints.checkpoint_path(store.root)))
            self._stack = stack.pop_all()
        return ReMe(store, saver, self._context, engine)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    async def __aenter__(self) -> ReMe:
        async with AsyncExitStack() as stack:
            inner = ExitStack()
            stack.push_async_callback(asyncio.to_thread, inner.close)
            store, engine = await asyncio.to_thread(self._open_store, inner)
            path = checkpoints.checkpoint_path(store.root)
            saver = await stack.enter_async_context(checkpoints.aopen_checkpoints(path))
            self._astack = stack.pop_all()
        return ReMe(store, saver, self._context, engine)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._astack.aclose()

    def _open_store(self, stack: ExitStack) -> tuple[FileStore, str]:
        context = read_context(self._context)
        store = stack.enter_context(open_workspace(context))
        checkpoints.prune(checkpoints.checkpoint_path(store.root), BUILDERS)
        return store, engine_name(context)


def open_reme(workspace: str | Path = "", model: str | BaseChatModel | None = None, **settings: Any) -> Opening:
    """Open a workspace as a memory: ``with open_reme(folder) as reme:``, or ``async with``.

    Args:
        workspace: folder of the workspace; made where it is missing. Empty leaves it to ``REME_WORKSPACE``.
        model: ``"offline"``, ``"provider:name"``, a name for an OpenAI-compatible endpoint, or a chat model. None
            leaves the choice to the environment, and without one there the memory works offline.
        settings: any other field of `reme_graphs.context.Context`, such as ``timezone`` or ``base_url``.
    """
    named = {} if model is None else {"model": model}
    return Opening({"workspace": str(workspace), **named, **settings})


def _apart() -> Context:
    """Return a context in which a run is no part of the LangGraph run that may be going on around it.

    Otherwise a call from a node of the host would take over the host's thread and checkpointer.
    """
    apart = copy_context()
    apart.run(var_child_runnable_config.set, None)
    return apart


def _given(inputs: Inputs) -> Any:
    return dict(inputs) if isinstance(inputs, Mapping) else inputs


def _resumption(answer: Any) -> Command[Any] | None:
    return None if answer is None else Command(resume=answer)
