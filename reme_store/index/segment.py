"""What is one immutable piece of the index? Some notes, their edges, and the postings of their chunks, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reme_store.index.arrays import Array, read_arrays, write_arrays
from reme_store.index.keyword import Postings
from reme_store.index.links import LinkTable
from reme_store.index.notes import NoteRow, NoteTable
from reme_store.models import FileLink
from reme_store.text.term_counts import TermCounts

FOLDERS = ("file_store", "file_graph", "keyword_index")
"""Where the three files of a segment are kept."""

_VERIFIED_BYTES = 4_000_000
"""Files up to this size are checked byte by byte when they are opened."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Notes, edges and postings that share their numbering; ``name`` is empty while it is in memory only."""

    notes: NoteTable
    links: LinkTable
    postings: Postings
    name: str = ""

    @classmethod
    def build(cls, rows: Sequence[NoteRow], links: Sequence[Sequence[FileLink]], counts: TermCounts) -> "Segment":
        """Make a segment of rows sorted by path, the links of each, and the terms of every chunk in that order."""
        return cls(NoteTable.build(rows), LinkTable.build(links), Postings.build(counts))

    def write(self, folder: Path, name: str) -> "Segment":
        """Store the segment under a name and return it as it is mapped from there."""
        stored = (self.notes.arrays(), self.links.arrays(), self.postings.arrays())
        for sub, arrays in zip(FOLDERS, stored, strict=True):
            (folder / sub).mkdir(parents=True, exist_ok=True)
            write_arrays(_file(folder, sub, name), arrays)
        return self.read(folder, name)

    @classmethod
    def read(cls, folder: Path, name: str, *, verify: bool = False) -> "Segment":
        """Map a stored segment; small files are always verified."""
        maps = []
        for sub in FOLDERS:
            path = _file(folder, sub, name)
            small = path.is_file() and path.stat().st_size <= _VERIFIED_BYTES
            maps.append(read_arrays(path, verify=verify or small))
        return cls(NoteTable.load(maps[0]), LinkTable.load(maps[1]), Postings(maps[2]), name)


@dataclass(frozen=True, slots=True)
class Part:
    """A segment with bool[n] of its notes that are still alive."""

    segment: Segment
    alive: Array

    @classmethod
    def whole(cls, segment: Segment) -> "Part":
        """Take a segment of which every note is alive."""
        return cls(segment, np.ones(len(segment.notes), dtype=np.bool_))

    @property
    def n_alive(self) -> int:
        """How many notes are alive."""
        return int(np.count_nonzero(self.alive))

    def live_docs(self) -> Array | None:
        """Return bool[d] of the live documents; None when all are."""
        if self.alive.all():
            return None
        return np.repeat(self.alive, np.diff(self.segment.notes.first_doc))

    def without(self, notes: Sequence[int]) -> "Part":
        """Return the part with some notes dead."""
        alive = self.alive.copy()
        alive[list(notes)] = False
        return Part(self.segment, alive)


def merge_parts(parts: Sequence[Part]) -> Segment:
    """Make one segment in memory of the live notes of several."""
    notes, moved_notes, moved_docs = NoteTable.merge([(part.segment.notes, part.alive) for part in parts])
    links = LinkTable.merge(
        [(part.segment.links, moved) for part, moved in zip(parts, moved_notes, strict=True)], len(notes)
    )
    postings = Postings.merge(
        [(part.segment.postings, moved) for part, moved in zip(parts, moved_docs, strict=True)], notes.n_docs
    )
    return Segment(notes, links, postings)


def _file(folder: Path, sub: str, name: str) -> Path:
    return folder / sub / f"{name}.arrays"


def segment_files(folder: Path, name: str) -> list[Path]:
    """Return the files of a stored segment."""
    return [_file(folder, sub, name) for sub in FOLDERS]
