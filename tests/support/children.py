"""How does a test run code of ours in another process, and let it die there?"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import reme_store

_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(reme_store.__file__).parents[1])}


def run_python(code: str, *args: object, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
    """Run code to its end, however it ends."""
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=_ENVIRONMENT)


@contextmanager
def python(code: str, *args: object) -> Iterator["subprocess.Popen[str]"]:
    """Run code beside the test; what still runs at the end is killed."""
    command = [sys.executable, "-c", code, *map(str, args)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=_ENVIRONMENT) as child:
        try:
            yield child
        finally:
            child.kill()


def dead_pid() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    return child.pid
