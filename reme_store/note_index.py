"""How does the text of notes become an index? The one place that knows parse, chunk, terms and commit.

What is on disk is the business of ``index.store``, which files changed that of the caller: this module takes bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reme_store.index.notes import CONTENT
from reme_store.index.segment import Part
from reme_store.index.store import BATCH, Entry, SegmentStore, batched
from reme_store.index.view import IndexView, KnownFiles
from reme_store.models import FileLink, FileNode, FileState
from reme_store.note_record import (
    TEXT_SUFFIXES,
    NoteRecord,
    note_row,
    parse_record,
    read_record,
    record_texts,
    render_record,
)
from reme_store.text.chunking import DEFAULT_CHUNK_CHARS
from reme_store.text.term_counts import TermCounter, TermCounts, Weighted
from reme_store.text.tokenize import Tokenizer


class _RecordCodec:
    """How note records stand in the log and in segments."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._counter = TermCounter(tokenizer)

    def render(self, record: NoteRecord) -> dict[str, Any]:
        return render_record(record)

    def parse(self, row: dict[str, Any]) -> NoteRecord:
        return parse_record(row)

    def entry(self, record: NoteRecord, frame: int, line: int, share: int) -> Entry:
        row = note_row(record, frame=frame, line=line, share=share)
        return Entry(row, record.links, record_texts(record))

    def count(self, documents: Sequence[Sequence[Weighted]]) -> TermCounts:
        return self._counter.count(documents)


class NoteIndex:
    """The index of a workspace's notes; safe between threads and processes."""

    def __init__(self, folder: Path, *, chunk_chars: int = DEFAULT_CHUNK_CHARS, embed_toc: bool = True) -> None:
        """Name an index below ``folder``; nothing is read before ``open``."""
        self.tokenizer = Tokenizer()
        self._chunk_chars, self._embed_toc = chunk_chars, embed_toc
        options = f"{self.tokenizer.fingerprint} {chunk_chars} {embed_toc}"
        self._store: SegmentStore[NoteRecord] = SegmentStore(folder, options, _RecordCodec(self.tokenizer))
        self.changed: Callable[[], object] = lambda: None
        """Called after each commit of this process."""

    @staticmethod
    def indexes(path: str) -> bool:
        """Whether a file of this name is indexed."""
        return path.lower().endswith(TEXT_SUFFIXES)

    @property
    def notices(self) -> list[str]:
        """Why the stored index had to be begun anew, oldest first; empty when it never had to."""
        return list(self._store.notices)

    def open(self) -> None:
        """Open the stored index, an empty one where there is none or it cannot be read."""
        self._store.open()

    def close(self) -> None:
        """Release the files; everything applied is already durable."""
        self._store.close()

    def apply(self, changed: Iterable[tuple[str, bytes, FileState]], deleted: Iterable[str] = ()) -> None:
        """Index new bytes of files and forget others, durably; up to 256 files are one atomic commit."""
        gone = list(dict.fromkeys(deleted))
        for group in batched(changed, BATCH):
            records = {path: self._read(path, data, state) for path, data, state in group}
            self._store.commit(list(records.values()), [path for path in gone if path not in records])
            gone = []
        if gone:
            self._store.commit([], gone)
        self.changed()

    def rebuild(self, files: Iterable[tuple[str, bytes, FileState]] = ()) -> None:
        """Begin anew with exactly these files; the old index answers until the last of them is read."""
        groups = batched(files, BATCH)
        self._store.replace_all([self._read(path, data, state) for path, data, state in group] for group in groups)
        self.changed()

    def _read(self, path: str, data: bytes, state: FileState) -> NoteRecord:
        return read_record(path, data, state, chunk_chars=self._chunk_chars, embed_toc=self._embed_toc)

    def catch_up(self) -> bool:
        """Take in what other processes committed; return whether there was anything. Every question does so."""
        return self._store.catch_up()

    def verify(self) -> list[str]:
        """Check every stored byte against its checksum and return what is damaged."""
        return self._store.verify()

    def view(self) -> IndexView:
        """Return what the index says now; it does not change while it is held."""
        return self._store.view()

    def record_of(self, view: IndexView, part: Part, note: int) -> NoteRecord:
        """Return all that is known of a note of a view, chunk texts included."""
        return self._store.record(view, part, note)

    def known(self) -> Mapping[str, FileState]:
        """Return every indexed file with what it was when it was read."""
        return KnownFiles(self.view())

    def record(self, path: str) -> NoteRecord | None:
        """Return all that is known of a file; None when it is not indexed."""
        view = self.view()
        place = view.find(path)
        return None if place is None else self.record_of(view, view.parts[place[0]], place[1])

    def node(self, path: str) -> FileNode | None:
        """Return a note as a node of the link graph; None when it is not indexed or holds no text."""
        record = self.record(path)
        return record.node() if record is not None and record.readable else None

    def nodes(self) -> Iterator[FileNode]:
        """Yield every note."""
        view = self.view()
        for part, note in view.places():
            if part.segment.notes.columns["readable"][note]:
                yield self.record_of(view, part, note).node()

    def outlinks(self, path: str) -> list[FileLink]:
        """Return the links of a note in the order of its text."""
        return self.view().outlinks(path)

    def inlinks(self, path: str) -> list[FileLink]:
        """Return the links to a path, which need not exist."""
        return self.view().inlinks(path)

    def inbound_sources(self, target: str) -> list[str]:
        """Return the notes that link to a target, each once."""
        return list(dict.fromkeys(link.source_path for link in self.inlinks(target)))

    def counts(self) -> dict[str, int]:
        """Return how much the index holds."""
        view = self.view()
        edges, virtual = view.link_counts()
        return {
            "n_files": view.n_notes,
            "n_chunks": sum(_contents(part) for part in view.parts),
            "n_nodes": sum(_nodes(part) for part in view.parts),
            "n_edges": edges,
            "n_virtual": virtual,
            "n_docs": view.keyword.n_docs,
            "vocab_size": view.keyword.vocabulary_size(),
        }

    def problems(self) -> list[dict[str, str]]:
        """Return what is wrong with indexed files, one entry a file."""
        found = [
            {"path": part.segment.notes.paths[note], "problem": part.segment.notes.strings["problems"][note]}
            for part, note in self.view().places()
        ]
        return sorted((entry for entry in found if entry["problem"]), key=lambda entry: entry["path"])


def _contents(part: Part) -> int:
    columns = part.segment.notes.columns
    return int(np.count_nonzero(part.alive[columns["note"]] & (columns["kind"] == CONTENT)))


def _nodes(part: Part) -> int:
    return int(np.count_nonzero(part.alive & part.segment.notes.columns["readable"]))
