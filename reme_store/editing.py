"""How does the text of a note change when it is written, added to or edited? Pure: text in, text out.

The store applies these to files, the graphs to drafts, so that an agent meets one behaviour. Line ends
follow the note's; nothing outside the changed place moves.
"""

from collections.abc import Mapping
from typing import Any

from reme_store.errors import EditConflictError, InvalidFrontMatterError, InvalidRequestError
from reme_store.text.front_matter import (
    BOM,
    ParsedNote,
    newline_of,
    parse_note,
    render_front_matter,
    require_readable,
    update_front_matter,
)

MAX_LINES_NAMED = 20


def write_text(
    existing: str | None, content: str, name: str = "", description: str = "", metadata: Mapping[str, Any] | None = None
) -> str:
    """Return a whole note: front matter merged in the order existing < content's block < metadata < name, description.

    The existing block keeps its order, comments and quotes; its body is replaced.

    Raises:
        InvalidFrontMatterError: The block of the existing note or of ``content`` is broken.
    """
    given = parse_note(content)
    if given.fault:
        raise InvalidFrontMatterError(
            f"content begins with a front matter block that cannot be read, {given.fault}; "
            "repair it, or begin content with another line than ---"
        )
    named = _named(name, description, metadata or {})
    if existing is None:
        return _fresh(content, given, named)
    note, newline = require_readable(existing), newline_of(existing)
    head = _merged(existing[: len(existing) - len(note.body)], {**given.front_matter, **named}, newline)
    body = _with_newline(given.body, newline)
    closely = note.body and not note.body.startswith(newline)
    return head + ("" if closely else _gap(head, body, newline)) + _ended(body, newline)


def append_text(text: str, content: str) -> str:
    """Add content on a new line at the end; no blank line of our own."""
    if not content:
        raise InvalidRequestError("nothing to append: content is empty")
    newline = newline_of(text)
    start = newline if text and not text.endswith("\n") else ""
    return text + start + _ended(_with_newline(content, newline), newline)


def prepend_text(text: str, content: str) -> str:
    """Add content on lines of its own at the start of the body, below the front matter."""
    if not content:
        raise InvalidRequestError("nothing to prepend: content is empty")
    newline, body = newline_of(text), require_readable(text).body
    head = text[: len(text) - len(body)]
    if head and not head.endswith("\n") and head != "\ufeff":
        head += newline
    return head + _ended(_with_newline(content, newline), newline) + body


def edit_text(text: str, old: str, new: str, replace_all: bool = False) -> tuple[str, int]:
    """Replace ``old`` in the body; it must occur once unless ``replace_all``.

    Returns:
        The new text and how many places changed.

    Raises:
        EditConflictError: ``old`` does not occur, or more than once; the message names the lines.
        InvalidRequestError: ``old`` is empty, or nothing would change.
    """
    if not old:
        raise InvalidRequestError("old is empty: give the exact text to replace (use append or write to add text)")
    body = parse_note(text).body
    head = text[: len(text) - len(body)]
    old, new = _spelled_as(body, old, new, newline_of(text))
    if old == new:
        raise InvalidRequestError("old and new are the same: nothing would change")
    count = body.count(old)
    if count == 0:
        raise EditConflictError(_not_found(head, body, old))
    if count > 1 and not replace_all:
        lines = _lines_of(head, body, old)
        raise EditConflictError(
            f"old occurs {count} times, on lines {', '.join(map(str, lines))}; "
            "give more of the text around the one you mean, or set replace_all"
        )
    return head + body.replace(old, new), count


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


def _spelled_as(body: str, old: str, new: str, newline: str) -> tuple[str, str]:
    """Return both texts with the line ends of the note, or of the place in it that ``old`` means."""
    for end in (newline, "\n", "\r\n"):
        if _with_newline(old, end) in body:
            return _with_newline(old, end), _with_newline(new, end)
    return _with_newline(old, newline), _with_newline(new, newline)


def _with_newline(text: str, newline: str) -> str:
    plain = text.replace("\r\n", "\n")
    return plain if newline == "\n" else plain.replace("\n", newline)


def _ended(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline


def _lines_of(head: str, body: str, old: str) -> list[int]:
    found: list[int] = []
    line, at, last = head.count("\n") + 1, body.find(old), 0
    while at >= 0 and len(found) < MAX_LINES_NAMED:
        line += body.count("\n", last, at)
        found.append(line)
        last, at = at, body.find(old, at + len(old))
    return found


def _not_found(head: str, body: str, old: str) -> str:
    if old in head:
        return "old stands in the front matter; use frontmatter_update to change a key"
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    near = [
        f"line {number}: {line.strip()[:160]}"
        for number, line in enumerate(body.split("\n"), head.count("\n") + 1)
        if first and (first in line or first.casefold() in line.casefold())
    ]
    hint = f"; its first line is near {'; '.join(near[:3])}" if near else ""
    return f"old does not occur in the body{hint}; read the note again and give the exact text"
