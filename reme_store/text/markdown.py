"""Which headings and blocks does a Markdown text have?

Two readers: ``read_headings`` scans lines and is all that a note needs which fits one chunk; ``read_blocks`` asks
mistletoe for the blocks of a note that must be split. Lines are 0-based here and split on ``\\n`` only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "fence", "list", "table", "leaf"]

MAX_PARSED_CHARS = 1_000_000
MAX_PARSED_LINE = 50_000
MAX_NESTING = 40
"""Above these the syntax tree is not asked: its time grows with depth times size."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*\r?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*\r?")
_SIGNS = r" {0,3}(?:#|`{3}|~{3}|=+[ \t]*\r?$|-+[ \t]*\r?$)"
_INTERESTING = re.compile(rf"^{_SIGNS}", re.MULTILINE)
_OR_COMMENT = re.compile(rf"^(?:{_SIGNS}|[^\n]*(?:<!--|-->))", re.MULTILINE)
_NO_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:[-*+>|]|\d{1,9}[.)]|#{1,6}(?:\s|$)|<)")
_MARKERS = re.compile(r"(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a note."""

    level: int
    title: str
    first: int
    """0-based line of its text."""
    last: int
    """0-based last line: that of the underline where it has one."""

    @property
    def text(self) -> str:
        """Its ATX form."""
        return f"{'#' * self.level} {self.title}".rstrip()


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: its kind and its 0-based lines, both inclusive."""

    kind: BlockKind
    first: int
    last: int
    items: tuple[int, ...] = ()
    """First lines of the items of a list."""
    heading: Heading | None = None


def read_headings(text: str) -> list[Heading]:
    """Return the headings of a text, those in code fences and comments left out."""
    found = list((_OR_COMMENT if "<!--" in text else _INTERESTING).finditer(text))
    if not found:
        return []
    headings: list[Heading] = []
    lines = text.split("\n")
    fence, comment, number, position = "", False, 0, 0
    for match in found:
        number += text.count("\n", position, match.start())
        position = match.start()
        line = lines[number]
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif comment:
            comment = line.rfind("-->") <= line.rfind("<!--")
        elif opened := _FENCE.match(line):
            fence = opened[1] if not (opened[1][0] == "`" and "`" in opened[2]) else ""
        elif "<!--" in line:
            comment = "-->" not in line[line.rindex("<!--") :]
        elif heading := _heading_at(lines, number, headings):
            headings.append(heading)
    return headings


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and bare == fence[0] * len(bare) and not line.startswith("    ")


def _heading_at(lines: Sequence[str], number: int, before: Sequence[Heading]) -> Heading | None:
    line = lines[number]
    if (match := _HEADING.fullmatch(line)) is not None:
        return Heading(len(match[1]), (match[2] or "").strip(), number, number)
    underline = _UNDERLINE.fullmatch(line)
    if underline is None or number == 0 or _NO_PARAGRAPH.match(lines[number - 1]):
        return None
    if before and before[-1].last == number - 1:
        return None
    return Heading(1 if underline[1][0] == "=" else 2, lines[number - 1].strip(), number - 1, number)


def is_parsable(text: str) -> bool:
    """Whether the syntax tree takes this text in bounded time."""
    if len(text) > MAX_PARSED_CHARS:
        return False
    return all(len(line) <= MAX_PARSED_LINE and _depth(line) <= MAX_NESTING for line in text.split("\n"))


def _depth(line: str) -> int:
    """Bound from above how deep the text of a line is nested: its markers, and the indent before them."""
    lead = _MARKERS.match(line)
    if lead is None:
        return 0
    indent = len(line) - len(line.lstrip(" "))
    return indent // 2 + sum(char in ">-*+.)" for char in lead[0])


def read_blocks(text: str) -> list[Block] | None:
    """Return the top-level blocks in order; None where the syntax tree cannot take the text."""
    if not is_parsable(text):
        return None
    from reme_store.text.block_parser import parse_blocks  # noqa: PLC0415  # importing mistletoe takes a third of a second

    try:
        return parse_blocks([line + "\n" for line in text.replace("\r\n", "\n").split("\n")])
    except RecursionError:
        return None


def atx_heading(line: str, number: int) -> Heading:
    """Return the heading that a line is."""
    match = _HEADING.fullmatch(line.rstrip("\n"))
    if match is None:
        return Heading(6, line.strip(), number, number)
    return Heading(len(match[1]), (match[2] or "").strip(), number, number)
