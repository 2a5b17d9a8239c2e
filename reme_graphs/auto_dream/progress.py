"""How far is a dream?

Events on the custom stream: {event, graph, done, total, ...}. ``total`` counts batches for the extraction, and the
units of the run for everything that happens to a unit.
"""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

Tell = Callable[..., None]
"""``tell(event, done, total, **facts)``."""

_drafted: Counter[str] = Counter()
_guard = threading.Lock()


def teller(write: Callable[[Any], None]) -> Tell:
    """Return what sends the events of this graph to a stream writer."""

    def tell(event: str, done: int, total: int, **facts: Any) -> None:
        write({"event": event, "graph": "auto_dream", "done": min(done, total), "total": total, **facts})

    return tell


def count_drafted(run_id: str, more: int = 1) -> int:
    """Count the units that this process has brought to a draft, or to a failure, in a run."""
    with _guard:
        _drafted[run_id] += more
        return _drafted[run_id]


def forget(run_id: str) -> None:
    """Drop the count of a run that has ended."""
    with _guard:
        _drafted.pop(run_id, None)
