"""What does the maintainer know while it runs? Paths, versions and counts; texts of drafts stay in records."""

from typing import Annotated, Any

from langgraph.channels import EphemeralValue
from pydantic import with_config
from typing_extensions import TypedDict

from reme_graphs.receipts import Receipt, Usage


@with_config(use_attribute_docstrings=True)
class ConsolidateInput(TypedDict, total=False):
    """What a caller may say."""

    paths: Annotated[list[str], EphemeralValue]
    """Digest notes to look at; empty: all of them."""
    max_splits: Annotated[int, EphemeralValue]
    """Most notes taken apart in one run."""


class Candidate(TypedDict):
    """An overloaded note that this run may take apart."""

    path: str
    version: str
    reasons: list[str]


class Planned(TypedDict):
    """What became of a candidate."""

    path: str
    draft: str
    """Record of the planned texts; empty where the note stays whole."""
    children: list[str]
    error: str
    remark: str
    """What a person should know of a plan that was made; empty where there is nothing."""


class ConsolidateState(ConsolidateInput, total=False):
    """The state of a run."""

    run_id: str
    looked_at: list[str]
    """Notes named by the caller, resolved; empty: all."""
    overloaded: list[dict[str, Any]]
    """Every overloaded note, the worst first: {path, reasons}."""
    candidates: list[Candidate]
    planned: list[Planned]
    splits: list[dict[str, Any]]
    diffs: dict[str, str]
    """What a dry run would change, by path."""
    report: str
    usage: Usage
    errors: list[str]
    refused: bool
    receipt: Receipt


class ConsolidateOutput(TypedDict):
    """What a run gives back."""

    splits: list[dict[str, Any]]
    """{path, children[]} of every note that was taken apart."""
    report: str
    """Path of the report; empty where the run was refused."""
    receipt: Receipt
