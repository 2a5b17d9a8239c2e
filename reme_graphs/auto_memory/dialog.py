"""What has been said in a session, and in which order?

A dialog file is JSON Lines: one ``Message`` a line, merged by time. A line once written keeps its bytes and a line
that cannot be read stays where it is. A message is the same as one before if it has the same id and says the same, or
if one of the two has no id and both say the same at the same time. Another wording of an id is an edit: a line of its
own, marked ``edited``. Of several messages of one instant, ids that count (``D1:2``, ``msg-7``) decide; else they stay
in the order they came. A message without a time stays behind the one it came after.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from reme_graphs.messages import HASHED, Message, content_hash, is_explicit, moment_of

COUNTING = re.compile(r"(\d{1,12})")
NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a dialog file."""

    raw: str
    message: Message | None
    """None where the line cannot be read."""
    moment: float = NEVER
    """Seconds since 1970 by which it is placed."""
    timed: bool = False

    @property
    def key(self) -> str:
        """What the ledger calls this message."""
        return key_of(self.message) if self.message else ""


def key_of(message: Message) -> str:
    """Return what the ledger calls a message: its id, and for an edit what it says."""
    if not message.get("edited"):
        return message["id"]
    return f"{message['id']}~{content_hash(message, timed=False)[:8]}"


def earlier_key_of(message: Message) -> str:
    """Return what the ledger called a message before its host gave it an id."""
    return HASHED + content_hash(message, timed=True)


def parse_dialog(text: str) -> list[Line]:
    """Read a dialog file; an empty text has no lines."""
    lines: list[Line] = []
    latest = NEVER
    for raw in text.split("\n"):
        if raw.strip():
            line = _line(raw, _read(raw), latest)
            latest = line.moment
            lines.append(line)
    return lines


def render_dialog(lines: Iterable[Line]) -> str:
    """Return the text of a dialog file."""
    return "".join(line.raw + "\n" for line in lines)


def merge_dialog(lines: Sequence[Line], messages: Sequence[Message]) -> list[Line]:
    """Return the lines with the messages that are new among them, in their places."""
    merged = list(lines)
    known = _Known(lines)
    latest = lines[-1].moment if lines else NEVER
    for message in messages:
        same = known.same(message)
        if same is None:
            line = _new_line(known.as_edit(message), latest)
            merged.append(line)
            known.add(line)
            same = line
        latest = same.moment
    named = known.hashes_with_id()
    kept = [
        line for line in merged if not (line.message and not is_explicit(line.message) and _timed_hash(line) in named)
    ]
    return _in_order(kept)


class _Known:
    """Which messages a dialog has."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._by_id: dict[str, dict[str, Line]] = {}
        self._anonymous: dict[str, Line] = {}
        self._with_id: dict[str, Line] = {}
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        if line.message is None:
            return
        if is_explicit(line.message):
            said = content_hash(line.message, timed=False)
            self._by_id.setdefault(line.message["id"], {}).setdefault(said, line)
            self._with_id.setdefault(_timed_hash(line), line)
        else:
            self._anonymous.setdefault(_timed_hash(line), line)

    def same(self, message: Message) -> Line | None:
        """Return the line that says this already."""
        if is_explicit(message):
            return self._by_id.get(message["id"], {}).get(content_hash(message, timed=False))
        said = content_hash(message, timed=True)
        return self._with_id.get(said) or self._anonymous.get(said)

    def as_edit(self, message: Message) -> Message:
        """Return the message, marked where its id has another wording."""
        edited = is_explicit(message) and message["id"] in self._by_id
        return {**message, "edited": True} if edited else message

    def hashes_with_id(self) -> set[str]:
        """Return what is said by messages with an id."""
        return set(self._with_id)


def _timed_hash(line: Line) -> str:
    assert line.message is not None  # noqa: S101 - only readable lines are known
    return content_hash(line.message, timed=True)


def _read(raw: str) -> Message | None:
    try:
        value = json.loads(raw)
    except json.JSONDecodeError:
        return None
    fields = {"id": str, "role": str, "content": str}
    if not isinstance(value, dict) or not all(isinstance(value.get(key), kind) for key, kind in fields.items()):
        return None
    message = cast("Message", value)
    try:
        moment_of(message)
    except (TypeError, ValueError):
        return None
    return message


def _line(raw: str, message: Message | None, latest: float) -> Line:
    moment = moment_of(message) if message else None
    return Line(raw, message, moment.timestamp() if moment else latest, moment is not None)


def _new_line(message: Message, latest: float) -> Line:
    return _line(json.dumps(message, ensure_ascii=False), message, latest)


def _in_order(lines: list[Line]) -> list[Line]:
    ordered: list[Line] = []
    for _, group in groupby(sorted(lines, key=lambda line: line.moment), key=lambda line: line.moment):
        ordered += _counted(list(group))
    return ordered


def _counted(group: list[Line]) -> list[Line]:
    """Order what was said at one instant by ids that count, if all of them do in the same way."""
    ids = [line.message["id"] if line.message and line.timed and is_explicit(line.message) else "" for line in group]
    shapes = {COUNTING.sub("#", text) for text in ids}
    if len(group) < 2 or len(shapes) > 1 or "#" not in next(iter(shapes)):
        return group
    return sorted(group, key=lambda line: _numbers(line.message["id"] if line.message else ""))


def _numbers(text: str) -> list[Any]:
    return [int(part) for part in COUNTING.findall(text)]
