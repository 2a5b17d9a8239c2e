"""What holds for every test: no settings from outside."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Run without a person's environment and outside the reach of a ``.env`` file."""
    for name in list(os.environ):
        if name.startswith(("REME_", "LANGSMITH_", "LANGCHAIN_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.chdir(tmp_path_factory.getbasetemp())
