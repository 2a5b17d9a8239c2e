"""Which JSON value does a YAML text state, however hostile it is?

The C loader reads; aliases are followed only within a bound. Dates become ISO text, an unquoted ``[[x]]`` is the
link it was meant to be, and a value that its own type cannot hold (``2026-02-30``, ``.nan``) is the text that stands
there. Offsets are positions in the text that was given.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

MAX_NODES = 20_000
"""Values a text may have once its aliases are followed; a bomb is refused long before it hurts."""
MAX_REPEATED_CHARS = 1_000_000
"""Characters its values may hold beyond those that are written."""
MAX_DEPTH = 60
NO_MAPPING = "not a mapping of keys to values"

_TIME = re.compile(r"\d{4}-\d")
_LEADING_ZERO = re.compile(r"[-+]?0\d")
_BARE_LINK = re.compile(r"\[\[[^\[\]\n]+\]\]")
_NOT_YAML = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SCALARS = yaml.constructor.SafeConstructor()


class YamlFaultError(Exception):
    """A text cannot be read: where, as an offset, and why."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class YamlMapping:
    """A mapping, and which of its keys stand more than once; of these the last one counts."""

    values: dict[str, Any]
    duplicates: tuple[str, ...] = ()


def read_mapping(text: str) -> YamlMapping:
    """Read a mapping of keys to values; an empty or comment-only text is an empty one.

    Raises:
        YamlFaultError: The text is not YAML, is no mapping, or its aliases expand beyond the bound.
    """
    node = _compose(text)
    if node is None:
        return YamlMapping({})
    if not isinstance(node, yaml.MappingNode):
        raise YamlFaultError(node.start_mark.index, NO_MAPPING)
    reader = _Reader(text)
    values = reader.mapping(node, 1)
    if len(values) == len(node.value):
        return YamlMapping(values)
    counts = Counter(reader.key(key) for key, _ in node.value)
    return YamlMapping(values, tuple(sorted(key for key, count in counts.items() if count > 1)))


def read_value(text: str) -> Any:
    """Read any YAML text as a JSON value; None for an empty one.

    Raises:
        YamlFaultError: The text is not YAML, or its aliases expand beyond the bound.
    """
    node = _compose(text)
    return None if node is None else _Reader(text).value(node, 1)


def iso_time(text: str) -> str:
    """Return a date or time of YAML in ISO form; empty where the text is none."""
    if not _TIME.match(text):
        return ""
    try:
        value: dt.date | dt.datetime = _SCALARS.construct_yaml_timestamp(
            yaml.ScalarNode("tag:yaml.org,2002:timestamp", text)
        )
    except (ValueError, OverflowError, AttributeError):
        return ""
    return value.isoformat()


def yaml_fault(error: Exception, text: str) -> YamlFaultError:
    """Say what a YAML library found wrong, and where."""
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
    context = getattr(error, "context", None)
    strange = _NOT_YAML.search(text)
    offset = mark.index if mark else strange.start() if strange else 0
    return YamlFaultError(offset, f"not valid YAML: {f'{reason} {context}' if context else reason}")


def _compose(text: str) -> yaml.Node | None:
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise yaml_fault(error, text) from None
    return node


class _Reader:
    """Turns composed nodes into JSON values, counting every value so that aliases cannot explode."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.shift = 1 if text.startswith("\ufeff") else 0
        self.nodes = MAX_NODES
        self.chars = MAX_REPEATED_CHARS + len(text)

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        return {self.key(key): self.value(value, depth + 1) for key, value in node.value}

    def key(self, node: yaml.Node) -> str:
        return node.value if isinstance(node, yaml.ScalarNode) else self._source(node)

    def value(self, node: yaml.Node, depth: int) -> Any:
        self.nodes -= 1
        if self.nodes < 0 or self.chars < 0 or depth > MAX_DEPTH:
            raise YamlFaultError(node.start_mark.index, "aliases or nesting expand beyond the bound")
        if isinstance(node, yaml.ScalarNode):
            self.chars -= len(node.value)
            read = _BY_TAG.get(node.tag)
            return read(node) if read else node.value
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        if not isinstance(node, yaml.SequenceNode):
            raise TypeError(f"PyYAML composed a {type(node).__name__}")
        source = self._source(node) if node.flow_style else ""
        return source if _BARE_LINK.fullmatch(source) else [self.value(item, depth + 1) for item in node.value]

    def _source(self, node: yaml.Node) -> str:
        return self.text[node.start_mark.index + self.shift : node.end_mark.index + self.shift]


def _number(construct: Callable[[yaml.ScalarNode], Any]) -> Callable[[yaml.ScalarNode], Any]:
    """Return a reader of numbers; what no JSON number is stays text, and ``12:30`` and ``007`` too."""

    def read(node: yaml.ScalarNode) -> Any:
        if ":" in node.value or _LEADING_ZERO.match(node.value):
            return node.value
        try:
            value = construct(node)
        except (ValueError, OverflowError, IndexError):
            return node.value
        finite = isinstance(value, int) or value - value == 0
        return value if finite else node.value

    return read


def _date(node: yaml.ScalarNode) -> str:
    return iso_time(node.value) or node.value


def _bool(node: yaml.ScalarNode) -> Any:
    return _SCALARS.bool_values.get(node.value.lower(), node.value)


_BY_TAG: dict[str, Callable[[yaml.ScalarNode], Any]] = {
    "tag:yaml.org,2002:null": lambda _: None,
    "tag:yaml.org,2002:bool": _bool,
    "tag:yaml.org,2002:int": _number(_SCALARS.construct_yaml_int),
    "tag:yaml.org,2002:float": _number(_SCALARS.construct_yaml_float),
    "tag:yaml.org,2002:timestamp": _date,
}
