"""What do the words ``key=value`` of a command line mean?

A text is taken as it stands; every other argument is read as JSON: ``limit=3 search_filter='{"path": "digest"}'``.
No JSON begins with ``@``, so ``messages=@talk.json`` reads a file, and ``messages=@-`` standard input.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reme_graphs.errors import GraphError

OUTSIDE = {"upload": "source", "download": "destination"}
"""Arguments that name a file of the person's machine."""


class UsageError(GraphError):
    """The command line makes no sense; the message says why."""


def split_words(words: Sequence[str]) -> dict[str, str]:
    """Return the values of ``key=value`` words.

    Raises:
        UsageError: a word has no ``=``, or a key comes twice.
    """
    values: dict[str, str] = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator:
            raise UsageError(f"{word!r} is not key=value")
        if key in values:
            raise UsageError(f"{key} is given twice")
        values[key] = value
    return values


def parse_values(values: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read values by the JSON schema of what they are for.

    Raises:
        UsageError: there is no such argument, or a value is not JSON.
    """
    properties = schema.get("properties", {})
    unknown = [key for key in values if key not in properties]
    if unknown:
        raise UsageError(f"there is no argument {unknown[0]!r}; there are: {', '.join(properties) or 'none'}")
    return {key: _parse_value(key, value, properties[key]) for key, value in values.items()}


def _parse_value(key: str, value: str, schema: Mapping[str, Any]) -> Any:
    types = {schema.get("type"), *(option.get("type") for option in schema.get("anyOf", ()))}
    if types - {None, "null"} == {"string"}:
        return value
    try:
        return json.loads(_read(value[1:]) if value.startswith("@") else value)
    except json.JSONDecodeError as error:
        if "string" in types:
            return value
        raise UsageError(f"{key}={value!r} is not JSON: {error}") from error


def absolute(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with a path outside the workspace taken from the working directory."""
    key = OUTSIDE.get(tool)
    if key is None or not isinstance(arguments.get(key), str) or not arguments[key]:
        return dict(arguments)
    return {**arguments, key: str(Path(arguments[key]).expanduser().absolute())}


def _read(place: str) -> str:
    try:
        return sys.stdin.read() if place == "-" else Path(place).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{place!r} cannot be read: {error}") from error
