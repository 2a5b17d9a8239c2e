"""What has the program itself noted down? Ledgers, drafts and reports: small files below the metadata folder.

Each is written whole and atomically. A name is a relative path like ``ledger/dream.json``.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from reme_store.errors import InvalidPathError
from reme_store.paths import METADATA, is_hidden, name_fault
from reme_store.workspace import RECORD_FOLDERS, Workspace, replace_whole


class Records:
    """The records of one workspace."""

    def __init__(self, workspace: Workspace, lock: Callable[[], AbstractContextManager[object]]) -> None:
        self._workspace, self._lock = workspace, lock

    def read(self, name: str) -> bytes | None:
        """Return a record, or None where there is none."""
        return self._workspace.read_or_none(record_path(name))

    def write(self, name: str, data: bytes, *, durable: bool = True) -> None:
        """Replace a record; one that is not durable may be lost, or come back empty, when the power fails."""
        with self._lock():
            replace_whole(self._workspace.absolute(record_path(name)), data, durable=durable)

    def delete(self, name: str) -> None:
        """Remove a record that may be gone."""
        with self._lock():
            self._workspace.discard(record_path(name))

    def names(self, prefix: str = "") -> list[str]:
        """Return the names of the records that begin with a text, sorted."""
        found = []
        for folder in RECORD_FOLDERS:
            if folder.startswith(prefix) or prefix.startswith(folder):
                start = self._workspace.metadata / folder
                found += [
                    path.relative_to(self._workspace.metadata).as_posix() for path in start.rglob("*") if path.is_file()
                ]
        return sorted(name for name in found if name.startswith(prefix) and not is_hidden(name.rpartition("/")[2]))


def record_path(name: str) -> str:
    """Return the workspace path of a record.

    Raises:
        InvalidPathError: the name is none of a record.
    """
    parts = name.split("/")
    if len(parts) < 2 or parts[0] not in RECORD_FOLDERS or any(not part or name_fault(part) for part in parts):
        raise InvalidPathError(f"{name!r} is no name of a record; write it like 'ledger/dream.json'", path=name)
    return f"{METADATA}/{name}"
