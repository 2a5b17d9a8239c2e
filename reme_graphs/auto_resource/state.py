"""What passes between the nodes of auto_resource?

Plain JSON: paths and outcomes by resource. The text of a resource or note is never part of the state.
"""

from typing import Annotated, NotRequired

from langgraph.channels import EphemeralValue
from pydantic import with_config
from typing_extensions import TypedDict

from reme_graphs.receipts import Receipt, Usage, merge_by_key


class FileChange(TypedDict):
    """A change a caller or watcher saw."""

    path: str
    """Workspace-relative path below resource/."""
    change: str
    """added, modified or deleted."""


@with_config(use_attribute_docstrings=True)
class Input(TypedDict):
    """What a caller gives; it lives for the first step only, so that a next run on a thread inherits nothing."""

    changes: NotRequired[Annotated[list[FileChange], EphemeralValue]]
    """What changed. Empty: everything below resource/ is looked at."""


class Job(TypedDict):
    """One resource to interpret; what a fan-out task is given."""

    run_id: str
    path: str
    note_path: str
    moved_from: str
    """Where the same file was before, if it was renamed: its note follows, no model is asked."""
    total: int


class Removal(TypedDict):
    """One resource that is gone."""

    run_id: str
    path: str
    note_path: str
    """Note it owns; empty where there is none."""
    total: int


class Outcome(TypedDict):
    """What became of one resource."""

    note: str
    """Its note; empty where none was made."""
    error: str
    skipped: str
    removed: str
    """Note that went to the trash."""
    days: list[str]
    """Days whose pages change."""
    usage: Usage


class State(Input):
    """What the nodes know."""

    run_id: NotRequired[str]
    jobs: NotRequired[list[Job]]
    removals: NotRequired[list[Removal]]
    refused: NotRequired[dict[str, str]]
    """Resources that cannot be taken, with the reason."""
    unchanged: NotRequired[int]
    outcomes: NotRequired[Annotated[dict[str, Outcome], merge_by_key]]
    notes: NotRequired[dict[str, str]]
    failed: NotRequired[dict[str, str]]
    removed: NotRequired[list[str]]
    engine: NotRequired[str]
    receipt: NotRequired[Receipt | None]
