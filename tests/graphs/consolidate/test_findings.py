"""Does the maintainer see what a person should look at?"""

from datetime import date
from typing import Any

from reme_graphs.consolidate.findings import (
    NoteFacts,
    contradictions,
    exact_duplicates,
    near_duplicates,
    orphans,
    stale_tasks,
    without_provenance,
)

SOLAR = (
    "Solar panels on the barn roof feed the inverter in the cellar. The inverter needs a firewall rule for port 502. "
    "Cleaning the panels in spring gains four percent. The installer Moreno set the tilt to 35 degrees."
)


def note(path: str, body: str = "", **more: Any) -> NoteFacts:
    base: dict[str, Any] = {"name": path.rsplit("/", 1)[-1][:-3], "description": "", "links": frozenset()}
    return NoteFacts(path=path, body=body, **{**base, "inlinked": False, "sourced": False, **more})


def test_the_same_text_is_found_whatever_its_white_space() -> None:
    notes = [note("digest/wiki/a.md", "x  y\n"), note("digest/wiki/b.md", "x\ny"), note("digest/wiki/c.md", "z")]
    assert [found.paths for found in exact_duplicates(notes)] == [("digest/wiki/a.md", "digest/wiki/b.md")]


def test_a_reworded_note_is_a_likely_duplicate_and_another_is_none() -> None:
    reworded = SOLAR.replace(
        "Cleaning the panels in spring gains four percent.", "In spring, cleaning the panels pays."
    )
    notes = [
        note("digest/wiki/solar-roof.md", SOLAR),
        note("digest/wiki/roof-solar.md", reworded),
        note("digest/wiki/bread.md", "Sourdough wants rye flour, a warm oven, and patience for the second rise."),
    ]
    [found] = near_duplicates(notes)
    assert set(found.paths) == {"digest/wiki/solar-roof.md", "digest/wiki/roof-solar.md"}
    assert "words" in found.evidence and "name 100%" in found.evidence


def test_orphans_and_notes_without_provenance() -> None:
    notes = [
        note("digest/wiki/a.md", links=frozenset({"digest/wiki/b.md"}), sourced=True),
        note("digest/wiki/b.md", inlinked=True),
        note("digest/wiki/c.md", links=frozenset({"daily/2026-01-02/x.md"}), sourced=True),
    ]
    assert orphans(notes) == ["digest/wiki/c.md"]
    assert without_provenance(notes) == ["digest/wiki/b.md"]


def test_both_forms_of_a_marked_contradiction() -> None:
    notes = [
        note("digest/wiki/a.md", "Old.\n> note: contradicted by [[daily/2026-01-02/x.md]]\n"),
        note("digest/wiki/b.md", "## Superseded 2026-01-03\n\n- old\n\ncontradicted_by:: [[daily/2026-01-03/y.md]]\n"),
        note("digest/wiki/c.md", "Nobody contradicted by this."),
    ]
    assert contradictions(notes) == [
        ("digest/wiki/a.md", "daily/2026-01-02/x.md"),
        ("digest/wiki/b.md", "daily/2026-01-03/y.md"),
    ]


def test_only_old_active_tasks_nobody_carries_on_are_stale() -> None:
    def path(stem: str) -> str:
        return f"daily/2026-01-02/{stem}/{stem}.md"

    tasks = {
        path("old"): {"status": "active", "updated": "2026-01-02"},
        path("done"): {"status": "completed", "updated": "2026-01-02"},
        path("new"): {"status": "active", "updated": "2026-01-12"},
        path("moved"): {"status": "active", "updated": "2026-01-02"},
        path("odd"): {"status": "active", "updated": "last week"},
    }
    assert stale_tasks(tasks, {path("moved")}, date(2026, 1, 14)) == [(path("old"), "2026-01-02")]
