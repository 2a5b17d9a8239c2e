"""Which spans of a Markdown body are quoted text: code, HTML comments, math?

One pass over the lines finds the blocks (fences, indented code, comment blocks) with just enough of
CommonMark's list and quote containers to tell indented code from a nested list; one pass over each
paragraph finds inline code, comments and math. Both are linear in the length of the text.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

FENCE = re.compile(r"(`{3,})[^`\n]*$|(~{3,})[^\n]*$")
QUOTE = re.compile(r"(?: {0,3}> ?)+")
ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)")
HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
INLINE = re.compile(r"\\.|`+|<!--|\[\[[^\[\]\n`]*+\]\]|\$\$?", re.DOTALL)
SIGN = re.compile(r"[`$<]")
_FENCE_SIGN = re.compile(r"([`~])\1{2,}+")
_QUOTE_LINE = re.compile(r"^ {0,3}>", re.MULTILINE)
_INDENTED_LINK = re.compile(r"^[ >]*(?: {4}|\t)[^\n]*\[\[", re.MULTILINE)
MAX_ITEMS_A_LINE = 64
"""List items that may open on one line, as in ``- - - x``; more is not a list but an attack on the scan."""

Span = tuple[int, int]


def spans_with_links(text: str, start: int = 0) -> list[Span]:
    """Return the quoted spans that can hold a link or stand on the line of one; most texts need no scan for that."""
    fences = _margin_fences(text, start)
    return quoted_spans(text, start) if fences is None else fences


def _margin_fences(text: str, start: int) -> list[Span] | None:
    """Return the fences of a text in which nothing else quotes a link; None where that takes a closer look."""
    if text.find("<!--", start) >= 0 or text.find("$", start) >= 0 or _QUOTE_LINE.search(text, start):
        return None
    spans: list[Span] = []
    opener, began, free = "", start, start
    fenced = text.find("```", start) >= 0 or text.find("~~~", start) >= 0
    for match in _FENCE_SIGN.finditer(text, start) if fenced else ():
        sign, first = match.group(), match.start()
        last = text.find("\n", first) + 1 or len(text)
        info = text[match.end() : last]
        if (first > start and text[first - 1] != "\n") or "`" in info or "~~~" in info:
            return None
        if not opener:
            if _quotes_link(text, free, first):
                return None
            opener, began = sign, first
        elif sign[0] == opener[0] and len(sign) >= len(opener) and not info.strip():
            opener, free = "", last
            spans.append((began, free))
    if opener:
        return [*spans, (began, len(text))]
    return None if _quotes_link(text, free, len(text)) else spans


def _quotes_link(text: str, start: int, end: int) -> bool:
    """Tell whether inline code or an indented line with a link may stand here."""
    return text.find("`", start, end) >= 0 or _INDENTED_LINK.search(text, start, end) is not None


@dataclass(slots=True)
class _Scan:
    """Where the pass over the lines stands."""

    text: str
    spans: list[Span] = field(default_factory=list)
    segment: int = -1
    """Start of the open paragraph, or -1."""
    skip_to: int = 0
    """End of a comment or a block of math that reached beyond its paragraph."""
    indents: list[int] = field(default_factory=lambda: [0])
    """Content indents of the open list items, outermost first."""
    fence: str = ""
    fence_start: int = 0
    depth: int = 0
    after_blank: bool = True
    comments_end: int = -1
    """Where the last ``-->`` of the text ends; keeps unclosed openers from rereading the text."""


def quoted_spans(text: str, start: int = 0) -> list[Span]:
    """Return the (start, end) offsets of quoted text from ``start`` on, in order, without overlap."""
    if not any(sign in text for sign in ("`", "~~~", "<!--", "$", "    ", "\t")):
        return []
    scan = _Scan(text, comments_end=text.rfind("-->") + 3)
    at = start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end + 1
        _line(scan, at, end)
        at = end
    _flush(scan, len(text))
    if scan.fence:
        scan.spans.append((scan.fence_start, len(text)))
    return sorted(scan.spans)


def _line(scan: _Scan, start: int, end: int) -> None:
    if end <= scan.skip_to:
        return
    if not scan.depth and (scan.text[start].isalpha() or scan.text[start] == "\n"):
        if not scan.fence:
            _plain_line(scan, start)
        return
    line = scan.text[start:end].rstrip("\r\n")
    quote = QUOTE.match(line)
    prefix = quote.group() if quote else ""
    if scan.fence and prefix.count(">") > scan.depth:  # a quote cannot begin inside of a fence
        prefix = _quote_of(prefix, scan.depth)
    depth = prefix.count(">")
    rest = line[len(prefix) :]
    if depth != scan.depth and (depth > scan.depth or scan.fence or not rest.strip()):
        _leave_container(scan, start, depth)
    if scan.fence:
        _inside_fence(scan, rest, end)
        return
    if not rest.strip():
        _flush(scan, start)
        scan.after_blank = True
        return
    _text_line(scan, rest, start, end)


def _quote_of(prefix: str, depth: int) -> str:
    """Return that part of the signs before a line that makes a quote of such a depth."""
    found = re.match(rf"(?: {{0,3}}> ?){{{depth}}}", prefix)
    return found.group() if found else ""


def _plain_line(scan: _Scan, start: int) -> None:
    """Take an empty line, or one that begins with a letter at the margin: most lines, and never a block of its own."""
    if scan.text[start] == "\n":
        _flush(scan, start)
        scan.after_blank = True
        return
    if scan.after_blank:
        del scan.indents[1:]
    if scan.segment < 0:
        scan.segment = max(start, scan.skip_to)
    scan.after_blank = False


def _leave_container(scan: _Scan, start: int, depth: int) -> None:
    _flush(scan, start)
    if scan.fence:
        scan.spans.append((scan.fence_start, start))
        scan.fence = ""
    scan.depth, scan.indents, scan.after_blank = depth, [0], True


def _inside_fence(scan: _Scan, rest: str, end: int) -> None:
    closing = rest.strip()
    fits = set(closing) == {scan.fence[0]} and len(closing) >= len(scan.fence)
    if fits and _indent(rest) < scan.indents[-1] + 4:
        scan.spans.append((scan.fence_start, end))
        scan.fence, scan.after_blank = "", True


def _indent(line: str) -> int:
    expanded = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4)
    return len(expanded)


def _text_line(scan: _Scan, rest: str, start: int, end: int) -> None:
    indent, content = _indent(rest), rest.lstrip(" \t")
    item = ITEM.match(content)
    if scan.after_blank or item:
        while len(scan.indents) > 1 and indent < scan.indents[-1]:
            scan.indents.pop()
    if scan.segment < 0 and scan.after_blank and indent >= scan.indents[-1] + 4:
        scan.spans.append((start, end))
        return
    fence = FENCE.match(content)
    if fence and indent < scan.indents[-1] + 4:
        _flush(scan, start)
        if end > scan.skip_to:
            scan.fence, scan.fence_start = fence.group(1) or fence.group(2), start
        return
    if item or HEADING.match(content):
        _flush(scan, start)
        if end <= scan.skip_to:
            return
    if item and indent < scan.indents[-1] + 4:
        _open_item(scan, indent, content, item)
    if scan.segment < 0:
        scan.segment = max(start, scan.skip_to)
    scan.after_blank = False
    if HEADING.match(content):
        _flush(scan, end)
        scan.after_blank = True


def _open_item(scan: _Scan, indent: int, content: str, item: re.Match[str]) -> None:
    """Remember the content indent of a list item, of a nested one on the same line too."""
    for _ in range(MAX_ITEMS_A_LINE):
        after = content[item.end() :]
        gap = _indent(after)
        width = item.end() + (gap if 1 <= gap <= 4 and after.strip() else 1)
        indent += width
        scan.indents.append(indent)
        content = after.lstrip(" \t")
        following = ITEM.match(content)
        if not following or not after.strip() or gap > 4:
            return
        item = following


def _flush(scan: _Scan, end: int) -> None:
    """Close the open paragraph: find its inline code, comments and math."""
    if scan.segment < 0:
        return
    start, scan.segment = scan.segment, -1
    if not SIGN.search(scan.text, start, end):
        return
    runs = _backtick_runs(scan.text, start, end)
    at = start
    while at < end:
        match = INLINE.search(scan.text, at, end)
        if not match:
            return
        close = _closing(scan, match, runs, start, end)
        if close > match.start():
            scan.spans.append((match.start(), close))
            scan.skip_to = max(scan.skip_to, close)
        at = max(close, match.end())


def _backtick_runs(text: str, start: int, end: int) -> dict[int, list[int]]:
    runs: dict[int, list[int]] = {}
    for match in re.finditer(r"`+", text[start:end]):
        runs.setdefault(match.end() - match.start(), []).append(start + match.start())
    return runs


def _closing(scan: _Scan, match: re.Match[str], runs: dict[int, list[int]], start: int, end: int) -> int:
    """Return where the quoted span that opens at ``match`` ends, or -1 where none opens."""
    text, sign = scan.text, match.group()
    if sign[0] == "`":
        positions = runs.get(len(sign), [])
        after = bisect_right(positions, match.start())
        return positions[after] + len(sign) if after < len(positions) else -1
    if sign == "<!--":
        close = text.find("-->", match.end()) if match.end() < scan.comments_end else -1
        if close >= 0:
            return close + 3
        return len(text) if _opens_line(text, match.start(), start) else -1
    if sign == "$$":
        close = text.find("$$", match.end(), end)
        return close + 2 if close >= 0 else -1
    return _inline_math(text, match.end(), end) if sign == "$" else -1


def _opens_line(text: str, at: int, start: int) -> bool:
    while at > start and text[at - 1] in " \t>":
        at -= 1
    return at == start or text[at - 1] == "\n"


def _inline_math(text: str, at: int, end: int) -> int:
    """A dollar opens math where no blank follows; it closes where none stands before and no digit after."""
    line_end = text.find("\n", at, end)
    limit = end if line_end < 0 else line_end
    close = text.find("$", at, limit)
    if close <= at or text[at].isspace() or text[close - 1].isspace() or text[close - 1] == "\\":
        return -1
    return -1 if text[close + 1 : close + 2].isdigit() else close + 1
