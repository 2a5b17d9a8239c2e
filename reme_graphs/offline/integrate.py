"""What becomes of one unit in digest/: a new note, or which change of which note?

CREATE where no candidate holds the abstraction; CORROBORATE adds a source, REFINE adds statements, CORRECT moves what a
newer statement contradicts under a dated heading. Old lines stay, edges only grow, every source stands once.

Form of a node::

    # Title
    ## 2026-03-05
    - a verbatim statement
    derived_from:: [[daily/2026-03-05/x.md]]
    ## Superseded 2026-03-09
    - a statement that holds no more
    contradicted_by:: [[daily/2026-03-09/y.md]]
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from reme_graphs.offline.grouping import Group, shared_theme, title_terms
from reme_graphs.offline.linking import Candidate, links_of, with_links
from reme_graphs.offline.material import Material, Statement, body_of, date_of
from reme_graphs.offline.names import slug
from reme_graphs.offline.notes import description_of, merge_additions, render_statement
from reme_graphs.offline.salience import is_change, is_negative, is_preference
from reme_graphs.offline.sentences import heading_lines, split_blocks, split_sentences, squeeze
from reme_graphs.offline.terms import overlap, terms, themes
from reme_graphs.offline.units import planned_path, statements_of
from reme_store.text.front_matter import parse_note, render_front_matter, update_front_matter

Action = Literal["CREATE", "CORROBORATE", "REFINE", "CORRECT"]

_SUPERSEDED = re.compile(r"^#+ Superseded\b", re.IGNORECASE)
_DERIVED = re.compile(r"derived_from::[^\n]*")
_CHANGED_FROM = re.compile(
    (
        r"\bno (.{2,40}?) any ?more\b|\bfrom\s+(.{2,60}?)\s+to\b|\b(?:instead of|rather than|replac(?:e|"
        r"ed|es|ing)|no longer (?:\w+ )?|stopped (?:\w+ing )?|gave up|quit|"
        r"dropped)\s+(.{2,60}?)(?:\s+(?:with|by|and|for|because)\b|[.,;!]|$)|(?:不再(?:喝|吃|用|做)?|戒了|取消了?|弃用|"
        r"而不是|取代|替代)([^，。；！]{1,20})|(?:从|由|把|将)([^，。；！]{1,20}?)(?:改|换|推迟|提前|调整)"
    ),
    re.IGNORECASE,
)


_STEP = re.compile(r"第[一二三四五六七八九十\d]+步|\bstep \d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OfflineOutcome:
    """What offline mode makes of a unit."""

    action: Action
    target_path: str
    text: str
    """The whole note, front matter included."""
    note: str


def integrate(
    unit: Mapping[str, Any],
    materials: Sequence[Material],
    candidates: Sequence[Candidate],
    *,
    taken: Callable[[str], bool] | None = None,
) -> OfflineOutcome:
    """Integrate one unit.

    Args:
        unit: ``name``, ``bucket``, ``summary``, ``paths``.
        materials: texts of its paths.
        candidates: notes recall found, the nearest first.
        taken: tells whether a path exists already, for a name that recall missed.

    Returns:
        The outcome; the text equals the candidate's when the unit brings nothing new.
    """
    groups = statements_of(unit, materials) or _whole(unit, materials)
    target = _target(unit, groups, candidates)
    if target is None:
        return _create(unit, groups, candidates, taken or (lambda _: False))
    return _update(unit, groups, target, candidates)


def _whole(unit: Mapping[str, Any], materials: Sequence[Material]) -> tuple[Group, ...]:
    """Where no group is found again: the first sentences of the materials."""
    found: list[Group] = []
    for material in materials:
        pieces = [
            s
            for block in split_blocks(body_of(material.text))
            if block.kind in ("paragraph", "item")
            for s in split_sentences(block.text)
        ]
        rows = tuple(
            Statement(s, "fact", 1.0, source=material.path, order=n)
            for n, s in enumerate(pieces[:3])
            if "::" not in s and "[[" not in s
        )
        found.append(
            Group(str(unit.get("bucket", "wiki")), "", rows or (Statement("", "fact", 0.0, source=material.path),))
        )
    return tuple(found)


# ---- which note ---------------------------------------------------------------------------------


def _target(unit: Mapping[str, Any], groups: Sequence[Group], candidates: Sequence[Candidate]) -> Candidate | None:
    """The first candidate that holds the same abstraction."""
    bucket = str(unit["bucket"])
    exact = [c for c in candidates if c.path == planned_path(unit)]
    body = frozenset(term for group in groups for term in group.terms)
    speaker = next((g.speaker for g in groups if g.speaker), "")
    profile = any(g.profile for g in groups)
    near = [c for c in candidates if not profile and _holds(c, str(unit["name"]), body, bucket, speaker)]
    return next(iter(exact + near), None)


def _holds(candidate: Candidate, name: str, body: frozenset[str], bucket: str, speaker: str) -> bool:
    title = candidate.title
    if speaker:
        who, _, subject = title.partition(":")
        if who.strip() != speaker or not subject.strip():
            return False
    elif not candidate.path.startswith(f"digest/{bucket}/") and squeeze(title) != squeeze(name):
        return False
    known_title = title_terms(title) | frozenset(themes(candidate.name.replace("-", " ")))
    return shared_theme(title_terms(name), body, known_title, candidate.themes)


# ---- what it says -------------------------------------------------------------------------------


def _create(
    unit: Mapping[str, Any], groups: Sequence[Group], candidates: Sequence[Candidate], taken: Callable[[str], bool]
) -> OfflineOutcome:
    stem = _free_stem(str(unit["name"]), str(unit["bucket"]), taken)
    rows = [s for group in groups for s in group.statements]
    head = render_front_matter({"name": stem, "description": description_of(rows) or str(unit.get("summary", ""))})
    body = f"# {_heading_text(str(unit['name']))}\n"
    sources = _sources(unit, rows)
    for source in sources:
        body = _with_section(body, source, _distinct(rows, source, body))
    path = f"digest/{unit['bucket']}/{stem}.md"
    body = with_links(body, links_of(str(unit["name"]), groups, path, candidates))
    return OfflineOutcome("CREATE", path, head + body, f"new, from {len(sources)} source(s)")


def _free_stem(name: str, bucket: str, taken: Callable[[str], bool]) -> str:
    stem = slug(name) or "untitled"
    number = 2
    free = stem
    while taken(f"digest/{bucket}/{free}.md"):
        free = f"{stem}-{number}"
        number += 1
    return free


def _update(
    unit: Mapping[str, Any], groups: Sequence[Group], target: Candidate, candidates: Sequence[Candidate]
) -> OfflineOutcome:
    rows = [s for group in groups for s in group.statements]
    text = target.text
    added: list[Statement] = []
    moved = 0
    for source in _sources(unit, rows):
        fresh = _distinct(rows, source, text)
        text, count = _supersede(_with_section(text, source, fresh), fresh, source)
        added += fresh
        moved += count
    if added:
        text = with_links(text, links_of(str(unit["name"]), groups, target.path, candidates))
    if added or moved:
        note = f"{len(added)} statement(s) added, {moved} superseded"
        return OfflineOutcome("CORRECT" if moved else "REFINE", target.path, text, note)
    note = "source added" if text != target.text else "nothing new"
    return OfflineOutcome("CORROBORATE", target.path, text, note)


def _sources(unit: Mapping[str, Any], rows: Sequence[Statement]) -> list[str]:
    listed = [str(path) for path in unit.get("paths", [])] or [s.source for s in rows]
    return sorted(dict.fromkeys(listed), key=lambda path: (date_of(path), path))


def _distinct(rows: Sequence[Statement], source: str, text: str) -> list[Statement]:
    """Statements of a source the note does not hold yet, each once; links with an anchor have no place in digest."""
    known = squeeze(text)
    fresh: dict[str, Statement] = {}
    for row in rows:
        if (
            row.source == source
            and row.key
            and row.key not in known
            and not re.search(r"\[\[[^\]]*#", row.text + row.code)
        ):
            fresh.setdefault(row.key, row)
    return list(fresh.values())


def _with_section(text: str, source: str, rows: Sequence[Statement]) -> str:
    """Add statements to the section of the source's day, and the source once."""
    derived = f"derived_from:: [[{source}]]"
    missing = not _has_source(text, source)
    if not rows and not missing:
        return text
    heading = f"## {date_of(source) or 'Undated'}"
    listed = [line for row in rows for line in render_statement(row)]
    head, body = _cut_front_matter(text)
    lines = body.rstrip("\n").split("\n")
    place = _list_end(lines, heading)
    if place is None:
        section = [heading, "", *listed, *([""] if listed and missing else []), *([derived] if missing else [])]
        at = next((n for n in heading_lines(lines) if _SUPERSEDED.match(lines[n])), None)
        placed = [*lines, "", *section] if at is None else [*lines[:at], *section, "", *lines[at:]]
        return head + "\n".join(placed) + "\n"
    lines[place:place] = listed
    if missing:
        end = _section_end(lines, heading)
        lines[end:end] = [derived] if "::" in lines[end - 1] else ["", derived]
    return head + "\n".join(lines) + "\n"


def _has_source(text: str, source: str) -> bool:
    return any(f"[[{source}]]" in line for line in _DERIVED.findall(text))


def _cut_front_matter(text: str) -> tuple[str, str]:
    body = parse_note(text).body
    return (text[: len(text) - len(body)], body) if body and text.endswith(body) else ("", text)


def _section_end(lines: Sequence[str], heading: str) -> int:
    """Place after the last line with text of a section."""
    headings = heading_lines(lines)
    start = next(n for n in headings if lines[n].strip() == heading)
    end = next((n for n in headings if n > start), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    return end


def _list_end(lines: Sequence[str], heading: str) -> int | None:
    """Place after a section's statements, before its sources; None when there is no such section."""
    if not any(lines[n].strip() == heading for n in heading_lines(lines)):
        return None
    end = _section_end(lines, heading)
    while re.match(r"\w+::", lines[end - 1]) or not lines[end - 1].strip():
        end -= 1
    return end + 1 if lines[end - 1].strip() == heading else end


# ---- what holds no more -------------------------------------------------------------------------


def _supersede(text: str, fresh: Sequence[Statement], source: str) -> tuple[str, int]:
    """Move what the fresh statements contradict under a dated heading. Returns the text and how many lines moved."""
    head, body = _cut_front_matter(text)
    lines = body.split("\n")
    new = {f.key for f in fresh}
    out = [
        n
        for n in _standing(lines)
        if squeeze(_plain(lines[n])) not in new and any(contradicts(f.text, _plain(lines[n])) for f in fresh)
    ]
    if not out:
        return text, 0
    moved = [lines[n] for n in out]
    rest = _single_blanks([line for n, line in enumerate(lines) if n not in set(out)], around=out[0])
    section = (
        f"## Superseded {date_of(source)}".rstrip()
        + "\n\n"
        + "\n".join([*moved, "", f"contradicted_by:: [[{source}]]"])
        + "\n"
    )
    return _described_anew(head + merge_additions("\n".join(rest), section), moved, fresh), len(moved)


def _single_blanks(lines: list[str], *, around: int) -> list[str]:
    """Fold the two blank lines that a moved list leaves behind."""
    if 0 < around < len(lines) and not lines[around].strip() and not lines[around - 1].strip():
        return [*lines[:around], *lines[around + 1 :]]
    return lines


def _described_anew(text: str, moved: Sequence[str], fresh: Sequence[Statement]) -> str:
    """Give the note a description that holds when the old one told what was superseded."""
    described = squeeze(str(parse_note(text).front_matter.get("description") or ""))
    if not any(squeeze(_plain(line)) in described for line in moved):
        return text
    return update_front_matter(text, {"description": description_of(fresh)})


def _standing(lines: Sequence[str]) -> list[int]:
    """Places of list items that still hold."""
    headings = [*heading_lines(lines), len(lines)]
    found: list[int] = []
    for start, end in pairwise(headings):
        if not _SUPERSEDED.match(lines[start]):
            found += [n for n in range(start + 1, end) if re.match(r"(?:[-*+]|\d+[.)])\s+\S", lines[n])]
    return found


def _plain(line: str) -> str:
    return re.sub(r"^(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?", "", line)


def contradicts(newer: str, older: str) -> bool:
    """Tell whether a newer statement ends what an older one says.

    It does when it names a change away from what the older is about, when it states a change over mostly the same
    terms, or when one likes what the other does not.
    """
    new, old = set(terms(newer)), set(terms(older))
    about = set(themes(newer)) & set(themes(older))
    if not about or squeeze(newer) == squeeze(older):
        return False
    steps = [set(_STEP.findall(text)) for text in (newer, older)]
    if is_change(newer) and steps[0]:
        return bool(steps[0] & steps[1])
    if is_change(newer):
        left = {t for match in _CHANGED_FROM.finditer(newer) for part in match.groups() if part for t in themes(part)}
        return bool(left & old) or (overlap(new, old) >= 0.5 and len(about) >= 2)
    opposed = is_preference(newer) and is_preference(older) and is_negative(newer) != is_negative(older)
    return opposed and overlap(themes(newer), themes(older)) >= 0.6


def _heading_text(name: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[\[\]#|]", " ", name)).strip()
