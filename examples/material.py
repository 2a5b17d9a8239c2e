"""Which conversations does the demo feed? Ours in this folder, or a file in the public LoCoMo format.

A LoCoMo file is a JSON list; each element has ``sample_id``, ``conversation`` (``session_<n>`` lists of turns with
``session_<n>_date_time``) and ``qa`` (questions with their answers). The data set's licence is non-commercial, so no
copy of it stands here.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ADVERSARIAL = 5
"""The category of questions that have no answer in the conversation."""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of one day."""

    session_id: str
    date: str
    messages: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked when all is remembered; the answer is known only for LoCoMo."""

    text: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """Everything one run of the demo feeds into one workspace."""

    name: str
    sessions: list[Session]
    resources: dict[str, Path]
    """Path inside the workspace to the file to put there."""
    questions: list[Question]


def read_examples() -> Material:
    """Return the two weeks in this folder."""
    sessions = [_read_session(path) for path in sorted((HERE / "conversations").glob("*.json"))]
    files = sorted((HERE / "resources").glob("*/*"))
    resources = {f"resource/{file.parent.name}/{file.name}": file for file in files}
    questions = [
        Question("Why did we choose TimescaleDB for the telemetry?"),
        Question("固件发布流程里金丝雀网关要观察多久？"),
    ]
    return Material("examples", sessions, resources, questions)


def read_locomo(path: Path, choice: str) -> Iterator[Material]:
    """Yield the chosen conversations of a LoCoMo file.

    Args:
        path: the JSON file.
        choice: ``all``, a number counted from 1, or a ``sample_id``.
    """
    samples = json.loads(path.read_text(encoding="utf-8"))
    names = [str(sample.get("sample_id", number)) for number, sample in enumerate(samples, start=1)]
    for number, (name, sample) in enumerate(zip(names, samples, strict=True), start=1):
        if choice in ("all", str(number), name):
            yield Material(name, list(_locomo_sessions(sample["conversation"])), {}, _locomo_questions(sample["qa"]))


def _read_session(path: Path) -> Session:
    conversation = json.loads(path.read_text(encoding="utf-8"))
    return Session(conversation["session_id"], path.name[:10], conversation["messages"])


def _locomo_sessions(conversation: Mapping[str, Any]) -> Iterator[Session]:
    numbers = sorted(int(found[1]) for key in conversation if (found := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        start = _parse_moment(conversation[f"session_{number}_date_time"])
        turns = conversation[f"session_{number}"]
        messages = [_locomo_message(turn, start + timedelta(seconds=20 * place)) for place, turn in enumerate(turns)]
        yield Session(f"session_{number}", start.date().isoformat(), messages)


def _parse_moment(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _locomo_message(turn: Mapping[str, Any], moment: datetime) -> dict[str, Any]:
    photo = f" (shares a photo: {turn['blip_caption']})" if turn.get("blip_caption") else ""
    return {
        "id": turn["dia_id"],
        "role": "user",
        "name": turn["speaker"],
        "content": turn["text"] + photo,
        "created_at": moment.isoformat(),
    }


def _locomo_questions(questions: list[Mapping[str, Any]]) -> list[Question]:
    answerable = [question for question in questions if question["category"] != ADVERSARIAL]
    return [Question(question["question"], str(question["answer"])) for question in answerable[:3]]
