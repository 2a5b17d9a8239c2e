"""Do the section rules hold, whatever the update says?"""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reme_graphs.synchronizer.sections import (
    Update,
    merge_task_note,
    new_task_note,
    objective_of,
    plan_of,
    section_text,
)

PATH = "daily/2026-01-12/move/move.md"


def update(**more: Any) -> Update:
    base: dict[str, Any] = {"day": "2026-01-12", "stamp": "2026-01-12 10:00", "title": "Move"}
    return Update(**{**base, **more})


FIRST = update(
    description="Move it.",
    objective="Move billing to Postgres",
    plan=["dump", "restore"],
    progress=["dumped"],
    findings=["two tables are unused"],
    decisions=["use pg_dump, because it is simple"],
    next=[{"text": "restore", "done": False}],
    materials={"daily/2026-01-12/move/schema.md": "the schema", "daily/2026-01-12/move/all rows.csv": ""},
)


def test_a_new_note_has_every_section_in_order() -> None:
    assert new_task_note(FIRST, PATH) == (
        "---\ntitle: Move\ndescription: Move it.\nstatus: active\ncreated: 2026-01-12\nupdated: 2026-01-12\n---\n\n"
        "## Objective\n\nMove billing to Postgres\n\n"
        "## Plan\n\n1. dump\n2. restore\n\n"
        "## Progress\n\n- 2026-01-12 10:00 dumped\n\n"
        "## Findings\n\n- two tables are unused\n\n"
        "## Decisions\n\n- use pg_dump, because it is simple\n\n"
        "## Next\n\n- [ ] restore\n\n"
        "## Materials\n\n"
        "- [[daily/2026-01-12/move/schema.md]] — the schema\n"
        "- [all rows.csv](all%20rows.csv)\n"
    )


def test_the_same_update_again_changes_nothing() -> None:
    note = new_task_note(FIRST, PATH)
    assert merge_task_note(note, FIRST, PATH) == note


def test_plan_and_next_are_replaced_and_the_rest_grows() -> None:
    later = update(
        stamp="2026-01-12 11:00",
        plan=["verify"],
        progress=["dumped", "restored"],
        findings=[],
        decisions=["freeze writes"],
        next=[{"text": "verify", "done": True}],
    )
    note = merge_task_note(new_task_note(FIRST, PATH), later, PATH)
    assert section_text(note, "Plan") == "1. verify"
    assert section_text(note, "Next") == "- [x] verify"
    assert section_text(note, "Progress") == "- 2026-01-12 10:00 dumped\n- 2026-01-12 11:00 restored"
    assert section_text(note, "Findings") == "- two tables are unused"
    assert section_text(note, "Decisions") == "- use pg_dump, because it is simple\n- freeze writes"


def test_an_empty_update_leaves_plan_and_next_as_they_are() -> None:
    note = new_task_note(FIRST, PATH)
    assert merge_task_note(note, update(), PATH) == note


def test_a_shifted_objective_stands_first_and_the_old_one_below() -> None:
    note = merge_task_note(new_task_note(FIRST, PATH), update(objective="Move invoices too"), PATH)
    assert section_text(note, "Objective") == "Move invoices too\n\n_Before 2026-01-12:_\n\nMove billing to Postgres"
    assert objective_of(note) == "Move invoices too"
    again = merge_task_note(note, update(objective="move  invoices too."), PATH)
    assert again == note


def test_what_a_person_wrote_survives() -> None:
    note = new_task_note(FIRST, PATH).replace(
        "## Findings\n", "## My questions\n\nWho owns it?\n\n## Findings\n\nSee *this*:\n"
    )
    note = note.replace("status: active\n", "status: active\nowner: Ana  # my key\n")
    merged = merge_task_note(note, update(findings=["a third table"], progress=["restored"]), PATH)
    assert "## My questions\n\nWho owns it?\n" in merged
    assert "owner: Ana  # my key\n" in merged
    assert "See *this*:\n\n- two tables are unused\n- a third table\n" in merged


def test_a_section_that_was_deleted_comes_back_in_its_place() -> None:
    note = new_task_note(FIRST, PATH).replace("## Findings\n\n- two tables are unused\n\n", "")
    merged = merge_task_note(note, update(findings=["a third table"]), PATH)
    assert merged.index("## Progress") < merged.index("## Findings\n\n- a third table") < merged.index("## Decisions")


def test_a_heading_inside_code_is_no_section() -> None:
    note = new_task_note(update(), PATH).replace("## Findings\n", "## Findings\n\n```\n## Progress\n```\n")
    merged = merge_task_note(note, update(progress=["dumped"]), PATH)
    assert "```\n## Progress\n```" in merged
    assert section_text(merged, "Progress") == "- 2026-01-12 10:00 dumped"


def test_line_ends_follow_the_note() -> None:
    note = new_task_note(FIRST, PATH).replace("\n", "\r\n")
    later = update(objective="Move invoices", plan=["x"], progress=["y"], next=[{"text": "z", "done": True}])
    merged = merge_task_note(note, later, PATH)
    assert merged.count("\n") == merged.count("\r\n")
    assert merge_task_note(merged, later, PATH) == merged
    assert "\r\n1. x\r\n" in merged


def test_a_front_matter_that_does_not_parse_stays_and_the_sections_grow() -> None:
    note = new_task_note(FIRST, PATH).replace("status: active", "status: [active")
    merged = merge_task_note(note, update(progress=["restored"], completed=True), PATH)
    assert merged == note.replace("dumped\n", "dumped\n- 2026-01-12 10:00 restored\n")


def test_a_note_whose_name_no_wikilink_can_hold_is_linked_once_like_any_file() -> None:
    listed = {f"daily/2026-01-12/move/{name}": "" for name in ("C# notes.md", "a[1].md", "y] z.pdf")}
    note = new_task_note(update(materials=listed), PATH)
    assert section_text(note, "Materials") == (
        "- [C# notes.md](C%23%20notes.md)\n- [a\\[1\\].md](a%5B1%5D.md)\n- [y\\] z.pdf](y%5D%20z.pdf)"
    )
    assert merge_task_note(note, update(materials=listed), PATH) == note


def test_text_of_a_model_opens_neither_a_code_block_nor_a_comment() -> None:
    lines = ["```\ntrace", "~~~ x", "<!-- hidden"]
    spoiled = update(objective="~~~ x\nMove\n<!-- y", findings=lines, plan=lines)
    note = merge_task_note(new_task_note(spoiled, PATH), update(progress=["later"]), PATH)
    assert section_text(note, "Objective") == "x\nMove\n&lt;!-- y"
    assert section_text(note, "Findings") == "- trace\n- x\n- &lt;!-- hidden"
    assert section_text(note, "Progress") == "- 2026-01-12 10:00 later"


def test_text_of_a_model_cannot_make_a_section() -> None:
    note = merge_task_note(new_task_note(FIRST, PATH), update(findings=["x\n## Objective\ny"], objective="# big"), PATH)
    assert note.count("\n## Objective\n") == 1
    assert plan_of(note) == ["dump", "restore"]


def test_completion_and_reopening() -> None:
    done = merge_task_note(new_task_note(FIRST, PATH), update(completed=True), PATH)
    assert "status: completed\n" in done
    assert "status: completed\n" in merge_task_note(done, update(progress=["cleaned up"]), PATH)
    assert "status: active\n" in merge_task_note(done, update(next=[{"text": "one more", "done": False}]), PATH)


LINES = st.lists(st.text(alphabet="ab #-[]x1.:\n中文*", max_size=12), max_size=4)
UPDATES = st.builds(
    update,
    stamp=st.sampled_from(["2026-01-12 10:00", "2026-01-13 09:30"]),
    objective=st.text(alphabet="ab# \n中", max_size=10),
    plan=LINES,
    progress=LINES,
    findings=LINES,
    decisions=LINES,
    next=st.lists(
        st.fixed_dictionaries({"text": st.text(alphabet="ab\n", max_size=5), "done": st.booleans()}), max_size=3
    ),
)
KEPT = ("Progress", "Findings", "Decisions", "Objective", "Materials")


@settings(deadline=None)
@given(st.lists(UPDATES, min_size=1, max_size=5))
def test_no_line_of_a_growing_section_is_ever_lost(updates: list[Update]) -> None:
    note = new_task_note(FIRST, PATH)
    for one in updates:
        merged = merge_task_note(note, one, PATH)
        for title in KEPT:
            before = Counter(line for line in section_text(note, title).split("\n") if line.strip())
            after = Counter(section_text(merged, title).split("\n"))
            assert not before - after
        assert merge_task_note(merged, one, PATH) == merged
        note = merged
