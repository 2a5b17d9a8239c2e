"""Does the command line call every tool and graph, and say what went wrong?"""

import json
from pathlib import Path

import pytest

from reme_graphs.cli import app as cli
from reme_graphs.cli import runs
from reme_graphs.embedding import BUILDERS, open_reme
from tests.support.note_writer import writer
from tests.support.scripted_model import ScriptedModel


@pytest.fixture
def reme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REME_WORKSPACE", str(tmp_path / "memory"))
    return tmp_path / "memory"


def test_a_tool_is_called_with_key_value_words(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["write", "path=digest/wiki/sqlite.md", "content=SQLite needs no server."]) == cli.DONE
    assert (reme / "digest/wiki/sqlite.md").exists()
    capsys.readouterr()
    assert cli.main(["search", "query=server", "limit=1", 'search_filter={"path": "digest"}', "--json"]) == cli.DONE
    shown = json.loads(capsys.readouterr().out)
    assert [hit["path"] for hit in shown["metadata"]["results"]] == ["digest/wiki/sqlite.md"]


def test_a_text_is_taken_as_it_stands(reme: Path) -> None:
    assert cli.main(["write", "path=daily/2026.md", "content=[1, 2]", "name=7"]) == cli.DONE
    assert "[1, 2]" in (reme / "daily/2026.md").read_text(encoding="utf-8")


def test_a_graph_is_run_with_its_inputs(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = json.dumps([{"role": "user", "content": "We decided to use SQLite because it needs no server."}])
    assert cli.main(["auto_memory", f"messages={messages}", "session_id=s1", "date=2026-03-02", "--json"]) == cli.DONE
    shown = json.loads(capsys.readouterr().out)
    assert shown["engine"] == "offline"
    assert (reme / shown["state"]["note_path"]).exists()


def test_errors_that_an_answer_does_not_tell_go_to_standard_error(
    reme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = json.dumps([{"path": "resource/none.md", "change": "added"}])
    assert cli.main(["auto_resource", f"changes={changes}"]) == cli.FAILED
    shown = capsys.readouterr()
    assert "none.md" not in shown.out
    assert shown.err.startswith("reme: resource/none.md: ")


def test_help_lists_every_tool_and_graph(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help"]) == cli.DONE
    lines = capsys.readouterr().out.splitlines()
    names = {line.split(" — ")[0] for line in lines}
    assert {"search", "frontmatter_update", "retry", *BUILDERS} <= names
    assert len(lines) == len(names)
    [search] = [line for line in lines if line.startswith("search — ")]
    assert "query:string*" in search


def test_the_version_needs_no_argument(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["version"]) == cli.DONE
    assert capsys.readouterr().out.strip()


def test_a_refused_call_says_why_and_exits_with_one(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["read", "path=digest/nothing.md"]) == cli.FAILED
    assert "digest/nothing.md" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serch", "query=x"], "nothing is called 'serch'"),
        (["search", "x"], "'x' is not key=value"),
        (["retry", "x=1"], "no argument 'x'"),
        (["search", "quary=x"], "no argument 'quary'"),
        (["search", "query=x", "limit=many"], "not JSON"),
        (["search", "query=x", "query=y"], "given twice"),
        (["serch", "query=x"], "did you mean 'search'"),
        (["search", "query=x", "port=many"], "no port"),
        (["search", "query=x", "--prot", "1"], "No such option"),
        (["resume", "accept", "answer=1"], "one answer"),
        (["resume", "accept"], "no unfinished run"),
        (["help", "serch"], "nothing is called 'serch'"),
        (["auto_memory", "messages=@nowhere.json"], "cannot be read"),
        (["start", "host=0.0.0.0"], "REME_TOKEN"),
    ],
)
def test_a_senseless_command_line_exits_with_two(
    words: list[str], said: str, reme: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == cli.USAGE
    assert said in capsys.readouterr().err


def test_retry_takes_up_sessions_and_resources_that_wait(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (reme / "resource/2026-03-02").mkdir(parents=True)
    (reme / "resource/2026-03-02/plan.txt").write_text("RES The plan for 2026.")
    broken = ScriptedModel(answers=lambda asked: RuntimeError("weights are broken"))
    said = {"role": "user", "content": "I live in Lisbon now. MSG", "created_at": "2026-03-02T09:00:00Z"}
    with open_reme(reme, broken, timezone="UTC") as opened:
        for session in ("s1", ""):
            opened.auto_memory.invoke({"messages": [said], "session_id": session})
        for _ in range(3):
            opened.auto_resource.invoke({})
        found = runs.retry(opened)
        assert not found["success"] and found["answer"].count("weights are broken") == 3
        assert not list((reme / "daily").rglob("*.md")) or not list((reme / "daily/2026-03-02").rglob("*.md"))
    model = writer({"MSG": "FACT-lisbon", "RES": "FACT-plan"})
    with open_reme(reme, model, timezone="UTC") as opened:
        found = runs.retry(opened)
        assert found["success"] and found["usage"]["model_calls"] == len(model.asked)
        assert [each["about"] for each in found["metadata"]["runs"]] == ["2026-03-02", "s1", "resource/"]
    for note, fact in (
        ("2026-03-02/s1.md", "FACT-lisbon"),
        ("2026-03-02.md", "FACT-lisbon"),
        ("2026-03-02/plan.md", "FACT-plan"),
    ):
        assert fact in (reme / "daily" / note).read_text()
    assert cli.main(["retry"]) == cli.DONE
    assert capsys.readouterr().out == "Nothing waits.\n"


def test_without_a_workspace_it_says_what_to_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["search", "query=x"]) == cli.FAILED
    assert "REME_WORKSPACE" in capsys.readouterr().err


def test_the_answer_names_the_options_before_or_after(
    reme: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    assert cli.main(["--workspace", str(other), "write", "path=digest/wiki/a.md", "content=here"]) == cli.DONE
    assert cli.main(["stat", "path=digest/wiki/a.md", "--workspace", str(other), "--json"]) == cli.DONE
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["metadata"]["exists"] is True
    assert (other / "digest/wiki/a.md").exists() and not (reme / "digest/wiki/a.md").exists()


def test_json_may_come_from_a_file_and_a_text_may_begin_with_an_at(reme: Path, tmp_path: Path) -> None:
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": "We decided to use SQLite, it needs no server."}]))
    assert cli.main(["auto_memory", f"messages=@{talk}", "session_id=s1", "date=2026-03-02"]) == cli.DONE
    assert (reme / "daily/2026-03-02/s1.md").exists()
    assert cli.main(["write", "path=digest/wiki/at.md", "content=@ana said so"]) == cli.DONE
    assert "@ana said so" in (reme / "digest/wiki/at.md").read_text()


def test_a_version_may_be_named_by_its_beginning(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["write", "content=first"], ["append", "content=second"]):
        assert cli.main([words[0], "path=digest/wiki/a.md", *words[1:]]) == cli.DONE
    capsys.readouterr()
    assert cli.main(["history", "path=digest/wiki/a.md", "--json"]) == cli.DONE
    oldest = json.loads(capsys.readouterr().out)["metadata"]["versions"][-1]["version"]
    assert cli.main(["restore", "path=digest/wiki/a.md", f"version={oldest[:12]}"]) == cli.DONE
    assert "second" not in (reme / "digest/wiki/a.md").read_text()


def test_files_of_a_persons_machine_are_copied_in_and_out(
    reme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.txt").write_text("the plan")
    assert cli.main(["upload", "path=resource/2026-03-02/plan.txt", "source=plan.txt"]) == cli.DONE
    assert (reme / "resource/2026-03-02/plan.txt").read_text() == "the plan"
    assert cli.main(["download", "path=resource/2026-03-02/plan.txt", "destination=copy.txt"]) == cli.DONE
    assert (tmp_path / "copy.txt").read_text() == "the plan"


def test_help_of_one_name_tells_its_arguments(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["help", "search"], ["search", "--help"]):
        assert cli.main(words) == cli.DONE
        assert "limit (integer, default 5): Most passages" in capsys.readouterr().out
    assert cli.main(["--help"]) == cli.DONE
    assert {"Commands:", "Tools:", "Graphs:"} <= set(capsys.readouterr().out.splitlines())


def test_an_unknown_time_zone_is_told(
    reme: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REME_TIMEZONE", "Nowhere/Town")
    assert cli.main(["daily_create"]) == cli.FAILED
    assert "Nowhere/Town" in capsys.readouterr().err


def test_a_review_waits_is_listed_and_is_answered(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = json.dumps([{"role": "user", "content": "We decided to use SQLite because it needs no server."}])
    assert cli.main(["auto_memory", f"messages={said}", "session_id=s1", "date=2026-03-02"]) == cli.DONE
    capsys.readouterr()
    assert cli.main(["auto_dream", "date=2026-03-02", "--set", "review=true"]) == cli.DONE
    asked = capsys.readouterr().out
    assert "+- We decided to use SQLite" in asked and "reme resume thread=reme:auto_dream:" in asked
    assert not list((reme / "digest").rglob("*.md"))
    assert cli.main(["resume", "--json"]) == cli.DONE
    [run] = json.loads(capsys.readouterr().out)["metadata"]["runs"]
    assert run["graph"] == "auto_dream" and run["waits_for_answer"]
    assert cli.main(["resume", f"thread={run['thread']}"]) == cli.DONE
    assert "waits for your answer" in capsys.readouterr().out
    assert cli.main(["resume", "accept"]) == cli.DONE
    assert len(list((reme / "digest").rglob("*.md"))) == 1
    capsys.readouterr()
    assert cli.main(["resume"]) == cli.DONE
    assert capsys.readouterr().out == "No run is unfinished.\n"


def test_status_tells_where_the_memory_is_and_what_waits(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["write", "path=digest/wiki/a.md", "content=see [[digest/wiki/b.md]]"]) == cli.DONE
    capsys.readouterr()
    assert cli.main(["status", "--json"]) == cli.DONE
    told = json.loads(capsys.readouterr().out)["metadata"]
    assert told["workspace"] == str(reme) and told["server"] == "" and told["engine"] == "offline"
    assert (told["files"], told["links"], told["healthy"], told["unfinished_runs"]) == (1, 1, True, [])


def test_find_reme_without_a_server_exits_with_one(reme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["find_reme", "--json"]) == cli.FAILED
    assert json.loads(capsys.readouterr().out)["success"] is False
