"""Which JSON values stand in a model's text?"""

import json
import re
from collections.abc import Iterator
from typing import Any

THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>|\A.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
MOST_BRACES = 200
"""Braces that open nothing readable are tried this often, so that a long broken answer costs little."""


def without_thought(text: str) -> str:
    """Return the text without what a reasoning model thought aloud."""
    return THOUGHT.sub("", text).strip()


def whole_values(text: str) -> Iterator[Any]:
    """Yield the value that is the whole text, then those that are whole fenced blocks, last first."""
    plain = without_thought(text)
    for block in (plain, *reversed(FENCE.findall(plain))):
        try:
            yield json.loads(block, strict=False)
        except json.JSONDecodeError:
            continue


def json_objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects within a text, in order.

    What stands inside a truncated object is found too, but objects only: a list inside it is a part of something
    else and must not pass for an answer.
    """
    plain = without_thought(text)
    decoder, place = json.JSONDecoder(strict=False), plain.find("{")
    found: list[dict[str, Any]] = []
    for _ in range(MOST_BRACES):
        if place < 0:
            break
        try:
            value, end = decoder.raw_decode(plain, place)
        except json.JSONDecodeError:
            end = place + 1
        else:
            found.append(value)
        place = plain.find("{", end)
    return found
