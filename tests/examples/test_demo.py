"""Does the demo do what it says, on its own material and on the LoCoMo form?"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
DEMO = ROOT / "examples" / "demo.py"
LOCOMO = [
    {
        "sample_id": "conv-x",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "11:59 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I adopted a beagle called Juno on 6 May."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a dog on a sofa"},
            ],
            "session_2_date_time": "12:10 am on 25 May, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "I moved to Leeds because of the new job."}],
        },
        "qa": [
            {"question": "What is Ada's dog called?", "answer": "Juno", "category": 1},
            {"question": "Why did Ada move?", "adversarial_answer": "a job", "category": 5},
        ],
    },
    {"sample_id": "conv-y", "conversation": {}, "qa": []},
]


def _run(workspace: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(DEMO), "--workspace", str(workspace), *arguments]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    workspace = tmp_path_factory.mktemp("demo") / "workspace"
    done = _run(workspace)
    assert done.returncode == 0, done.stdout + done.stderr
    return workspace, done.stdout


def test_conversations_and_documents_become_notes(shown: tuple[Path, str]) -> None:
    workspace, _ = shown
    conversations = list((ROOT / "examples" / "conversations").glob("*.json"))
    assert len(list((workspace / "reme_session" / "dialog").glob("*.jsonl"))) == len(conversations)
    assert len(list((workspace / "daily").glob("*/*.md"))) >= len(conversations)


def test_the_notes_become_linked_digest_nodes_with_their_source(shown: tuple[Path, str]) -> None:
    workspace, printed = shown
    nodes = list((workspace / "digest").glob("*/*.md"))
    assert {node.parent.name for node in nodes} == {"personal", "procedure", "wiki"}
    assert all("derived_from:: [[daily/" in node.read_text(encoding="utf-8") for node in nodes)
    assert "engine: offline" in printed
    assert "failures      0" in printed


def test_a_question_in_english_and_one_in_chinese_find_them(shown: tuple[Path, str]) -> None:
    _, printed = shown
    english, chinese = printed.split("\n? ")[1:]
    assert "TimescaleDB" in english.splitlines()[1]
    assert "24 小时" in "".join(chinese.splitlines()[1:])


def test_a_second_run_over_the_same_workspace_changes_no_byte(shown: tuple[Path, str]) -> None:
    workspace, _ = shown
    before = _files(workspace)
    again = _run(workspace, "--keep")
    assert again.returncode == 0, again.stdout + again.stderr
    assert _files(workspace) == before


def test_the_readme_shows_what_comes_out(shown: tuple[Path, str]) -> None:
    workspace, _ = shown
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^<!-- (\S+\.md) -->\n```markdown\n(.*?)```$", readme, re.MULTILINE | re.DOTALL)
    assert quoted
    for path, text in quoted:
        assert (workspace / path).read_text(encoding="utf-8") == text
    for path in re.findall(r"^((?:daily|digest|reme_session|resource)/\S+)  ", readme, re.MULTILINE):
        assert (workspace / path).exists(), path


def test_a_file_in_the_locomo_form_is_fed_with_its_dates(tmp_path: Path) -> None:
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps(LOCOMO), encoding="utf-8")
    done = _run(tmp_path / "workspace", "--data", str(data))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (tmp_path / "workspace" / "daily").iterdir() if path.is_dir()} <= {
        "2023-05-08",
        "2023-05-25",
    }
    assert "known answer: Juno" in done.stdout
    assert "Why did Ada move?" not in done.stdout


def test_all_conversations_get_a_workspace_each(tmp_path: Path) -> None:
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps(LOCOMO), encoding="utf-8")
    done = _run(tmp_path / "workspace", "--data", str(data), "--conversation", "all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (tmp_path / "workspace").iterdir()} == {"conv-x", "conv-y"}


def test_a_folder_that_is_no_workspace_is_never_deleted(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    done = _run(tmp_path)
    assert done.returncode != 0
    assert "not a workspace" in done.stderr
    assert (tmp_path / "thesis.txt").exists()


def test_a_conversation_that_is_not_there_is_said(tmp_path: Path) -> None:
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps(LOCOMO), encoding="utf-8")
    done = _run(tmp_path / "workspace", "--data", str(data), "--conversation", "99")
    assert done.returncode == 2
    assert "99" in done.stderr


def _files(workspace: Path) -> dict[str, bytes]:
    """Return every file of the user, and none of the program's own."""
    paths = (path for path in workspace.rglob("*") if path.is_file())
    return {
        relative: path.read_bytes()
        for path in paths
        if not (relative := path.relative_to(workspace).as_posix()).startswith("reme_metadata/")
    }
