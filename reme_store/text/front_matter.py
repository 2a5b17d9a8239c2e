"""What does the YAML block at the head of a note say, and how do its keys change without touching another byte?

The block stands between a first line that is exactly ``---`` (a BOM before it and CRLF are allowed) and the
next line that is exactly ``---``. A change replaces the characters of the touched keys in the text itself and
reads the result back before it is returned.
"""

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reme_store.errors import InvalidFrontMatterError, InvalidRequestError
from reme_store.text.yaml_lines import find_entries, indented, render_entry, replacements
from reme_store.text.yaml_values import MAX_DEPTH, MAX_NODES, YamlFaultError, read_mapping

BOM = "\ufeff"
OPENER = re.compile(r"\ufeff?---\r?(?:\n|\Z)")
NEVER_CLOSES = "the front matter opened by --- never closes"
CLOSER = re.compile(r"^---\r?$", re.MULTILINE)
DOCUMENT_END = re.compile(r"^\.\.\.(?=[ \t\r\n])", re.MULTILINE)
MAX_INT_BITS = 4096
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """A note's text taken apart."""

    front_matter: dict[str, Any] = field(default_factory=dict)
    """JSON values; dates as ISO text; an unquoted ``[[x]]`` as that text."""
    body: str = ""
    body_line: int = 1
    """1-based line of the file on which the body starts."""
    has_block: bool = False
    fault: str = ""
    """Why a block cannot be read, as ``line N: reason``; then the whole text is body."""
    duplicates: tuple[str, ...] = ()
    """Keys that stand more than once; the last one counts."""
    block_span: tuple[int, int] = (0, 0)
    """Offsets of what stands between the two lines of dashes."""


def parse_note(text: str) -> ParsedNote:
    """Take a note apart; a broken block is reported in ``fault`` and stays part of the body."""
    opener = OPENER.match(text)
    if not opener:
        return ParsedNote(body=text.removeprefix(BOM))
    closer = CLOSER.search(text, opener.end())
    if not closer:
        return ParsedNote(body=text, fault=f"line 1: {NEVER_CLOSES}")
    start, end = opener.end(), closer.start()
    try:
        mapping = read_mapping(text[start:end])
    except YamlFaultError as fault:
        return ParsedNote(body=text, fault=_located(text, start, fault))
    body = closer.end() + (1 if text.startswith("\n", closer.end()) else 0)
    line = text.count("\n", 0, body) + 1
    return ParsedNote(mapping.values, text[body:], line, True, "", mapping.duplicates, (start, end))


def require_readable(text: str) -> ParsedNote:
    """Take a note apart that is about to change.

    Raises:
        InvalidFrontMatterError: Its block is broken; the message says where and why.
    """
    note = parse_note(text)
    if note.fault:
        raise InvalidFrontMatterError(
            f"the front matter cannot be changed, {note.fault}; repair that line with edit, or in an editor"
        )
    return note


def update_front_matter(text: str, updates: Mapping[str, Any]) -> str:
    """Set keys; only their lines change. A note without a block gets one.

    A key that already has its value keeps its spelling.

    Raises:
        InvalidFrontMatterError: The block is broken, or these lines cannot be changed on their own.
        InvalidRequestError: There is nothing to set, or a value is not JSON.
    """
    if not updates:
        raise InvalidRequestError("nothing to update: give at least one key with its value")
    values = _json_mapping(updates)
    note = require_readable(text)
    if not note.has_block:
        head = BOM if text.startswith(BOM) else ""
        return head + render_front_matter(values, newline=newline_of(text)) + text.removeprefix(BOM)
    expected = dict(note.front_matter)
    for name, value in values.items():
        if name not in expected or not _same(expected[name], value):
            expected[name] = value
            text = _with_key(text, name, expected)
    return text


def delete_front_matter(text: str, keys: Iterable[str]) -> tuple[str, list[str], list[str]]:
    """Remove keys with their lines; every other byte stays.

    Returns:
        The new text, the keys removed, and those that were missing.

    Raises:
        InvalidFrontMatterError: The block is broken, or these lines cannot go on their own.
        InvalidRequestError: No key is named.
    """
    note = require_readable(text)
    wanted = list(dict.fromkeys([keys] if isinstance(keys, str) else keys))
    if not wanted:
        raise InvalidRequestError("nothing to delete: name at least one key")
    removed = [key for key in wanted if key in note.front_matter]
    missing = [key for key in wanted if key not in note.front_matter]
    if not removed:
        return text, removed, missing
    start, end = note.block_span
    block = text[start:end]
    for entry in reversed(_entries(text, note)):
        if entry.name in removed:
            block = block[: entry.start] + block[entry.end :]
    after = text[:start] + block + text[end:]
    if not _reads(after, {key: value for key, value in note.front_matter.items() if key not in removed}):
        raise _inseparable(", ".join(removed))
    return after, removed, missing


def render_front_matter(values: Mapping[str, Any], *, newline: str = "\n") -> str:
    """Write a block for these values in their order; nothing for none.

    Raises:
        InvalidRequestError: A value is not JSON.
    """
    if not values:
        return ""
    lines = "".join(render_entry(key, value) for key, value in _json_mapping(values).items())
    return f"---\n{lines}---\n".replace("\n", newline)


def newline_of(text: str) -> str:
    """Return the line end a text uses: that of its first line."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


# ---- changing one key -------------------------------------------------------------------------


def _with_key(text: str, name: str, expected: Mapping[str, Any]) -> str:
    """Give one key its value in ``expected``, which is also what the block must read as afterwards."""
    note = parse_note(text)
    start, end = note.block_span
    newline, entries = newline_of(text), _entries(text, note)
    entry = next((entry for entry in reversed(entries) if entry.name == name), None)
    if entry:
        ways = replacements(text[start:end], entry, expected[name])
    else:
        indent, at = entries[0].indent if entries else "", _document_end(text[start:end])
        ways = iter([(at, at, indented(render_entry(name, expected[name]), indent))])
    for first, last, new in ways:
        after = text[: start + first] + new.replace("\n", newline) + text[start + last :]
        if _reads(after, expected):
            return after
    raise _inseparable(name)


def _document_end(block: str) -> int:
    """Return where keys end: before a line ``...``, else at the end."""
    ends = DOCUMENT_END.search(block)
    return ends.start() if ends else len(block)


def _entries(text: str, note: ParsedNote) -> list[Any]:
    start, end = note.block_span
    try:
        return find_entries(text[start:end])
    except YamlFaultError as fault:
        raise InvalidFrontMatterError(
            f"the front matter cannot be changed, {_located(text, start, fault)}; write one key a line"
        ) from None


def _reads(text: str, expected: Mapping[str, Any]) -> bool:
    note = parse_note(text)
    return note.has_block and _same(note.front_matter, expected)


def _same(one: Any, other: Any) -> bool:
    """Compare as JSON: ``true``, ``1`` and ``1.0`` differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _located(text: str, start: int, fault: YamlFaultError) -> str:
    return f"line {text.count(chr(10), 0, start + fault.offset) + 1}: {fault}"


def _inseparable(names: str) -> InvalidFrontMatterError:
    return InvalidFrontMatterError(
        f"{names!r} cannot be changed without touching other keys (an anchor, an alias or an unusual layout); "
        "change the block with an editor"
    )


def checked_text(text: str) -> str:
    """Return the text.

    Raises:
        InvalidRequestError: It holds half a surrogate pair, which no file can.
    """
    bad = _SURROGATE.search(text)
    if bad:
        raise InvalidRequestError(f"the text holds half a character, {bad.group()!r} at {bad.start()}; leave it out")
    return text


def _json_mapping(values: Mapping[str, Any]) -> dict[str, Any]:
    left = [MAX_NODES]
    return {_checked_key(key): _json(value, left, 1) for key, value in values.items()}


def _checked_key(key: Any) -> str:
    if not isinstance(key, str) or not key.strip() or "\n" in key:
        raise InvalidRequestError(f"a front matter key must be a non-empty text on one line, not {key!r}")
    return checked_text(str.__str__(key))


def _json(value: Any, left: list[int], depth: int) -> Any:
    """Return the value as JSON; dates become ISO text."""
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH - 2:
        raise InvalidRequestError("the front matter value is too large or too deep")
    if isinstance(value, str):
        return checked_text(str.__str__(value))
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidRequestError(f"the front matter value {value} is not a finite number; write it as text")
    if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
        raise InvalidRequestError("a front matter number has too many digits; write it as text")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_checked_key(str(key)): _json(item, left, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_json(item, left, depth + 1) for item in value]
    raise InvalidRequestError(
        f"a front matter value must be text, a number, a list or a mapping, not {type(value).__name__}"
    )
