"""Do the drawn graphs equal the graphs?"""

import importlib
import re
from pathlib import Path

import pytest

from reme_graphs.embedding import BUILDERS

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^<!-- (\w+) -->\n```mermaid\n(.*?)```$", re.MULTILINE | re.DOTALL)


def _drawn(document: str) -> dict[str, str]:
    """Return the pictures of a document by the name in the comment above each."""
    return dict(BLOCK.findall((ROOT / document).read_text(encoding="utf-8")))


def _picture(name: str) -> str:
    graph = importlib.import_module(f"reme_graphs.{name}.graph").graph
    return str(graph.get_graph().draw_mermaid(with_styles=False))


@pytest.mark.parametrize("name", BUILDERS)
def test_every_graph_is_drawn_as_it_is(name: str) -> None:
    assert _drawn("docs/graphs.md").get(name, "").strip() == _picture(name).strip()


def test_the_pictures_of_the_readme_are_those_of_the_docs() -> None:
    shown = _drawn("README.md")
    assert set(shown) == {"auto_memory", "auto_resource", "auto_dream"}
    for name, picture in shown.items():
        assert picture.strip() == _picture(name).strip()
