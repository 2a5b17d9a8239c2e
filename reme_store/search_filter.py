"""Which notes may a search find? Parsed once from what the caller wrote, asked for each candidate."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from reme_store.errors import InvalidRequestError
from reme_store.index.arrays import Array
from reme_store.index.notes import NoteTable

EXCLUDED = ("resource", "reme_session")
"""Folders that only a ``path`` filter reaches."""

_DATE = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)")


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A parsed ``search_filter``; dates are ISO texts, inclusive."""

    prefixes: tuple[str, ...] = ()
    start: str = ""
    end: str = ""
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def allowed(self, notes: NoteTable) -> Array | None:
        """Return bool[n]: which notes the ``path`` filter, or its absence, lets through; None when all."""
        include = bool(self.prefixes)
        ranges = [notes.folder(prefix) for prefix in (self.prefixes or EXCLUDED)]
        if not include and all(start == stop for start, stop in ranges):
            return None
        mask = np.full(len(notes), not include, dtype=np.bool_)
        for start, stop in ranges:
            mask[start:stop] = include
        return mask

    @property
    def is_plain(self) -> bool:
        """Whether only the path matters."""
        return not (self.start or self.end or self.values)

    def accepts(self, notes: NoteTable, note: int) -> bool:
        """Whether the dates and the front matter of a note match."""
        if self.is_plain:
            return True
        raw = notes.strings["front_matter"][note]
        front_matter: dict[str, Any] = json.loads(raw) if raw else {}
        return self._has_values(front_matter) and self._in_time(notes.paths[note], front_matter)

    def _has_values(self, front_matter: Mapping[str, Any]) -> bool:
        return all(wanted & _texts(front_matter.get(key)) for key, wanted in self.values.items())

    def _in_time(self, path: str, front_matter: Mapping[str, Any]) -> bool:
        if not (self.start or self.end):
            return True
        day = note_date(path, front_matter)
        return bool(day) and (not self.start or day >= self.start) and (not self.end or day <= self.end)


def parse_filter(given: Mapping[str, Any] | None) -> SearchFilter:
    """Read a caller's filter.

    Raises:
        InvalidRequestError: a date, a path or the form is wrong.
    """
    if not given:
        return SearchFilter()
    if not isinstance(given, Mapping):
        raise InvalidRequestError(f"search_filter must be an object like {{'path': 'digest'}}, not {given!r}.")
    values = {
        str(key): frozenset(_texts(value))
        for key, value in given.items()
        if key not in ("path", "start_date", "end_date")
    }
    start, end = _day(given, "start_date"), _day(given, "end_date")
    if start and end and start > end:
        raise InvalidRequestError(f"start_date {start} is after end_date {end}; swap them.")
    return SearchFilter(_prefixes(given.get("path")), start, end, values)


def note_date(path: str, front_matter: Mapping[str, Any]) -> str:
    """Return the day of a note: that of its path, else updated or created in its front matter; empty for none."""
    candidates = [*_DATE.findall(path)]
    for key in ("updated", "created"):
        candidates += _DATE.findall(str(front_matter.get(key) or ""))
    return next((day for day in candidates if _is_day(day)), "")


def _prefixes(given: Any) -> tuple[str, ...]:
    if given is None or given == "":
        return ()
    paths = given if isinstance(given, list | tuple) else [given]
    if not all(isinstance(path, str) for path in paths):
        raise InvalidRequestError(f"search_filter.path must be a folder or a note like 'digest/wiki', not {given!r}.")
    prefixes = tuple(path.removeprefix("./").strip("/") for path in paths)
    if any(part in ("", ".", "..") for prefix in prefixes for part in prefix.split("/")):
        raise InvalidRequestError(f"search_filter.path {given!r} is no path inside the workspace; name a folder.")
    return prefixes


def _day(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if value is None or value == "":
        return ""
    text = value.isoformat()[:10] if isinstance(value, date) else str(value)
    if not _is_day(text):
        raise InvalidRequestError(f"search_filter.{key} must be a date like 2026-01-31, not {value!r}.")
    return text


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _texts(value: Any) -> set[str]:
    """Return a front matter value as texts to compare: one of a plain value, all of a list."""
    if value is None:
        return set()
    if isinstance(value, list | tuple | set | frozenset):
        return {text for item in value for text in _texts(item)}
    if isinstance(value, bool):
        return {"true" if value else "false"}
    return {json.dumps(value, sort_keys=True, ensure_ascii=False) if isinstance(value, dict) else str(value)}
