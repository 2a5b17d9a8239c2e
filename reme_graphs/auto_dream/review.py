"""What does a person see of the drafts, and what have they decided?

A decision is kept in the draft's record, so that a resumed commit neither asks nor decides twice. ``approved`` is the
hash of the difference that was accepted: when a conflict gives the unit another one, it is asked about once more.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reme_graphs.auto_dream.sources import text_of
from reme_graphs.drafts import unified_diff
from reme_store.file_store import FileStore

DIFF_BYTES = 20_000
"""A longer difference is cut; the ``draft`` tool reads it whole."""

ACCEPT, EDIT, REJECT, WAIT = "accept", "edit", "reject", "wait"

RESPONSE_SCHEMA: dict[str, Any] = {
    "title": "Review",
    "description": 'Decisions by unit id; the plain words "accept" and "reject" mean all units.',
    "anyOf": [
        {"type": "string", "enum": [ACCEPT, REJECT]},
        {
            "type": "object",
            "required": ["decisions"],
            "properties": {
                "decisions": {
                    "type": "object",
                    "description": "A unit that is not named waits for a later run.",
                    "additionalProperties": {
                        "type": "object",
                        "required": ["decision"],
                        "properties": {
                            "decision": {"type": "string", "enum": [ACCEPT, EDIT, REJECT]},
                            "text": {"type": "string", "description": "edit: the whole note, front matter included."},
                        },
                    },
                }
            },
        },
    ],
}


@dataclass(slots=True)
class Decisions:
    """An answer as understood."""

    kinds: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def difference(store: FileStore, record: Mapping[str, Any]) -> str:
    """Return what a draft changes in the note as it is now."""
    path = record["target_path"]
    return "" if record.get("unchanged") else unified_diff(path, text_of(store, path), record["text"])


def hash_of(diff: str) -> str:
    """Return what tells an accepted difference from a later one."""
    return hashlib.sha256(diff.encode()).hexdigest()


def row_of(unit: Mapping[str, Any], record: Mapping[str, Any], diff: str) -> dict[str, Any]:
    """Return what the person is shown of a unit."""
    return {
        "unit_id": unit["id"],
        "name": unit["name"],
        "action": record["action"],
        "target_path": record["target_path"],
        "draft_id": record["draft_id"],
        "diff": _cut(diff, record["draft_id"]),
    }


def read_answer(answer: Any, unit_ids: Sequence[str]) -> Decisions:
    """Understand an answer; what cannot be understood lets the units wait and says so."""
    answer = _parsed(answer)
    if isinstance(answer, str) and answer.strip().casefold() in (ACCEPT, REJECT):
        return Decisions(dict.fromkeys(unit_ids, answer.strip().casefold()))
    given = answer.get("decisions") if isinstance(answer, Mapping) else None
    if not isinstance(given, Mapping):
        fault = 'the answer of the review is neither "accept", "reject" nor {"decisions": {...}}; all its units wait'
        return Decisions(dict.fromkeys(unit_ids, WAIT), errors=[fault])
    decisions = Decisions(dict.fromkeys(unit_ids, WAIT))
    for unit_id, value in given.items():
        _decide(decisions, str(unit_id), value)
    return decisions


def _decide(decisions: Decisions, unit_id: str, value: Any) -> None:
    kind = value.get("decision") if isinstance(value, Mapping) else value
    text = value.get("text") if isinstance(value, Mapping) else None
    if unit_id not in decisions.kinds:
        decisions.errors.append(f"the review names a unit {unit_id!r} that it was not asked about")
    elif kind == EDIT and isinstance(text, str) and text.strip():
        decisions.kinds[unit_id], decisions.texts[unit_id] = EDIT, text
    elif kind in (ACCEPT, REJECT):
        decisions.kinds[unit_id] = kind
    else:
        decisions.errors.append(f"the decision on unit {unit_id!r} cannot be used: {str(value)[:100]}; it waits")


def _parsed(answer: Any) -> Any:
    if isinstance(answer, str) and answer.lstrip().startswith("{"):
        try:
            return json.loads(answer)
        except ValueError:
            return answer
    return answer


def _cut(diff: str, draft_id: str) -> str:
    data = diff.encode()
    if len(data) <= DIFF_BYTES:
        return diff
    kept = data[:DIFF_BYTES].decode(errors="ignore")
    return f"{kept}\n… cut here; the tool draft reads all of it: draft_id={draft_id}"
