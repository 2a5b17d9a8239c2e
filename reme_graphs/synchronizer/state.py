"""What does the synchronizer know while it runs?

The note's text stays on disk; the model's update is a small dict, kept so that a resumed run does not ask again.
"""

from typing import Annotated, Any

from langgraph.channels import EphemeralValue
from pydantic import with_config
from typing_extensions import TypedDict

from reme_graphs.receipts import Receipt, Usage


@with_config(use_attribute_docstrings=True)
class SynchronizerInput(TypedDict, total=False):
    """What a caller may say."""

    messages: Annotated[list[Any], EphemeralValue]
    """The conversation so far, in any usual shape."""
    workspace: Annotated[str, EphemeralValue]
    """A hint: the title of the task, or its folder daily/<date>/<slug>/."""
    date: Annotated[str, EphemeralValue]
    """Today as YYYY-MM-DD; empty: today in the zone of the context."""
    inherit_window_days: Annotated[int, EphemeralValue]
    """Days before within which an active task of the same title is carried on."""


class Request(TypedDict):
    """The inputs as they hold."""

    day: str
    stamp: str
    """Day and time of the run, as progress lines carry it."""
    hint: str
    folder: str
    """Folder named by the hint, without a trailing slash; empty where it is a title."""
    window: int


class Place(TypedDict):
    """Where the task is kept."""

    op: str
    """created, inherited or updated."""
    note_path: str
    predecessor: str
    """Note path of the task that is carried on; empty where there is none."""


class SynchronizerState(SynchronizerInput, total=False):
    """The state of a run."""

    request: Request
    run_id: str
    heard: list[str]
    """Hashes of the messages, by which a conversation is known again."""
    update: dict[str, Any]
    """The TaskUpdate as it holds: cleaned, its claims checked."""
    place: Place
    draft: str
    """Record that holds the merged note until it is written."""
    used_llm: bool
    applied: list[dict[str, str]]
    failed: list[dict[str, str]]
    skipped: bool
    reason: str
    """Why nothing was to be done."""
    found: int
    """Materials written or newly found."""
    actions: str
    summary: str | None
    usage: Usage
    errors: list[str]
    receipt: Receipt


class SynchronizerOutput(TypedDict):
    """What a run gives back: the fields of SynchronizerResult, and the receipt."""

    used_llm: bool
    applied: list[dict[str, str]]
    failed: list[dict[str, str]]
    skipped: bool
    actions: str
    workspace: str | None
    """Folder of the task, with a trailing slash; None where there is none."""
    summary: str | None
    """The whole note read back from disk; None when skipped or failed."""
    receipt: Receipt
