"""How do many or very long messages fit into prompts, with nothing left out?

Waiting messages go to the model in parts, in order: as many as fit the room. A message longer than the room is cut
into pieces of its own parts. Instructions, tool results and recalled memory are shown short and named for what they
are: they help to understand, they are no facts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from reme_graphs.auto_memory.dialog import Line
from reme_graphs.messages import Message, moment_of, spoken
from reme_graphs.prompts import escape

ASIDE_CHARS = 500
"""Of what is no fact, this much is shown."""
ASIDES = {
    "tool": "tool result, no fact",
    "system": "instruction of the host, no fact",
    "developer": "instruction of the host, no fact",
}


@dataclass(frozen=True, slots=True)
class Part:
    """What one conversation with the model is about."""

    text: str
    """The messages as they stand in the prompt, escaped but not framed."""
    done: tuple[str, ...]
    """Keys of the messages that are complete with this part."""
    partial: Mapping[str, int]
    """Key of a message cut at the end of this part, and the characters done."""
    spoken: bool
    """Whether a person or an assistant says anything in it."""


@dataclass(frozen=True, slots=True)
class _Piece:
    key: str
    text: str
    end: int
    last: bool
    spoken: bool


def next_part(lines: Sequence[Line], partial: Mapping[str, int], zone: tzinfo, room: int) -> Part | None:
    """Return the first part of the waiting messages, None where nothing waits.

    Args:
        lines: waiting messages in order.
        partial: characters done of a message that was cut.
        zone: zone in which times are shown.
        room: most characters of the part.
    """
    parts = plan_parts(lines[: _enough(lines, room)], partial, zone, room)
    return parts[0] if parts else None


def plan_parts(lines: Sequence[Line], partial: Mapping[str, int], zone: tzinfo, room: int) -> list[Part]:
    """Return all parts of the waiting messages; the arguments are those of :func:`next_part`."""
    parts: list[list[_Piece]] = [[]]
    used = 0
    for line in lines:
        for piece in _pieces(line, partial.get(line.key, 0), zone, room):
            if parts[-1] and used + len(piece.text) + 1 > room:
                parts.append([])
                used = 0
            parts[-1].append(piece)
            used += len(piece.text) + 1
    return [_part(pieces) for pieces in parts if pieces]


def _enough(lines: Sequence[Line], room: int) -> int:
    """Return how many messages surely fill the first part, so that the rest need not be rendered for it."""
    total = 0
    for number, line in enumerate(lines, 1):
        total += min(len(line.raw), room) // 2
        if total > 2 * room:
            return number
    return len(lines)


def _part(pieces: Sequence[_Piece]) -> Part:
    return Part(
        text="\n".join(piece.text for piece in pieces),
        done=tuple(piece.key for piece in pieces if piece.last),
        partial={piece.key: piece.end for piece in pieces if not piece.last},
        spoken=any(piece.spoken for piece in pieces),
    )


def _pieces(line: Line, start: int, zone: tzinfo, room: int) -> list[_Piece]:
    message = line.message
    if message is None:
        return []
    head = render_head(message, zone)
    body = render_body(message)
    if start == 0 and len(head) + len(body) + 1 <= room:
        return [_Piece(line.key, f"{head} {body}", len(body), True, spoken(message))]
    return _cut(line.key, head, body, start, room, is_spoken=spoken(message))


def _cut(key: str, head: str, body: str, start: int, room: int, *, is_spoken: bool) -> list[_Piece]:
    pieces: list[_Piece] = []
    size = max(200, room - len(head) - 40)
    while start < len(body) or not pieces:
        end = _end_of_piece(body, start, size)
        label = f"{head} (characters {start + 1}-{end} of {len(body)})"
        pieces.append(_Piece(key, f"{label} {body[start:end]}", end, end >= len(body), is_spoken))
        start = end
    return pieces


def _end_of_piece(body: str, start: int, size: int) -> int:
    """Return where to cut: at the last line or word end in the last tenth, so that no word is cut."""
    end = start + size
    if end >= len(body):
        return len(body)
    floor = end - size // 10
    found = max(body.rfind("\n", floor, end), body.rfind(" ", floor, end), body.rfind("。", floor, end))
    return found + 1 if found > start else end


def render_head(message: Message, zone: tzinfo) -> str:
    """Return who speaks, and when."""
    moment = moment_of(message)
    when = moment.astimezone(zone).strftime("%Y-%m-%d %H:%M") if moment else ""
    who = ASIDES.get(message["role"], message["role"])
    return "[" + " | ".join(escape(part) for part in (when, who, message.get("name", "")) if part) + "]"


def render_body(message: Message) -> str:
    """Return what is said; asides are cut."""
    if message.get("recalled"):
        return "(recalled memory, not shown)"
    text = escape(message["content"])
    if message["role"] in ASIDES and len(text) > ASIDE_CHARS:
        text = f"{text[:ASIDE_CHARS]} … ({len(text)} characters)"
    calls = [f"(calls {call['name']} {_short(call['args'])})" for call in message.get("tool_calls", [])]
    return " ".join([*([text] if text else []), *calls])


def _short(args: object) -> str:
    text = escape(json.dumps(args, ensure_ascii=False, default=str))
    return text if len(text) <= 200 else text[:200] + "…"
