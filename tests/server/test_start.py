"""Does ``reme start`` serve a workspace from any folder, does everything find it, and does it leave nothing behind?"""

import json
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reme_graphs.cli import app
from reme_graphs.client import ServiceClient
from reme_graphs.service import Service, Wanted, find_service, probe, service_file, user_folder
from tests.support.children import python
from tests.support.reme_start import Started, launch

SAID = [{"role": "user", "content": "We decided to use SQLite because it needs no server."}]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    server = launch(tmp_path_factory.mktemp("memory") / "workspace", tmp_path_factory.getbasetemp() / "state")
    yield server
    server.kill()


def _json(capsys: pytest.CaptureFixture[str], *words: str, code: int = app.DONE) -> dict[str, Any]:
    capsys.readouterr()
    assert app.main([*words, "--json"]) == code, capsys.readouterr()
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_the_server_of_a_user_is_found_without_a_word(started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    found = _json(capsys, "find_reme")
    assert (found["port"], found["workspace"]) == (started.port, str(started.workspace))
    assert found["source"] == "its discovery file"
    assert _json(capsys, "version")["metadata"]["version"] == found["version"]


@pytest.mark.parametrize("form", ['{{"host": "127.0.0.1", "port": {port}}}', "http://127.0.0.1:{port}"])
def test_the_environment_names_a_server(
    form: str, started: Started, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REME_SERVICE_INFO", form.format(port=started.port))
    assert _json(capsys, "find_reme")["source"] == "REME_SERVICE_INFO"


def test_a_tool_answers_the_same_through_the_server(started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    at = f"port={started.port}"
    assert _json(capsys, "write", "path=digest/wiki/a.md", "content=Reached through a server.", at)["success"]
    assert (started.workspace / "digest/wiki/a.md").exists()
    served = _json(capsys, "read", "path=digest/wiki/a.md", at)
    assert served == _json(capsys, "read", "path=digest/wiki/a.md", "--workspace", str(started.workspace))
    refused = _json(capsys, "read", "path=digest/wiki/none.md", at, code=app.FAILED)
    assert "digest/wiki/none.md" in refused["answer"]


def test_a_graph_runs_on_the_server_and_tells_its_progress(started: Started) -> None:
    service = probe(Service("127.0.0.1", started.port))
    assert service is not None
    seen: list[Any] = []
    with ServiceClient(service) as client:
        told = client.run("auto_memory", {"messages": SAID, "session_id": "served", "date": "2026-03-02"}, seen.append)
    assert told["success"] and (started.workspace / told["state"]["note_path"]).exists()
    assert {event["graph"] for event in seen} == {"auto_memory"}


def test_another_workspace_is_never_answered_by_it(
    started: Started, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    for words in (["--workspace", str(other)], ["--workspace", str(other), f"port={started.port}"]):
        _json(capsys, "write", "path=digest/wiki/mine.md", "content=x", "overwrite=true", *words)
    monkeypatch.setenv("REME_WORKSPACE", str(other))
    assert _json(capsys, "stat", "path=digest/wiki/mine.md")["metadata"]["exists"]
    assert (other / "digest/wiki/mine.md").exists()
    assert not (started.workspace / "digest/wiki/mine.md").exists()


def test_status_and_doctor_know_the_server(started: Started, capsys: pytest.CaptureFixture[str]) -> None:
    assert _json(capsys, "status")["metadata"]["server"] == started.url
    checks = _json(capsys, "doctor", "--workspace", str(started.workspace))["metadata"]["checks"]
    [server] = [check for check in checks if check["about"] == "server"]
    assert server["state"] == "ok" and started.url in server["found"]


def test_a_workspace_is_served_once_and_a_taken_port_is_refused(
    started: Started, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["start", f"workspace={started.workspace}"]) == app.FAILED
    assert "served already" in capsys.readouterr().err
    assert app.main(["start", f"port={started.port}", "--workspace", str(tmp_path / "w")]) == app.FAILED
    assert f"port {started.port}" in capsys.readouterr().err


def test_a_call_loads_no_framework(started: Started, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom reme_graphs.cli import app\ncode = app.main(sys.argv[1:])\n"
        "loaded = {'langgraph', 'langchain_core', 'numpy', 'openai'} & set(sys.modules)\n"
        "print(code, sorted(loaded), file=sys.stderr)"
    )
    for place, loaded in ((f"--port={started.port}", "[]"), (f"--workspace={tmp_path / 'w'}", "['numpy']")):
        with python(f"import sys\nsys.stderr = sys.stdout\n{code}", "list", "path=.", place) as child:
            told, _ = child.communicate(timeout=60)
        assert told.splitlines()[-1] == f"0 {loaded}"


@pytest.mark.skipif(sys.platform == "win32", reason="the signals are those of POSIX systems")
def test_stopped_at_work_it_is_gone_in_time_leaves_no_file_and_loses_nothing(tmp_path: Path) -> None:
    state = user_folder().parent.parent
    server = launch(tmp_path / "workspace", state)
    service = find_service(Wanted(workspace=str(server.workspace))).service
    assert service is not None
    written = threading.Event()
    told: list[str] = []

    def write() -> None:
        with ServiceClient(service) as client:
            for number in range(10_000):
                try:
                    client.call("write", {"path": f"digest/wiki/n{number}.md", "content": "kept"})
                except Exception as error:  # noqa: BLE001 - the server goes away: what had been answered must be there
                    told.append(type(error).__name__)
                    return
                told.append(f"digest/wiki/n{number}.md")
                written.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert written.wait(30)
    assert server.end(signal.SIGTERM) == 0
    writer.join(30)
    assert told[-1] == "ServiceError"
    assert all((server.workspace / path).exists() for path in told[:-1])
    assert not service_file(server.workspace).exists()
    assert not (user_folder() / f"{server.port}.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the signals are those of POSIX systems")
def test_a_killed_server_is_not_taken_for_a_living_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = launch(tmp_path / "workspace", user_folder().parent.parent)
    server.kill()
    assert service_file(server.workspace).exists()
    assert _json(capsys, "write", "path=digest/wiki/a.md", "content=x", "--workspace", str(server.workspace))["success"]
    assert not service_file(server.workspace).exists()
    again = launch(server.workspace, user_folder().parent.parent)
    assert again.end(signal.SIGINT) == 0
