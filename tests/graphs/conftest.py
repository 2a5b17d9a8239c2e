"""What the tests of the graphs share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reme_graphs.resources import OPEN_STORES


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    """A fresh workspace; stores that graphs left open are closed after the test."""
    folder = tmp_path / "memory"
    folder.mkdir()
    yield folder
    OPEN_STORES.close_idle()
