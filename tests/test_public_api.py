"""Are the public names complete, sorted and documented?"""

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

PACKAGES = ["reme_graphs", "reme_store"]


def _public(module: ModuleType) -> set[str]:
    """Return the names a module offers that come from this project, loaded or not."""
    names = {*dir(module), *module.__dict__.get("_LAZY", {})}
    offered = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {name for name, value in offered.items() if getattr(value, "__module__", "").startswith(tuple(PACKAGES))}


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_complete_and_sorted(package: str) -> None:
    module = importlib.import_module(package)
    assert list(module.__all__) == sorted(module.__all__)
    assert set(module.__all__) == _public(module)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported_and_says_what_it_is(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        assert isinstance(value, str) or value.__doc__, f"{package}.{name} has no docstring"


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_no_framework(package: str) -> None:
    script = f"import sys, {package}; print(sorted({{'langgraph', 'langchain_core', 'numpy'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
