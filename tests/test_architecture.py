"""Do imports keep to the layers that pyproject.toml draws?"""

from pathlib import Path

from importlinter.api import read_configuration
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parent.parent


def test_imports_keep_to_the_layers() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == EXIT_STATUS_SUCCESS


def test_every_contract_says_what_it_holds() -> None:
    contracts = read_configuration(str(ROOT / "pyproject.toml"))["contracts_options"]
    assert len({contract["name"] for contract in contracts}) == len(contracts) >= 4
