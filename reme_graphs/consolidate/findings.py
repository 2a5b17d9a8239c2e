"""What else should a person look at in a digest?

Pure: facts of notes in, findings out. Nothing here changes a note.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations

from reme_graphs.offline.terms import note_themes, overlap, themes

ALIKE = 0.6
"""Similarity from which two notes are likely duplicates."""
RARE_IN = 12
"""A term of at most so many notes can bring two of them together."""
RARE_TERMS = 16
STALE_DAYS = 7
_CONTRADICTED = re.compile(
    r"^\s*(?:>\s*)?(?:note:\s*contradicted by\b|[-*]?\s*contradicted_by\s*::).*$", re.IGNORECASE | re.MULTILINE
)
_LINK = re.compile(r"\[\[([^\]|#]+)")


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """What is compared of a note."""

    path: str
    name: str
    description: str
    body: str
    links: frozenset[str]
    """Targets of its links."""
    inlinked: bool
    """Whether another note links to it."""
    sourced: bool
    """Whether it names what it comes from, or is part of a note that does."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Notes that likely say the same."""

    paths: tuple[str, ...]
    score: float
    evidence: str


def exact_duplicates(notes: Sequence[NoteFacts]) -> list[Duplicate]:
    """Groups of notes whose bodies are the same but for white space."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    empty: set[str] = set()
    for note in notes:
        key = hashlib.sha256(" ".join(note.body.split()).encode()).hexdigest()
        groups[key].append(note.path)
        empty |= set() if note.body.strip() else {key}
    same = {key: sorted(paths) for key, paths in groups.items() if len(paths) > 1}
    return sorted(
        (
            Duplicate(tuple(paths), 1.0, "they are empty" if key in empty else "the same text")
            for key, paths in same.items()
        ),
        key=lambda found: found.paths,
    )


def near_duplicates(notes: Sequence[NoteFacts]) -> list[Duplicate]:
    """Pairs of notes alike in name, description, words and links, the most alike first."""
    words = {note.path: note_themes(note.body) for note in notes}
    by_path = {note.path: note for note in notes}
    found = []
    for left, right in _meeting(words):
        one, other = by_path[left], by_path[right]
        if " ".join(one.body.split()) == " ".join(other.body.split()):
            continue
        score, evidence = _alike(one, other, words)
        if score >= ALIKE:
            found.append(Duplicate((left, right), round(score, 2), evidence))
    return sorted(found, key=lambda pair: (-pair.score, pair.paths))


def _meeting(words: Mapping[str, Collection[str]]) -> list[tuple[str, str]]:
    """Pairs that share several rare terms; only these are compared in full."""
    counts = Counter(term for terms in words.values() for term in set(terms))
    postings: defaultdict[str, list[str]] = defaultdict(list)
    for path, terms in sorted(words.items()):
        rare = sorted((t for t in set(terms) if 1 < counts[t] <= RARE_IN), key=lambda t: (counts[t], t))
        for term in rare[:RARE_TERMS]:
            postings[term].append(path)
    met: Counter[tuple[str, str]] = Counter()
    for paths in postings.values():
        met.update(combinations(paths, 2))
    return sorted(pair for pair, times in met.items() if times >= 3)


def _alike(one: NoteFacts, other: NoteFacts, words: Mapping[str, Collection[str]]) -> tuple[float, str]:
    parts = [("words", 0.55, _jaccard(words[one.path], words[other.path]))]
    names = themes(one.name.replace("-", " ")), themes(other.name.replace("-", " "))
    parts += [("name", 0.2, overlap(*names))] if all(names) else []
    told = themes(one.description), themes(other.description)
    parts += [("description", 0.1, overlap(*told))] if all(told) else []
    parts += [("links", 0.15, _jaccard(one.links, other.links))] if one.links and other.links else []
    score = sum(weight * value for _, weight, value in parts) / sum(weight for _, weight, _ in parts)
    return score, ", ".join(f"{name} {value:.0%}" for name, _, value in parts)


def _jaccard(left: Collection[str], right: Collection[str]) -> float:
    first, second = set(left), set(right)
    return len(first & second) / len(first | second) if first and second else 0.0


def orphans(notes: Iterable[NoteFacts]) -> list[str]:
    """Notes that no note links to and that link to no note of digest."""
    return sorted(n.path for n in notes if not n.inlinked and not any(t.startswith("digest/") for t in n.links))


def without_provenance(notes: Iterable[NoteFacts]) -> list[str]:
    """Notes that name no source."""
    return sorted(note.path for note in notes if not note.sourced)


def contradictions(notes: Iterable[NoteFacts]) -> list[tuple[str, str]]:
    """Marked contradictions as (path, what contradicts)."""
    return sorted(
        (note.path, target.strip())
        for note in notes
        for line in _CONTRADICTED.findall(note.body)
        for target in _LINK.findall(line) or ["?"]
    )


def stale_tasks(
    tasks: Mapping[str, Mapping[str, object]], carried_on: Collection[str], today: date
) -> list[tuple[str, str]]:
    """Active tasks nobody has touched for a while and no later task carries on, as (path, last update).

    Args:
        tasks: front matter by note path.
        carried_on: paths that a later task inherits.
        today: the day of the run.
    """
    found = []
    for path, matter in tasks.items():
        updated = str(matter.get("updated") or matter.get("created") or path.split("/")[1])[:10]
        try:
            age = (today - date.fromisoformat(updated)).days
        except ValueError:
            continue  # a date a person wrote in another form tells no age
        if str(matter.get("status")) == "active" and path not in carried_on and age > STALE_DAYS:
            found.append((path, updated))
    return sorted(found)
