"""How is the Agent Server of this package run from any folder?

The server's own state (which threads there are) is kept in the workspace, ``reme_metadata/server``, so that it does not
depend on where it was started. While it runs it is written down, see :mod:`reme_graphs.service`.
"""

import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from reme_graphs.cli.words import UsageError
from reme_graphs.deployment import served
from reme_graphs.environment import TOKEN_NAME
from reme_graphs.errors import ServiceError
from reme_graphs.service import DEFAULT_PORT, Service, announced, probe, read_service, service_file
from reme_store.release import VERSION

JOBS = 10
"""Runs that go side by side."""
LEAVE_SECONDS = 2
"""How long a stopping server waits for open connections."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PARTS = ("store", "auth", "http", "ui", "ui_config", "webhooks", "checkpointer")


def start(folder: Path, host: str, port: int, environment: Mapping[str, str]) -> int:
    """Run the server until it is told to stop; answer the exit code.

    Raises:
        ServiceError: a server holds the workspace already, the port is taken, or the extra is not installed.
        UsageError: everybody could reach the memory.
    """
    refuse_strangers(host, environment)
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    _refuse_second(folder, environment)
    run_server = _server()
    service = Service(host, free_port(host, port, DEFAULT_PORT), os.getpid(), VERSION, str(folder))
    _settle(folder, environment)
    told = f"reme {VERSION} serves {folder} at {service.url}"
    print(f"{told}\nAPI: {service.url}/docs  MCP: {service.url}/mcp  Ctrl-C stops it", flush=True)
    with announced(service), stoppable():
        _run(run_server, service)
    return 0


def refuse_strangers(host: str, environment: Mapping[str, str]) -> None:
    """Refuse to listen where others can reach the memory without a token.

    Raises:
        UsageError: they could.
    """
    if host not in LOOPBACK and not environment.get(TOKEN_NAME):
        raise UsageError(f"{host} can be reached by others: set {TOKEN_NAME}, or leave host at 127.0.0.1")


def _run(run_server: Any, service: Service) -> None:
    configuration = served()
    run_server(
        service.host,
        service.port,
        reload=False,
        graphs=configuration["graphs"],
        n_jobs_per_worker=JOBS,
        open_browser=False,
        timeout_graceful_shutdown=LEAVE_SECONDS,
        **{part: configuration[part] for part in PARTS if part in configuration},
    )


def _server() -> Any:
    try:
        from langgraph_api.cli import run_server  # noqa: PLC0415 - an extra, not always installed
    except ImportError as error:
        raise ServiceError("a server needs the extra: pip install 'reme-graphs[serve]'") from error
    return run_server


def _refuse_second(folder: Path, environment: Mapping[str, str]) -> None:
    known = read_service(service_file(folder))
    there = probe(known, environment.get(TOKEN_NAME, "")) if known else None
    if there is not None and there.workspace == str(folder):
        raise ServiceError(f"{folder} is served already, at {there.url} (process {there.pid})")


def free_port(host: str, port: int, default: int) -> int:
    """Return the port; without a choice the default one, or any other where it is taken.

    Raises:
        ServiceError: the port that was chosen is taken.
    """
    if _bind(host, port or default):
        return port or default
    if port:
        raise ServiceError(f"port {port} of {host} is taken, or not yours to use; name another, or none")
    return _bind(host, 0)


def _bind(host: str, port: int) -> int:
    """Return the port that could be bound, 0 where none could."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except (OSError, OverflowError):
            return 0
        return int(tried.getsockname()[1])


def _settle(folder: Path, environment: Mapping[str, str]) -> None:
    """Give the server its environment and its folder."""
    for name, value in environment.items():
        os.environ.setdefault(name, value)
    os.environ["REME_WORKSPACE"] = str(folder)
    os.environ.setdefault("LANGGRAPH_NO_VERSION_CHECK", "true")
    home = folder / "reme_metadata" / "server"
    home.mkdir(parents=True, exist_ok=True)
    os.chdir(home)


@contextmanager
def stoppable() -> Iterator[None]:
    """End the block, not the process, at the signals that ask for an end."""

    def leave(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
