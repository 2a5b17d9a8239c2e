"""Which chunks and which notes fit a query best?

A content chunk is worth its own score and a share of what the note's name, tags and headings are worth. An index chunk
is a candidate of its own only where no content chunk of its note is one. Filters come before the cut.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from reme_store.index.arrays import Array
from reme_store.index.notes import INDEX
from reme_store.index.view import IndexView
from reme_store.search_filter import SearchFilter

TITLE_SHARE = 1.0
"""What the index chunk of a note adds to its content chunks."""
NODE_TITLE_SHARE = 2.0
"""What it counts in node_search, against the best content chunk."""
_FIRST_LOOK = 16


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that holds terms of the query."""

    part: int
    note: int
    doc: int
    score: float
    path: str
    text_hash: int


@dataclass(frozen=True, slots=True)
class Group:
    """Documents of equal text: the one to show, and all that say the same."""

    best: Candidate
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Scored:
    """Documents of one part that are worth something and let through by the path filter."""

    part: int
    docs: Array
    scores: Array


def rank_chunks(
    view: IndexView, weights: Mapping[str, float], wanted: SearchFilter, limit: int, min_score: float = 0.0
) -> list[Group]:
    """Return the best ``limit`` groups of equal text, best first; of equal score the earlier path."""
    scored = [item for item in _scored(view, weights, wanted) if len(item.docs)]
    groups: dict[int, Candidate] = {}
    for candidate in _descending(view, scored, wanted, max(_FIRST_LOOK, 4 * limit)):
        if candidate.score < min_score:
            break
        if candidate.text_hash not in groups:
            if len(groups) == limit:
                break
            groups[candidate.text_hash] = candidate
    return _completed(view, scored, wanted, groups, min_score)


def _scored(view: IndexView, weights: Mapping[str, float], wanted: SearchFilter) -> Iterator[_Scored]:
    for number, (part, total) in enumerate(zip(view.parts, view.keyword.scores(weights), strict=True)):
        notes = part.segment.notes
        docs = np.flatnonzero(total)
        mask = wanted.allowed(notes)
        if mask is not None:
            docs = docs[mask[notes.columns["note"][docs]]]
        yield _Scored(number, *_with_titles(docs, total[docs], notes.columns["note"], notes.columns["kind"]))


def _with_titles(docs: Array, scores: Array, notes: Array, kinds: Array) -> tuple[Array, Array]:
    """Add the titles' share to content, and drop index chunks of notes whose content is there.

    An index chunk is the first document of its note and ``docs`` ascends, so the content it lifts follows it.
    """
    titles = np.flatnonzero(kinds[docs] == INDEX)
    if not len(titles):
        return docs, scores
    owners, shares = notes[docs[titles]], TITLE_SHARE * scores[titles]
    boosted, kept = scores.copy(), np.ones(len(docs), dtype=np.bool_)
    following, step = titles, 0
    while len(following):
        step += 1
        inside = following + 1 < len(docs)
        following, titles, owners, shares = following[inside] + 1, titles[inside], owners[inside], shares[inside]
        same = notes[docs[following]] == owners
        following, titles, owners, shares = following[same], titles[same], owners[same], shares[same]
        boosted[following] += shares
        if step == 1:
            kept[titles] = False
    return docs[kept], boosted[kept]


def _descending(view: IndexView, scored: list[_Scored], wanted: SearchFilter, look: int) -> Iterator[Candidate]:
    """Yield accepted candidates, best first, looking at no more of them than the caller takes."""
    if not scored:
        return
    scores = np.concatenate([item.scores for item in scored])
    parts = np.repeat([item.part for item in scored], [len(item.docs) for item in scored])
    docs = np.concatenate([item.docs for item in scored])
    ceiling = np.inf
    while ceiling > 0:
        floor = _floor(scores, ceiling, look)
        places = np.flatnonzero((scores >= floor) & (scores < ceiling))
        found = (_candidate(view, int(parts[n]), int(docs[n]), float(scores[n])) for n in places.tolist())
        for candidate in sorted(found, key=lambda item: (-item.score, item.path, item.doc)):
            if wanted.accepts(view.parts[candidate.part].segment.notes, candidate.note):
                yield candidate
        ceiling = floor
        look *= 4


def _floor(scores: Array, ceiling: float, look: int) -> float:
    """Return the score of the ``look``-th best below the ceiling; 0 when there are fewer."""
    below = scores if ceiling == np.inf else scores[scores < ceiling]
    if len(below) <= look:
        return 0.0
    return float(np.partition(below, len(below) - look)[len(below) - look])


def _candidate(view: IndexView, part: int, doc: int, score: float) -> Candidate:
    notes = view.parts[part].segment.notes
    note = int(notes.columns["note"][doc])
    return Candidate(part, note, doc, score, notes.paths[note], int(notes.columns["text_hash"][doc]))


def _completed(
    view: IndexView, scored: list[_Scored], wanted: SearchFilter, groups: Mapping[int, Candidate], min_score: float
) -> list[Group]:
    """Find for each group every candidate of the same text; show the one in the digest, if there is one."""
    members: dict[int, list[Candidate]] = {key: [] for key in groups}
    for item in scored:
        table = view.parts[item.part].segment.notes
        for key in groups:
            twins = table.docs_of_text(key)
            places = np.searchsorted(item.docs, twins)
            for place, doc in zip(places.tolist(), twins.tolist(), strict=True):
                if place == len(item.docs) or int(item.docs[place]) != doc or item.scores[place] < min_score:
                    continue
                candidate = _candidate(view, item.part, doc, float(item.scores[place]))
                if wanted.accepts(table, candidate.note):
                    members[key].append(candidate)
    return [grouped(groups[key], members[key]) for key in groups]


def grouped(first: Candidate, members: list[Candidate]) -> Group:
    """Make one group of candidates of equal text, worth what ``first`` is; the one in the digest is shown."""
    ordered = sorted(members, key=lambda item: (not item.path.startswith("digest/"), item.path, item.doc))
    best = ordered[0]
    shown = Candidate(best.part, best.note, best.doc, first.score, best.path, best.text_hash)
    return Group(shown, tuple(dict.fromkeys(item.path for item in ordered)))


def rank_notes(view: IndexView, weights: Mapping[str, float], folder: str, limit: int) -> list[Candidate]:
    """Return the best notes below a folder, one candidate a note, its name and description counting most."""
    found: list[Candidate] = []
    for number, (part, total) in enumerate(zip(view.parts, view.keyword.scores(weights), strict=True)):
        table = part.segment.notes
        start, stop = table.folder(folder)
        first, last = int(table.first_doc[start]), int(table.first_doc[stop])
        worth = np.zeros(stop - start)
        docs = first + np.flatnonzero(total[first:last])
        titles = table.columns["kind"][docs] == INDEX
        owners = table.columns["note"][docs].astype(np.int64) - start
        np.maximum.at(worth, owners[~titles], total[docs[~titles]])
        np.add.at(worth, owners[titles], NODE_TITLE_SHARE * total[docs[titles]])
        found += _best_notes(view, number, start, worth, limit)
    return sorted(found, key=lambda item: (-item.score, item.path))[:limit]


def _best_notes(view: IndexView, number: int, start: int, worth: Array, limit: int) -> list[Candidate]:
    table = view.parts[number].segment.notes
    floor = _floor(worth, np.inf, limit)
    places = np.flatnonzero((worth >= floor) & (worth > 0)).tolist()
    return [
        Candidate(number, start + n, int(table.first_doc[start + n]), float(worth[n]), table.paths[start + n], 0)
        for n in places
    ]
