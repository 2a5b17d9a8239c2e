"""How do tests run ``reme start``? As a process of its own, in a folder that is neither the tree nor the workspace."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from reme_graphs.service import INFO_PATH
from tests.support.langgraph_dev import ROOT, STOP_SECONDS, free_port

START_SECONDS = 60


@dataclass
class Started:
    """A server that ``reme start`` runs."""

    url: str
    port: int
    workspace: Path
    process: "subprocess.Popen[bytes]"
    log: Path

    def end(self, number: int) -> int:
        """Send a signal; it must be gone within five seconds. Return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """Kill it, if it still lives."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(STOP_SECONDS)


def environment(state: Path, **more: str) -> dict[str, str]:
    """Return the environment of a child: nothing of a person's, and where servers are written down."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    return {**kept, "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false", "XDG_STATE_HOME": str(state), **more}


def launch(workspace: Path, state: Path, settings: Mapping[str, str] | None = None) -> Started:
    """Start a server and wait until it answers."""
    folder = workspace.parent / "elsewhere"
    folder.mkdir(exist_ok=True, parents=True)
    port, log = free_port(), workspace.parent / "start.log"
    command = [sys.executable, "-m", "reme_graphs.cli", "start", f"port={port}", f"workspace={workspace}"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(state, **(settings or {})), stdout=output, stderr=output
        )
    started = Started(f"http://127.0.0.1:{port}", port, workspace, process, log)
    _await(started)
    return started


def _await(started: Started) -> None:
    transport = httpx.HTTPTransport(retries=8)  # with growing pauses: 0.5, 1, 2, … seconds
    with httpx.Client(transport=transport, trust_env=False, timeout=START_SECONDS) as client:
        try:
            client.get(f"{started.url}{INFO_PATH}")
        except httpx.TransportError as error:
            started.kill()
            raise AssertionError(started.log.read_text()[-4000:]) from error
