"""Which drafts land, in which order, and which units must look again?

Under the workspace's lock, in unit order. A draft lands if its note still has the version it was made from, and if no
digest note that changed since its recall stands among the recall's first hits now. Otherwise the unit is integrated
again, and the units behind it wait, so that the digest becomes what a serial run in this order would have made it. The
note, the history and the ledger's row change in one journal entry: whatever dies, a unit lands once.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reme_graphs.auto_dream.checks import text_faults
from reme_graphs.auto_dream.integration import draft_name
from reme_graphs.auto_dream.ledger import RECORD, Ledger, read_ledger, write_ledger
from reme_graphs.auto_dream.progress import Tell
from reme_graphs.auto_dream.recall import is_outdated
from reme_graphs.auto_dream.review import ACCEPT, EDIT, REJECT, WAIT, Decisions, difference, hash_of, row_of
from reme_graphs.auto_dream.state import Outcome
from reme_graphs.auto_dream.units import Unit
from reme_graphs.drafts import Draft, load_draft, record_name
from reme_store.errors import EditConflictError
from reme_store.file_store import FileStore

TOGETHER = 2
"""Times a unit is integrated again beside others; after that it is the only one at work."""
MOST_ATTEMPTS = 8
"""After so many integrations in one run a unit has failed: somebody keeps changing its notes."""
SETTLED = ("landed", "rejected", "waiting")


@dataclass(slots=True)
class Commit:
    """One pass over the units of a run."""

    store: FileStore
    run_id: str
    units: Sequence[Unit]
    sources: Mapping[str, str]
    """Hash as read of the units' sources."""
    outcomes: dict[str, Outcome]
    tell: Tell
    ledger: Ledger = field(default_factory=Ledger)
    again: list[str] = field(default_factory=list)

    # ---- review ----

    def to_review(self) -> list[dict[str, Any]]:
        """Return the rows a person has not decided on yet."""
        rows = []
        for unit in self.units:
            record = self._record(unit) if self._is_drafted(unit) else None
            if record is None or record.get("decision") in (REJECT, WAIT) or record.get("unchanged"):
                continue
            diff = difference(self.store, record)
            if hash_of(diff) != record.get("approved"):
                rows.append(row_of(unit, record, diff))
        return rows

    def decide(self, decisions: Decisions) -> None:
        """Keep the decisions in the records of the drafts."""
        for unit in self.units:
            kind = decisions.kinds.get(unit["id"])
            record = self._record(unit)
            if kind is None or record is None:
                continue
            record["decision"] = kind
            if kind == EDIT:
                record["text"] = decisions.texts[unit["id"]]
                record["edited"] = True
            if kind in (ACCEPT, EDIT):
                record["approved"] = hash_of(difference(self.store, record))
            self.store.records.write(record_name(record["draft_id"]), json.dumps(record, ensure_ascii=False).encode())

    # ---- landing ----

    def run(self) -> None:
        """Land what can land; ``again`` then names the units to be integrated again."""
        with self.store.lock():
            self.ledger = read_ledger(self.store)
            while conflicts := self._pass():
                self._send_back(conflicts)
                if self.again:
                    break
            write_ledger(self.store, self.ledger)

    def _pass(self) -> list[Unit]:
        """Go through the units in their order; return those that must be integrated again."""
        conflicts: list[Unit] = []
        for unit in self.units:
            if not self._settle(unit, blocked=bool(conflicts)):
                conflicts.append(unit)
        return conflicts

    def _settle(self, unit: Unit, *, blocked: bool) -> bool:
        """Bring a unit one step on; False where it must be integrated again."""
        outcome = self.outcomes[unit["id"]]
        if outcome["status"] in SETTLED:
            return True
        done = self.ledger.settled(unit["id"], self._sources(unit))
        if done is not None:
            self._note(unit, "rejected" if done["action"] == "REJECTED" else "landed", done)
            return True
        if outcome["status"] == "failed":
            counts = not outcome.get("denied", False)
            self.ledger.fail(unit["id"], outcome["error"], self.run_id, time.time(), counts=counts)
            return True
        record = self._record(unit)
        if record is None:
            return False
        if record.get("decision") in (REJECT, WAIT):
            self._put_aside(unit, record)
            return True
        fault = self._fault_of_edit(unit, record)
        if fault:
            self._fail(unit, fault)
            return True
        if self._is_outdated(unit, record):
            return False
        return blocked or self._land(unit, record)

    def _land(self, unit: Unit, record: Mapping[str, Any]) -> bool:
        """Write the note and the ledger in one entry; False where the note was changed at this very moment."""
        path, changes = record["target_path"], {}
        if not record["unchanged"]:
            changes[path] = record["text"]
        facts = self._facts(unit, record, record["action"])
        self.ledger.settle(unit, facts)
        try:
            with self.store.journal(
                tool="auto_dream", run_id=self.run_id, reason=f"{record['action']}: {record['note']}"
            ):
                self.store.apply(changes, expected={path: record["base_version"]}, records={RECORD: self.ledger.dump()})
        except EditConflictError:
            self.ledger = read_ledger(self.store)
            return False
        self._note(unit, "landed", facts)
        self._tell("committed", unit, action=record["action"], target_path=path)
        return True

    def _put_aside(self, unit: Unit, record: Mapping[str, Any]) -> None:
        """Settle what a person rejected; what they did not name stays in the ledger."""
        if record["decision"] == WAIT:
            self._note(unit, "waiting", record)
        else:
            facts = self._facts(unit, record, "REJECTED")
            self.ledger.settle(unit, facts)
            self._note(unit, "rejected", facts)
        self._tell(self.outcomes[unit["id"]]["status"], unit)

    def _is_outdated(self, unit: Unit, record: Mapping[str, Any]) -> bool:
        now = self.store.version_of(record["target_path"])
        return now != record["base_version"] or is_outdated(self.store, unit, record["recall"])

    def _fault_of_edit(self, unit: Unit, record: Mapping[str, Any]) -> str:
        """Check a text a person wrote; the agents' were checked when they were made."""
        version = record["base_version"]
        if not record.get("edited") or self.store.version_of(record["target_path"]) != version:
            return ""
        base = None if version is None else self.store.read_note(record["target_path"]).text
        faults = text_faults(unit, Draft(record["target_path"], version, base, record["text"]))
        return f"the edited text does not stand: {'; '.join(faults)}" if faults else ""

    def _send_back(self, conflicts: Sequence[Unit]) -> None:
        """Choose who is integrated again: all that may work together, or the first alone."""
        for unit in [*conflicts]:
            if self.outcomes[unit["id"]]["attempts"] >= MOST_ATTEMPTS:
                self._fail(unit, "the notes it is about kept changing while it was integrated")
        left = [unit for unit in conflicts if self.outcomes[unit["id"]]["status"] != "failed"]
        together = [unit for unit in left if self.outcomes[unit["id"]]["attempts"] <= TOGETHER]
        chosen = left[:1] if left and left[0] not in together else together
        self.again = [unit["id"] for unit in chosen]
        for unit in chosen:
            self._tell("conflict", unit)

    # ---- rows ----

    def _fail(self, unit: Unit, error: str) -> None:
        outcome = self.outcomes[unit["id"]]
        self.outcomes[unit["id"]] = {**outcome, "status": "failed", "error": error}
        self.ledger.fail(unit["id"], error, self.run_id, time.time())
        self._tell("failed", unit, error=error)

    def _note(self, unit: Unit, status: str, facts: Mapping[str, Any]) -> None:
        outcome = self.outcomes[unit["id"]]
        kept = {key: facts[key] for key in ("action", "target_path", "note")}
        self.outcomes[unit["id"]] = {**outcome, **kept, "status": status}  # type: ignore[typeddict-item]  # keys named above

    def _facts(self, unit: Unit, record: Mapping[str, Any], action: str) -> dict[str, Any]:
        return {
            "action": action,
            "target_path": record["target_path"],
            "note": record["note"],
            "engine": record["engine"],
            "run_id": self.run_id,
            "sources": self._sources(unit),
        }

    def _sources(self, unit: Unit) -> dict[str, str]:
        return {path: self.sources[path] for path in unit["paths"]}

    def _tell(self, event: str, unit: Unit, **facts: Any) -> None:
        done = sum(self.outcomes[row["id"]]["status"] in (*SETTLED, "failed") for row in self.units)
        self.tell(event, done, len(self.units), unit=unit["name"], **facts)

    def _is_drafted(self, unit: Unit) -> bool:
        return self.outcomes[unit["id"]]["status"] == "drafted"

    def _record(self, unit: Unit) -> dict[str, Any] | None:
        record = load_draft(self.store, draft_name(self.run_id, unit["id"]))
        return record if record is not None and "action" in record else None
