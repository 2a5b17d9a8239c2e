"""Which units are still to be integrated, and which were already?

The record ``ledger/dream.json``::

    {"extracted": {path: hash},                       read by an extraction, not yet in the catalog
     "units":   {id: {unit, sources, attempts, ...}}, to be integrated, oldest first
     "applied": {id: {sources, action, ...}}}         landed or rejected, the newest APPLIED_KEPT

A source is *pending* while its hash is the one in ``extracted``: its units are known and it is not read by a model
again. Landing a unit moves its row from ``units`` to ``applied`` in the journal entry that changes the note, so that a
unit is applied once whatever dies when.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reme_graphs.auto_dream.units import Unit
from reme_store.file_store import FileStore

RECORD = "ledger/dream.json"
MAX_ATTEMPTS = 5
BACK_OFF = (0.0, 600.0, 3600.0, 21600.0)
"""Seconds to wait after the first, second, third and fourth failure; there is no try after the fifth."""
APPLIED_KEPT = 500

Row = dict[str, Any]


@dataclass(slots=True)
class Ledger:
    """The ledger while a run looks at it or changes it."""

    extracted: dict[str, str] = field(default_factory=dict)
    units: dict[str, Row] = field(default_factory=dict)
    applied: dict[str, Row] = field(default_factory=dict)
    fault: str = ""
    """Why the record could not be read; the ledger is then empty."""

    # ---- sources ----

    def is_pending(self, path: str, sha256: str) -> bool:
        """Tell whether the units of this very text are known already."""
        return self.extracted.get(path) == sha256

    def drop_stale(self, hashes: Mapping[str, str]) -> list[Unit]:
        """Forget the units whose sources changed or vanished, with all that was read together with them.

        A unit of several sources takes its other sources along: they are extracted anew too. So does one of a source
        that was read in part only, because another batch with the rest of it failed.

        Args:
            hashes: Hash of every daily note now.
        """
        stale = {path for path, sha256 in self.extracted.items() if hashes.get(path) != sha256}
        read = self.extracted
        stale |= {
            path for row in self.units.values() for path, sha256 in row["sources"].items() if read.get(path) != sha256
        }
        dropped: list[Unit] = []
        while found := [row for row in self.units.values() if stale & row["sources"].keys()]:
            for row in found:
                stale |= row["sources"].keys()
                dropped.append(self.units.pop(row["unit"]["id"])["unit"])
        for path in stale:
            self.extracted.pop(path, None)
        return dropped

    def unsettled(self) -> set[str]:
        """Return the sources that still have a unit to be integrated."""
        return {path for row in self.units.values() for path in row["sources"]}

    # ---- units ----

    def add(self, units: Iterable[Unit], hashes: Mapping[str, str]) -> None:
        """Put new units behind those that wait."""
        for unit in units:
            sources = {path: hashes[path] for path in unit["paths"]}
            self.units.setdefault(
                unit["id"], {"unit": unit, "sources": sources, "attempts": 0, "error": "", "not_before": 0.0}
            )

    def ready(self, now: float) -> list[Unit]:
        """Return the units that may be integrated now, oldest first."""
        return [row["unit"] for row in self.units.values() if not _given_up(row) and row["not_before"] <= now]

    def resting(self, now: float) -> list[Row]:
        """Return the rows that failed before and wait for their next try."""
        return [row for row in self.units.values() if not _given_up(row) and row["not_before"] > now]

    def given_up(self) -> list[Row]:
        """Return the rows that failed too often; they stay until their source changes."""
        return [row for row in self.units.values() if _given_up(row)]

    def fail(self, unit_id: str, error: str, run_id: str, now: float, *, counts: bool = True) -> None:
        """Note a failure; the same run fails a unit once, however often it is resumed."""
        row = self.units.get(unit_id)
        if row is None or row.get("failed_in") == run_id:
            return
        attempts = row["attempts"] + (1 if counts else 0)
        wait = BACK_OFF[attempts - 1] if counts and attempts < MAX_ATTEMPTS else 0.0
        row.update(attempts=attempts, error=error, not_before=now + wait, failed_in=run_id)

    def settle(self, unit: Unit, facts: Mapping[str, Any]) -> None:
        """Note that a unit has landed or was rejected."""
        self.units.pop(unit["id"], None)
        self.applied.pop(unit["id"], None)
        self.applied[unit["id"]] = dict(facts)
        for old in list(self.applied)[: max(0, len(self.applied) - APPLIED_KEPT)]:
            del self.applied[old]

    def settled(self, unit_id: str, sources: Mapping[str, str]) -> Row | None:
        """Return what became of a unit of exactly these sources, None where it is open."""
        row = self.applied.get(unit_id)
        return row if row is not None and row["sources"] == dict(sources) else None

    def dump(self) -> bytes:
        """Return the record."""
        record = {"extracted": self.extracted, "units": self.units, "applied": self.applied}
        return json.dumps(record, ensure_ascii=False, indent=1).encode()


def read_ledger(store: FileStore) -> Ledger:
    """Read the ledger; one that cannot be read is empty and says so in ``fault``."""
    data = store.records.read(RECORD)
    if data is None:
        return Ledger()
    try:
        record = json.loads(data)
        return Ledger(dict(record["extracted"]), dict(record["units"]), dict(record["applied"]))
    except (ValueError, KeyError, TypeError) as error:
        return Ledger(fault=f"reme_metadata/{RECORD} cannot be read ({error}); it starts anew")


def write_ledger(store: FileStore, ledger: Ledger) -> None:
    """Replace the ledger's record where it changed."""
    data = ledger.dump()
    if data != store.records.read(RECORD):
        store.records.write(RECORD, data)


def reports(rows: Sequence[Row], text: str) -> list[str]:
    """Return one line a row for the receipt."""
    return [f"unit {row['unit']['name']!r} {text} ({row['attempts']} attempts): {row['error']}" for row in rows]


def _given_up(row: Row) -> bool:
    return bool(row["attempts"] >= MAX_ATTEMPTS)
