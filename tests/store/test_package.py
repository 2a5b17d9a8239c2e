"""The package: quick to import, its public names complete, its version told once."""

import tomllib
from pathlib import Path

import reme_store
from reme_store.release import VERSION
from tests.support.children import run_python


def test_public_names_are_sorted_and_all_there() -> None:
    assert list(reme_store.__all__) == sorted(reme_store.__all__)
    assert all(getattr(reme_store, name) is not None for name in reme_store.__all__)


def loaded_by(statement: str) -> set[str]:
    return set(run_python(f"import sys; {statement}; print(*sys.modules)").stdout.split())


def test_importing_brings_in_nothing_heavy() -> None:
    assert "reme_store" in (loaded := loaded_by("import reme_store"))
    assert loaded & {"numpy", "langchain_core", "mistletoe", "yaml", "pydantic"} == set()


def test_opening_a_store_brings_in_neither_langchain_nor_the_markdown_parser() -> None:
    assert loaded_by("from reme_store import open_store") & {"langchain_core", "mistletoe"} == set()


def test_the_version_is_that_of_the_distribution() -> None:
    project = Path(reme_store.__file__).parents[1] / "pyproject.toml"
    assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] == VERSION == reme_store.__version__
