"""Which characters of a YAML mapping belong to a key, and what is written in their place?

Only places and new text; nothing is parsed into values and no other character is ever produced. Offsets are
positions in the block that was given.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from reme_store.text.yaml_values import YamlFaultError, iso_time, yaml_fault

Kind = Literal["scalar", "literal", "flow", "block", "empty"]

_ELSEWHERE_A_NUMBER = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[0-9a-fA-F]+")
"""Plain text that a YAML 1.2 reader takes for a number."""
_BREAK = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What a plain or single-quoted text cannot hold as it is."""
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class Item:
    """Where one value stands."""

    start: int
    end: int
    """Offset after its last character that is no comment and no blank."""
    kind: Kind
    style: str = ""
    """The quote of a scalar."""
    column: int = 0
    items: tuple["Item", ...] = ()
    """The entries of a block sequence."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a top-level key and its value stand."""

    name: str
    start: int
    """Offset of the key's line."""
    end: int
    """Offset after the last line that belongs to the value."""
    indent: str
    value: Item


def find_entries(block: str) -> list[Entry]:
    """Return the top-level keys of a block mapping in order.

    Raises:
        YamlFaultError: It is no block mapping, so that its keys have no lines of their own.
    """
    walk = _Walk(block)
    event = next(walk.events, None)
    if event is None:
        return []
    if not isinstance(event, yaml.MappingStartEvent):
        raise YamlFaultError(walk.at(event.start_mark), "not a mapping of keys to values")
    if event.flow_style:
        raise YamlFaultError(walk.at(event.start_mark), "a mapping in braces: its keys have no lines of their own")
    return list(_entries(walk))


def leaf_spans(block: str) -> list[tuple[int, int, str]]:
    """Return start, end and quote of every scalar in order; what stands outside of them is structure or comment."""
    walk = _Walk(block)
    return [
        (walk.at(event.start_mark), walk.at(event.end_mark), event.style or "")
        for event in walk.events
        if isinstance(event, yaml.ScalarEvent)
    ]


def render_entry(name: str, value: Any) -> str:
    """Write a key with its value, one or several lines, quoted only where it must be."""
    return _dump({name: value}, flow=False)


def replacements(block: str, entry: Entry, value: Any) -> Iterator[tuple[int, int, str]]:
    """Yield ways (start, end, text) to give a key another value, the one that keeps most of its lines first.

    The caller takes the first one after which the block reads as it should.
    """
    item, rendered = entry.value, render_entry(entry.name, value)
    one_line = "\n" not in block[item.start : item.end]
    if item.kind == "empty" and _is_scalar(value):
        yield item.start, item.end, " " + _scalar(value)
    elif item.kind == "scalar" and one_line and _is_scalar(value):
        yield item.start, item.end, _scalar(value)
    elif item.kind == "flow" and one_line and not _is_scalar(value):
        yield item.start, item.end, _dump(value, flow=True).strip()
    elif item.items and isinstance(value, list) and len(value) > len(item.items):
        yield _appended(block, item, value)
    yield entry.start, entry.end, indented(rendered, entry.indent)


def indented(rendered: str, indent: str) -> str:
    """Put every line of a rendered entry under the margin of its mapping."""
    return "".join(indent + line for line in rendered.splitlines(keepends=True)) if indent else rendered


def _appended(block: str, item: Item, value: list[Any]) -> tuple[int, int, str]:
    """Add the entries that are new at the end of a block list; comments and quotes of the old ones stay."""
    at = _line_end(block, item.end)
    new = _dump(value[len(item.items) :], flow=False)
    return at, at, indented(new, " " * item.column)


# ---- where things stand -----------------------------------------------------------------------


class _Walk:
    """The events of a block; a BOM at its head is no character to the library."""

    def __init__(self, block: str) -> None:
        self.block = block
        self.shift = 1 if block.startswith("\ufeff") else 0
        self.events = self._read()

    def at(self, mark: Any) -> int:
        return int(mark.index) + self.shift

    def _read(self) -> Iterator[yaml.Event]:
        outer = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)
        try:
            for event in yaml.parse(self.block, Loader=yaml.CSafeLoader):
                if not isinstance(event, outer):
                    yield event
        except (yaml.YAMLError, ValueError) as error:
            raise yaml_fault(error, self.block) from None


def _entries(walk: _Walk) -> Iterator[Entry]:
    for event in walk.events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        key = _item(walk, event)
        start = walk.block.rfind("\n", 0, key.start) + 1
        value = _item(walk, next(walk.events))
        margin = re.match(r"[ ]*", walk.block[start : key.start])
        name = event.value if isinstance(event, yaml.ScalarEvent) else walk.block[key.start : key.end]
        end = _line_end(walk.block, max(key.end, value.end))
        yield Entry(name, start, end, margin.group() if margin else "", value)


def _item(walk: _Walk, event: yaml.Event) -> Item:
    mark: Any = event.start_mark
    start, end = walk.at(mark), walk.at(event.end_mark)
    if isinstance(event, yaml.ScalarEvent):
        if event.style in ("|", ">"):
            return Item(start, _without_blank_tail(walk.block, start, end), "literal")
        return Item(start, end, "empty" if start == end else "scalar", event.style or "")
    if not isinstance(event, yaml.CollectionStartEvent):
        return Item(start, end, "scalar")
    children: list[Item] = []
    for inner in walk.events:
        if isinstance(inner, yaml.CollectionEndEvent):
            end = walk.at(inner.end_mark) if event.flow_style else max([end, *(child.end for child in children)])
            break
        children.append(_item(walk, inner))
    is_list = isinstance(event, yaml.SequenceStartEvent) and not event.flow_style
    kind: Kind = "flow" if event.flow_style else "block"
    return Item(start, end, kind, "", mark.column, tuple(children) if is_list else ())


def _without_blank_tail(block: str, start: int, end: int) -> int:
    return start + len(block[start:end].rstrip())


def _line_end(block: str, at: int) -> int:
    end = block.find("\n", at)
    return len(block) if end < 0 else end + 1


# ---- what is written --------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Quotes what another YAML reader could take for something else, and escapes only what must be."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # the library's signature
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002  # the library's
        super().increase_indent(flow, False)

    def write_double_quoted(self, text: str, split: bool = True) -> None:  # noqa: ARG002  # the library's signature
        self.write_indicator(f'"{_ESCAPED.sub(_escape, text)}"', True)


def _escape(match: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(match.group(), f"\\u{ord(match.group()):04x}")


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    if value and iso_time(value) == value:
        return dumper.represent_scalar("tag:yaml.org,2002:timestamp", value)
    style = '"' if "[[" in value or _BREAK.search(value) else "'" if _ELSEWHERE_A_NUMBER.fullmatch(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent_text)


def _dump(value: Any, *, flow: bool) -> str:
    text: str = yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, width=2**31 - 1, sort_keys=False, default_flow_style=flow
    )
    return text.removesuffix("...\n")


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, (list, dict))


def _scalar(value: Any) -> str:
    return _dump({"k": value}, flow=False).removeprefix("k:").strip(" \n")
