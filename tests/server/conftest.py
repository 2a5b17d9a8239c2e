"""Servers for the tests of this folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.langgraph_dev import Server, launch, wait_until_started


@pytest.fixture(scope="module")
def start_server() -> Iterator[Callable[[Path], Server]]:
    """Return a function that starts a server on a workspace; all end with the module."""
    servers = []

    def start(workspace: Path) -> Server:
        server = launch(workspace)
        servers.append(server)
        wait_until_started(server)
        return server

    yield start
    for server in servers:
        server.kill()


@pytest.fixture(scope="module")
def server(start_server: Callable[[Path], Server], tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Return a server for tests that leave it running."""
    return start_server(tmp_path_factory.mktemp("memory") / "workspace")
