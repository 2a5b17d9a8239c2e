"""Do imports keep to the layers that pyproject.toml draws?"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_imports_keep_to_the_layers() -> None:
    checked = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_module_has_its_layer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layered = [contract for contract in project["tool"]["importlinter"]["contracts"] if contract.get("containers")]
    assert {contract["id"] for contract in layered if contract.get("exhaustive")} == {"store-layers", "graph-layers"}
