"""Which note belongs to a resource, and what is left to do for it?

One record a resource, ``ledger/auto_resource/<uuid5 of its path>.json``, written in the same journal entry as its
note. The front matter of the note (``source_resource``) says the same to people, and stands in for a lost record.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from reme_store.file_store import FileStore

FOLDER = "ledger/auto_resource"
LONGEST_PAUSE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ResourceRecord:
    """What is known of one resource."""

    path: str
    note: str = ""
    sha256: str = ""
    """Content that the note reflects."""
    engine: str = ""
    skipped: str = ""
    """Why there is no note."""
    failed_sha256: str = ""
    """Content that failed."""
    attempts: int = 0
    """Failures of that content in a row."""
    error: str = ""
    not_before: str = ""
    """ISO time before which a scan leaves it alone."""

    def pause(self, sha256: str, now: datetime) -> str:
        """Return why a scan should leave this content alone for now; empty where it should not."""
        if sha256 != self.failed_sha256 or not self.not_before or datetime.fromisoformat(self.not_before) <= now:
            return ""
        return f"waits until {self.not_before} after {self.attempts} failures: {self.error}"

    def failed(self, sha256: str, error: str, now: datetime) -> "ResourceRecord":
        """Return the record after one more failure."""
        attempts = self.attempts + 1 if sha256 == self.failed_sha256 else 1
        wait = now.astimezone(UTC) + pause_after(attempts)
        return replace(
            self, failed_sha256=sha256, attempts=attempts, error=error, not_before=wait.isoformat(timespec="seconds")
        )


def pause_after(attempts: int) -> timedelta:
    """Return how long a scan leaves a resource alone: not at all after one failure, then longer each time."""
    return min(LONGEST_PAUSE, timedelta(minutes=4 ** min(attempts - 2, 9))) if attempts > 1 else timedelta()


def session_of(path: str) -> str:
    """Return the stable session of the agent that reads a resource."""
    return str(uuid5(NAMESPACE_URL, path))


def record_name(path: str) -> str:
    """Return the name of a resource's record."""
    return f"{FOLDER}/{session_of(path)}.json"


def load_record(store: FileStore, path: str) -> ResourceRecord:
    """Read a resource's record; a missing or unreadable one is empty."""
    return _parsed(store.records.read(record_name(path))) or ResourceRecord(path)


def load_records(store: FileStore) -> Mapping[str, ResourceRecord]:
    """Read all records, by resource."""
    found = (_parsed(store.records.read(name)) for name in store.records.names(FOLDER + "/"))
    return {record.path: record for record in found if record}


def render_record(record: ResourceRecord) -> bytes:
    """Return the bytes of a record."""
    return json.dumps(asdict(record), ensure_ascii=False, indent=1).encode()


def _parsed(data: bytes | None) -> ResourceRecord | None:
    if data is None:
        return None
    try:
        return ResourceRecord(**json.loads(data))
    except (ValueError, TypeError):
        return None
