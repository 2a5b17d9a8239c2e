"""Which units do the model's answers name, and are two of them the same?

A unit is one abstraction that notes teach: {id, name, bucket, summary, paths}. Its id comes from its content, so that
the same reading of the same notes gives the same unit.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

BUCKETS = ("procedure", "personal", "wiki")
NAME_CHARS = 200
"""Longest name a unit keeps."""
SUMMARY_CHARS = 600
"""Longest summary a merged unit keeps; one that was not merged keeps twice as much."""

Unit = dict[str, Any]


def unit_id(unit: Mapping[str, Any]) -> str:
    """Return the id that a unit's content gives."""
    content = [unit["name"], unit["bucket"], unit["summary"], sorted(unit["paths"])]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]


def fold_words(text: str) -> str:
    """Return a text without case, width and punctuation, for telling whether two names mean the same."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())


def clean_units(rows: Iterable[Mapping[str, Any]], allowed: Collection[str]) -> list[Unit]:
    """Keep what can be integrated: a known bucket, else wiki; only paths that were shown; no unit without a path."""
    units = []
    for row in rows:
        paths = clean_paths(row.get("paths", []), allowed)
        name = " ".join(str(row["name"]).split())[:NAME_CHARS]
        summary = str(row.get("summary", "")).strip()[: 2 * SUMMARY_CHARS]
        if name and paths:
            units.append({"name": name, "bucket": _bucket(row), "summary": summary, "paths": paths})
    return units


def clean_paths(paths: Iterable[Any], allowed: Collection[str]) -> list[str]:
    """Return the paths that were shown, each once, without what some models put around them."""
    found = (_shown(re.sub(r"^!?\[\[|\]\]$|^\./", "", str(path).strip()), allowed) for path in paths)
    return list(dict.fromkeys(path for path in found if path))


def _shown(path: str, allowed: Collection[str]) -> str:
    """Return the shown path that is meant: with an anchor or alias, or without its ending; empty where none is."""
    bare = re.split(r"[#|]", path)[0].rstrip()
    return next((meant for meant in (path, bare, f"{bare}.md") if meant in allowed), "")


def merge_units(batches: Iterable[Sequence[Unit]]) -> list[Unit]:
    """Join units of one name and bucket over all batches, in the order they first came, and give them their ids."""
    merged: dict[tuple[str, str], Unit] = {}
    for unit in (unit for batch in batches for unit in batch):
        key = (fold_words(unit["name"]) or unit["name"], unit["bucket"])
        merged[key] = _joined(merged[key], unit) if key in merged else unit
    return [{"id": unit_id(unit), **unit} for unit in merged.values()]


def _joined(first: Unit, second: Unit) -> Unit:
    summary = first["summary"]
    if second["summary"] and second["summary"] not in summary:
        summary = f"{summary} {second['summary']}".strip()[:SUMMARY_CHARS]
    return {**first, "summary": summary, "paths": list(dict.fromkeys([*first["paths"], *second["paths"]]))}


def _bucket(row: Mapping[str, Any]) -> str:
    named = str(row.get("bucket", "")).strip().casefold()
    return named if named in BUCKETS else "wiki"
