"""What holds for every test: no settings from outside, no blocked event loop, nothing left behind in the tree."""

import inspect
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import settings

from reme_graphs import service

settings.register_profile("untimed", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("untimed")

NOBODY = 9
"""A port at which no server of this program answers: a person's own server is none of a test's business."""

ROOT = Path(__file__).parent.parent
TOOLS_OWN = {
    ".git",
    ".venv",
    ".hypothesis",
    ".import_linter_cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    "demo-workspace",
}
"""Folders that development tools or a person keep in the tree."""


def list_tree() -> set[str]:
    """Return the files of the tree that are not development tools' own."""
    found = set()
    for folder, names, files in os.walk(ROOT):
        names[:] = [name for name in names if name not in TOOLS_OWN]
        found |= {str((Path(folder) / file).relative_to(ROOT)) for file in files}
    return found


@pytest.fixture(scope="session", autouse=True)
def _clean_tree() -> Iterator[None]:
    before = list_tree()
    yield
    assert sorted(list_tree() - before) == [], "the tests left files in the tree"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Run without a person's environment and servers, and outside the reach of a ``.env`` file."""
    for name in list(os.environ):
        if name.startswith(("REME_", "LANGSMITH_", "LANGCHAIN_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
    monkeypatch.setattr(service, "DEFAULT_PORT", NOBODY)
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def _free_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Raise where our code blocks the event loop of a test."""
    if not inspect.iscoroutinefunction(getattr(request, "function", None)):
        yield
        return
    with blockbuster_ctx(["reme_graphs", "reme_store"]):
        yield
