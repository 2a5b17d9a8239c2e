"""How long are deleted files kept?

The trash has one folder a transaction, named by its id, which begins with its time in UTC.
"""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

_TIME_FORMAT = "%Y%m%dT%H%M%S"


def prune_trash(folder: Path, *, max_age_days: float, max_bytes: int, now: datetime | None = None) -> list[str]:
    """Remove what is over age, then the oldest while all of it is over size; answer what went."""
    oldest = (now or datetime.now(UTC)) - timedelta(days=max_age_days)
    entries = sorted(path for path in folder.iterdir() if path.is_dir())
    sizes = {path: _size(path) for path in entries}
    total, gone = sum(sizes.values()), []
    for path in entries:
        deleted_at = _deleted_at(path.name)
        if deleted_at is None:
            continue
        if deleted_at >= oldest and total <= max_bytes:
            break
        shutil.rmtree(path)
        total -= sizes[path]
        gone.append(path.name)
    return gone


def _deleted_at(name: str) -> datetime | None:
    try:
        return datetime.strptime(name[:15], _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
