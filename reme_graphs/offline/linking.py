"""To which other notes of digest should a note link?

``about::`` leads from a theme of a person to what else is known of them, ``related::`` to the nearest other themes.
Only notes that recall found are linked, and only when they share a theme; a link is never taken away.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reme_graphs.offline.grouping import USER, Group, title_terms
from reme_graphs.offline.material import body_of
from reme_graphs.offline.names import slug
from reme_graphs.offline.sentences import heading_lines, split_blocks
from reme_graphs.offline.terms import overlap, themes

MOST_RELATED = 3
LEAST_SHARE = 0.12
"""Share of the smaller note's themes that related notes have in common, at least."""
_LINK_LINE = re.compile(r"(?:about|related)::")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A digest note that recall found for a unit."""

    path: str
    name: str
    description: str
    text: str

    @property
    def title(self) -> str:
        """Its first heading, else its name."""
        blocks = split_blocks(body_of(self.text))
        return next((b.text for b in blocks if b.kind == "heading" and b.mark == "#"), self.name)

    @property
    def themes(self) -> frozenset[str]:
        """Themes of what it states: headings and predicates left out."""
        lines = body_of(self.text).split("\n")
        return frozenset(t for line in lines if not re.match(r"\s*(?:#|[-*]? *\w+::)", line) for t in themes(line))


def links_of(name: str, groups: Sequence[Group], target: str, candidates: Sequence[Candidate]) -> dict[str, list[str]]:
    """Choose what a note links to.

    Args:
        name: title of the unit.
        groups: its statements.
        target: path of the note, which does not link to itself.
        candidates: what recall found, the nearest first.

    Returns:
        Paths by predicate; empty where nothing is near.
    """
    speaker = next((group.speaker for group in groups if group.speaker), "")
    others = [candidate for candidate in candidates if candidate.path != target]
    if any(group.profile for group in groups):
        return {}
    profile = f"digest/personal/{slug(speaker or USER)}.md"
    personal = any(group.bucket == "personal" for group in groups)
    about = [c.path for c in others if c.path == profile and personal]
    body = frozenset(term for group in groups for term in group.terms)
    related = [c.path for c in others if c.path != profile and _is_near(c, title_terms(name), body)]
    found = {"about": about, "related": related[:MOST_RELATED]}
    return {predicate: paths for predicate, paths in found.items() if paths}


def with_links(text: str, links: dict[str, list[str]]) -> str:
    """Add links below the title; a target that the note links already is left out."""
    lines = text.split("\n")
    title = next((n for n in heading_lines(lines) if re.match(r"# ", lines[n])), None)
    added = []
    for predicate, paths in links.items():
        missing = [f"[[{path}]]" for path in paths if f"[[{path}" not in text]
        added += [f"{predicate}:: {', '.join(missing)}"] if missing else []
    if title is None or not added:
        return text
    place = title + 1
    while place < len(lines) and not lines[place].strip():
        place += 1
    if not _LINK_LINE.match(lines[place] if place < len(lines) else ""):
        return "\n".join([*lines[: title + 1], "", *added, *lines[title + 1 :]])
    while place < len(lines) and _LINK_LINE.match(lines[place]):
        place += 1
    return "\n".join([*lines[:place], *added, *lines[place:]])


def _is_near(candidate: Candidate, title: frozenset[str], body: frozenset[str]) -> bool:
    """Tell notes about neighbouring things: each one's title stands in what the other says."""
    theirs = candidate.themes | title_terms(candidate.title)
    both_ways = bool(title & theirs) and bool(title_terms(candidate.title) & (body | title))
    shared = len(body & candidate.themes)
    return both_ways and shared >= 2 and overlap(body, candidate.themes) >= LEAST_SHARE
