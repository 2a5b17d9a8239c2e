"""Which units and topics do changed daily notes give, and which statements belong to a unit?

Few and good: groups of one theme over all notes, the weightiest first. A unit holds a name, a bucket, a short summary
and its paths; its statements are found again in the materials when it is integrated.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reme_graphs.offline.grouping import USER, Group, group_source, merge_groups, title_terms
from reme_graphs.offline.material import Material, Statement, read_statements
from reme_graphs.offline.names import slug
from reme_graphs.offline.notes import description_of
from reme_graphs.offline.terms import key_phrases, overlap, themes

_UNITS_OF_SOURCE = 5


def extract(materials: Sequence[Material], max_units: int = 20) -> dict[str, list[dict[str, Any]]]:
    """Name what the materials teach.

    Args:
        materials: changed daily notes.
        max_units: most units to return; the weightiest stay.

    Returns:
        ``units`` [{name, bucket, summary, paths}] and ``topics`` [{title, reason, evidence, keywords, paths}].
    """
    groups: list[Group] = []
    tasks: list[Statement] = []
    for material in materials:
        statements = read_statements(material)
        groups += group_source(statements)[:_UNITS_OF_SOURCE]
        tasks += [s for s in statements if s.kind == "task"]
    merged = merge_groups(groups)[:max_units]
    return {"units": [_unit(group) for group in merged if group.name], "topics": _topics(merged, tasks)}


def statements_of(unit: Mapping[str, Any], materials: Sequence[Material]) -> tuple[Group, ...]:
    """Groups of the materials that a unit stands for, in the order of the materials.

    Every material of the unit gives at least its nearest group when it has any.
    """
    found: list[Group] = []
    for material in materials:
        groups = group_source(read_statements(material))
        near = [(nearness(unit, group), -place) for place, group in enumerate(groups)]
        best = max(near, default=(0.0, 0))
        found += [
            group
            for group, (score, place) in zip(groups, near, strict=True)
            if score >= 0.75 or ((score, place) == best and score > 0)
        ]
    return tuple(found)


def nearness(unit: Mapping[str, Any], group: Group) -> float:
    """How well a group fits a unit, from 0 to 1; a group of another bucket or speaker does not."""
    name = str(unit.get("name", ""))
    if group.bucket != unit.get("bucket") or (group.speaker and not name.startswith(group.speaker)):
        return 0.0
    if name == group.name:
        return 1.0
    if group.profile or name in (group.speaker, USER):
        return 0.0
    titles = overlap(title_terms(name), title_terms(group.name))
    return min(0.99, 0.6 * titles + 0.5 * overlap(themes(str(unit.get("summary", ""))), group.terms))


def _unit(group: Group) -> dict[str, Any]:
    words = [s.text for s in sorted(group.statements, key=lambda s: -s.score)]
    keywords = ", ".join(key_phrases(words, 5, without=group.speaker.split()))
    summary = " — ".join(part for part in (keywords, description_of(group.statements, 120)) if part)
    return {"name": group.name, "bucket": group.bucket, "summary": summary, "paths": group.sources}


def _topics(groups: Sequence[Group], tasks: Sequence[Statement]) -> list[dict[str, Any]]:
    """Topics of interest: what was talked about most, then what is still open."""
    rows = [
        _topic(group.name, group.statements, _told(len(group.statements), len(group.sources)))
        for group in groups
        if not group.profile and group.name
    ]
    for task in sorted(tasks, key=lambda s: (-s.score, s.order))[:5]:
        title = ", ".join(key_phrases([task.text], 2))
        if title:
            rows.append(_topic(title, (task,), "an open task"))
    return list({row["title"]: row for row in reversed(rows)}.values())[::-1]


def _told(statements: int, notes: int) -> str:
    return f"{statements} statement{'s' * (statements != 1)} in {notes} note{'s' * (notes != 1)}"


def _topic(title: str, statements: Sequence[Statement], reason: str) -> dict[str, Any]:
    texts = [s.text for s in sorted(statements, key=lambda s: -s.score)]
    return {
        "title": title,
        "reason": reason,
        "evidence": texts[0],
        "keywords": key_phrases(texts, 5),
        "paths": list(dict.fromkeys(s.source for s in statements)),
    }


def planned_path(unit: Mapping[str, Any]) -> str:
    """Path a CREATE of the unit would take; where it exists, that note belongs to the candidates."""
    return f"digest/{unit['bucket']}/{slug(str(unit['name'])) or 'untitled'}.md"
