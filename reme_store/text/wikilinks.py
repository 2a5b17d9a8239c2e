"""Which wikilinks does a note's text hold, where do they stand, and what relation do they state?

Every scan is linear in the length of the text. Links in fenced or indented code, inline code, HTML
comments and math are quoted text, not links. Offsets are positions in the string that was given.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reme_store.models import FileLink
from reme_store.text.front_matter import front_matter_span
from reme_store.text.quoted import quoted_spans

LINK = re.compile(r"(!?)\[\[([^\[\]|#\n]++)(?:#([^\[\]|\n]++))?(?:\|([^\[\]\n]++))?\]\]")
KEY = r"[A-Za-z][A-Za-z0-9_]*+[ \t]*+::"
LINE_PREDICATE = re.compile(rf"[ \t]*(?:[-*+][ \t]+)?({KEY})")
BRACKET = re.compile(rf"[\[(](?:[ \t]*({KEY}))?|[\])]")
YAML_COMMENT = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wikilink:
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


@dataclass(slots=True)
class _Bracket:
    opener: str
    predicate: str | None
    links: list[int] = field(default_factory=list)


def parse_wikilinks(text: str) -> list[Wikilink]:
    """Return the links of a whole file, front matter included, in the order of the text."""
    if "[[" not in text:
        return []
    span = front_matter_span(text)
    body_start = span[1] if span else 0
    found = list(_front_matter_links(text, span)) if span else []
    found += _body_links(text, body_start)
    return found


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

    Returns:
        The new text and how many links changed.
    """
    pieces: list[str] = []
    last = changed = 0
    for link in parse_wikilinks(text):
        new = moves.get(link.target, link.target)
        if new != link.target:
            pieces += [text[last : link.target_start], new]
            last = link.target_end
            changed += 1
    return "".join([*pieces, text[last:]]), changed


def _link_of(match: re.Match[str], predicate: str | None = None) -> Wikilink | None:
    raw, anchor, alias = match.group(2), match.group(3), match.group(4)
    end = match.end(2)
    if alias is not None and anchor is None and raw.endswith("\\"):
        raw, end = raw[:-1], end - 1
    if alias is not None and anchor is not None:
        anchor = anchor.removesuffix("\\")
    target = raw.strip()
    while target.startswith("./"):
        target = target[2:]
    if not target:
        return None
    clean = anchor.strip() if anchor else None
    return Wikilink(
        target, clean or None, alias, predicate, match.group(1) == "!", match.start(), match.end(), match.start(2), end
    )


def _front_matter_links(text: str, span: tuple[int, int]) -> Iterator[Wikilink]:
    comments = [(m.start(), m.end()) for m in YAML_COMMENT.finditer(text, span[0], span[1])]
    for match in _outside(LINK.finditer(text, span[0], span[1]), comments):
        link = _link_of(match)
        if link:
            yield link


def _body_links(text: str, start: int) -> list[Wikilink]:
    quoted = quoted_spans(text, start)
    links = [link for m in _outside(LINK.finditer(text, start), quoted) if (link := _link_of(m))]
    by_line: dict[int, list[Wikilink]] = {}
    line_start = -1
    for link in links:
        if line_start < 0 or "\n" in text[line_start : link.start]:
            line_start = text.rfind("\n", start, link.start) + 1 or start
        by_line.setdefault(line_start, []).append(link)
    return [link for at, row in by_line.items() for link in _with_predicates(text, at, row, quoted)]


def _outside(matches: Iterable[re.Match[str]], spans: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Yield the matches that touch none of the spans; both come in order."""
    n = 0
    for match in matches:
        while n < len(spans) and spans[n][1] <= match.start():
            n += 1
        if n == len(spans) or match.end() <= spans[n][0]:
            yield match


def _with_predicates(
    text: str, line_start: int, links: list[Wikilink], quoted: list[tuple[int, int]]
) -> list[Wikilink]:
    line_end = text.find("\n", line_start)
    line_end = len(text) if line_end < 0 else line_end
    if "::" not in text[line_start:line_end]:
        return links
    inline = _inline_predicates(text, line_start, line_end, links, quoted)
    head = LINE_PREDICATE.match(text, line_start, line_end)
    of_line = _key(head.group(1)) if head else None
    return [replace(link, predicate=inline.get(n, of_line)) for n, link in enumerate(links)]


def _key(text: str) -> str:
    return text.rstrip(": \t")


def _inline_predicates(
    text: str, start: int, end: int, links: list[Wikilink], quoted: list[tuple[int, int]]
) -> dict[int, str]:
    """Return link number -> predicate of the innermost closed ``[key:: …]`` or ``(key:: …)`` around it."""
    spans = sorted([(link.start, link.end) for link in links] + [s for s in quoted if s[0] < end and s[1] > start])
    number = {link.start: n for n, link in enumerate(links)}
    stack: list[_Bracket] = []
    found: dict[int, str] = {}
    at = start
    for span_start, span_end in [*spans, (end, end)]:
        for match in BRACKET.finditer(text, at, max(at, span_start)):
            _step(match, stack, found)
        if span_start in number and stack:
            stack[-1].links.append(number[span_start])
        at = max(at, span_end)
    return found


def _step(match: re.Match[str], stack: list[_Bracket], found: dict[int, str]) -> None:
    sign = match.group()[0]
    if sign in "[(":
        stack.append(_Bracket(sign, _key(match.group(1)) if match.group(1) else None))
        return
    if not stack or stack[-1].opener != {"]": "[", ")": "("}[sign]:
        return
    closed = stack.pop()
    if closed.predicate:
        found.update(dict.fromkeys(closed.links, closed.predicate))
    elif stack:
        stack[-1].links += closed.links
