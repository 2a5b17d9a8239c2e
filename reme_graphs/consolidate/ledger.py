"""Which overloaded notes have been considered already, and what came of it?

``{path: {version, engine, outcome, attempts}}``. A note that was left whole, or whose split a person rejected, is not
asked about again until it changes or another engine looks; one whose plan failed comes after all others, and at most
a few times.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reme_store.file_store import FileStore

LEDGER = "ledger/consolidate.json"
MOST_ATTEMPTS = 5
WHOLE, REJECTED, FAILED = "left whole", "rejected", "failed"


def read_ledger(store: FileStore) -> dict[str, dict[str, Any]]:
    """What came of each note."""
    data = store.records.read(LEDGER)
    return json.loads(data) if data else {}


def record_outcomes(store: FileStore, outcomes: Mapping[str, tuple[str, str]], engine: str) -> None:
    """Keep what came of notes; those that are gone are forgotten.

    Args:
        outcomes: (version, outcome) by path.
        engine: who considered them.
    """
    if not outcomes:
        return
    with store.lock():
        rows = read_ledger(store)
        for path, (version, outcome) in outcomes.items():
            old = rows.get(path, {})
            again = old.get("version") == version and old.get("engine") == engine
            attempts = int(old.get("attempts", 0)) + 1 if again else 1
            rows[path] = {"version": version, "engine": engine, "outcome": outcome, "attempts": attempts}
        kept = {path: row for path, row in rows.items() if store.version_of(path)}
        store.records.write(LEDGER, json.dumps(kept, ensure_ascii=False).encode())


def standing(row: Mapping[str, Any] | None, version: str, engine: str) -> str:
    """What holds for a note as it is now: an outcome, empty where it has not been considered."""
    if not row or row["version"] != version or row["engine"] != engine:
        return ""
    return str(row["outcome"])


def due(
    found: Sequence[Mapping[str, Any]], ledger: Mapping[str, Mapping[str, Any]], engine: str
) -> list[Mapping[str, Any]]:
    """Overloaded notes to take apart now, in their order; those whose plan failed before come last."""
    states = {row["path"]: standing(ledger.get(row["path"]), row["version"], engine) for row in found}
    fresh = [row for row in found if not states[row["path"]]]
    again = [row for row in found if states[row["path"]] == FAILED and ledger[row["path"]]["attempts"] < MOST_ATTEMPTS]
    return [*fresh, *again]
