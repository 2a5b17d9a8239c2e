"""How does the text of a note change when it is written, added to or edited? Pure: text in, text out.

The store applies these to files, the graphs to drafts, so that an agent meets one behaviour. Line ends
follow the note's; nothing outside the changed place moves.
"""

from collections.abc import Mapping
from typing import Any

from reme_store.errors import EditConflictError, InvalidRequestError
from reme_store.text.front_matter import parse_note, render_front_matter, update_front_matter

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
    fields = {**given.front_matter, **_named(name, description, metadata or {})}
    if existing is None:
        return _fresh(given.body if not given.fault else content, fields)
    head = existing[: len(existing) - len(parse_note(existing).body)]
    head = update_front_matter(head, fields) if fields else head
    newline = _newline(existing)
    body = _with_newline(given.body if not given.fault else content, newline)
    gap = newline if head and not head.endswith(newline * 2) and body and not body.startswith(newline) else ""
    return head + gap + _ended(body, newline)


def append_text(text: str, content: str) -> str:
    """Add content on a new line at the end; no blank line of our own."""
    if not content:
        raise InvalidRequestError("nothing to append: content is empty")
    newline = _newline(text)
    start = newline if text and not text.endswith("\n") else ""
    return text + start + _ended(_with_newline(content, newline), newline)


def prepend_text(text: str, content: str) -> str:
    """Add content on lines of its own at the start of the body, below the front matter."""
    if not content:
        raise InvalidRequestError("nothing to prepend: content is empty")
    newline, body = _newline(text), parse_note(text).body
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
    newline = _newline(text)
    old, new = _with_newline(old, newline), _with_newline(new, newline)
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
    fields = {key: value for key, value in metadata.items() if value is not None}
    return {**fields, **({"name": name} if name else {}), **({"description": description} if description else {})}


def _fresh(body: str, fields: Mapping[str, Any]) -> str:
    order = {key: fields[key] for key in ("name", "description") if key in fields}
    head = render_front_matter({**order, **fields})
    newline = "\r\n" if "\r\n" in body and "\n" not in body.replace("\r\n", "") else "\n"
    head = head.replace("\n", newline)
    gap = newline if head and body and not body.startswith(newline) else ""
    return head + gap + _ended(body, newline)


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


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
