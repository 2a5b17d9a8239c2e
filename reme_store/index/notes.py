"""Which notes does a segment hold, what do they call themselves, and where is the rest of each?

Notes are sorted by path, so that a folder is one range; the chunks of a note are one range of documents, its index
chunk first. Text and links of a note stand in the log, at ``frame`` and ``line``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from reme_store.index.arrays import Array, Strings, spans
from reme_store.models import FileState

CONTENT, INDEX = 0, 1
"""Kinds of chunks."""


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """What is kept of a chunk beside its terms."""

    kind: int
    start_line: int
    end_line: int
    text_hash: int
    """64 bits that are equal for equal texts."""


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note as it enters a segment."""

    path: str
    state: FileState
    name: str
    description: str
    front_matter: str
    """JSON."""
    problem: str
    readable: bool
    frame: int
    line: int
    share: int
    """Bytes of the log that this note takes, about."""
    chunks: tuple[ChunkRow, ...]


_STRINGS = ("paths", "names", "descriptions", "front_matter", "problems")
_PER_NOTE = ("sha256", "stat", "place", "readable")
_PER_DOC = ("kind", "lines", "text_hash")


class NoteTable:
    """The notes of one segment as columns.

    Columns: ``sha256`` uint8[n, 32]; ``stat`` int64[n, 4] (size, mtime_ns, ctime_ns, inode); ``place`` int64[n, 3]
    (frame, line, share); ``readable`` bool[n]; ``first_doc`` int64[n + 1]; and per document ``kind`` uint8,
    ``lines`` uint32[.., 2], ``text_hash`` uint64 with its sorting ``text_order`` uint32, ``note`` uint32.
    """

    def __init__(self, strings: Mapping[str, Strings], columns: Mapping[str, Array]) -> None:
        self.strings = dict(strings)
        self.columns = dict(columns)
        self.paths = self.strings["paths"]
        self.first_doc = self.columns["first_doc"]
        self._folders: dict[str, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def n_docs(self) -> int:
        """How many documents the segment has."""
        return len(self.columns["kind"])

    @classmethod
    def build(cls, rows: Sequence[NoteRow]) -> "NoteTable":
        """Make a table of rows that are sorted by path."""
        chunks = [chunk for row in rows for chunk in row.chunks]
        states = [row.state for row in rows]
        shas = b"".join(bytes.fromhex(state.sha256) for state in states)
        columns = {
            "sha256": np.frombuffer(shas, dtype=np.uint8).reshape(-1, 32),
            "stat": _int_rows([(s.size, s.mtime_ns, s.ctime_ns, s.inode) for s in states], 4),
            "place": _int_rows([(row.frame, row.line, row.share) for row in rows], 3),
            "readable": np.array([row.readable for row in rows], dtype=np.bool_),
            "kind": np.array([chunk.kind for chunk in chunks], dtype=np.uint8),
            "lines": _int_rows([(chunk.start_line, chunk.end_line) for chunk in chunks], 2).astype(np.uint32),
            "text_hash": np.array([chunk.text_hash for chunk in chunks], dtype=np.uint64),
        }
        strings = {
            "paths": Strings.of(row.path for row in rows),
            "names": Strings.of(row.name for row in rows),
            "descriptions": Strings.of(row.description for row in rows),
            "front_matter": Strings.of(row.front_matter for row in rows),
            "problems": Strings.of(row.problem for row in rows),
        }
        return cls._complete(strings, columns, np.array([len(row.chunks) for row in rows], dtype=np.int64))

    @classmethod
    def _complete(cls, strings: dict[str, Strings], columns: dict[str, Array], doc_counts: Array) -> "NoteTable":
        hashes = hashes64(strings["paths"].texts())
        order = np.argsort(hashes, kind="stable")
        columns["first_doc"] = np.concatenate([[0], np.cumsum(doc_counts)]).astype(np.int64)
        columns["note"] = np.repeat(np.arange(len(doc_counts), dtype=np.uint32), doc_counts)
        columns["hash"] = hashes[order]
        columns["hash_order"] = order.astype(np.uint32)
        columns["text_order"] = np.argsort(columns["text_hash"], kind="stable").astype(np.uint32)
        return cls(strings, columns)

    @classmethod
    def merge(cls, parts: Sequence[tuple["NoteTable", Array]]) -> tuple["NoteTable", list[Array], list[Array]]:
        """Make one table of the live notes of several.

        Args:
            parts: tables with bool[n] of what is alive; no path may be alive twice.

        Returns:
            The table, and for each part where its notes and its documents went: int64, -1 for what is dropped.
        """
        live = [np.flatnonzero(alive) for _, alive in parts]
        texts = [table.paths.texts() for table, _ in parts]
        keyed = [
            (texts[k][n].encode("utf-8", "surrogatepass"), k, n) for k in range(len(parts)) for n in live[k].tolist()
        ]
        keyed.sort()
        sources = np.array([(part, note) for _, part, note in keyed], dtype=np.int64).reshape(-1, 2)
        notes = [np.full(len(table), -1, dtype=np.int64) for table, _ in parts]
        for part, moved in enumerate(notes):
            places = np.flatnonzero(sources[:, 0] == part)
            moved[sources[places, 1]] = places
        return cls._merge_columns([table for table, _ in parts], sources, notes)

    @classmethod
    def _merge_columns(
        cls, tables: Sequence["NoteTable"], sources: Array, notes: list[Array]
    ) -> tuple["NoteTable", list[Array], list[Array]]:
        counts = [np.diff(table.first_doc) for table in tables]
        offsets = np.concatenate([[0], np.cumsum([len(table) for table in tables])])[:-1]
        flat = offsets[sources[:, 0]] + sources[:, 1] if len(sources) else np.zeros(0, dtype=np.int64)
        doc_counts = np.concatenate(counts)[flat]
        doc_offsets = np.concatenate([[0], np.cumsum([table.n_docs for table in tables])])[:-1]
        starts = np.concatenate(
            [table.first_doc[:-1] + offset for table, offset in zip(tables, doc_offsets, strict=True)]
        )
        flat_docs = spans(starts[flat], doc_counts)
        columns = {name: np.concatenate([table.columns[name] for table in tables])[flat] for name in _PER_NOTE}
        columns |= {name: np.concatenate([table.columns[name] for table in tables])[flat_docs] for name in _PER_DOC}
        pairs = sources.tolist()
        strings = {name: _gathered([table.strings[name] for table in tables], pairs) for name in _STRINGS}
        docs = np.full(sum(table.n_docs for table in tables), -1, dtype=np.int64)
        docs[flat_docs] = np.arange(len(flat_docs))
        bounds = [*doc_offsets.tolist(), len(docs)]
        moved = [docs[a:b] for a, b in pairwise(bounds)]
        return cls._complete(strings, columns, doc_counts), notes, moved

    def arrays(self) -> dict[str, Array]:
        """Return the arrays to store the table by."""
        stored = dict(self.columns)
        for name, strings in self.strings.items():
            stored |= strings.arrays(name)
        return stored

    @classmethod
    def load(cls, arrays: Mapping[str, Array]) -> "NoteTable":
        """Take a table out of the arrays of a file."""
        strings = {name: Strings.load(arrays, name) for name in _STRINGS}
        return cls(strings, {name: array for name, array in arrays.items() if "." not in name})

    def find(self, path: str) -> int:
        """Return the ordinal of a path; -1 when the segment does not hold it."""
        wanted = path.encode("utf-8", "surrogatepass")
        key = np.uint64(hash64(path))
        hashes, order = self.columns["hash"], self.columns["hash_order"]
        place = int(np.searchsorted(hashes, key))
        while place < len(hashes) and hashes[place] == key:
            note = int(order[place])
            if self.paths.raw(note) == wanted:
                return note
            place += 1
        return -1

    def folder(self, prefix: str) -> tuple[int, int]:
        """Return the range of notes below a folder, or of the note that is called ``prefix``."""
        known = self._folders.get(prefix)
        if known is None:
            note = self.find(prefix)
            bounds = (
                (note, note + 1) if note >= 0 else (self.paths.bisect(prefix + "/"), self.paths.bisect(prefix + "0"))
            )
            known = self._folders[prefix] = bounds  # "0" is the character after "/"
        return known

    @cached_property
    def title_docs(self) -> Array:
        """int64[d]: the index chunk of the note of each document; the document itself where there is none."""
        first = self.first_doc[self.columns["note"]].astype(np.int64)
        titles: Array = np.where(self.columns["kind"][first] == INDEX, first, np.arange(len(first)))
        return titles

    @cached_property
    def _sorted_texts(self) -> Array:
        hashes: Array = self.columns["text_hash"][self.columns["text_order"]]
        return hashes

    def docs_of_texts(self, text_hashes: Sequence[int]) -> list[list[int]]:
        """Return the documents of each of these texts, ascending."""
        order, keys = self.columns["text_order"], np.array(text_hashes, dtype=np.uint64)
        starts = np.searchsorted(self._sorted_texts, keys, side="left").tolist()
        stops = np.searchsorted(self._sorted_texts, keys, side="right").tolist()
        return [sorted(order[start:stop].tolist()) for start, stop in zip(starts, stops, strict=True)]

    def state(self, note: int) -> FileState:
        """Return what the file of a note was when it was indexed."""
        size, mtime, ctime, inode = self.columns["stat"][note].tolist()
        return FileState(self.columns["sha256"][note].tobytes().hex(), size, mtime, ctime, inode)


def hash64(text: str) -> int:
    """Name a text by 64 bits that are the same in every process."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def hashes64(texts: Iterable[str]) -> Array:
    """Return uint64[n]: the name of each text."""
    digests = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _int_rows(rows: Sequence[tuple[int, ...]], width: int) -> Array:
    # an inode or a time beyond 63 bits (network file systems) keeps its low bits; it only serves as a pre-filter
    return np.array([[_int64(value) for value in row] for row in rows], dtype=np.int64).reshape(-1, width)


def _int64(value: int) -> int:
    return value if -(1 << 63) <= value < 1 << 63 else (value & ((1 << 64) - 1)) - (1 << 63)


def _gathered(strings: Sequence[Strings], pairs: Sequence[tuple[int, int]]) -> Strings:
    texts = [item.texts() for item in strings]
    return Strings.of(texts[part][note] for part, note in pairs)
