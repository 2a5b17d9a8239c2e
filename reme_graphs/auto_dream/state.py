"""What does a dream know while it runs? Paths, hashes and small rows; never the text of a note.

The inputs live for one run of a thread (ephemeral); what the run makes of them is ``request``.
"""

from typing import Annotated, Any

from langgraph.channels import EphemeralValue
from pydantic import with_config
from typing_extensions import TypedDict

from reme_graphs.receipts import Receipt, Usage, merge_by_key


@with_config(use_attribute_docstrings=True)
class DreamInput(TypedDict, total=False):
    """What a caller may say."""

    date: Annotated[str, EphemeralValue]
    """Last day of the window, YYYY-MM-DD; empty: today."""
    hint: Annotated[str, EphemeralValue]
    """What the person wants this dream to look at."""
    scan_days: Annotated[int, EphemeralValue]
    """Days of the window; 0 = every day with unprocessed changes."""
    max_units: Annotated[int, EphemeralValue]
    """Most units integrated in one run; the others wait for the next."""
    topic_count: Annotated[int, EphemeralValue]
    """Most topics of interest a day keeps."""
    topic_diversity_days: Annotated[int, EphemeralValue]
    """Days before within which a topic is not proposed again."""


class Request(TypedDict):
    """The inputs as they hold."""

    day: str
    hint: str
    scan_days: int
    max_units: int
    topic_count: int
    topic_diversity_days: int


class Outcome(TypedDict, total=False):
    """What became of a unit so far."""

    status: str
    """drafted, conflict, landed, rejected, waiting or failed."""
    action: str
    target_path: str
    attempts: int
    """Times it was integrated in this run."""
    error: str
    denied: bool
    """True where the model could not be asked at all, which is not the unit's fault."""


class DreamState(DreamInput, total=False):
    """The state of a run, and what it ends with."""

    request: Request
    run_id: str
    refused: bool
    """True where the run ended before it began."""
    sources: dict[str, str]
    """Hash as read of every source whose units this run knows."""
    changed_paths: list[str]
    unchanged_paths: list[str]
    deleted_paths: list[str]
    units: list[dict[str, Any]]
    """Units of this run {id, name, bucket, summary, paths}, in the order of their landing."""
    topics: list[dict[str, Any]]
    outcomes: Annotated[dict[str, Outcome], merge_by_key]
    usage: Annotated[dict[str, Usage], merge_by_key]
    again: list[str]
    """Units that the last commit sent back to be integrated again."""
    integrate_results: list[dict[str, Any]]
    """One row a settled unit: {unit_id, action, target_path, note, attempts}."""
    failed_units: list[dict[str, Any]]
    failed_paths: list[str]
    """Sources that stay unprocessed because something failed."""
    interests_path: str
    topics_written: int
    checkpoint_paths: list[str]
    errors: list[str]
    summary: str
    receipt: Receipt


class UnitTask(TypedDict):
    """What one ``Send`` to integrate carries."""

    unit: dict[str, Any]
    run_id: str
    hint: str
    attempt: int
    """1 for the first time in this run."""
    total: int
    """Units of the run, for progress."""
