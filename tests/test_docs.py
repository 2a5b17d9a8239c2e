"""Is what the documents show true? Their code runs, their commands exist, their links lead somewhere."""

import ast
import json
import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from reme_graphs.cli import app as cli
from reme_store.text.front_matter import parse_note
from reme_store.text.wikilinks import parse_wikilinks

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("git clone ", "cd ", "pip install ", "export ", "langgraph dev", "reme start", "reme mcp", "claude ")
"""Commands of the shell that other tests, or nobody, can run here."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    document: Path
    language: str
    text: str


def _blocks(document: Path, *languages: str) -> list[Block]:
    found = FENCE.findall(document.read_text(encoding="utf-8"))
    return [Block(document, language, text) for language, text in found if language in languages]


def _name(document: Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if _blocks(path, "python")], ids=_name)
def test_python_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "no-block-calls-a-model-of-a-provider")
    namespace: dict[str, object] = {"__name__": "document"}
    for block in _blocks(document, "python"):
        exec(compile(block.text, _name(document), "exec"), namespace)


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if _blocks(path, "sh")], ids=_name)
def test_shell_blocks_name_real_commands(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REME_WORKSPACE", "memory")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for line in "".join(block.text for block in _blocks(document, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        if not words or line.startswith(NOT_RUN):
            continue
        if words[0] == "reme":
            assert cli.main(words[1:]) == cli.DONE, line
        else:
            assert words[0] == "make", f"no test knows how to check: {line}"
            assert words[1] in targets, line


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if _blocks(path, "json")], ids=_name)
def test_json_blocks_parse(document: Path) -> None:
    for block in _blocks(document, "json"):
        json.loads(block.text)


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if _blocks(path, "toml")], ids=_name)
def test_toml_blocks_parse(document: Path) -> None:
    for block in _blocks(document, "toml"):
        tomllib.loads(block.text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_links_to_files_lead_somewhere(document: Path) -> None:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for target in re.findall(r"(?<!\!)\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (document.parent / target).exists(), f"{_name(document)} links to {target}"


def _question(module: Path) -> str:
    """Return what a module says it answers: the first sentence of its docstring."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n\n")[0].replace("\n", " ")


def test_the_map_of_modules_is_the_code() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^- `([\w/]+\.py)` — (.+)$", text, re.MULTILINE))
    modules = [path for name in ("reme_graphs", "reme_store") for path in (ROOT / name).rglob("*.py")]
    wanted = {str(path.relative_to(ROOT)): _question(path) for path in modules if path.name != "__init__.py"}
    assert shown == wanted


def test_the_note_format_shows_notes_that_the_store_understands() -> None:
    front, predicates = (block.text for block in _blocks(ROOT / "NOTE_FORMAT.md", "markdown"))
    note = parse_note(front)
    assert note.fault == ""
    assert {"name", "description", "tags", "source"} == set(note.front_matter)
    assert [(link.predicate, link.target) for link in parse_wikilinks(predicates)] == [
        ("derived_from", "daily/2026-03-03/telemetry-database.md"),
        ("supersedes", "digest/wiki/influxdb.md"),
        ("supersedes", "digest/wiki/parquet.md"),
        ("decided_in", "daily/2026-03-10/retention.md"),
        ("see_also", "digest/wiki/backup.md"),
    ]
