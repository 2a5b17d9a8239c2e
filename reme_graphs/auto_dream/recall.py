"""Which digest notes may a unit be about?

Found in code before a model is asked: the notes a search for the unit's name and summary finds, then what is linked
with the first of them within two steps, through daily notes but not through day pages. The versions seen are kept, so
that the commit can tell whether the unit would be offered something else by now.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from reme_graphs.auto_dream.sources import text_of
from reme_store.file_store import FileStore
from reme_store.text.day_list import is_day_page
from reme_store.text.tokenize import Tokenizer

PROVENANCE = re.compile(r"^derived_from::.*$|^(?:name|description):", re.MULTILINE)
"""What every note has and what therefore makes none of them near."""
HITS = 20
FIRST = 5
"""How many hits decide whether a recall is still the same."""
NEIGHBOURS = 12
FAN_OUT = 40
"""Most links followed from one note in one direction."""

NEAR_QUERY = 0.2
"""Share of a unit's terms, by weight, that a near note has ..."""
NEAR_WEIGHT = 1.5
"""... and what they weigh at least: more than one word."""
NEAR_NAME = 0.5
"""Or more than this share of the terms of the unit's name alone."""
LEAST_WEIGHT = 0.3
"""A term that weighs less is a stop word and says nothing of nearness."""
HEAD_CHARS = 2_000
"""How much of a note is compared, front matter included."""


@dataclass(frozen=True, slots=True)
class Found:
    """A digest note that a unit may be about."""

    path: str
    name: str
    description: str
    version: str
    linked: bool = False
    """True where links led to it and not the search."""


def query_of(unit: Mapping[str, Any]) -> str:
    """Return what is searched for."""
    return f"{unit['name']} {unit['summary']}".strip()


def recall(store: FileStore, unit: Mapping[str, Any]) -> list[Found]:
    """Return the candidates of a unit, best first."""
    found = []
    for hit in store.node_hits(query_of(unit), HITS):
        version = store.version_of(hit.path)
        if version is not None:
            found.append(Found(hit.path, hit.name, hit.description, version))
    known = {row.path for row in found}
    linked = (path for path in _linked(store, [row.path for row in found[:FIRST]]) if path not in known)
    return [*found, *_described(store, linked)]


def is_outdated(store: FileStore, unit: Mapping[str, Any], seen: Mapping[str, str]) -> bool:
    """Tell whether a note that changed since the recall now stands among the first hits.

    Args:
        seen: Version by path of everything the recall found.
    """
    first = [hit.path for hit in store.node_hits(query_of(unit), FIRST)]
    changed = [path for path in first if seen.get(path) != store.version_of(path)]
    return any(is_near(unit, text_of(store, path)) for path in changed)


def is_near(unit: Mapping[str, Any], text: str) -> bool:
    """Tell whether a note may hold the unit's abstraction, by the terms they share."""
    terms = set(_tokenizer().tokenize(PROVENANCE.sub("", text[:HEAD_CHARS])))
    matched, whole = _weigh(query_of(unit), terms)
    named, name = _weigh(str(unit["name"]), terms)
    return (matched >= NEAR_WEIGHT and matched >= NEAR_QUERY * whole) or named > NEAR_NAME * name


def _weigh(query: str, terms: set[str]) -> tuple[float, float]:
    """Return what a query's terms weigh that are among the terms, and what all of them weigh, stop words aside."""
    words = set(_tokenizer().tokenize(query))
    every = _tokenizer().query_weights(query).items()
    weights = {term: weight for term, weight in every if term in words and weight >= LEAST_WEIGHT}
    return sum(weight for term, weight in weights.items() if term in terms), sum(weights.values())


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer()


def _linked(store: FileStore, starts: Iterable[str]) -> list[str]:
    """Return digest notes within two steps of the starts, nearest first."""
    seen = dict.fromkeys(starts)
    edge = list(seen)
    for _ in range(2):
        edge = [
            path for start in edge for path in _neighbours(store, start) if path not in seen and not is_day_page(path)
        ]
        edge = list(dict.fromkeys(edge))
        seen.update(dict.fromkeys(edge))
    return [path for path in seen if path.startswith("digest/")]


def _neighbours(store: FileStore, path: str) -> list[str]:
    out = [link.target_path for link in store.outlinks(path)[:FAN_OUT]]
    return [*out, *(link.source_path for link in store.inlinks(path)[:FAN_OUT])]


def _described(store: FileStore, paths: Iterable[str]) -> list[Found]:
    rows = []
    for path in paths:
        node, version = store.node(path), store.version_of(path)
        if node is not None and version is not None:
            matter = node.front_matter
            rows.append(
                Found(path, str(matter.get("name", "")), str(matter.get("description", "")), version, linked=True)
            )
        if len(rows) == NEIGHBOURS:
            break
    return rows
