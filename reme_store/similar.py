"""Which chunks are nearest to a question by meaning? Filters come before the cut, and equal text is one hit."""

from collections.abc import Collection, Iterator
from typing import Protocol

import numpy as np

from reme_store.index.arrays import Array
from reme_store.index.notes import CONTENT
from reme_store.index.view import IndexView
from reme_store.ranking import Candidate, Group, grouped
from reme_store.search_filter import SearchFilter

_FIRST_LOOK = 16


class Meaning(Protocol):
    """Who knows how near texts are to a question."""

    @property
    def fault(self) -> str:
        """Why nothing is known now; empty when all is well."""

    def ask(self, question: str) -> "Asked":
        """Begin to look; what is returned waits for the result."""


class Asked(Protocol):
    """A question on its way."""

    def __call__(self) -> tuple[Array, Array] | None:
        """Return uint64[n] of texts and float32[n] of their cosines; None when they cannot be had."""


def rank_similar(view: IndexView, near: tuple[Array, Array], wanted: SearchFilter, limit: int) -> list[Group]:
    """Return the ``limit`` nearest groups of equal text, nearest first; what is not near at all is none."""
    masks = [wanted.allowed(part.segment.notes) for part in view.parts]
    keys, cosines = _positive(view, near, masks if wanted.prefixes else [])
    groups: list[Group] = []
    for place in _descending(cosines, max(_FIRST_LOOK, 2 * limit)):
        members = list(_members(view, masks, wanted, int(keys[place]), float(cosines[place])))
        if members:
            groups.append(grouped(members[0], members))
        if len(groups) == limit:
            break
    return groups


def cosines_of(near: tuple[Array, Array], texts: Collection[int]) -> dict[int, float]:
    """Return how near some texts are; those without a vector are left out."""
    keys, cosines = near
    places = np.flatnonzero(np.isin(keys, np.array([*texts], dtype=np.uint64)))
    return dict(zip(keys[places].tolist(), cosines[places].tolist(), strict=True))


def _positive(view: IndexView, near: tuple[Array, Array], masks: list[Array | None]) -> tuple[Array, Array]:
    """Return the texts that are near at all and, where there are masks, stand in a note they let through."""
    keys, cosines = near
    kept = cosines > 0
    if masks:
        columns = [part.segment.notes.columns for part in view.parts]
        allowed = [
            own["text_hash"] if mask is None else own["text_hash"][mask[own["note"]]]
            for own, mask in zip(columns, masks, strict=True)
        ]
        kept &= np.isin(keys, np.concatenate(allowed)) if allowed else False
    return keys[kept], cosines[kept]


def _descending(cosines: Array, look: int) -> Iterator[int]:
    """Yield places by descending cosine, sorting no more of them than the caller takes."""
    rest = np.arange(len(cosines))
    while len(rest):
        if len(rest) > look:
            parted = rest[np.argpartition(-cosines[rest], look - 1)]
            best, rest = parted[:look], parted[look:]
        else:
            best, rest = rest, rest[:0]
        yield from best[np.lexsort((best, -cosines[best]))].tolist()
        look *= 4


def _members(
    view: IndexView, masks: list[Array | None], wanted: SearchFilter, key: int, cosine: float
) -> Iterator[Candidate]:
    """Yield the live content chunks of one text that the filter lets through."""
    for number, (part, mask) in enumerate(zip(view.parts, masks, strict=True)):
        notes = part.segment.notes
        for doc in notes.docs_of_texts([key])[0]:
            note = int(notes.columns["note"][doc])
            allowed = part.alive[note] and (mask is None or mask[note]) and notes.columns["kind"][doc] == CONTENT
            if allowed and wanted.accepts(notes, note):
                yield Candidate(number, note, doc, cosine, notes.paths[note], key)
