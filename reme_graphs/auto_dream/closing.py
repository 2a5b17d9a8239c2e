"""What does a run leave behind, and what does it say of itself?"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from reme_graphs.auto_dream.integration import draft_name
from reme_graphs.auto_dream.ledger import Ledger, read_ledger, reports, write_ledger
from reme_graphs.auto_dream.reading import CATALOG
from reme_graphs.auto_dream.state import DreamState
from reme_graphs.context import OFFLINE
from reme_graphs.drafts import record_name
from reme_graphs.receipts import Usage, add_usage, no_usage, receipt
from reme_store.daily import interests_path
from reme_store.file_store import FileStore
from reme_store.models import CatalogEntry


def close_run(store: FileStore, state: DreamState, engine: str, now: float) -> dict[str, Any]:
    """Catalog the sources all of whose units are settled, drop the deleted, and sum up.

    Returns:
        The last values of the state, with ``problems`` (lines for the receipt), ``retries`` (whether something is to be
        tried again) and ``waiting`` (how many units wait).
    """
    with store.lock():
        ledger = read_ledger(store)
        done = _catalog(store, state, ledger, engine)
        write_ledger(store, ledger)
    for unit in state["units"]:
        store.records.delete(record_name(draft_name(state["run_id"], unit["id"])))
    failed = _failed_units(state)
    resting = [row for row in ledger.resting(now) if row.get("failed_in") != state["run_id"]]
    paths = [*state["failed_paths"], *(path for unit in failed for path in unit["paths"])]
    return {
        "integrate_results": _results(state),
        "failed_units": failed,
        "failed_paths": list(dict.fromkeys(paths)),
        "checkpoint_paths": done,
        "waiting": sum(not row["error"] for row in ledger.units.values()),
        "retries": bool(failed or state["failed_paths"] or resting or _is_open(state)),
        "problems": [
            *(f"unit {unit['name']!r} failed: {unit['error']}" for unit in failed),
            *reports(resting, "rests after failing"),
            *reports(ledger.given_up(), "failed too often and is not tried again until its source changes"),
        ],
    }


def make_receipt(state: DreamState, engine: str, closed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the last update of the state, its receipt included."""
    values = {
        key: closed[key]
        for key in ("integrate_results", "failed_units", "failed_paths", "checkpoint_paths")
        if key in closed
    }
    errors = [*state["errors"], *closed.get("problems", ())]
    success = not (state["refused"] or closed.get("retries", False))
    summary = state["errors"][0] if state["refused"] else _summary(state, closed)
    metadata: dict[str, Any] = {
        "run_id": state["run_id"],
        "counts": _counts(closed),
        "waiting": closed.get("waiting", 0),
        "topics_written": state["topics_written"],
    }
    if "diffs" in closed:
        metadata["diffs"] = closed["diffs"]
    return {
        **values,
        "date": state["request"]["day"],
        "errors": errors,
        "summary": summary,
        "receipt": receipt(
            success=success, answer=summary, metadata=metadata, engine=engine, usage=_usage(state), errors=errors
        ),
    }


def _catalog(store: FileStore, state: DreamState, ledger: Ledger, engine: str) -> list[str]:
    """Move what is settled from the ledger to the catalog; return the paths."""
    open_sources = ledger.unsettled()
    done = {path: sha256 for path, sha256 in ledger.extracted.items() if path not in open_sources}
    rows = [row for row in ledger.applied.values() if row["run_id"] == state["run_id"] and row["engine"] == OFFLINE]
    offline = {path for row in rows for path in row["sources"]}
    upserts = {path: CatalogEntry(sha256, OFFLINE if path in offline else engine) for path, sha256 in done.items()}
    topics = store.version_of(interests_path(state["request"]["day"]))
    if topics is not None and state["topics_written"]:
        upserts[interests_path(state["request"]["day"])] = CatalogEntry(topics, engine)
    if upserts or state["deleted_paths"]:
        store.catalog(CATALOG).update(upserts, state["deleted_paths"])
    for path in done:
        del ledger.extracted[path]
    return sorted(upserts)


def _results(state: DreamState) -> list[dict[str, Any]]:
    rows = []
    for unit in state["units"]:
        outcome = state["outcomes"].get(unit["id"], {})
        if outcome.get("status") in ("landed", "rejected"):
            kept = {key: outcome.get(key, "") for key in ("action", "target_path", "note")}
            rows.append({"unit_id": unit["id"], **kept, "attempts": outcome.get("attempts", 0)})
    return rows


def _failed_units(state: DreamState) -> list[dict[str, Any]]:
    found = ((unit, state["outcomes"].get(unit["id"], {})) for unit in state["units"])
    return [{**unit, "error": outcome["error"]} for unit, outcome in found if outcome.get("status") == "failed"]


def _is_open(state: DreamState) -> bool:
    """Tell whether a person's answer to the review could not be used."""
    return any(line.startswith("the answer of the review") for line in state["errors"])


def _usage(state: DreamState) -> Usage:
    return add_usage(no_usage(), *state["usage"].values())


def _counts(closed: Mapping[str, Any]) -> dict[str, int]:
    return dict(Counter(row["action"] for row in closed.get("integrate_results", ())))


def _summary(state: DreamState, closed: Mapping[str, Any]) -> str:
    counts = _counts(closed)
    parts = [f"{count} {action}" for action, count in sorted(counts.items())]
    parts += [f"{len(closed['failed_units'])} failed"] if closed["failed_units"] else []
    parts += [f"{closed['waiting']} waiting for a later run"] if closed["waiting"] else []
    units = f"{len(state['units'])} unit(s): {', '.join(parts)}" if parts else "nothing new"
    read = f"{len(state['changed_paths'])} changed note(s)"
    read += f" ({len(state['failed_paths'])} could not be read)" if state["failed_paths"] else ""
    return f"Dream of {state['request']['day']}: {read}, {units}; {state['topics_written']} new topic(s)."
