"""Does the draft of a unit hold what every digest note must hold?

Faults go back to the agent that made the draft. What an existing note already had is tolerated, new faults are not.
"""

from collections.abc import Mapping
from typing import Any

from reme_graphs.draft_checks import (
    anchor_faults,
    edge_faults,
    front_matter_faults,
    source_faults,
    survival_faults,
)
from reme_graphs.drafts import Draft
from reme_store.text.front_matter import parse_note

CREATE, CORROBORATE = "CREATE", "CORROBORATE"


def home_of(bucket: str) -> str:
    """Return the folder where new notes of a bucket go."""
    return f"digest/{bucket}/"


def place_fault(path: str, bucket: str, *, exists: bool) -> str:
    """Say why a unit of this bucket must not write this path; empty when it may."""
    if not path.startswith("digest/") or not path.endswith(".md"):
        return f"{path!r} is not a note of digest/; this work writes one digest note only"
    folder, _, _ = path.rpartition("/")
    if not exists and f"{folder}/" != home_of(bucket):
        return f"{path!r} is new and belongs to another place: a new note of this unit is {home_of(bucket)}<name>.md"
    return ""


def check_draft(unit: Mapping[str, Any], action: str, target_path: str, draft: Draft | None) -> list[str]:
    """Return the faults of a draft that an outcome names as its result.

    Args:
        unit: Its ``bucket`` and ``paths`` count.
        target_path: Note the outcome names, as the agent wrote it.
        draft: What the agent wrote; None where it wrote nothing.
    """
    if draft is None:
        return [f"nothing was written to {target_path!r}; write or edit the note before the outcome"]
    if target_path.removeprefix("./") not in (draft.target_path, draft.target_path.removesuffix(".md")):
        return [f"the outcome names {target_path!r}, but the draft is of {draft.target_path!r}; name that one"]
    return [*_action_faults(action, draft), *text_faults(unit, draft)]


def text_faults(unit: Mapping[str, Any], draft: Draft) -> list[str]:
    """Return the faults of a draft's text, whoever wrote it."""
    path, old, new = draft.target_path, draft.base_text or "", draft.text
    place = place_fault(path, unit["bucket"], exists=draft.base_text is not None)
    return [
        *([place] if place else []),
        *front_matter_faults(old, new),
        *(_name_faults(path, new) if draft.base_text is None else []),
        *source_faults(path, old, new, unit["paths"]),
        *edge_faults(path, old, new),
        *anchor_faults(old, new),
        *survival_faults(old, new),
    ]


def unchanged_faults(unit: Mapping[str, Any], path: str, text: str) -> list[str]:
    """Return why an outcome without a draft does not stand: the note must already name every source of the unit."""
    return source_faults(path, text, text, unit["paths"])


def _action_faults(action: str, draft: Draft) -> list[str]:
    exists = draft.base_text is not None
    if action == CREATE and exists:
        return [
            f"{draft.target_path} exists already; a CREATE needs a new file, else say CORROBORATE, REFINE or CORRECT"
        ]
    if action != CREATE and not exists:
        return [f"{draft.target_path} is new; its action is CREATE, while {action} changes an existing note"]
    return []


def _name_faults(path: str, text: str) -> list[str]:
    stem = path.rpartition("/")[2].removesuffix(".md")
    name = parse_note(text).front_matter.get("name", "")
    return [] if name == stem else [f"the front matter needs name: {stem} (the file's name), it has {name!r}"]
