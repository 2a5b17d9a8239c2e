"""Which drafts stand, and which go back."""

import pytest

from reme_graphs.auto_dream.checks import check_draft, place_fault
from reme_graphs.drafts import Draft
from tests.support.dreaming import derived, source, unit

A, B = source("a"), source("b")
UNIT = unit("Router", A)
PATH = "digest/wiki/router.md"
OLD = (
    "---\nname: router\ndescription: d\n---\n# Router\n\nuses:: [[digest/wiki/bgp.md]]\n\n"
    "One.\nTwo.\nThree.\n\nsee [[digest/wiki/lan.md]]\n"
)
NEW = f"---\nname: router\n---\nText.\n\n{derived(A)}"


def faults(text: str, old: str | None = OLD, action: str = "REFINE", path: str = PATH, target: str = PATH) -> list[str]:
    return check_draft(UNIT, action, target, Draft(path, None if old is None else "v", old, text))


def test_a_sound_update_and_a_sound_new_note_stand() -> None:
    assert faults(OLD + derived(A)) == []
    assert faults(NEW, None, "CREATE") == []


@pytest.mark.parametrize("lost", ["uses:: [[digest/wiki/bgp.md]]", "see [[digest/wiki/lan.md]]"])
def test_an_update_keeps_every_edge(lost: str) -> None:
    found = faults(OLD.replace(lost, "") + derived(A))
    assert len(found) == 1
    assert lost.removeprefix("see ") in found[0]


def test_an_edge_whose_predicate_is_lost_is_lost() -> None:
    assert any("uses:: " in fault for fault in faults(OLD.replace("uses:: [[", "mentions [[") + derived(A)))


def test_edges_may_move_within_the_note() -> None:
    moved = OLD.replace("uses:: [[digest/wiki/bgp.md]]\n\n", "") + "uses:: [[digest/wiki/bgp.md]]\n" + derived(A)
    assert faults(moved) == []


def test_each_source_stands_exactly_once() -> None:
    assert any(A in fault for fault in faults(OLD))
    assert any("2 times" in fault for fault in faults(OLD + derived(A) + derived(A)))
    assert check_draft(unit("Router", A, B), "REFINE", PATH, Draft(PATH, "v", OLD, OLD + derived(A)))[0].count(B) == 1


def test_a_source_the_old_note_already_named_twice_is_tolerated() -> None:
    old = OLD + derived(A) + derived(A)
    assert faults(old + "More.\n", old) == []


def test_new_links_have_no_anchor_old_ones_may() -> None:
    assert any("anchor" in fault for fault in faults(OLD + derived(A) + "[[digest/wiki/x.md#part]]\n"))
    old = OLD + "[[digest/wiki/x.md#part]]\n"
    assert faults(old + derived(A), old) == []


def test_sixty_percent_of_the_old_lines_survive_in_any_order() -> None:
    lines = [f"Line {n}." for n in range(10)]
    old = "\n".join(lines) + "\n"
    kept = "\n".join(reversed(lines[:6])) + "\n" + derived(A)
    assert faults(kept, old) == []
    assert any("survive" in fault for fault in faults("\n".join(lines[:5]) + "\n" + derived(A), old))


def test_a_new_note_is_named_after_its_file() -> None:
    assert any("name: router" in fault for fault in faults(NEW.replace("name: router", "name: Router"), None, "CREATE"))


def test_a_draft_outside_the_unit_s_bucket_does_not_stand() -> None:
    other = "digest/personal/router.md"
    assert any("another place" in fault for fault in faults(NEW, None, "CREATE", other, other))


def test_create_needs_a_new_note_and_the_others_an_existing_one() -> None:
    assert any("exists already" in fault for fault in faults(OLD + derived(A), action="CREATE"))
    assert any("is new" in fault for fault in faults(NEW, None, "REFINE"))


def test_the_outcome_names_the_note_that_was_written() -> None:
    assert any("name that one" in fault for fault in faults(OLD + derived(A), target="digest/wiki/other.md"))
    assert "nothing was written" in check_draft(UNIT, "REFINE", PATH, None)[0]


def test_front_matter_may_not_break_but_a_broken_one_is_tolerated() -> None:
    broken = OLD.replace("description: d", "description: [d")
    assert any("does not parse" in fault for fault in faults(broken + derived(A)))
    assert faults(broken + derived(A), broken) == []


@pytest.mark.parametrize(
    ("path", "exists", "stands"),
    [
        ("digest/wiki/x.md", False, True),
        ("digest/personal/x.md", False, False),
        ("digest/personal/x.md", True, True),
        ("digest/wiki/deep/x.md", False, False),
        ("digest/x.md", False, False),
        ("daily/2026-01-12/x.md", True, False),
        ("digest/wiki/x.txt", False, False),
    ],
)
def test_new_notes_go_into_their_bucket_and_changes_stay_in_digest(path: str, exists: bool, stands: bool) -> None:
    assert (place_fault(path, "wiki", exists=exists) == "") is stands
