"""Which chunks and which notes fit a query best?

A content chunk is worth its own score and a share of what the note's name, tags and headings are worth. An index chunk
is a candidate of its own only where no content chunk of its note is one. Filters come before the cut.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reme_store.index.arrays import Array, distinct, spans
from reme_store.index.notes import INDEX, NoteTable
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
    """What every document of one part is worth by its own terms, and which notes the path filter lets through."""

    part: int
    table: NoteTable
    total: Array
    mask: Array | None

    def strong(self, least: float) -> Array:
        """Return the documents let through that are worth ``least`` by themselves; all with any worth for 0."""
        docs = np.flatnonzero(self.total >= least) if least > 0 else np.flatnonzero(self.total)
        return docs if self.mask is None else docs[self.mask[self.table.columns["note"][docs]]]

    def at_least(self, floor: float) -> tuple[Array, Array]:
        """Return the documents that are worth ``floor`` with their titles, and what they are worth.

        A document and its title are worth the floor together only where one of them is worth half of it. An index
        chunk is left out where content of its note is there.
        """
        table, docs = self.table, self.strong(floor / (1.0 + TITLE_SHARE))
        titles = docs[table.columns["kind"][docs] == INDEX]
        if len(titles):
            docs = self._with_content(docs, titles)
        worth = self.worth(docs)
        good = worth >= floor
        return docs[good], worth[good]

    def worth(self, docs: Array) -> Array:
        """Return what documents are worth with the share of their note's title."""
        titles = self.table.title_docs[docs]
        worth: Array = self.total[docs] + np.where(titles != docs, TITLE_SHARE * self.total[titles], 0.0)
        return worth

    def _with_content(self, docs: Array, titles: Array) -> Array:
        """Add the content of notes with these titles, and take away the titles of notes whose content is there."""
        notes = self.table.columns["note"][titles]
        sizes = self.table.first_doc[notes.astype(np.int64) + 1] - titles - 1
        content = spans(titles + 1, sizes)
        there = self.total[content] > 0
        owners = np.repeat(np.arange(len(titles)), sizes)[there]
        outdone = titles[np.bincount(owners, minlength=len(titles)) > 0]
        every = distinct([docs.astype(np.int64), content[there]])
        left = np.ones(len(every), dtype=np.bool_)
        left[np.searchsorted(every, outdone)] = False
        kept: Array = every[left]
        return kept


def rank_chunks(
    view: IndexView, weights: Mapping[str, float], wanted: SearchFilter, limit: int, min_score: float = 0.0
) -> list[Group]:
    """Return the best ``limit`` groups of equal text, best first; of equal score the earlier path."""
    scored = [
        _Scored(number, part.segment.notes, total, wanted.allowed(part.segment.notes))
        for number, (part, total) in enumerate(zip(view.parts, view.keyword.scores(weights), strict=True))
    ]
    groups: dict[int, Candidate] = {}
    look = max(_FIRST_LOOK, 4 * limit)
    for candidate in _descending(view, scored, wanted, _floor_of(view, scored, weights, look), look):
        if candidate.score < min_score:
            break
        if candidate.text_hash not in groups:
            if len(groups) == limit:
                break
            groups[candidate.text_hash] = candidate
    return _completed(view, scored, wanted, groups, min_score)


def _floor_of(view: IndexView, scored: Sequence[_Scored], weights: Mapping[str, float], look: int) -> float:
    """Return a score that ``look`` documents reach, told from the postings of one term; 0 where that cannot be told."""
    worths = []
    for item, docs in zip(scored, view.keyword.telling_docs(weights, 2 * look), strict=True):
        content = docs[item.table.columns["kind"][docs] != INDEX]
        if item.mask is not None:
            content = content[item.mask[item.table.columns["note"][content]]]
        worths.append(item.total[content])
    return _floor(np.concatenate(worths), np.inf, look) if worths else 0.0


def _descending(
    view: IndexView, scored: Sequence[_Scored], wanted: SearchFilter, floor: float, look: int
) -> Iterator[Candidate]:
    """Yield accepted candidates, best first, looking at no more of them than the caller takes."""
    ceiling = np.inf
    while ceiling > 0:
        found = [(item.part, *item.at_least(floor)) for item in scored]
        floor = max(floor, _floor(np.concatenate([worth for _, _, worth in found]), ceiling, look)) if found else 0.0
        candidates = [each for part, docs, worth in found for each in _between(view, part, docs, worth, floor, ceiling)]
        for candidate in sorted(candidates, key=lambda item: (-item.score, item.path, item.doc)):
            if wanted.accepts(view.parts[candidate.part].segment.notes, candidate.note):
                yield candidate
        look *= 4
        ceiling, floor = floor, 0.0


def _between(
    view: IndexView, part: int, docs: Array, worth: Array, floor: float, ceiling: float
) -> Iterator[Candidate]:
    places = np.flatnonzero((worth >= floor) & (worth < ceiling))
    for doc, score in zip(docs[places].tolist(), worth[places].tolist(), strict=True):
        yield _candidate(view, part, doc, score)


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
    view: IndexView, scored: Sequence[_Scored], wanted: SearchFilter, groups: Mapping[int, Candidate], min_score: float
) -> list[Group]:
    """Find for each group every candidate of the same text; show the one in the digest, if there is one."""
    members: dict[int, list[Candidate]] = {key: [first] for key, first in groups.items()}
    for item in scored:
        for key, docs in zip(groups, item.table.docs_of_texts(list(groups)), strict=True):
            if len(docs) > (item.part == groups[key].part):
                members[key] += _twins(view, item, wanted, groups[key], docs, min_score)
    return [grouped(groups[key], members[key]) for key in groups]


def _twins(
    view: IndexView, item: _Scored, wanted: SearchFilter, first: Candidate, docs: Sequence[int], min_score: float
) -> Iterator[Candidate]:
    """Yield the other candidates of a text in one part."""
    others = np.array([doc for doc in docs if (item.part, doc) != (first.part, first.doc)], dtype=np.int64)
    others = others[item.total[others] > 0]
    if item.mask is not None:
        others = others[item.mask[item.table.columns["note"][others]]]
    for doc, score in zip(others.tolist(), item.worth(others).tolist(), strict=True):
        candidate = _candidate(view, item.part, doc, score)
        if score >= min_score and wanted.accepts(item.table, candidate.note):
            yield candidate


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
