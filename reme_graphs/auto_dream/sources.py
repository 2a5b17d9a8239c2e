"""Which daily notes are there, and what has changed in them?

A source is ``daily/<date>.md`` (the day page, without its generated block) or any note below ``daily/<date>/``.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from reme_graphs.auto_dream.batches import Material
from reme_store.daily import strip_index_block
from reme_store.errors import InvalidRequestError, NoteNotFoundError
from reme_store.file_store import FileStore
from reme_store.models import CatalogEntry
from reme_store.text.day_list import is_day_page
from reme_store.text.front_matter import parse_note

SOURCE = re.compile(r"daily/(\d{4}-\d{2}-\d{2})(\.md|/.+\.md)")


@dataclass(frozen=True, slots=True)
class Changes:
    """The sources of a window against the catalog."""

    changed: list[str]
    unchanged: list[str]
    deleted: list[str]


def day_of(path: str) -> str:
    """Return the date in a source's path; empty for any other file."""
    found = SOURCE.fullmatch(path)
    return found[1] if found else ""


def window(day: date, days: int) -> list[str]:
    """Return the last ``days`` dates that end at a day, oldest first; the calendar begins with the year 1."""
    return [(day - timedelta(days=back)).isoformat() for back in range(min(days, day.toordinal()) - 1, -1, -1)]


def source_hashes(store: FileStore) -> dict[str, str]:
    """Return the hash of every source; that of a day page leaves its generated block out."""
    hashes = {}
    for path, state in sorted(store.scan("daily").items()):
        if is_day_page(path):
            material = read_material(store, path)
            if material is not None:
                hashes[path] = hashlib.sha256(material.text.encode()).hexdigest()
        elif day_of(path):
            hashes[path] = state.sha256
    return hashes


def compare(hashes: Mapping[str, str], catalog: Mapping[str, CatalogEntry], *, redo: bool) -> Changes:
    """Compare sources with what was processed.

    Args:
        hashes: The sources of the window.
        catalog: Entries of the consumer, whatever their day.
        redo: Whether what the offline engine did counts as not done.
    """
    changed = [path for path, sha256 in hashes.items() if not _is_done(catalog.get(path), sha256, redo=redo)]
    unchanged = [path for path in hashes if path not in set(changed)]
    return Changes(changed, unchanged, [])


def missing(paths: Iterable[str], hashes: Collection[str]) -> list[str]:
    """Return the sources that are catalogued and no more there."""
    return sorted(path for path in paths if day_of(path) and path not in hashes)


def read_material(store: FileStore, path: str) -> Material | None:
    """Return the text of a source without generated parts; None where it is gone or holds no text."""
    try:
        text = store.read_note(path).text
    except (NoteNotFoundError, InvalidRequestError):
        return None
    return Material(path, strip_index_block(text) if is_day_page(path) else text)


def text_of(store: FileStore, path: str) -> str:
    """Return a note's text; empty where there is no note."""
    try:
        return store.read_note(path).text
    except NoteNotFoundError:
        return ""


def is_blank_page(material: Material) -> bool:
    """Tell whether a day page holds nothing a person or a graph wrote: no body besides its own title."""
    if not is_day_page(material.path):
        return False
    body = parse_note(material.text).body
    title = f"# {day_of(material.path)}"
    return not any(line.strip() and not line.startswith(title) for line in body.split("\n"))


def _is_done(entry: CatalogEntry | None, sha256: str, *, redo: bool) -> bool:
    return entry is not None and entry.sha256 == sha256 and not (redo and entry.engine == "offline")
