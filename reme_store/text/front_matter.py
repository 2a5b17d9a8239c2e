"""What does the YAML block at the head of a note say, and how do its keys change without touching another byte?

The block stands between a first line that is exactly ``---`` (a BOM before it and CRLF are allowed) and the
next line that is exactly ``---``. Reading uses the C loader; rewriting replaces the characters of the touched
keys in the text itself and reads the result back before it is returned.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from reme_store.errors import InvalidFrontMatterError, InvalidRequestError

BOM = "\ufeff"
OPENER = re.compile(r"\ufeff?---\r?\n")
CLOSER = re.compile(r"^---\r?$", re.MULTILINE)
BARE_LINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
NUMBER_ELSEWHERE = re.compile(r"[-+.]?\d[\d_.,:eExXoObB+-]*")
"""Plain text that some YAML reader takes for a number, a time or a date."""
MAX_NODES = 20_000
"""Values a block may have once its aliases are followed; a bomb is refused long before it hurts."""


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


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    start: int
    """Offset of the key's line."""
    end: int
    """Offset after the last line that belongs to the key."""
    value_start: int
    value_end: int
    block_style: bool
    flow_style: bool


class _FaultError(Exception):
    """Why a block cannot be read: 1-based line of the file and reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")


def front_matter_span(text: str) -> tuple[int, int] | None:
    """Return offsets of the block's first character and of the body; None without a readable block."""
    span = _raw_span(text)
    return None if span is None or parse_note(text).fault else (span[0], span[2])


def parse_note(text: str) -> ParsedNote:
    """Take a note apart; a broken block is reported in ``fault`` and stays part of the body."""
    if not OPENER.match(text) and text not in ("---", BOM + "---"):
        return ParsedNote(body=text.removeprefix(BOM))
    span = _raw_span(text)
    if span is None:
        return ParsedNote(body=text, fault="line 1: the front matter opened by --- never closes")
    try:
        values, duplicates = _load(text, span[0], span[1])
    except _FaultError as fault:
        return ParsedNote(body=text, fault=str(fault))
    return ParsedNote(values, text[span[2] :], text.count("\n", 0, span[2]) + 1, True, "", duplicates)


def update_front_matter(text: str, updates: Mapping[str, Any]) -> str:
    """Set keys; only their lines change. A note without a block gets one.

    Raises:
        InvalidFrontMatterError: The block is broken, or these lines cannot be changed on their own.
        InvalidRequestError: There is nothing to set, or a value is not JSON.
    """
    if not updates:
        raise InvalidRequestError("nothing to update: give at least one key with its value")
    values = {_checked_key(key): _json(value, [MAX_NODES], 1) for key, value in updates.items()}
    note = _readable(text)
    if not note.has_block:
        newline = _newline(text)
        head = BOM if text.startswith(BOM) else ""
        return head + render_front_matter(values, newline=newline) + text.removeprefix(BOM)
    for name, value in values.items():
        if name not in note.front_matter or note.front_matter[name] != value:
            text = _set_key(text, name, value)
    return _verified(text, {**note.front_matter, **values})


def delete_front_matter(text: str, keys: Iterable[str]) -> tuple[str, list[str], list[str]]:
    """Remove keys with their lines; every other byte stays.

    Returns:
        The new text, the keys removed, and those that were missing.
    """
    note = _readable(text)
    wanted = list(dict.fromkeys(keys))
    if not wanted:
        raise InvalidRequestError("nothing to delete: name at least one key")
    removed = [key for key in wanted if key in note.front_matter]
    missing = [key for key in wanted if key not in note.front_matter]
    for key in reversed(_keys(text) if removed else []):
        if key.name in removed:
            text = text[: key.start] + text[key.end :]
    rest = {key: value for key, value in note.front_matter.items() if key not in removed}
    return (_verified(text, rest) if removed else text), removed, missing


def render_front_matter(values: Mapping[str, Any], *, newline: str = "\n") -> str:
    """Write a block for these values in their order; nothing for none."""
    if not values:
        return ""
    lines = "".join(_render_key(key, value) for key, value in values.items())
    return f"---\n{lines}---\n".replace("\n", newline)


# ---- reading ----------------------------------------------------------------------------------


def _raw_span(text: str) -> tuple[int, int, int] | None:
    """Offsets of the block's content start, its end, and of the body."""
    opener = OPENER.match(text)
    if not opener:
        return None
    closer = CLOSER.search(text, opener.end())
    if not closer:
        return None
    body = closer.end() + (1 if text[closer.end() : closer.end() + 1] == "\n" else 0)
    return opener.end(), closer.start(), body


def _compose(text: str, start: int, end: int) -> yaml.MappingNode | None:
    first = text.count("\n", 0, start) + 1
    try:
        node = yaml.compose(text[start:end], Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        raise _FaultError(first + (mark.line if mark else 0), f"not valid YAML: {reason}") from None
    except (ValueError, RecursionError) as error:
        raise _FaultError(first, f"not valid YAML: {error}") from None
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        return None
    if not isinstance(node, yaml.MappingNode):
        raise _FaultError(first, "front matter must be a mapping of keys to values")
    return node


def _load(text: str, start: int, end: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    node = _compose(text, start, end)
    if node is None:
        return {}, ()
    reader = _Reader(text[start:end], text.count("\n", 0, start) + 1)
    values = reader.mapping(node, 0)
    names = [reader.key(key) for key, _ in node.value]
    return values, tuple(sorted({name for name in names if names.count(name) > 1})) if len(set(names)) < len(
        names
    ) else ()


class _Reader:
    """Turns composed nodes into JSON values, counting every value so that aliases cannot explode."""

    def __init__(self, block: str, first_line: int) -> None:
        self.block, self.first_line, self.left = block, first_line, MAX_NODES
        self.scalars = yaml.constructor.SafeConstructor()

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        return {self.key(key): self.value(value, depth + 1) for key, value in node.value}

    def key(self, node: yaml.Node) -> str:
        return (
            node.value if isinstance(node, yaml.ScalarNode) else self.block[node.start_mark.index : node.end_mark.index]
        )

    def value(self, node: yaml.Node, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > 60:
            raise _FaultError(self.first_line + node.start_mark.line, "its aliases or nesting expand beyond the bound")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            source = self.block[node.start_mark.index : node.end_mark.index] if node.flow_style else ""
            return source if BARE_LINK.fullmatch(source) else [self.value(item, depth + 1) for item in node.value]
        return self.scalar(cast("yaml.ScalarNode", node))

    def scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            value = self.scalars.construct_object(node)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            reason = getattr(error, "problem", None) or str(error)
            raise _FaultError(self.first_line + node.start_mark.line, f"a value cannot be read: {reason}") from None
        if isinstance(value, dt.date):
            return node.value if isinstance(value, dt.datetime) and not node.value else value.isoformat()
        return value if isinstance(value, (str, int, float, bool)) or value is None else node.value


# ---- rewriting --------------------------------------------------------------------------------


def _readable(text: str) -> ParsedNote:
    note = parse_note(text)
    if note.fault:
        raise InvalidFrontMatterError(
            f"the front matter cannot be changed, {note.fault}; repair that line in an editor, or write the note anew"
        )
    return note


def _verified(text: str, expected: Mapping[str, Any]) -> str:
    got = parse_note(text)
    if got.fault or got.front_matter != expected:
        raise InvalidFrontMatterError(
            "these keys cannot be changed without touching others (anchors, aliases or an unusual layout); "
            "edit the block by hand"
        )
    return text


def _keys(text: str) -> list[_Key]:
    """Where each top-level key stands, as offsets in the whole text."""
    span = _raw_span(text)
    node = _compose(text, span[0], span[1]) if span else None
    if span is None or node is None:
        return []
    if node.flow_style:
        raise InvalidFrontMatterError("the front matter is one flow mapping {…}; write one key a line to change it")
    base, pairs = span[0], node.value
    starts = [_line_start(text, base + key.start_mark.index) for key, _ in pairs]
    found = []
    for n, (key, value) in enumerate(pairs):
        limit = starts[n + 1] if n + 1 < len(pairs) else span[1]
        block = not isinstance(value, yaml.ScalarNode) and not value.flow_style
        block = block or (isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"))
        value_end = base + value.end_mark.index
        end = _without_tail(text, starts[n], limit) if block else min(limit, _line_end(text, value_end))
        name = (
            key.value
            if isinstance(key, yaml.ScalarNode)
            else text[base + key.start_mark.index : base + key.end_mark.index]
        )
        found.append(
            _Key(
                name,
                starts[n],
                end,
                base + value.start_mark.index,
                value_end,
                block,
                bool(getattr(value, "flow_style", False)),
            )
        )
    return found


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _without_tail(text: str, start: int, limit: int) -> int:
    """Leave blank lines and comments at the margin below a block value to what follows."""
    end = limit
    while end > start:
        line_start = _line_start(text, end - 1)
        line = text[line_start:end]
        if line_start <= start or (line.strip() and not line.startswith("#")):
            break
        end = line_start
    return end


def _set_key(text: str, name: str, value: Any) -> str:
    newline = _newline(text)
    key = next((key for key in reversed(_keys(text)) if key.name == name), None)
    rendered = _render_key(name, value)
    if key is None:
        at = cast("tuple[int, int, int]", _raw_span(text))[1]
        return text[:at] + rendered.replace("\n", newline) + text[at:]
    one_line = (
        not key.block_style and key.value_end > key.value_start and "\n" not in text[key.value_start : key.value_end]
    )
    if one_line and (key.flow_style or rendered.count("\n") == 1):
        return text[: key.value_start] + _inline(value) + text[key.value_end :]
    return text[: key.start] + rendered.replace("\n", newline) + text[key.end :]


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


class _Dumper(yaml.SafeDumper):
    """Quotes what another YAML reader could take for something else."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is the library's
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002  # PyYAML's signature
        super().increase_indent(flow, False)


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    must_quote = "[[" in value or "\n" in value or NUMBER_ELSEWHERE.fullmatch(value)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"' if must_quote else None)


_Dumper.add_representer(str, _represent_text)


def _dump(value: Any, *, flow: bool) -> str:
    text: str = yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, width=2**31 - 1, sort_keys=False, default_flow_style=flow
    )
    return text.removesuffix("...\n")


def _render_key(name: str, value: Any) -> str:
    return _dump({name: value}, flow=False)


def _inline(value: Any) -> str:
    return _dump([value], flow=True).strip()[1:-1]


def _checked_key(key: Any) -> str:
    if not isinstance(key, str) or not key.strip() or "\n" in key:
        raise InvalidRequestError(f"a front matter key must be a non-empty text on one line, not {key!r}")
    return key


def _json(value: Any, left: list[int], depth: int) -> Any:
    """Return the value as JSON; dates become ISO text."""
    left[0] -= 1
    if left[0] < 0 or depth > 60:
        raise InvalidRequestError("the front matter value is too large or too deep")
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_checked_key(str(key)): _json(item, left, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_json(item, left, depth + 1) for item in value]
    raise InvalidRequestError(
        f"a front matter value must be text, a number, a list or a mapping, not {type(value).__name__}"
    )
