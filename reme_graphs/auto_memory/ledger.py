"""Which messages of a session does its note reflect already?

One record a session, ``ledger/auto_memory/<stem>.json``: {"session_id": its id or empty, "reflected": {key: engine},
"days": {key: day}, "partial": {key: offset}}. Every message of the dialog that is not reflected waits for the next
run of its session; ``days`` says to which day's note it belongs, ``partial`` how many characters of a very long one
are done. A lost record costs work, never a message.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reme_graphs.auto_memory.dialog import Line, earlier_key_of
from reme_graphs.context import OFFLINE
from reme_graphs.messages import is_explicit
from reme_store.file_store import FileStore

FOLDER = "ledger/auto_memory"


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is known of a session's messages, by their keys."""

    reflected: Mapping[str, str] = field(default_factory=dict)
    """Engine that took the message up."""
    days: Mapping[str, str] = field(default_factory=dict)
    """Day of the note of a message that waits."""
    partial: Mapping[str, int] = field(default_factory=dict)
    """Characters of a waiting message that are done."""
    session_id: str = ""
    """As the host calls it; empty for the conversation of a day without session."""

    def waiting(self, lines: Sequence[Line], *, redo_offline: bool = False) -> list[Line]:
        """Return the messages of a dialog that no note reflects, in order."""
        return [line for line in lines if line.message and not self._is_done(line, redo_offline=redo_offline)]

    def _is_done(self, line: Line, *, redo_offline: bool) -> bool:
        engine = self.reflected.get(line.key)
        if engine is None and line.message and is_explicit(line.message):
            engine = self.reflected.get(earlier_key_of(line.message))
        return engine is not None and not (redo_offline and engine == OFFLINE)

    def with_days(self, days: Mapping[str, str]) -> "Ledger":
        """Give waiting messages their days."""
        return replace(self, days={**self.days, **days}) if days else self

    def settled(self, done: Sequence[str], partial: Mapping[str, int], engine: str) -> "Ledger":
        """Record what one part has taken up."""
        return replace(
            self,
            reflected={**self.reflected, **dict.fromkeys(done, engine)},
            days={key: day for key, day in self.days.items() if key not in done},
            partial={key: end for key, end in {**self.partial, **partial}.items() if key not in done},
        )


def record_name(stem: str) -> str:
    """Return the name of a session's record."""
    return f"{FOLDER}/{stem}.json"


def load_ledger(store: FileStore, stem: str) -> Ledger:
    """Read a session's record; one that cannot be read counts as lost."""
    data = store.records.read(record_name(stem))
    if data is None:
        return Ledger()
    try:
        value = json.loads(data)
        return Ledger(dict(value["reflected"]), dict(value["days"]), dict(value["partial"]), str(value["session_id"]))
    except (ValueError, KeyError, TypeError):
        return Ledger()


def render_ledger(ledger: Ledger) -> bytes:
    """Return the bytes of the record."""
    value = {
        "session_id": ledger.session_id,
        "reflected": dict(ledger.reflected),
        "days": dict(ledger.days),
        "partial": dict(ledger.partial),
    }
    return json.dumps(value, ensure_ascii=False, indent=0).encode()


def waiting_sessions(store: FileStore) -> list[dict[str, str]]:
    """Return the inputs with which auto_memory takes up what failed: {"session_id", "date"} of each such session."""
    found = []
    for name in store.records.names(FOLDER + "/"):
        stem = name.removeprefix(FOLDER + "/").removesuffix(".json")
        ledger = load_ledger(store, stem)
        if ledger.days:
            found.append({"session_id": ledger.session_id, "date": "" if ledger.session_id else stem})
    return found
