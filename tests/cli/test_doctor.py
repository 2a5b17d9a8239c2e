"""Does the doctor find what is wrong, and say what to do?"""

import json
from pathlib import Path
from typing import Any

import pytest

from reme_graphs.cli import app
from reme_graphs.service import service_file
from tests.support.children import dead_pid


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REME_WORKSPACE", str(tmp_path / "memory"))
    assert app.main(["write", "path=digest/wiki/a.md", "content=text"]) == app.DONE
    return tmp_path / "memory"


def _examined(capsys: pytest.CaptureFixture[str], code: int) -> dict[str, Any]:
    capsys.readouterr()
    assert app.main(["doctor", "--json"]) == code
    checks = json.loads(capsys.readouterr().out)["metadata"]["checks"]
    return {check["about"]: check for check in checks}


def test_a_memory_in_order_has_nothing_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = _examined(capsys, app.DONE)
    assert {"program", "encoding", "workspace", "index", "notes", "server", "model", "embeddings"} <= set(checks)
    assert not [check for check in checks.values() if check["state"] == "wrong"]


def test_broken_notes_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "digest/wiki/broken.md").write_text("---\nname: a: b\n---\nbody\n")
    (folder / "digest/wiki/b.md").write_text("see [[digest/wiki/gone.md]]\n")
    checks = _examined(capsys, app.FAILED)
    assert checks["notes"]["state"] == "wrong" and "digest/wiki/broken.md" in checks["notes"]["found"]
    assert checks["links"]["state"] == "note" and checks["index"]["state"] == "ok"


def test_no_workspace_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert "REME_WORKSPACE" in _examined(capsys, app.FAILED)["workspace"]["advice"]


def test_a_workspace_that_is_a_file_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("REME_WORKSPACE", str(tmp_path / "file"))
    assert _examined(capsys, app.FAILED)["workspace"]["state"] == "wrong"


@pytest.mark.parametrize(
    ("name", "value", "about"),
    [
        ("REME_MODEL", "gpt-none", "model"),
        ("REME_MODEL", "nobody:gpt-none", "model"),
        ("REME_EMBEDDINGS", "openai:none", "embeddings"),
        ("REME_BASE_URL", "http://127.0.0.1:9/v1", "endpoint"),
        ("REME_MAX_CONCURRENCY", "many", "settings"),
    ],
)
def test_a_model_that_cannot_be_used_is_wrong(
    name: str,
    value: str,
    about: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, value)
    found = _examined(capsys, app.FAILED)[about]
    assert found["state"] == "wrong" and found["advice"]


def test_the_file_of_a_server_that_is_gone_is_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = {"host": "127.0.0.1", "port": 9, "pid": dead_pid(), "version": "0", "workspace": str(folder)}
    service_file(folder).write_text(json.dumps(gone))
    assert _examined(capsys, app.DONE)["discovery file"]["state"] == "note"
    assert not service_file(folder).exists()
