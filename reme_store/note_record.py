"""What does the index need to know of one file? Parsed once, from bytes, without a disk or a clock."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reme_store.index.notes import CONTENT, INDEX, ChunkRow, NoteRow
from reme_store.models import FileChunk, FileLink, FileNode, FileState
from reme_store.text.chunking import (
    FIELD_WEIGHTS,
    chunk_id,
    chunk_markdown,
    chunk_plain,
    index_chunk,
    note_labels,
    weighted_texts,
)
from reme_store.text.day_list import blank_lists, is_day_page, is_topics
from reme_store.text.decoding import decode_text
from reme_store.text.front_matter import ParsedNote, parse_note
from reme_store.text.markdown import read_headings
from reme_store.text.term_counts import Weighted
from reme_store.text.wikilinks import fold_edges, parse_wikilinks

TEXT_SUFFIXES = (".md", ".txt", ".json", ".jsonl", ".csv", ".yaml", ".yml", ".html", ".htm")
"""Files that are indexed; all but ``.md`` as plain text."""

_UNREAD = FileState("", 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """Everything derived from one file."""

    path: str
    state: FileState
    name: str = ""
    description: str = ""
    front_matter: Mapping[str, Any] | None = None
    links: tuple[FileLink, ...] = ()
    chunks: tuple[FileChunk, ...] = ()
    """The index chunk, where there is one, then the content chunks in order."""
    problem: str = ""
    readable: bool = True

    def node(self) -> FileNode:
        """Return the note as a node of the link graph."""
        ids = tuple(chunk.id for chunk in self.chunks if chunk.metadata["chunk_type"] == "content")
        return FileNode(self.path, self.state.mtime_ns / 1e9, self.links, ids, dict(self.front_matter or {}))


def read_record(path: str, data: bytes, state: FileState, *, chunk_chars: int, embed_toc: bool) -> NoteRecord:
    """Derive all that is indexed from the bytes of a file."""
    decoded = decode_text(data)
    if decoded is None:
        return NoteRecord(path, state, problem="holds no text: not indexed", readable=False)
    problem = "" if decoded.encoding == "utf-8" else f"is not UTF-8 but {decoded.encoding}: tools only read it"
    if "\x00" in decoded.text and not problem:
        problem = "holds a NUL character"
    if not path.lower().endswith(".md"):
        return replace(_plain_record(path, decoded.text, chunk_chars), state=state, problem=problem)
    record = _markdown_record(path, decoded.text, chunk_chars, embed_toc)
    faults = "; ".join(fault for fault in (problem, record.problem) if fault)
    return replace(record, state=state, problem=faults)


def _plain_record(path: str, text: str, chunk_chars: int) -> NoteRecord:
    if is_topics(path):  # what the notes gave rise to; the notes themselves are what is to be found
        return NoteRecord(path, _UNREAD)
    title = index_chunk(path, ParsedNote(front_matter={}, body=text, body_line=1, has_block=False, fault=""), [])
    return NoteRecord(path, _UNREAD, chunks=(*_maybe(title), *chunk_plain(path, text, chunk_chars=chunk_chars)))


def _markdown_record(path: str, text: str, chunk_chars: int, embed_toc: bool) -> NoteRecord:
    parsed = parse_note(text)
    headings = [heading.title for heading in read_headings(parsed.body)]
    title = index_chunk(path, parsed, headings)
    body = blank_lists(parsed.body) if is_day_page(path) else parsed.body
    chunks = chunk_markdown(path, body, body_line=parsed.body_line, chunk_chars=chunk_chars, embed_toc=embed_toc)
    name, description = note_labels(parsed.front_matter)
    return NoteRecord(
        path,
        _UNREAD,
        name,
        description,
        parsed.front_matter,
        links=fold_edges(path, parse_wikilinks(text, parsed)),
        chunks=(*_maybe(title), *chunks),
        problem=_front_matter_problem(parsed),
    )


def _front_matter_problem(parsed: ParsedNote) -> str:
    if parsed.duplicates:
        return f"front matter: {', '.join(parsed.duplicates)} more than once, the last one counts"
    return f"front matter: {parsed.fault}" if parsed.fault else ""


def _maybe(chunk: FileChunk | None) -> tuple[FileChunk, ...]:
    return () if chunk is None else (chunk,)


def record_texts(record: NoteRecord) -> list[list[Weighted]]:
    """Return the texts by which each chunk is found."""
    return [list(_weighted(chunk)) for chunk in record.chunks]


def _weighted(chunk: FileChunk) -> Iterator[Weighted]:
    for text, weight in weighted_texts(chunk):
        yield Weighted(text, weight)
    fields = chunk.metadata.get("fields", {})
    for key in ("name", "stem"):
        if key in fields:
            yield Weighted(fields[key], FIELD_WEIGHTS[key], is_title=True)


def note_row(record: NoteRecord, *, frame: int, line: int, share: int) -> NoteRow:
    """Return the columns of a record that stands in the log at ``frame`` and ``line``."""
    return NoteRow(
        path=record.path,
        state=record.state,
        name=record.name,
        description=record.description,
        front_matter=json.dumps(record.front_matter, ensure_ascii=False) if record.front_matter else "",
        problem=record.problem,
        readable=record.readable,
        frame=frame,
        line=line,
        share=share,
        chunks=tuple(_chunk_row(chunk) for chunk in record.chunks),
    )


def _chunk_row(chunk: FileChunk) -> ChunkRow:
    kind = INDEX if chunk.metadata["chunk_type"] == "index" else CONTENT
    digest = hashlib.blake2b(chunk.text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return ChunkRow(kind, chunk.start_line, chunk.end_line, int.from_bytes(digest, "little"))


def render_record(record: NoteRecord) -> dict[str, Any]:
    """Render a record as one row of the log; ids and what an index chunk says are derived again when it is read."""
    state = record.state
    row: dict[str, Any] = {
        "p": record.path,
        "s": [state.sha256, state.size, state.mtime_ns, state.ctime_ns, state.inode],
        "c": [[chunk.start_line, chunk.end_line, chunk.text, dict(chunk.metadata)] for chunk in record.chunks],
    }
    optional = {
        "n": record.name,
        "d": record.description,
        "f": record.front_matter,
        "l": [[link.target_path, link.target_anchor, link.predicate] for link in record.links],
        "b": record.problem,
    }
    return {**row, **{key: value for key, value in optional.items() if value}, **({} if record.readable else {"r": 0})}


def parse_record(row: Mapping[str, Any]) -> NoteRecord:
    """Read a record back from its row."""
    path = row["p"]
    chunks = tuple(
        FileChunk(chunk_id(path, start, end, text), path, start, end, text, metadata)
        for start, end, text, metadata in row["c"]
    )
    links = tuple(FileLink(path, target, anchor, predicate) for target, anchor, predicate in row.get("l", ()))
    return NoteRecord(
        path,
        FileState(*row["s"]),
        row.get("n", ""),
        row.get("d", ""),
        row.get("f", {}),
        links,
        chunks,
        row.get("b", ""),
        bool(row.get("r", 1)),
    )
