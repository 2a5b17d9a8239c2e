"""How does an MCP client use the memory: Claude Code, Codex, Cursor or any other?

One server over an open workspace, by standard input and output or by streamable HTTP. Tools run in worker threads,
graphs tell their progress, notes are resources ``reme://<path>``. Standard output belongs to the protocol.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from reme_graphs import mcp_offers
from reme_graphs.bearer import Bearer
from reme_graphs.embedding import Opening, ReMe
from reme_graphs.errors import GraphError
from reme_graphs.prompts import render
from reme_store.errors import StoreError
from reme_store.paths import is_note
from reme_store.release import VERSION
from reme_store.tool_arguments import TOOLS

SCHEME = "reme://"
PAGE = 200
LEAVE_SECONDS = 2

Call = ServerRequestContext[Any, Any]


async def serve_stdio(opening: Opening, names: str = "") -> None:
    """Serve one client by standard input and output until it closes them."""
    async with opening as reme:
        server = await asyncio.to_thread(make_server, reme, names)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


async def serve_http(opening: Opening, host: str, port: int, token: str = "", names: str = "") -> None:
    """Serve any number of clients at ``http://<host>:<port>/mcp`` until the process is told to stop."""
    async with opening as reme:
        server = await asyncio.to_thread(make_server, reme, names)
        app = server.streamable_http_app(host=host)
        guarded = Bearer(app, token) if token else app
        config = uvicorn.Config(
            guarded, host=host, port=port, log_level="warning", timeout_graceful_shutdown=LEAVE_SECONDS
        )
        await uvicorn.Server(config).serve()


def make_server(reme: ReMe, names: str = "") -> Server[Any]:
    """Return a server of the memory; it reads files, so an event loop calls it in a thread.

    Args:
        reme: The open workspace, opened with ``async with``.
        names: Tools and graphs to offer, with commas between them; empty means all.

    Raises:
        InvalidRequestError: one of the names is neither tool nor graph.
    """
    memory = Memory(reme, names)
    return Server(
        "reme",
        version=VERSION,
        title="ReMe memory",
        instructions=render("mcp/instructions.system"),
        on_list_tools=memory.list_tools,
        on_call_tool=memory.call_tool,
        on_list_resources=memory.list_resources,
        on_list_resource_templates=memory.list_templates,
        on_read_resource=memory.read_resource,
    )


class Memory:
    """What the server answers to each request."""

    def __init__(self, reme: ReMe, names: str) -> None:
        self._reme = reme
        self._offered = {name: mcp_offers.offer(reme, name) for name in mcp_offers.choose(names)}

    async def list_tools(self, call: Call, asked: PaginatedRequestParams | None) -> ListToolsResult:
        """Answer the tools and graphs."""
        del call, asked
        return ListToolsResult(tools=list(self._offered.values()))

    async def call_tool(self, call: Call, asked: CallToolRequestParams) -> CallToolResult:
        """Call a tool, or run a graph."""
        if asked.name not in self._offered:
            raise MCPError(INVALID_PARAMS, f"there is no tool {asked.name!r}; there are {', '.join(self._offered)}")
        arguments = asked.arguments or {}
        try:
            if asked.name in TOOLS:
                return mcp_offers.answer(await asyncio.to_thread(self._reme.call, asked.name, arguments))
            return mcp_offers.answer(await self._run(call, asked.name, arguments))
        except (StoreError, GraphError) as error:
            return mcp_offers.fault(error)

    async def _run(self, call: Call, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        graph = self._reme.graphs[name]
        refused = mcp_offers.misfit(self._offered[name], inputs)
        if refused:
            return {"success": False, "answer": f"Error: {refused}", "metadata": {}}
        state: Mapping[str, Any] = {}
        steps = 0
        async for mode, part in graph.astream(inputs, stream_mode=["custom", "values"]):
            if mode == "values":
                state = part
            else:
                steps += 1
                await call.session.report_progress(steps, None, _progress(part))
        kept = {key: value for key, value in state.items() if key != "receipt"}
        return json.loads(json.dumps({**state["receipt"], "state": kept}, default=str))  # type: ignore[no-any-return]

    async def list_resources(self, call: Call, asked: PaginatedRequestParams | None) -> ListResourcesResult:
        """Answer a page of the notes."""
        del call
        begin = asked.cursor if asked and asked.cursor else ""
        return await asyncio.to_thread(self._page, begin)

    def _page(self, begin: str) -> ListResourcesResult:
        """Return the notes after a path, which is the cursor."""
        index = self._reme.store.index
        paths = sorted(path for path in index.known() if is_note(path) and path > begin)
        nodes = [node for path in paths[:PAGE] if (node := index.node(path))]
        return ListResourcesResult(
            resources=[_resource(node.path, node.front_matter) for node in nodes],
            next_cursor=paths[PAGE - 1] if len(paths) > PAGE else None,
        )

    async def list_templates(self, call: Call, asked: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        """Answer how any file of text is named."""
        del call, asked
        template = ResourceTemplate(
            name="note", uri_template=f"{SCHEME}{{+path}}", description="A note by its path", mime_type="text/markdown"
        )
        return ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(self, call: Call, asked: ReadResourceRequestParams) -> ReadResourceResult:
        """Answer the text of a note."""
        del call
        path = unquote(asked.uri.removeprefix(SCHEME))
        try:
            note = await asyncio.to_thread(self._reme.store.read_note, path)
        except StoreError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        kind = "text/markdown" if is_note(note.path) else "text/plain"
        return ReadResourceResult(contents=[TextResourceContents(uri=asked.uri, mime_type=kind, text=note.text)])


def _resource(path: str, front_matter: Mapping[str, Any]) -> Resource:
    name, about = front_matter.get("name"), front_matter.get("description")
    return Resource(
        uri=f"{SCHEME}{quote(path)}",
        name=path,
        title=str(name) if name else None,
        description=str(about) if about else None,
        mime_type="text/markdown",
    )


def _progress(event: Mapping[str, Any]) -> str:
    return f"{event.get('graph', '')} {event.get('event', '')} {event.get('done', '')}/{event.get('total', '')}"
