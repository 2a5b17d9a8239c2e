"""What does the maintainer's report look like? One Markdown page, and the same findings as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reme_graphs.consolidate.findings import Duplicate

RECEIPT_ROWS = 100
"""Most rows of one kind in a receipt; the page has them all."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a run found."""

    day: str
    notes: int
    splits: Sequence[Mapping[str, Any]] = ()
    overloaded: Sequence[Mapping[str, Any]] = ()
    failures: Sequence[str] = ()
    duplicates: Sequence[Duplicate] = ()
    broken_links: Sequence[tuple[str, str]] = ()
    orphans: Sequence[str] = ()
    unsourced: Sequence[str] = ()
    stale: Sequence[tuple[str, str]] = ()
    contradictions: Sequence[tuple[str, str]] = ()
    conflict_copies: Sequence[str] = ()
    problems: Sequence[tuple[str, str]] = field(default_factory=tuple)


def render(report: Report) -> str:
    """Write the page."""
    parts = [f"# Consolidate {report.day}", f"{report.notes} digest notes. Nothing was merged, moved or deleted."]
    for title, lines in _sections(report):
        parts.append(f"## {title} ({len(lines)})\n\n" + ("\n".join(f"- {line}" for line in lines) or "None."))
    return "\n\n".join(parts) + "\n"


def as_data(report: Report) -> dict[str, Any]:
    """Return the findings for a receipt: all counts, and the first rows of each kind."""
    rows: dict[str, list[Any]] = {
        "overloaded": [dict(row) for row in report.overloaded],
        "duplicates": [{"paths": list(d.paths), "score": d.score, "evidence": d.evidence} for d in report.duplicates],
        "broken_links": [{"path": path, "target": target} for path, target in report.broken_links],
        "orphans": list(report.orphans),
        "without_provenance": list(report.unsourced),
        "stale_tasks": [{"path": path, "updated": updated} for path, updated in report.stale],
        "contradictions": [{"path": path, "by": by} for path, by in report.contradictions],
        "conflict_copies": list(report.conflict_copies),
        "problems": [{"path": path, "problem": problem} for path, problem in report.problems],
    }
    return {"counts": {k: len(v) for k, v in rows.items()}, **{k: v[:RECEIPT_ROWS] for k, v in rows.items()}}


def _sections(report: Report) -> list[tuple[str, list[str]]]:
    return [
        ("Taken apart", [f"{_code(s['path'])} into {', '.join(map(_code, s['children']))}" for s in report.splits]),
        ("Not taken apart", list(report.failures)),
        ("Overloaded notes", [_overloaded(row) for row in report.overloaded]),
        ("Likely duplicates", [_duplicate(found) for found in report.duplicates]),
        ("Broken links", [f"{_code(path)} → {_code(target)}" for path, target in report.broken_links]),
        ("Marked contradictions", [f"{_code(path)}, by {_code(by)}" for path, by in report.contradictions]),
        ("Notes without provenance", [_code(path) for path in report.unsourced]),
        ("Orphans", [_code(path) for path in report.orphans]),
        ("Stale tasks", [f"{_code(path)}, last updated {updated}" for path, updated in report.stale]),
        ("Sync-conflict copies", [_code(path) for path in report.conflict_copies]),
        ("Notes with problems", [f"{_code(path)}: {problem}" for path, problem in report.problems]),
    ]


def _overloaded(row: Mapping[str, Any]) -> str:
    before = f" (considered before: {row['before']})" if row.get("before") else ""
    return f"{_code(row['path'])}: {'; '.join(row['reasons'])}{before}"


def _duplicate(found: Duplicate) -> str:
    return f"{', '.join(map(_code, found.paths))}: {found.evidence} ({found.score:.2f})"


def _code(text: str) -> str:
    """Show a path as code: a report has no links, so that it adds no edges and breaks none."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"
