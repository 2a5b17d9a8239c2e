"""Which documents hold these terms, and what is each worth?

A segment's postings are immutable arrays in which the documents of a term stand together, terms sorted by a 64-bit
hash, so that opening reads nothing. A change adds a segment and marks documents of older ones dead; merging drops the
dead. Scores are computed over all segments at once: the same live documents score the same however they came in.
"""

import threading
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from reme_store.index import bm25
from reme_store.index.arrays import Array, distinct
from reme_store.text.term_counts import TermCounts, term_hash

_COLUMNS = ("terms", "starts", "docs", "counts", "lengths")
_CACHED_POSTINGS = 4_000_000
_SLICE_POSTINGS = 2_000_000


class Postings:
    """The postings of one segment.

    Columns: ``terms`` uint64[t] sorted; ``starts`` uint32[t + 1]; ``docs`` uint16[p]; ``counts`` uint8[p]; ``lengths``
    uint32[d]; wider ones where a number needs it.
    """

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self.terms, self.starts, self.docs, self.counts, self.lengths = (columns[name] for name in _COLUMNS)

    @classmethod
    def build(cls, counted: TermCounts) -> "Postings":
        """Make postings of counted documents."""
        starts = np.concatenate([[0], np.cumsum(counted.sizes)])
        return cls._packed(counted.terms, starts, counted.docs, counted.counts, counted.lengths)

    @classmethod
    def _packed(cls, terms: Array, starts: Array, docs: Array, counts: Array, lengths: Array) -> "Postings":
        """Make postings whose numbers take as few bytes as they need."""
        n_docs = len(lengths)
        columns = (
            terms,
            starts.astype(np.uint32 if len(docs) < 1 << 32 else np.uint64),
            docs.astype(np.uint16 if n_docs <= 1 << 16 else np.uint32),
            counts.astype(np.uint8 if not len(counts) or counts.max() < 1 << 8 else np.uint32),
            lengths.astype(np.uint32),
        )
        return cls(dict(zip(_COLUMNS, columns, strict=True)))

    @classmethod
    def merge(cls, parts: Sequence[tuple["Postings", Array]], n_docs: int) -> "Postings":
        """Make one set of postings of several, given where each document went (-1 = dropped)."""
        terms = distinct([part.terms for part, _ in parts])
        ranks = [np.searchsorted(terms, part.terms) for part, _ in parts]
        lengths = np.zeros(n_docs, dtype=np.uint32)
        sizes = np.zeros(len(terms), dtype=np.int64)
        for (part, moved), rank in zip(parts, ranks, strict=True):
            kept = moved >= 0
            lengths[moved[kept]] = part.lengths[kept]
            sizes[rank] += part.sizes()
        slices = [
            _merged_slice(parts, ranks, first, last) for first, last in pairwise(_slice_bounds(sizes, _SLICE_POSTINGS))
        ]
        merged = np.concatenate([kept for kept, _, _ in slices]) if slices else sizes
        used = merged > 0
        starts = np.concatenate([[0], np.cumsum(merged[used])])
        docs = np.concatenate([docs for _, docs, _ in slices]) if slices else np.zeros(0, dtype=np.uint32)
        counts = np.concatenate([counts for _, _, counts in slices]) if slices else np.zeros(0, dtype=np.uint8)
        return cls._packed(terms[used], starts, docs, counts, lengths)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays to store the postings by."""
        return {name: getattr(self, name) for name in _COLUMNS}

    def sizes(self, first: int = 0, last: int | None = None) -> Array:
        """Return int64[last - first]: how many postings each of these terms has."""
        starts = self.starts[first : None if last is None else last + 1].astype(np.int64)
        return starts[1:] - starts[:-1]

    def range(self, term: int) -> tuple[int, int]:
        """Return where the postings of a hashed term stand."""
        place = int(np.searchsorted(self.terms, np.uint64(term)))
        if place < len(self.terms) and int(self.terms[place]) == term:
            return int(self.starts[place]), int(self.starts[place + 1])
        return 0, 0

    def live_terms(self, alive: Array | None) -> Array:
        """Return the hashed terms that some live document holds."""
        if alive is None:
            return self.terms
        holders = np.repeat(np.arange(len(self.terms)), self.sizes())[alive[self.docs]]
        return self.terms[np.bincount(holders, minlength=len(self.terms)) > 0]


def _slice_bounds(sizes: Array, most: int) -> list[int]:
    """Cut terms into ranges of about ``most`` postings, so that merging needs no more memory than one of them."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, np.arange(most, total, most)).tolist() if total > most else []
    return sorted({0, *cuts, len(sizes)})


def _merged_slice(
    parts: Sequence[tuple[Postings, Array]], ranks: Sequence[Array], first: int, last: int
) -> tuple[Array, Array, Array]:
    """Merge the postings of the terms from ``first`` up to ``last``; return how many each has, documents and counts."""
    keys, docs, counts = [], [], []
    for (part, moved), rank in zip(parts, ranks, strict=True):
        start, stop = np.searchsorted(rank, [first, last]).tolist()
        low, high = int(part.starts[start]), int(part.starts[stop])
        places = moved[part.docs[low:high]]
        alive = places >= 0
        keys.append(np.repeat(rank[start:stop] - first, part.sizes(start, stop))[alive])
        docs.append(places[alive].astype(np.uint32))
        counts.append(part.counts[low:high][alive])
    key, doc, count_of = np.concatenate(keys), np.concatenate(docs), np.concatenate(counts)
    order = np.argsort((key.astype(np.uint64) << np.uint64(32)) | doc, kind="stable")
    return np.bincount(key, minlength=last - first), doc[order], count_of[order]


class KeywordView:
    """The postings of several segments at one moment, with what of them is alive."""

    def __init__(
        self, parts: Sequence[tuple[Postings, Array | None]], *, k1: float = bm25.K1, b: float = bm25.B
    ) -> None:
        """Take postings, each with bool[d] of its live documents or None when all live."""
        self._parts = tuple(parts)
        self._k1, self._b = k1, b
        self.n_docs = sum(_alive_count(part, alive) for part, alive in self._parts)
        total = sum(int(part.lengths.sum() if alive is None else part.lengths[alive].sum()) for part, alive in parts)
        self.average_length = total / self.n_docs if self.n_docs else 0.0
        self._cache: dict[str, list[tuple[Array, Array]]] = {}
        self._cached = 0
        self._lock = threading.Lock()

    def vocabulary_size(self) -> int:
        """Count the distinct terms of live documents."""
        live = [part.live_terms(alive) for part, alive in self._parts]
        return len(distinct(live)) if live else 0

    def scores(self, weights: Mapping[str, float]) -> list[Array]:
        """Return float64[d] for each segment: what every document is worth for the weighted terms, 0 for none."""
        totals = [np.zeros(len(part.lengths)) for part, _ in self._parts]
        for term, weight in sorted(weights.items()):
            for total, (docs, worth) in zip(totals, self._worth(term), strict=True):
                if len(docs):
                    np.add.at(total, docs, worth if weight == 1.0 else worth * weight)
        return totals

    def telling_docs(self, weights: Mapping[str, float], least: int) -> list[Array]:
        """Return for each segment documents of the rarest terms, of so many terms that ``least`` documents hold one.

        Fewer where all terms together have not so many.
        """
        lists = [self._worth(term) for term in weights]
        lists.sort(key=lambda found: sum(len(docs) for docs, _ in found))
        taken = [[np.zeros(0, dtype=np.int64) for _ in self._parts]]
        while lists and sum(len(docs) for found in taken for docs in found) < least:
            taken.append([docs for docs, _ in lists.pop(0)])
        return [distinct(list(docs)) for docs in zip(*taken, strict=True)]

    def _worth(self, term: str) -> list[tuple[Array, Array]]:
        """Return documents and weights of one term in each segment, kept while they are few enough."""
        known = self._cache.get(term)
        if known is not None:
            return known
        computed = self._compute(term_hash(term))
        size = sum(len(docs) for docs, _ in computed)
        with self._lock:
            if self._cached + size > _CACHED_POSTINGS:
                self._cache.clear()
                self._cached = 0
            if term not in self._cache:
                self._cache[term] = computed
                self._cached += size
        return computed

    def _compute(self, term: int) -> list[tuple[Array, Array]]:
        found = [_live_postings(part, alive, term) for part, alive in self._parts]
        df = sum(len(docs) for docs, _ in found)
        idf = bm25.idf(self.n_docs, df)
        worth: list[tuple[Array, Array]] = []
        for (part, _), (docs, counts) in zip(self._parts, found, strict=True):
            lengths = part.lengths[docs].astype(np.float64)
            factor = bm25.saturation(counts.astype(np.float64), lengths, self.average_length, k1=self._k1, b=self._b)
            worth.append((docs.astype(np.int64), factor * idf))
        return worth


def _alive_count(part: Postings, alive: Array | None) -> int:
    return len(part.lengths) if alive is None else int(np.count_nonzero(alive))


def _live_postings(part: Postings, alive: Array | None, term: int) -> tuple[Array, Array]:
    start, stop = part.range(term)
    docs, counts = part.docs[start:stop], part.counts[start:stop]
    if alive is None or start == stop:
        return docs, counts
    living = alive[docs]
    return docs[living], counts[living]
