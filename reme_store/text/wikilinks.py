"""Which wikilinks does a note's text hold, where do they stand, and what relation do they state?

Every scan is linear in the length of the text. Links in fenced or indented code, inline code, HTML
comments, YAML comments and math are quoted text, not links. Offsets are positions in the string that was given.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from reme_store.models import FileLink
from reme_store.text.front_matter import ParsedNote, parse_note
from reme_store.text.quoted import spans_with_links
from reme_store.text.yaml_lines import leaf_spans

HERE = re.compile(r"\A(?:\./)+")
LINK = re.compile(r"\[\[([^\[\]|#\n]++)(?:#([^\[\]|\n]++))?(?:\|([^\[\]\n]++))?\]\]")
"""It begins with plain brackets, which the engine looks for far faster than for an optional ``!``."""
KEY = r"[A-Za-z][A-Za-z0-9_]*+[ \t]*+::"
LINE_PREDICATE = re.compile(rf"[ \t]*(?:[-*+][ \t]+)?({KEY})")
INLINE_PREDICATE = re.compile(rf"[\[(][ \t]*{KEY}")
BRACKET = re.compile(rf"[\[(](?:[ \t]*({KEY}))?|[\])]")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")

Span = tuple[int, int]


class Wikilink(NamedTuple):
    """One link as it stands in a text."""

    target: str
    """The literal target; only surrounding blanks and a leading ``./`` are dropped."""
    anchor: str | None
    alias: str | None
    predicate: str | None
    embed: bool
    start: int
    """Offset of ``[[``, or of the ``!`` before it."""
    end: int
    target_start: int
    """Offsets of the raw target, blanks included: what a rewrite replaces."""
    target_end: int
    quote: str = ""
    """The quotes of the YAML text around a link in front matter, which decide how its target is spelled."""


def parse_wikilinks(text: str, note: ParsedNote | None = None) -> list[Wikilink]:
    """Return the links of a whole file, front matter included, in the order of the text.

    Args:
        text: The text of the file.
        note: That text taken apart, where the caller has it already.
    """
    if "[[" not in text:
        return []
    note = note or parse_note(text)
    found = list(_front_matter_links(text, note.block_span)) if note.has_block else []
    return found + _body_links(text, len(text) - len(note.body) if note.has_block else 0)


def fold_edges(source_path: str, links: Iterable[Wikilink]) -> tuple[FileLink, ...]:
    """Return one edge a key: (source, target, predicate), and the anchor too outside ``digest/``."""
    in_digest = source_path.startswith("digest/")
    edges: dict[tuple[str, str | None, str | None], FileLink] = {}
    for link in links:
        key = (link.target, link.predicate, None if in_digest else link.anchor)
        edges.setdefault(key, FileLink(source_path, link.target, link.anchor, link.predicate))
    return tuple(edges.values())


def retarget_wikilinks(text: str, moves: Mapping[str, str]) -> tuple[str, int]:
    """Replace the targets named in ``moves``; every other byte, anchors and aliases included, stays.

    An unquoted link in front matter is put into quotes only where YAML could not read its new target otherwise.

    Returns:
        The new text and how many links changed.
    """
    note = parse_note(text)
    links = [link for link in parse_wikilinks(text, note) if moves.get(link.target, link.target) != link.target]
    after = _spliced(text, links, moves, note, quote_bare=False)
    if links and note.has_block and parse_note(after).fault:
        after = _spliced(text, links, moves, note, quote_bare=True)
    return after, len(links)


def _spliced(
    text: str, links: Iterable[Wikilink], moves: Mapping[str, str], note: ParsedNote, *, quote_bare: bool
) -> str:
    bare = _bare_starts(text, note.block_span) if quote_bare else frozenset()
    pieces: list[str] = []
    last = 0
    for link in links:
        new = _spelled(moves[link.target], link.quote)
        if link.start in bare:
            whole = text[link.start : link.target_start] + new + text[link.target_end : link.end]
            pieces += [text[last : link.start], '"', _spelled(whole, '"'), '"']
            last = link.end
        else:
            pieces += [text[last : link.target_start], new]
            last = link.target_end
    return "".join([*pieces, text[last:]])


def _bare_starts(text: str, span: Span) -> frozenset[int]:
    """Return where the links stand that are no part of a text: YAML takes them for a list in a list."""
    leaves = [(span[0] + start, span[0] + end) for start, end, _ in leaf_spans(text[slice(*span)])]
    return frozenset(match.start() for match in _not_inside(LINK.finditer(text, *span), leaves))


def _not_inside(matches: Iterable[re.Match[str]], spans: list[Span]) -> Iterator[re.Match[str]]:
    """Yield the matches that lie inside none of the spans."""
    starts = [start for start, _ in spans]
    for match in matches:
        n = bisect_right(starts, match.start()) - 1
        if n < 0 or match.end() > spans[n][1]:
            yield match


# ---- one link ---------------------------------------------------------------------------------


def _link_of(match: re.Match[str], quote: str = "") -> Wikilink | None:
    raw, anchor, alias = match.groups()
    target, end = _read(raw, quote), match.end(1)
    if alias is not None and anchor is None and target.endswith("\\"):
        target, end = target[:-1], end - len(_spelled("\\", quote))
    clean = _read(anchor, quote) if anchor else ""
    if alias is not None and clean.endswith("\\"):
        clean = clean[:-1]
    target = target.strip()
    target = HERE.sub("", target) if target.startswith("./") else target
    if not target:
        return None
    embed = match.string.startswith("!", max(match.start() - 1, 0))
    start = match.start() - 1 if embed else match.start()
    return Wikilink(target, clean.strip() or None, alias, None, embed, start, match.end(), match.start(1), end, quote)


def _read(raw: str, quote: str) -> str:
    """Return what a piece of YAML text in such quotes says."""
    if quote == "'":
        return raw.replace("''", "'")
    return _ESCAPE.sub(_unescaped, raw) if quote == '"' and "\\" in raw else raw


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1) or match.group(2) or match.group(3)
    return chr(int(code, 16)) if code else match.group(4)


def _spelled(text: str, quote: str) -> str:
    """Spell a text for such quotes; the inverse of :func:`_read`."""
    if quote == "'":
        return text.replace("'", "''")
    return text.replace("\\", "\\\\").replace('"', '\\"') if quote == '"' else text


# ---- front matter -----------------------------------------------------------------------------


def _front_matter_links(text: str, span: Span) -> Iterator[Wikilink]:
    start, end = span
    matches = list(LINK.finditer(text, start, end))
    if not matches:
        return
    block = text[start:end]
    if not any(sign in block for sign in ("#", "''", "\\")):
        yield from (link for match in matches if (link := _link_of(match)))
        return
    leaves = leaf_spans(block)
    comments = [(start + first, start + last) for first, last in _comments(block, leaves)]
    starts = [leaf[0] for leaf in leaves]
    for match in _outside(matches, comments):
        n = bisect_right(starts, match.start() - start) - 1
        inside = n >= 0 and match.end() - start <= leaves[n][1] and leaves[n][2] in ("'", '"')
        link = _link_of(match, leaves[n][2] if inside else "")
        if link:
            yield link


def _comments(block: str, leaves: Iterable[tuple[int, int, str]]) -> Iterator[Span]:
    """Yield the comments: from a ``#`` outside of every scalar to the end of its line."""
    at = 0
    for start, end, _ in [*leaves, (len(block), len(block), "")]:
        while at < start and (first := block.find("#", at, start)) >= 0:
            last = block.find("\n", first)
            at = len(block) if last < 0 else last
            yield first, at
        at = max(at, end)


# ---- body -------------------------------------------------------------------------------------


def _body_links(text: str, start: int) -> list[Wikilink]:
    quoted = spans_with_links(text, start)
    links = [link for match in _outside(LINK.finditer(text, start), quoted) if (link := _link_of(match))]
    rows: list[tuple[Span, list[Wikilink]]] = []
    for link in links:
        if not rows or link.start >= rows[-1][0][1]:
            after = text.find("\n", link.end)
            line = (max(text.rfind("\n", 0, link.start) + 1, start), len(text) if after < 0 else after)
            rows.append((line, []))
        rows[-1][1].append(link)
    starts = [span[0] for span in quoted]
    return [link for line, row in rows for link in _with_predicates(text, line, row, _within(quoted, starts, line))]


def _within(spans: list[Span], starts: list[int], line: Span) -> list[Span]:
    """Return the spans that reach into a line."""
    first = max(bisect_right(starts, line[0]) - 1, 0)
    return [span for span in spans[first : bisect_right(starts, line[1])] if span[1] > line[0]]


def _outside(matches: Iterable[re.Match[str]], spans: list[Span]) -> Iterator[re.Match[str]]:
    """Yield the matches that touch none of the spans; both come in order."""
    n = 0
    for match in matches:
        while n < len(spans) and spans[n][1] <= match.start():
            n += 1
        if n == len(spans) or match.end() <= spans[n][0]:
            yield match


# ---- predicates -------------------------------------------------------------------------------


def _with_predicates(text: str, line: Span, links: list[Wikilink], quoted: list[Span]) -> list[Wikilink]:
    if text.find("::", *line) < 0:
        return links
    inline = _inline_predicates(text, line, links, quoted) if INLINE_PREDICATE.search(text, *line) else {}
    head = LINE_PREDICATE.match(text, *line)
    of_line = _key(head.group(1)) if head else None
    return [link._replace(predicate=inline.get(n, of_line)) for n, link in enumerate(links)]


def _key(text: str) -> str:
    return text.rstrip(": \t")


def _inline_predicates(text: str, line: Span, links: list[Wikilink], quoted: list[Span]) -> dict[int, str]:
    """Return link number -> predicate of the innermost closed ``[key:: …]`` or ``(key:: …)`` around it."""
    number = {link.start: n for n, link in enumerate(links)}
    spans = sorted([*((link.start, link.end) for link in links), *quoted])
    brackets = _Brackets()
    at = line[0]
    for span_start, span_end in [*spans, (line[1], line[1])]:
        for match in BRACKET.finditer(text, at, max(at, span_start)):
            brackets.meet(match)
        if span_start in number:
            brackets.waiting.append(number[span_start])
        at = max(at, span_end)
    return brackets.found


class _Brackets:
    """The brackets open at a place of a line, and the links that wait for theirs to close."""

    def __init__(self) -> None:
        self.found: dict[int, str] = {}
        self.waiting: list[int] = []
        self._open: list[tuple[str, str | None, int]] = []
        """Sign, predicate, and how many links waited before it opened."""
        self._depth = {"[": 0, "(": 0}

    def meet(self, match: re.Match[str]) -> None:
        sign = match.group()[0]
        if sign in "[(":
            self._open.append((sign, _key(match.group(1)) if match.group(1) else None, len(self.waiting)))
            self._depth[sign] += 1
        elif self._depth[opener := {"]": "[", ")": "("}[sign]]:
            self._close(opener)

    def _close(self, opener: str) -> None:
        """Close the innermost bracket of this kind; what was opened inside of it and never closed is no bracket."""
        sign = ""
        while sign != opener:
            sign, predicate, before = self._open.pop()
            self._depth[sign] -= 1
        if predicate:
            self.found.update(dict.fromkeys(self.waiting[before:], predicate))
            del self.waiting[before:]
