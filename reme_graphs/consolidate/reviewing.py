"""What is a person asked before a note is taken apart, and what have they answered?"""

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from reme_graphs.consolidate.splitting import Split

ACCEPT, REJECT = "accept", "reject"
CHECKPOINTER = "__pregel_checkpointer"
"""Key under which LangGraph tells a node of the checkpointer it runs with."""
DIFF_BYTES = 20_000
"""A longer difference is cut."""

RESPONSE_SCHEMA: dict[str, Any] = {
    "title": "Review",
    "description": 'Decisions by unit id; the plain words "accept" and "reject" mean all.',
    "anyOf": [
        {"type": "string", "enum": [ACCEPT, REJECT]},
        {
            "type": "object",
            "required": ["decisions"],
            "properties": {
                "decisions": {
                    "type": "object",
                    "description": "A split that is not named is left for another run.",
                    "additionalProperties": {
                        "type": "object",
                        "required": ["decision"],
                        "properties": {"decision": {"type": "string", "enum": [ACCEPT, REJECT]}},
                    },
                }
            },
        },
    ],
}


def review_row(unit_id: str, path: str, old: str, split: Split) -> dict[str, Any]:
    """What a person is shown of a split."""
    diff = "\n".join(diffs_of(path, old, split).values())
    data = diff.encode()
    shown = diff if len(data) <= DIFF_BYTES else data[:DIFF_BYTES].decode(errors="ignore") + "\n… cut here"
    return {"unit_id": unit_id, "action": "SPLIT", "target_path": path, "draft_id": unit_id, "diff": shown}


def diffs_of(path: str, old: str, split: Split) -> dict[str, str]:
    """What a split changes, as a unified diff by path."""
    pairs = {path: (old, split.parent), **{child: ("", text) for child, text in split.children.items()}}
    return {target: _unified(target, before, after) for target, (before, after) in pairs.items()}


def read_decisions(answer: Any, unit_ids: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Understand an answer.

    Returns:
        ``accept`` or ``reject`` by unit id, and what could not be understood; what is not named is rejected.
    """
    if isinstance(answer, str) and answer.lstrip().startswith("{"):
        try:
            answer = json.loads(answer)
        except ValueError:
            return {}, [f"the answer of the review is no JSON: {answer[:100]!r}; nothing was taken apart"]
    if isinstance(answer, str) and answer.strip().casefold() in (ACCEPT, REJECT):
        return dict.fromkeys(unit_ids, answer.strip().casefold()), []
    given = answer.get("decisions") if isinstance(answer, Mapping) else None
    if not isinstance(given, Mapping):
        return {}, ['the answer of the review is neither "accept", "reject" nor {"decisions": {...}}']
    kinds = {str(unit): value.get("decision") if isinstance(value, Mapping) else value for unit, value in given.items()}
    faults = [
        f"the review names a split {unit!r} that it was not asked about" for unit in kinds if unit not in unit_ids
    ]
    faults += [
        f"the decision on {unit!r} cannot be used: {kind!r}"
        for unit, kind in kinds.items()
        if kind not in (ACCEPT, REJECT)
    ]
    return {unit: str(kind) for unit, kind in kinds.items() if kind in (ACCEPT, REJECT)}, faults


def _unified(path: str, before: str, after: str) -> str:
    origin = path if before else "/dev/null"
    return "\n".join(difflib.unified_diff(before.split("\n"), after.split("\n"), origin, path, lineterm="", n=3))
