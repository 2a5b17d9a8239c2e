"""Do the configuration files say what the code knows?"""

import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest

from reme_graphs.deployment import served
from reme_graphs.descriptions import DESCRIPTIONS
from reme_graphs.embedding import BUILDERS
from reme_graphs.environment import ENVIRONMENT_NAMES, SERVICE_NAME, TOKEN_NAME

ROOT = Path(__file__).parent.parent


def test_langgraph_json_serves_every_graph_under_its_name() -> None:
    graphs = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert {name: entry["path"] for name, entry in graphs.items()} == {
        name: f"reme_graphs.{name}.graph:graph" for name in BUILDERS
    }
    assert {name: entry["description"] for name, entry in graphs.items()} == DESCRIPTIONS


def test_reme_start_serves_what_langgraph_json_says() -> None:
    assert served() == json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))


def test_the_example_environment_lists_every_variable() -> None:
    named = re.findall(r"^(REME_\w+)=", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) == {*ENVIRONMENT_NAMES.values(), SERVICE_NAME, TOKEN_NAME}


def test_constraints_pin_and_name_no_place() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.]+", line) for line in lines)


def test_every_direct_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = {_fold(line) for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()}
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
        assert _fold(requirement) in pinned, requirement


def _fold(requirement: str) -> str:
    name = re.split(r"[\[=<>~!]", requirement)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", BUILDERS)
def test_every_field_of_a_form_has_a_type_and_a_description(name: str) -> None:
    graph = importlib.import_module(f"reme_graphs.{name}.graph").graph
    for schema in (graph.get_input_jsonschema(), graph.get_context_jsonschema()):
        assert schema["properties"]
        for field, about in schema["properties"].items():
            assert about.get("description"), field
            assert about.keys() & {"type", "anyOf", "$ref"}, field
