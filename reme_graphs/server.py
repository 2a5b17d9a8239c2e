"""What does ``langgraph dev`` need besides the graphs: a checkpoint file, and routes for the store's own tools?

``langgraph.json`` names both. They belong to the workspace of the environment (``REME_WORKSPACE``); a run of a graph
may name another one in its context.

    GET  /service_info   who this is: version, workspace, engine
    GET  /health_check   200 with the state of the workspace, 503 where something in it is broken
    POST /<tool>         body: the arguments. 200 with {success, answer, metadata}, 400 for a caller's mistake
    POST /<graph>        body: the inputs. 200 with the receipt and ``state``, whatever became of the run;
                         with ``Accept: text/event-stream`` progress events, then ``result``
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from reme_graphs.checkpoints import aopen_checkpoints, checkpoint_path
from reme_graphs.context import read_context
from reme_graphs.embedding import BUILDERS, ReMe, WorkspaceGraph, open_reme
from reme_graphs.resources import open_workspace
from reme_graphs.service import INFO_PATH, describe_service
from reme_store.tool_arguments import TOOLS

Endpoint = Callable[[Request], Awaitable[Response]]


@asynccontextmanager
async def checkpointer() -> AsyncIterator[AsyncSqliteSaver]:
    """Keep the server's threads in the workspace, so that they outlive a restart."""
    path = await asyncio.to_thread(_prepared_path)
    async with aopen_checkpoints(path) as saver:
        yield saver


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Hold the workspace open while the server runs."""
    async with open_reme() as reme:
        app.state.reme = reme
        yield


async def health_check(request: Request) -> Response:
    """Say how the workspace is."""
    result = await asyncio.to_thread(_reme(request).call, "health_check", {})
    healthy = bool(result["metadata"]["health"]["healthy"])
    return JSONResponse(result, status_code=200 if healthy else 503)


async def service_info(request: Request) -> Response:
    """Say who this server is, and whose memory it holds."""
    reme = _reme(request)
    return JSONResponse(describe_service(reme.store.root, reme.engine))


def tool_endpoint(name: str) -> Endpoint:
    """Return the endpoint of one tool."""

    async def endpoint(request: Request) -> Response:
        arguments = await _read_object(request)
        if arguments is None:
            return _refuse_body()
        result = await asyncio.to_thread(_reme(request).call, name, arguments)
        return JSONResponse(result, status_code=200 if result["success"] else 400)

    return endpoint


def graph_endpoint(name: str) -> Endpoint:
    """Return the endpoint of one graph."""

    async def endpoint(request: Request) -> Response:
        inputs = await _read_object(request)
        if inputs is None:
            return _refuse_body()
        graph = _reme(request).graphs[name]
        if "text/event-stream" in request.headers.get("accept", ""):
            return StreamingResponse(_stream(graph, inputs), media_type="text/event-stream")
        return JSONResponse(_result(await graph.ainvoke(inputs)))

    return endpoint


async def _stream(graph: WorkspaceGraph, inputs: Mapping[str, Any]) -> AsyncIterator[str]:
    state: Mapping[str, Any] = {}
    async for mode, part in graph.astream(inputs, stream_mode=["custom", "values"]):
        if mode == "custom":
            yield _event("progress", part)
        else:
            state = part
    yield _event("result", _result(state))


def _result(state: Mapping[str, Any]) -> dict[str, Any]:
    return {**state["receipt"], "state": {key: value for key, value in state.items() if key != "receipt"}}


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False, default=str)}\n\n"


async def _read_object(request: Request) -> dict[str, Any] | None:
    """Return the JSON object of the body, an empty one for no body, None for anything else."""
    body = await request.body()
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _refuse_body() -> Response:
    refusal = {"success": False, "answer": "Error: the body must be a JSON object", "metadata": {}}
    return JSONResponse(refusal, status_code=400)


def _reme(request: Request) -> ReMe:
    reme: ReMe = request.app.state.reme
    return reme


def _prepared_path() -> Path:
    with open_workspace(read_context(None)) as store:
        return checkpoint_path(store.root)


app = Starlette(
    lifespan=lifespan,
    routes=[
        Route(INFO_PATH, service_info, methods=["GET"]),
        Route("/health_check", health_check, methods=["GET"]),
        *(Route(f"/{name}", tool_endpoint(name), methods=["POST"]) for name in TOOLS),
        *(Route(f"/{name}", graph_endpoint(name), methods=["POST"]) for name in BUILDERS if name not in TOOLS),
    ],
)
"""Routes that stand beside the server's own."""
