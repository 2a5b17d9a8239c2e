"""The measure of quality reads its formats and counts right."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TALK = {
    "session_1": [
        {"speaker": "Ana", "dia_id": "D1:1", "text": "The otter sleeps in the holt."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "I bought a red car."},
    ],
    "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "Look.", "blip_caption": "a photo of a lighthouse"}],
}
ASKED = [
    {"question": "Where does the otter sleep?", "evidence": ["D1:1"], "category": 4},
    {"question": "Who bought a car, and what is on the lighthouse photo?", "evidence": ["D1:2; D2:1"], "category": 1},
    {"question": "No evidence?", "evidence": [], "category": 5},
]


def run(*arguments: str) -> str:
    command = [sys.executable, str(ROOT / "benchmarks/quality.py"), *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT), "PATH": ""}
    )
    return done.stdout


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"conversation": TALK, "qa": ASKED}] * 2), encoding="utf-8")
    return path


def test_turns_and_sessions_are_found_by_their_evidence(locomo: Path) -> None:
    shown = run("--locomo", str(locomo), "--choose")
    assert "### LoCoMo turns: 2 questions, 3 notes" in shown and "### LoCoMo sessions: 2 questions, 2 notes" in shown
    rows = [line.split(" | ") for line in shown.splitlines() if line.startswith(("| keyword", "| chosen"))]
    assert len(rows) == 4 and all(row[1:4] == ["1.000", "1.000", "1.000"] for row in rows)


def test_passages_are_found_by_their_questions(tmp_path: Path) -> None:
    contexts = {"水獭睡在河边的洞里。": "水獭睡在哪里？", "灯塔建于1901年。": "灯塔什么时候建的？"}
    paragraphs = [{"context": context, "qas": [{"question": asked}] * 2} for context, asked in contexts.items()]
    path = tmp_path / "passages.json"
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}, ensure_ascii=False), encoding="utf-8")
    shown = run("--passages", str(path))
    assert "### Passages: 2 questions, 2 notes" in shown
    assert "| keyword | 1.000 | 1.000 | 1.000 |" in shown
