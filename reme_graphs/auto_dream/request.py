"""What is a run asked to do, and may it begin?"""

from collections.abc import Mapping
from typing import Any

from langgraph.types import Overwrite

from reme_graphs.auto_dream.state import DreamInput, Request
from reme_graphs.context import Context
from reme_graphs.errors import GraphError
from reme_store.daily import parse_day
from reme_store.errors import InvalidRequestError

CHECKPOINTER = "__pregel_checkpointer"
"""Key under which LangGraph tells a node of the checkpointer it runs with."""
DEFAULTS = {"scan_days": 2, "max_units": 20, "topic_count": 3, "topic_diversity_days": 7}
LEAST = {"scan_days": 0, "max_units": 1, "topic_count": 0, "topic_diversity_days": 0}


class NoDreamError(GraphError):
    """The run cannot begin; the message is for the caller."""


def read_request(inputs: DreamInput, context: Context) -> Request:
    """Return the inputs with defaults.

    Raises:
        InvalidRequestError: one of them cannot be used.
    """
    given = inputs.get("date") or ""
    return Request(
        day=parse_day(given).isoformat() if given else context.today(),
        hint=str(inputs.get("hint") or ""),
        scan_days=_count(inputs, "scan_days"),
        max_units=_count(inputs, "max_units"),
        topic_count=_count(inputs, "topic_count"),
        topic_diversity_days=_count(inputs, "topic_diversity_days"),
    )


def check_review(context: Context, configurable: Mapping[str, Any]) -> None:
    """Refuse a review that could not be answered.

    Raises:
        NoDreamError: there is no checkpointer to wait with.
    """
    if context.review and not context.dry_run and not can_resume(configurable):
        raise NoDreamError(
            "review needs a checkpointer: compile the graph with one and give a thread_id, "
            "or run it through open_reme or a server"
        )


def can_resume(configurable: Mapping[str, Any]) -> bool:
    """Tell whether a run is kept somewhere while it goes on."""
    return bool(configurable.get(CHECKPOINTER))


def beginning(request: Request, run_id: str) -> dict[str, Any]:
    """Return the state in which a run starts, nothing of an earlier run on the thread left."""
    return {
        "request": request,
        "date": request["day"],
        "run_id": run_id,
        "refused": False,
        "sources": {},
        "changed_paths": [],
        "unchanged_paths": [],
        "deleted_paths": [],
        "units": [],
        "topics": [],
        "outcomes": Overwrite({}),
        "usage": Overwrite({}),
        "again": [],
        "integrate_results": [],
        "failed_units": [],
        "failed_paths": [],
        "interests_path": "",
        "topics_written": 0,
        "checkpoint_paths": [],
        "errors": [],
        "summary": "",
    }


def refusal(text: str) -> dict[str, Any]:
    """Return the state of a run that ends before it began."""
    nothing = Request(day="", hint="", scan_days=0, max_units=0, topic_count=0, topic_diversity_days=0)
    return {**beginning(nothing, ""), "refused": True, "errors": [text]}


def _count(inputs: DreamInput, name: str) -> int:
    value: Any = inputs.get(name)
    if value is None:
        return DEFAULTS[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < LEAST[name]:
        raise InvalidRequestError(f"{name} is {value!r}; give a whole number of at least {LEAST[name]}")
    return value
