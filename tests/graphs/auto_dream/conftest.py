"""A fresh memory for each test."""

from pathlib import Path

import pytest

from tests.support.dreaming import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "memory")
