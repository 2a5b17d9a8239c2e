"""How do tests run ``langgraph dev``? On loopback, offline, in a folder that is not the tree."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

ROOT = Path(__file__).parent.parent.parent
STARTED = "Application started up"
STOP_SECONDS = 5


@dataclass
class Server:
    """A running server."""

    url: str
    workspace: Path
    process: "subprocess.Popen[str]"
    output: IO[str]
    reader: threading.Thread | None = None
    """Goes on reading what the server prints, so that it never waits for us."""

    def stop(self) -> None:
        """Stop it as a person does; it must be gone within five seconds."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_SECONDS)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill it, if it still lives, with all it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(STOP_SECONDS)
        if self.reader is not None:
            self.reader.join(STOP_SECONDS)
        self.output.close()


def free_port() -> int:
    """Return a port of loopback that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def launch(workspace: Path) -> Server:
    """Start a server whose environment names the workspace and no model; it works in a folder beside the workspace."""
    folder = workspace.parent / "server"
    folder.mkdir(exist_ok=True)
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    config["dependencies"] = [str(ROOT)]
    (folder / "langgraph.json").write_text(json.dumps(config), encoding="utf-8")
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    settings = {"REME_WORKSPACE": str(workspace), "LANGSMITH_TRACING": "false", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)],
        cwd=folder,
        env={**kept, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    return Server(f"http://127.0.0.1:{port}", workspace, process, process.stdout)


def wait_until_started(server: Server) -> None:
    """Read what it prints until it says so."""
    said = []
    for line in server.output:
        said.append(line)
        if STARTED in line:
            server.reader = threading.Thread(target=server.output.read, daemon=True)
            server.reader.start()
            return
    pytest.fail("the server ended: " + "".join(said)[-4000:])
