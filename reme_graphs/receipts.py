"""What did a run do, and what did it cost?

Every graph ends with a receipt: plain JSON {success, answer, metadata, engine, usage, errors}. ``success`` is false
exactly if something failed or remains to be retried. Usage counts answered calls only.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from reme_graphs.usage import Usage, add_usage, no_usage

__all__ = ["Receipt", "Usage", "add_usage", "merge_by_key", "no_usage", "receipt"]


class Receipt(TypedDict):
    """What a run answers, whatever happened in it."""

    success: bool
    answer: str
    metadata: dict[str, Any]
    engine: str
    usage: Usage
    errors: list[str]


def receipt(
    *,
    success: bool,
    answer: str,
    metadata: Mapping[str, Any] | None = None,
    engine: str = "",
    usage: Usage | None = None,
    errors: Sequence[str] = (),
) -> Receipt:
    """Build a receipt."""
    return Receipt(
        success=success,
        answer=answer,
        metadata=dict(metadata or {}),
        engine=engine,
        usage=usage or no_usage(),
        errors=list(errors),
    )


def merge_by_key(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce results of a fan-out: one value a unit or file, a later one of the same key wins.

    Start a run with ``Overwrite({})`` in its first node: reducers go on over the runs of one thread.
    """
    return {**old, **new}
