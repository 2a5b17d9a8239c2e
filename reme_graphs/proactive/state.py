"""What does a reading of topics take, and what does it give?"""

from typing import Annotated, Any

from langgraph.channels import EphemeralValue
from pydantic import with_config
from typing_extensions import TypedDict

from reme_graphs.receipts import Receipt


@with_config(use_attribute_docstrings=True)
class ProactiveInput(TypedDict, total=False):
    """What a caller may say."""

    date: Annotated[str, EphemeralValue]
    """The day, YYYY-MM-DD; empty: today."""
    include_content: Annotated[bool, EphemeralValue]
    """Whether the raw YAML is wanted too."""


class ProactiveState(ProactiveInput, total=False):
    """The topics of a day."""

    topics: list[dict[str, Any]]
    content: str | None
    """The raw YAML of the day's interests.yaml; None without one."""
    skipped: bool
    """True where the day has no topics yet."""
    receipt: Receipt
