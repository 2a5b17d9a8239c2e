"""How does ``reme mcp`` become a server of the protocol?

Standard output belongs to the protocol: all words for a person go to standard error.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from reme_graphs.cli.doors import Settings, found_service
from reme_graphs.cli.start import free_port, refuse_strangers, stoppable
from reme_graphs.cli.words import UsageError
from reme_graphs.embedding import open_reme
from reme_graphs.environment import TOKEN_NAME
from reme_graphs.errors import ServiceError
from reme_graphs.service import Service
from reme_store.errors import InvalidRequestError

PORT = 2025
TRANSPORTS = ("stdio", "http")
PACKAGES = ("mcp", "mcp_types", "starlette", "uvicorn")
"""What the extra brings."""


def serve(settings: Settings, transport: str, tools: str) -> int:
    """Serve a client by standard input and output, or many by HTTP, until it is over; answer the exit code.

    Raises:
        UsageError: there is no such transport, or everybody could reach the memory.
        ServiceError: the extra is not installed, or the port is taken.
        InvalidRequestError: no workspace is named, or ``tools`` names something unknown.
    """
    if transport not in TRANSPORTS:
        raise UsageError(f"transport={transport!r} is none of {', '.join(TRANSPORTS)}")
    server, choose = _server()
    choose(tools)
    folder = _folder(settings)
    opening = open_reme(folder, settings.model or None, **settings.context)
    if transport == "stdio":
        _leave_at_signals()
        asyncio.run(server.serve_stdio(opening, tools))
        return 0
    host, token = settings.host or "127.0.0.1", settings.environment.get(TOKEN_NAME, "")
    refuse_strangers(host, settings.environment)
    port = free_port(host, settings.port, PORT)
    print(f"reme: {folder} at {Service(host, port).url}/mcp", file=sys.stderr, flush=True)
    with stoppable():
        asyncio.run(server.serve_http(opening, host, port, token, tools))
    return 0


def _leave_at_signals() -> None:
    """End at once when told to: reading standard input cannot be interrupted, and what was written is safe."""

    def leave(number: int, frame: FrameType | None) -> None:
        del number, frame
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


def _server() -> tuple[Any, Any]:
    try:
        from reme_graphs import mcp_offers, mcp_server  # noqa: PLC0415 - an extra, not always installed
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise ServiceError("MCP needs the extra: pip install 'reme-graphs[mcp]'") from error
    return mcp_server, mcp_offers.choose


def _folder(settings: Settings) -> Path:
    """Return the workspace: the one that is named, else that of the server found on this machine."""
    if settings.wanted.folder:
        return settings.folder()
    service = found_service(settings).service
    if service is None or not Path(service.workspace).is_dir():
        raise InvalidRequestError("no workspace: name its folder with --workspace or in REME_WORKSPACE")
    print(f"reme: {service.workspace}, which {service.url} serves", file=sys.stderr)
    return Path(service.workspace)
