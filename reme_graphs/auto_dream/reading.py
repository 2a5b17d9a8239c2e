"""Which notes does this run read anew, which units does it integrate, and what is known without a model?

Day pages of the window are refreshed, sources compared with the catalog and the ledger. What was read before and has
not changed is pending: its units are known. The rest is extracted; its units go behind those that wait.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel

from reme_graphs.auto_dream.batches import Material
from reme_graphs.auto_dream.extraction import Extraction, extract_units
from reme_graphs.auto_dream.ledger import Ledger, read_ledger, write_ledger
from reme_graphs.auto_dream.progress import Tell
from reme_graphs.auto_dream.sources import compare, day_of, is_blank_page, missing, read_material, source_hashes, window
from reme_graphs.auto_dream.state import Request
from reme_graphs.auto_dream.units import Unit
from reme_graphs.context import OFFLINE, Context
from reme_graphs.resources import engine_name
from reme_store.daily import daily_reindex
from reme_store.file_store import FileStore

CATALOG = "dream"


@dataclass(slots=True)
class Plan:
    """What a scan has found."""

    hashes: dict[str, str]
    """Hash of every source on disk."""
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    to_read: list[str] = field(default_factory=list)
    """Changed sources whose units are not known."""


def read_sources(
    store: FileStore, context: Context, request: Request, model: BaseChatModel | None, tell: Tell
) -> dict[str, Any]:
    """Find what changed, extract it, and return the state that follows."""
    store.refresh()
    with store.journal(tool="auto_dream", reason="day pages"):
        _refresh_pages(store, request)
    redo = context.redo_offline and engine_name(context) != OFFLINE
    with store.lock():
        ledger = read_ledger(store)
        plan = make_plan(store, ledger, request, redo=redo)
        write_ledger(store, ledger)
    tell("scan", 1, 1, changed=len(plan.changed), unchanged=len(plan.unchanged), deleted=len(plan.deleted))
    every = (read_material(store, path) for path in plan.to_read)
    materials = [row for row in every if row is not None and not is_blank_page(row)]
    extraction = extract_units(model, context, request, materials, tell) if materials else Extraction()
    with store.lock():
        ledger = _known(store, plan, materials, extraction, redo=redo)
        write_ledger(store, ledger)
    units = [] if extraction.denied else ledger.ready(time.time())[: request["max_units"]]
    return _state(plan, extraction, ledger, units, materials)


def make_plan(store: FileStore, ledger: Ledger, request: Request, *, redo: bool) -> Plan:
    """Compare the sources with catalog and ledger; stale units leave the ledger."""
    catalog = store.catalog(CATALOG).items()
    plan = Plan(source_hashes(store))
    days = None if request["scan_days"] == 0 else set(window(date.fromisoformat(request["day"]), request["scan_days"]))
    in_window = {
        path: sha256
        for path, sha256 in plan.hashes.items()
        if (day_of(path) <= request["day"] if days is None else day_of(path) in days)
    }
    found = compare(in_window, catalog, redo=redo)
    dropped = {path for unit in ledger.drop_stale(plan.hashes) for path in unit["paths"] if path in plan.hashes}
    plan.changed = sorted({*found.changed, *dropped, *ledger.extracted})
    plan.unchanged = [path for path in found.unchanged if path not in set(plan.changed)]
    plan.deleted = missing(catalog, plan.hashes)
    plan.to_read = [path for path in plan.changed if not ledger.is_pending(path, plan.hashes[path])]
    return plan


def _refresh_pages(store: FileStore, request: Request) -> None:
    """Bring the index pages of the window up to date; without a window, those of all days that have notes."""
    days = window(date.fromisoformat(request["day"]), request["scan_days"])
    if request["scan_days"] == 0:
        days = sorted({day_of(path) for path in source_hashes(store) if day_of(path) <= request["day"]})
    for day in days:
        daily_reindex(store, day)


def _known(
    store: FileStore, plan: Plan, materials: Sequence[Material], extraction: Extraction, *, redo: bool
) -> Ledger:
    """Return the ledger with what was read; a unit that has landed from exactly these texts is not added again."""
    ledger = read_ledger(store)
    failed = set(extraction.failed_paths)
    read = {row.path for row in materials} - failed
    blank = set() if failed else {path for path in plan.to_read if path not in {row.path for row in materials}}
    ledger.extracted |= {path: plan.hashes[path] for path in plan.to_read if path in read | blank}
    for unit in extraction.units:
        done = ledger.settled(unit["id"], {path: plan.hashes[path] for path in unit["paths"]})
        if done is None or (redo and done.get("engine") == OFFLINE):
            ledger.applied.pop(unit["id"], None)
            ledger.add([unit], plan.hashes)
    return ledger


def _state(
    plan: Plan, extraction: Extraction, ledger: Ledger, units: Sequence[Unit], materials: Sequence[Material]
) -> dict[str, Any]:
    read = {row.path for row in materials}
    blank = {path for path in plan.to_read if path not in read}
    return {
        "changed_paths": [path for path in plan.changed if path not in blank],
        "unchanged_paths": plan.unchanged,
        "deleted_paths": plan.deleted,
        "sources": {path: ledger.units[unit["id"]]["sources"][path] for unit in units for path in unit["paths"]},
        "units": units,
        "topics": extraction.topics,
        "failed_paths": extraction.failed_paths,
        "errors": [*([ledger.fault] if ledger.fault else []), *extraction.errors],
        "usage": {"extract": extraction.usage},
    }
