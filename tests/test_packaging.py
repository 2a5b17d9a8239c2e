"""Does what is built contain everything a user needs, built from the tree and built from the sdist?"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SAFELY: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""Python 3.11.4 learned to refuse what leaves the folder, and 3.14 asks for nothing else."""
LOAD = """
import pathlib, reme_graphs, reme_store
from reme_graphs import deployment, prompts
here = pathlib.Path(reme_graphs.__file__).parent
assert here.is_relative_to({target!r}), here
names = sorted(str(path.relative_to(here / "_prompts"))[:-3] for path in (here / "_prompts").rglob("*.md"))
for name in names:
    prompts.load(name)
assert deployment.served()["http"]["app"] == "reme_graphs.server:app"
print(len(names))
"""


def _build(source: Path, out: Path, *kinds: str) -> list[Path]:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), *kinds, str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return sorted(out.iterdir())


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    [path] = _build(ROOT, tmp_path_factory.mktemp("sdist"), "--sdist")
    return path


@pytest.fixture(scope="module", params=["tree", "sdist"])
def wheel(request: pytest.FixtureRequest, sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = ROOT
    if request.param == "sdist":
        unpacked = tmp_path_factory.mktemp("unpacked")
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, **SAFELY)
        [source] = unpacked.iterdir()
    [path] = _build(source, tmp_path_factory.mktemp("wheel"), "--wheel")
    return path


def test_a_wheel_holds_both_packages_their_types_and_prompts(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    prompts = {
        f"reme_graphs/_prompts/{path.relative_to(ROOT / 'prompts')}" for path in (ROOT / "prompts").rglob("*.md")
    }
    assert prompts
    assert {"reme_graphs/py.typed", "reme_store/py.typed", "reme_graphs/_langgraph.json", *prompts} <= names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"reme_graphs", "reme_store"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_a_wheel_loads_its_prompts_without_the_tree(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + LOAD.format(target=str(tmp_path))
    loaded = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, loaded.stderr
    assert int(loaded.stdout) == len(list((ROOT / "prompts").rglob("*.md")))


def test_an_sdist_holds_what_a_developer_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "constraints.txt", "LICENSE", "README.md", "prompts", "tests/test_packaging.py"} <= {
        *names,
        *(name.split("/")[0] for name in names),
    }
    assert not [name for name in names if name.startswith((".venv", "demo-workspace", ".git/"))]
