"""How does an overloaded note come apart by its sections?

The offline second implementation of SplitPlan: sections stay whole and in order, neighbours go together until the
children are few; every line is taken over word for word.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from reme_graphs.offline.material import Material, date_of, read_statements
from reme_graphs.offline.names import slug
from reme_graphs.offline.notes import description_of
from reme_graphs.offline.terms import key_phrases
from reme_store.text.front_matter import parse_note
from reme_store.text.markdown import read_headings

Section = tuple[str, list[str]]
"""A heading's text, and all lines of the section, its heading line first (and the underline it may have)."""

MOST_CHILDREN = 6
"""Sections up to so many become a child each; more go together."""
LEAST_CHARS = 300
"""A smaller child is not worth a note."""


def sections_of(body: str) -> tuple[list[str], list[Section]]:
    """Take a body apart at its widest headings of which there are several, the title aside.

    Returns:
        The lines before the first section, and the sections; none where the body has no two headings of a level.
    """
    lines = body.split("\n")
    headings = read_headings(body.replace("\r\n", "\n"))
    levels = Counter(heading.level for heading in headings)
    level = min((depth for depth, count in levels.items() if count > 1), default=0)
    starts = [heading for heading in headings if heading.level == level]
    if not starts:
        return lines, []
    ends = [*(heading.first for heading in starts[1:]), len(lines)]
    found = [(start.title, lines[start.first : end]) for start, end in zip(starts, ends, strict=True)]
    return lines[: starts[0].first], found


def split_plan(path: str, text: str, chunk_chars: int) -> dict[str, Any]:
    """Plan a split by sections.

    Args:
        path: the note's path.
        text: its whole text.
        chunk_chars: size a child should about have.

    Returns:
        ``overview`` and ``children`` [{name, description, body}]; no children where it is better left whole.
    """
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    head, sections = sections_of(parse_note(text).body)
    groups = _groups(sections, chunk_chars)
    if len(groups) < 2:
        return {"overview": "", "children": []}
    taken = {stem}
    children = []
    for group in groups:
        name = _name(stem, group, taken)
        taken.add(name)
        children.append(_child(stem, name, group))
    return {"overview": "\n".join(head).strip("\n") + "\n", "children": children}


def _groups(sections: Sequence[Section], chunk_chars: int) -> list[list[Section]]:
    """Neighbouring sections of about one size each, few and none too small; none where there is nothing to divide."""
    sizes = [sum(len(line) + 1 for line in lines) for _, lines in sections]
    total = sum(sizes)
    wanted = min(_wanted(len(sections), total, chunk_chars), len(sections), total // LEAST_CHARS)
    if wanted < 2:
        return []
    groups: list[list[Section]] = [[]]
    filled = 0
    for number, (section, size) in enumerate(zip(sections, sizes, strict=True)):
        full = filled + size / 2 > total * len(groups) / wanted
        needed = len(sections) - number <= wanted - len(groups)
        if groups[-1] and len(groups) < wanted and (full or needed):
            groups.append([])
        groups[-1].append(section)
        filled += size
    return groups


def _wanted(sections: int, total: int, chunk_chars: int) -> int:
    """How many children a note of so many sections and characters should have."""
    if sections <= MOST_CHILDREN:
        return sections
    return max(2, min(MOST_CHILDREN, round(sections / 5)), math.ceil(total / chunk_chars))


def _name(stem: str, group: Sequence[Section], taken: set[str]) -> str:
    """A stem that says what the child holds: its heading, its span of days, or what its sections share."""
    headings = [heading for heading, _ in group]
    days = sorted({day for heading in headings if (day := date_of(heading))})
    if len(group) == 1:
        said = headings[0]
    elif len(days) > 1:
        said = f"{days[0]} to {days[-1]}"
    else:
        said = " ".join(key_phrases([*headings, *_texts(group)], 2)) or headings[0]
    base = slug(f"{stem} {said}", limit=80)
    base = base if base and base != stem else f"{stem}-part"
    free, number = base, 2
    while free in taken:
        free, number = f"{base}-{number}", number + 1
    return free


def _texts(group: Sequence[Section]) -> list[str]:
    return [s.text for _, lines in group for s in read_statements(Material("", "\n".join(lines)))][:20]


def _child(stem: str, name: str, group: Sequence[Section]) -> dict[str, str]:
    lines = [line for _, section in group for line in section]
    rows = read_statements(Material("", "\n".join(lines)))
    described = description_of(rows) if rows else ", ".join(heading for heading, _ in group)
    title = re.sub(r"(?<!\d)-|-(?!\d)", " ", name.removeprefix(f"{stem}-"))
    body = f"# {stem}: {title}\n\n" + "\n".join(lines).strip("\n") + "\n"
    return {"name": name, "description": described, "body": body}
