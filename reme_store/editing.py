"""How does the text of a note change when it is written, added to or edited? Pure: text in, text out.

The store applies these to files, the graphs to drafts, so that an agent meets one behaviour. Line ends
follow the note's; nothing outside the changed place moves.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reme_store.errors import EditConflictError, InvalidFrontMatterError, InvalidRequestError
from reme_store.text.front_matter import (
    BOM,
    NEVER_CLOSES,
    OPENER,
    ParsedNote,
    checked_text,
    newline_of,
    parse_note,
    render_front_matter,
    require_readable,
    update_front_matter,
)
from reme_store.text.yaml_values import NO_MAPPING

MAX_LINES_NAMED = 20


def write_text(
    existing: str | None, content: str, name: str = "", description: str = "", metadata: Mapping[str, Any] | None = None
) -> str:
    """Return a whole note: front matter merged in the order existing < content's block < metadata < name, description.

    The existing block keeps its order, comments and quotes; its body is replaced.

    Raises:
        InvalidFrontMatterError: The block of the existing note is broken, or that of ``content`` is no YAML.
    """
    content = checked_text(content)
    given = _given(content)
    named = _named(name, description, metadata or {})
    if existing is None:
        return _fresh(content, given, named)
    note, newline = require_readable(existing), newline_of(existing)
    head = _merged(existing[: len(existing) - len(note.body)], {**given.front_matter, **named}, newline)
    body = _with_newline(given.body, newline)
    return head + _gap(head, body, newline) + _ended(body, newline)


def replace_text(existing: str | None, content: str) -> str:
    """Return the whole text of a file that is no note, so that nothing in it is front matter."""
    newline = newline_of(content if existing is None else existing)
    head = BOM if existing and existing.startswith(BOM) else ""
    return head + _ended(_with_newline(checked_text(content).removeprefix(head), newline), newline)


def _given(content: str) -> ParsedNote:
    """Take the content of a write apart; a rule on line 1 is body, a block that is no YAML is a mistake."""
    given = parse_note(content)
    if given.fault and not given.fault.endswith((NEVER_CLOSES, NO_MAPPING)):
        raise InvalidFrontMatterError(
            f"content begins with a front matter block that cannot be read, {given.fault}; "
            "repair it, or pass its keys as metadata"
        )
    return given


def append_text(text: str, content: str) -> str:
    """Add content on a new line at the end; no blank line of our own."""
    if not content:
        raise InvalidRequestError("nothing to append: content is empty; give the text to add")
    newline = newline_of(text)
    start = newline if text.removeprefix(BOM) and not text.endswith("\n") else ""
    return text + start + _ended(_with_newline(checked_text(content), newline), newline)


def prepend_text(text: str, content: str, *, is_note: bool = True) -> str:
    """Add content on lines of its own at the start of the body, below the front matter; only a note has one.

    Raises:
        InvalidFrontMatterError: The note's block is broken, so that nobody can tell where it ends.
        InvalidRequestError: There is nothing to add, or it would become front matter.
    """
    if not content:
        raise InvalidRequestError("nothing to prepend: content is empty; give the text to add")
    newline = newline_of(text)
    body = require_readable(text).body if is_note else text.removeprefix(BOM)
    head = text[: len(text) - len(body)]
    if head and not head.endswith("\n") and head != BOM:
        head += newline
    added = _ended(_with_newline(checked_text(content), newline), newline)
    if is_note and head in ("", BOM) and OPENER.match(added):
        raise InvalidRequestError(
            "content starts with --- and would become front matter; use frontmatter_update for keys, *** for a rule"
        )
    return head + added + body


def edit_text(text: str, old: str, new: str, replace_all: bool = False, *, is_note: bool = True) -> tuple[str, int]:
    """Replace ``old`` in the body; it must occur once unless ``replace_all``. All of what is no note is body.

    A line end in ``old`` fits either kind; those of ``new`` follow the text it replaces. Where the block is broken,
    the whole text is body.

    Returns:
        The new text and how many places changed.

    Raises:
        EditConflictError: ``old`` does not occur, or more than once; the message names the lines.
        InvalidRequestError: ``old`` is empty, or nothing would change.
    """
    if not old:
        raise InvalidRequestError("old is empty: give the exact text to replace (use append or write to add text)")
    if _with_newline(old, "\n") == _with_newline(checked_text(new), "\n"):
        raise InvalidRequestError("old and new are the same: nothing would change")
    start = len(text) - len(parse_note(text).body) if is_note else 0
    pattern = re.compile(r"\r?\n".join(map(re.escape, _with_newline(old, "\n").split("\n"))))
    places = [match.span() for match in pattern.finditer(text, start)]
    if not places:
        raise EditConflictError(_not_found(text, start, old, pattern))
    if len(places) > 1 and not replace_all:
        lines = _lines_of(text, [at for at, _ in places[:MAX_LINES_NAMED]])
        raise EditConflictError(
            f"old occurs {len(places)} times, on lines {', '.join(map(str, lines))}; "
            "give more of the text around the one you mean, or set replace_all"
        )
    return _replaced(text, places, new), len(places)


def _replaced(text: str, places: Sequence[tuple[int, int]], new: str) -> str:
    newline, pieces, last = newline_of(text), list[str](), 0
    for start, end in places:
        own = newline_of(text[start:end]) if "\n" in text[start:end] else newline
        pieces += [text[last:start], _with_newline(new, own)]
        last = end
    return "".join([*pieces, text[last:]])


def _named(name: str, description: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    given = {"name": name, "description": description}
    return {
        **{key: value for key, value in metadata.items() if value is not None},
        **{key: value for key, value in given.items() if value.strip()},
    }


def _fresh(content: str, given: ParsedNote, named: Mapping[str, Any]) -> str:
    """Return a new note; a block that the content brings keeps its lines."""
    newline = newline_of(content)
    if given.has_block:
        head = _merged(content[: len(content) - len(given.body)], named, newline)
        return head + _ended(given.body, newline)
    order = {key: named[key] for key in ("name", "description") if key in named}
    head = render_front_matter({**order, **named}, newline=newline)
    return head + _gap(head, given.body, newline) + _ended(given.body, newline)


def _merged(head: str, fields: Mapping[str, Any], newline: str) -> str:
    if not fields:
        return head
    if head in ("", BOM):
        return head + render_front_matter(fields, newline=newline)
    return update_front_matter(head if head.endswith("\n") else head + newline, fields)


def _gap(head: str, body: str, newline: str) -> str:
    """Return the blank line between a block and the text below it, where there are both."""
    return newline if head not in ("", BOM) and body and not body.startswith(newline) else ""


def _with_newline(text: str, newline: str) -> str:
    plain = text.replace("\r\n", "\n")
    return plain if newline == "\n" else plain.replace("\n", newline)


def _ended(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline


def _lines_of(text: str, places: Iterable[int]) -> list[int]:
    found, line, last = list[int](), 1, 0
    for at in places:
        line += text.count("\n", last, at)
        found.append(line)
        last = at
    return found


def _not_found(text: str, start: int, old: str, pattern: re.Pattern[str]) -> str:
    place = pattern.search(text)
    if place and place.end() <= start:
        return "old stands in the front matter; use frontmatter_update to change a key"
    if place:
        return "old reaches from the front matter into the body; use frontmatter_update for keys and edit for the body"
    first = next((line.strip() for line in old.split("\n") if line.strip()), "").casefold()
    near = [
        f"line {number}: {line.strip()[:160]}"
        for number, line in enumerate(text[start:].split("\n"), text.count("\n", 0, start) + 1)
        if first and first in line.casefold()
    ]
    hint = f"; its first line is near {'; '.join(near[:3])}" if near else ""
    return f"old does not occur in the body{hint}; read the note again and give the exact text"
