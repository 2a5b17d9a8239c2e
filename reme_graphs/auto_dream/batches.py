"""Which notes go into which call of the model, so that every line is read and no prompt is over the budget?

Sizes are in characters of English; a CJK, kana or Hangul character weighs as much as three, since a model pays about
that many times the tokens for it. Material larger than a call is cut at line ends into numbered pieces.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
WIDE_WEIGHT = 3
FRAME_COST = 60
"""What the frame around a piece takes besides its label."""


@dataclass(frozen=True, slots=True)
class Material:
    """The text of a note."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A note, or one of the pieces a large one was cut into."""

    path: str
    text: str
    part: int = 1
    parts: int = 1

    @property
    def label(self) -> str:
        """What the frame is called: the path, and which piece where there are several."""
        return self.path if self.parts == 1 else f"{self.path} part {self.part}/{self.parts}"

    @property
    def cost(self) -> int:
        """Its share of a budget, frame included."""
        return cost_of(self.text) + cost_of(self.label) + FRAME_COST


def cost_of(text: str) -> int:
    """Return the weight of a text, never less than its characters."""
    return len(text) + (WIDE_WEIGHT - 1) * len(WIDE.findall(text))


def make_batches(materials: Sequence[Material], budget: int) -> list[list[Piece]]:
    """Pack materials, in their order, into batches within a budget; nothing is left out."""
    batches: list[list[Piece]] = []
    room = 0
    for piece in (piece for material in materials for piece in cut(material, budget)):
        if not batches or piece.cost > room:
            batches.append([])
            room = budget
        batches[-1].append(piece)
        room -= piece.cost
    return batches


def cut(material: Material, budget: int) -> list[Piece]:
    """Cut a note into pieces that fit a budget."""
    whole = Piece(material.path, material.text)
    if whole.cost <= budget:
        return [whole]
    room = max(1, budget - FRAME_COST - cost_of(f"{material.path} part 999/999"))
    texts = list(_filled(material.text, room))
    return [Piece(material.path, text, number, len(texts)) for number, text in enumerate(texts, 1)]


def clip(text: str, room: int) -> str:
    """Return the longest beginning of whole lines that fits; the whole text when it fits."""
    return text if cost_of(text) <= room else next(_filled(text, max(1, room)), "")


def _filled(text: str, room: int) -> Iterator[str]:
    """Yield pieces of whole lines, each within the room; together they are the text."""
    kept: list[str] = []
    used = 0
    for line in _short_lines(text, room):
        cost = cost_of(line)
        if kept and used + cost > room:
            yield "".join(kept)
            kept, used = [], 0
        kept.append(line)
        used += cost
    if kept:
        yield "".join(kept)


def _short_lines(text: str, room: int) -> Iterator[str]:
    """Yield the lines with their ends; a line over the room comes in several."""
    for line in text.splitlines(keepends=True):
        if cost_of(line) <= room:
            yield line
            continue
        step = max(1, room // WIDE_WEIGHT) if WIDE.search(line) else room
        yield from (line[at : at + step] for at in range(0, len(line), step))
