"""Into which searchable pieces does a note fall?

A subtree of headings that fits is one chunk; otherwise its body blocks are packed and its sections recursed. What a
chunk shows around its own content (the heading skeleton, ``[Part i/N]``) is not what it is found by: the terms of a
chunk are its content, named by ``metadata["core"]``, and the headings it stands under, ``metadata["headings"]``.
"""

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any

from reme_store.models import FileChunk
from reme_store.text.front_matter import ParsedNote
from reme_store.text.markdown import Block, Heading, read_blocks, read_headings

DEFAULT_CHUNK_CHARS = 10_000
MIN_CHUNK_CHARS = 100
OVERLAP = 100
_SMALL_SKELETON = 500
_SHOWN_TITLE = 200
_INDIVISIBLE = 4
"""A line or item up to this many times the limit stays whole."""

FIELD_WEIGHTS = {"name": 4, "description": 2, "tags": 3, "stem": 3, "values": 1, "headings": 1}
"""How often each part of an index chunk counts."""

_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_UNIT_END = re.compile(r"[\n。！？；]|[.!?;,，、]\s|\s")
_MAX_VALUE_CHARS = 2_000
_MAX_HEADING_CHARS = 100_000


@dataclass(slots=True, eq=False)
class _Section:
    """A heading with what stands below it; the root has none."""

    heading: Heading | None
    blocks: list[Block] = field(default_factory=list)
    children: list["_Section"] = field(default_factory=list)
    last: int = -1
    """Last line of the subtree."""
    order: int = -1
    """Place of the heading among all headings."""
    count: int = 0
    """How many headings the subtree has below this one."""
    neighbours: tuple[int, int] = (-1, -1)
    """Orders of the sections before and after it under the same parent; -1 where there is none."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Content of one chunk before the skeleton is put around it; lines are 0-based and inclusive."""

    core: str
    first: int
    last: int
    part: str = ""


def chunk_markdown(
    path: str, text: str, *, body_line: int, chunk_chars: int = DEFAULT_CHUNK_CHARS, embed_toc: bool = True
) -> list[FileChunk]:
    """Cut the body of a note into content chunks.

    Args:
        body_line: 1-based file line on which ``text`` begins.
        chunk_chars: most characters of content in a chunk, skeleton not counted; at least 100.
        embed_toc: whether each chunk of a cut note shows the headings of the whole note.
    """
    limit = max(MIN_CHUNK_CHARS, chunk_chars)
    text = text.replace("\r\n", "\n")
    if len(text) <= limit:
        return [_plain_chunk(path, piece, body_line) for piece in _whole(text)]
    blocks = read_blocks(text)
    if blocks is None:
        return [_plain_chunk(path, piece, body_line) for piece in _windows(text, limit)]
    folding = _Folding(path, text.split("\n"), blocks, body_line=body_line, limit=limit, embed_toc=embed_toc)
    return list(folding.chunks())


def chunk_plain(path: str, text: str, *, chunk_chars: int = DEFAULT_CHUNK_CHARS) -> list[FileChunk]:
    """Cut text without structure into overlapping windows, at line ends where there are some."""
    text = text.replace("\r\n", "\n")
    limit = max(MIN_CHUNK_CHARS, chunk_chars)
    return [_plain_chunk(path, piece, 1) for piece in _windows(text, limit)]


def index_chunk(path: str, parsed_note: ParsedNote, headings: Sequence[str]) -> FileChunk | None:
    """Return the chunk by which a note is found through its name, description, tags, file name and headings.

    None when there is no word in any of them.
    """
    fields = _index_fields(path, parsed_note.front_matter, headings)
    text = "\n".join(fields.values())
    if not text.strip():
        return None
    end = max(1, parsed_note.body_line - 1)
    metadata = {"chunk_type": "index", "fields": fields}
    return FileChunk(chunk_id(path, 1, end, text), path, 1, end, text, metadata)


def chunk_id(path: str, start_line: int, end_line: int, text: str) -> str:
    """Name a chunk by its place and text."""
    return hashlib.sha256(f"{path} {start_line} {end_line} {text}".encode("utf-8", "surrogatepass")).hexdigest()


def note_labels(front_matter: dict[str, Any]) -> tuple[str, str]:
    """Return name and description of a note as one line of text each; a title stands in for a missing name."""
    name = _value_text(front_matter.get("name")) or _value_text(front_matter.get("title"))
    return " ".join(name.split()), " ".join(_value_text(front_matter.get("description")).split())


def weighted_texts(chunk: FileChunk) -> Iterator[tuple[str, int]]:
    """Yield the texts a chunk is found by, each with how often it counts."""
    if chunk.metadata["chunk_type"] == "index":
        for name, text in chunk.metadata["fields"].items():
            yield text, FIELD_WEIGHTS[name]
        return
    for heading in chunk.metadata.get("headings", ()):
        yield heading, 1
    start, end = chunk.metadata.get("core", (0, len(chunk.text)))
    yield chunk.text[start:end], 1


def _index_fields(path: str, front_matter: dict[str, Any], headings: Iterable[str]) -> dict[str, str]:
    name, description = note_labels(front_matter)
    rest = (
        _value_text(value) for key, value in front_matter.items() if key not in ("name", "title", "description", "tags")
    )
    fields = {
        "name": name,
        "description": description,
        "tags": _value_text(front_matter.get("tags")),
        "stem": PurePosixPath(path).stem,
        "values": "\n".join(text[:_MAX_VALUE_CHARS] for text in rest if text),
        "headings": "\n".join(headings)[:_MAX_HEADING_CHARS],
    }
    return {key: text for key, text in fields.items() if text}


def _value_text(value: Any) -> str:
    """Write the words of a front matter value, nested ones included."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return " ".join(_value_text(item) for item in value.values())
    if isinstance(value, list):
        return " ".join(_value_text(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain_chunk(path: str, piece: _Piece, body_line: int) -> FileChunk:
    return _chunk(path, piece.core, piece, body_line, {"chunk_type": "content"})


def _chunk(path: str, text: str, piece: _Piece, body_line: int, metadata: dict[str, Any]) -> FileChunk:
    start, end = piece.first + body_line, piece.last + body_line
    return FileChunk(chunk_id(path, start, end, text), path, start, end, text, metadata)


def _whole(text: str) -> Iterator[_Piece]:
    """Yield the text as one piece without the blank lines around it, underlined headings written with ``#``."""
    lines = text.split("\n")
    first, last = _trim(lines, 0, len(lines) - 1)
    if first <= last:
        headings = read_headings(text) if _UNDERLINE.search(text) else []
        yield _Piece(_atx(lines, first, last, headings), first, last)


def _trim(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    while first <= last and not lines[first].strip():
        first += 1
    while last >= first and not lines[last].strip():
        last -= 1
    return first, last


def _atx(lines: Sequence[str], first: int, last: int, headings: Iterable[Heading]) -> str:
    """Return the lines as text; a heading over several lines becomes one in ATX form."""
    underlined = {heading.first: heading for heading in headings if heading.last > heading.first}
    if not underlined:
        return "\n".join(lines[first : last + 1])
    written: list[str] = []
    number = first
    while number <= last:
        heading = underlined.get(number)
        written.append(heading.text if heading else lines[number])
        number = heading.last + 1 if heading else number + 1
    return "\n".join(written)


class _Folding:
    """Folds the blocks of one note into the tree of its headings and yields the chunks."""

    def __init__(
        self, path: str, lines: list[str], blocks: Sequence[Block], *, body_line: int, limit: int, embed_toc: bool
    ) -> None:
        self._path, self._lines, self._body_line, self._limit = path, lines, body_line, limit
        self._offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self._headings = [block.heading for block in blocks if block.heading]
        self._titles = [_shown(heading) for heading in self._headings]
        self._root = _fold(blocks)
        size = sum(map(len, self._titles))
        self._full = size <= _SMALL_SKELETON or size <= limit // 10
        self._embed = embed_toc

    def chunks(self) -> Iterator[FileChunk]:
        """Yield the chunks in the order of the text."""
        yield from self._section_chunks(self._root, [])

    def _section_chunks(self, section: _Section, above: list[_Section]) -> Iterator[FileChunk]:
        own = [*above, section] if section.heading else above
        first = section.heading.last + 1 if section.heading else 0
        first, last = _trim(self._lines, first, section.last)
        if self._size(first, last) <= self._limit:
            if first <= last:
                yield self._framed(self._piece(first, last), own, section.count)
            return
        for piece in self._packed(section.blocks):
            yield self._framed(piece, own, 0)
        for child in section.children:
            yield from self._section_chunks(child, own)

    def _size(self, first: int, last: int) -> int:
        return self._offsets[last + 1] - self._offsets[first] - 1

    def _piece(self, first: int, last: int) -> _Piece:
        start = bisect_left(self._headings, first, key=lambda heading: heading.first)
        stop = bisect_right(self._headings, last, key=lambda heading: heading.first)
        return _Piece(_atx(self._lines, first, last, self._headings[start:stop]), first, last)

    def _framed(self, piece: _Piece, own: list[_Section], inside: int) -> FileChunk:
        """Put the skeleton around a piece; ``inside`` headings below the own one stand in the piece itself."""
        before, after = self._skeleton(own, inside) if self._embed else ([], [])
        head = "\n\n".join([*before, *([piece.part] if piece.part else [])])
        start = len(head) + 2 if head else 0
        text = "\n\n".join(part for part in (head, piece.core, *after) if part)
        metadata: dict[str, Any] = {"chunk_type": "content", "headings": [_title(section) for section in own]}
        if len(text) != len(piece.core):
            metadata["core"] = [start, start + len(piece.core)]
        return _chunk(self._path, text, piece, self._body_line, metadata)

    def _skeleton(self, own: list[_Section], inside: int) -> tuple[list[str], list[str]]:
        """Return the headings shown before and after a piece: all, or in a big note the path and its neighbours."""
        if self._full:
            place = own[-1].order + 1 if own else 0
            return self._titles[:place], self._titles[place + inside :]
        titles = [self._titles[section.order] for section in own]
        if not own:
            return titles, []
        before, after = ([self._titles[order]] if order >= 0 else [] for order in own[-1].neighbours)
        return [*titles[:-1], *before, titles[-1]], after

    def _packed(self, blocks: Sequence[Block]) -> Iterator[_Piece]:
        """Pack neighbouring blocks while they fit; split the block that alone does not."""
        run: list[Block] = []
        for block in blocks:
            if run and self._size(run[0].first, block.last) > self._limit:
                yield self._piece(run[0].first, run[-1].last)
                run = []
            if self._size(block.first, block.last) > self._limit:
                yield from self._split(block)
            else:
                run.append(block)
        if run:
            yield self._piece(run[0].first, run[-1].last)

    def _split(self, block: Block) -> Iterator[_Piece]:
        head, tail, first, last = "", "", block.first, block.last
        if block.kind == "table":
            head, first = "\n".join(self._lines[first : first + 2]), first + 2
        elif block.kind == "fence":
            head, first = self._lines[first], first + 1
            tail = head.lstrip()[0] * _fence_length(head)
            last -= self._lines[last].strip().startswith(tail)
        starts = list(block.items) if block.kind == "list" else list(range(first, last + 1))
        yield from _numbered(self._cut(starts, last, head, tail))

    def _cut(self, starts: Sequence[int], last: int, head: str, tail: str) -> Iterator[_Piece]:
        """Yield pieces of whole units (lines, rows, items) that fit between head and tail."""
        room = max(1, self._limit - len(head) - len(tail) - bool(head) - bool(tail))
        ends = [start - 1 for start in starts[1:]] + [last]
        run: list[tuple[int, int]] = []
        for unit in zip(starts, ends, strict=True):
            if run and self._size(run[0][0], unit[1]) > room:
                yield self._unit_piece(run[0][0], run[-1][1], head, tail)
                run = []
            if self._size(*unit) > _INDIVISIBLE * self._limit:
                yield from self._long_unit(*unit)
            else:
                run.append(unit)
        if run:
            yield self._unit_piece(run[0][0], run[-1][1], head, tail)

    def _unit_piece(self, first: int, last: int, head: str, tail: str) -> _Piece:
        first, last = _trim(self._lines, first, last) if not tail else (first, last)
        body = "\n".join(self._lines[first : last + 1])
        return _Piece("\n".join(part for part in (head, body, tail) if part), first, last)

    def _long_unit(self, first: int, last: int) -> Iterator[_Piece]:
        for piece in _windows("\n".join(self._lines[first : last + 1]), self._limit):
            yield replace(piece, first=piece.first + first, last=piece.last + first)


def _fold(blocks: Iterable[Block]) -> _Section:
    """Hang each block under the heading it belongs to."""
    root = _Section(None)
    path = [root]
    order = 0
    for block in blocks:
        if block.heading is None:
            path[-1].blocks.append(block)
        else:
            while len(path) > 1 and _level(path[-1]) >= block.heading.level:
                path.pop()
            section = _Section(block.heading, order=order)
            _place(section, path)
            order += 1
        for section in path:
            section.last = block.last
    return root


def _place(section: _Section, path: list[_Section]) -> None:
    siblings = path[-1].children
    if siblings:
        siblings[-1].neighbours = (siblings[-1].neighbours[0], section.order)
        section.neighbours = (siblings[-1].order, -1)
    siblings.append(section)
    for ancestor in path:
        ancestor.count += 1
    path.append(section)


def _level(section: _Section) -> int:
    return section.heading.level if section.heading else 0


def _shown(heading: Heading) -> str:
    return heading.text[:_SHOWN_TITLE]


def _title(section: _Section) -> str:
    return section.heading.title[:_SHOWN_TITLE] if section.heading else ""


def _fence_length(opener: str) -> int:
    bare = opener.lstrip()
    return len(bare) - len(bare.lstrip(bare[0]))


def _numbered(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Write on each piece which part of how many it is, where there are several."""
    found = [piece for piece in pieces if piece.core.strip()]
    if len(found) < 2:
        return found
    return [replace(piece, part=f"[Part {number}/{len(found)}]") for number, piece in enumerate(found, 1)]


def _windows(text: str, limit: int) -> Iterator[_Piece]:
    """Yield overlapping windows of at most ``limit`` characters."""
    start, line = 0, 0
    while start < len(text):
        end = _window_end(text, start, limit)
        core = text[start:end]
        lead = len(core) - len(core.lstrip("\n"))
        body = core.strip("\n")
        if body.strip():
            first = line + lead
            yield _Piece(body, first, first + body.count("\n"))
        if end >= len(text):
            return
        following = _window_start(text, start, end)
        line += text.count("\n", start, following)
        start = following


def _window_end(text: str, start: int, limit: int) -> int:
    """Find where a window stops: after a line, else after a word, never inside a wikilink."""
    end = start + limit
    if end >= len(text):
        return len(text)
    half = start + limit // 2
    newline = text.rfind("\n", half, end)
    if newline >= 0:
        return newline + 1
    opened = _open_link(text, half, end)
    if opened is not None:
        return opened
    stops = [match.end() for match in _UNIT_END.finditer(text, half, end)]
    return next((stop for stop in reversed(stops) if _open_link(text, start, stop) is None), end)


def _window_start(text: str, start: int, end: int) -> int:
    """Step back by the overlap, to before a wikilink rather than into it, and always forward of the last start."""
    begin = max(end - OVERLAP, start + 1)
    opened = _open_link(text, start + 1, begin)
    return begin if opened is None else opened


def _open_link(text: str, start: int, end: int) -> int | None:
    """Return where a wikilink begins that reaches over ``end``; None when there is none."""
    opened = text.rfind("[[", start, end + 1)
    if opened < 0 or text.find("]]", opened, end) >= 0:
        return None
    closed = text.find("]]", end - 1, end + 1_000)
    return opened if closed >= 0 and "\n" not in text[opened:closed] else None
