from collections.abc import Callable

from reme_graphs.offline import Candidate, Material, OfflineOutcome, extract, integrate
from tests.graphs.offline.conftest import squeezed, stated

Daily = Callable[[str, str], Material]
Kept = Callable[[OfflineOutcome], Candidate]

COFFEE = "## Preferences\n\n- I drink coffee in the morning, I like a dark roast.\n"
TEA = "## Preferences\n\n- I no longer drink coffee, I switched from coffee to green tea.\n"
RELEASE = (
    "## How to\n\n"
    "- Release procedure step 1: build and sign the image in CI.\n"
    "- Release procedure step 2: watch the canary gateways for 30 minutes.\n"
    "- Release procedure step 3: push the release to all gateways.\n"
)
CORRECTED = "## How to\n\n- Correction of the release procedure, step 2: watch the canary gateways for 24 hours.\n"


def run(materials: list[Material], notes: list[Candidate]) -> list[OfflineOutcome]:
    texts = {m.path: m for m in materials}
    return [integrate(u, [texts[p] for p in u["paths"]], notes) for u in extract(materials, 20)["units"]]


def test_buckets_follow_what_is_said(daily: Daily) -> None:
    body = (
        RELEASE
        + "\n"
        + COFFEE
        + "\n## Decisions\n\n- We decided to use PostgreSQL for billing, because joins stay simple.\n"
    )
    units = extract([daily("daily/2026-03-02/a.md", body)], 20)["units"]
    assert {u["bucket"] for u in units} == {"procedure", "personal", "wiki"}
    assert all(u["paths"] == ["daily/2026-03-02/a.md"] and u["summary"] for u in units)


def test_units_stay_few(daily: Daily) -> None:
    body = "## Facts\n\n" + "".join(
        f"- On 2026-01-{n:02d} Ana visited the Harbour {n} office in Porto.\n" for n in range(1, 29)
    )
    materials = [daily(f"daily/2026-03-{n:02d}/a.md", body.replace("Harbour", f"Harbour{n}")) for n in range(1, 9)]
    assert len(extract(materials, 3)["units"]) <= 3
    assert extract([], 20) == {"units": [], "topics": []}


def test_two_notes_on_one_matter_give_one_unit(daily: Daily) -> None:
    first = daily(
        "daily/2026-03-02/a.md",
        "## Decisions\n\n- We decided to use TimescaleDB for telemetry because joins stay plain.\n",
    )
    second = daily(
        "daily/2026-03-03/b.md", "## Decisions\n\n- We decided that TimescaleDB keeps telemetry for 90 days.\n"
    )
    units = extract([first, second], 20)["units"]
    assert [u["paths"] for u in units] == [[first.path, second.path]]


def test_a_new_node_states_its_source_once_and_only_sentences_of_it(daily: Daily) -> None:
    material = daily("daily/2026-03-02/a.md", COFFEE)
    [outcome] = run([material], [])
    assert outcome.action == "CREATE"
    stem = outcome.target_path.rsplit("/", 1)[-1].removesuffix(".md")
    assert outcome.target_path.startswith("digest/personal/")
    assert f"name: {stem}\n" in outcome.text
    assert outcome.text.count(f"derived_from:: [[{material.path}]]") == 1
    lines = stated(outcome.text)
    assert lines
    assert all(squeezed(line) in squeezed(material.text) for line in lines)


def test_the_same_source_again_changes_no_byte(daily: Daily, kept: Kept) -> None:
    material = daily("daily/2026-03-02/a.md", RELEASE)
    [first] = run([material], [])
    [again] = run([material], [kept(first)])
    assert (again.action, again.target_path, again.text) == ("CORROBORATE", first.target_path, first.text)


def test_another_source_of_the_same_statement_corroborates(daily: Daily, kept: Kept) -> None:
    [first] = run([daily("daily/2026-03-02/a.md", COFFEE)], [])
    [again] = run([daily("daily/2026-03-04/b.md", COFFEE)], [kept(first)])
    assert again.action == "CORROBORATE"
    assert stated(again.text) == stated(first.text)
    assert again.text.count("derived_from:: [[daily/2026-03-04/b.md]]") == 1


def test_a_changed_preference_supersedes_the_old_one_and_keeps_it(daily: Daily, kept: Kept) -> None:
    [first] = run([daily("daily/2026-03-02/a.md", COFFEE)], [])
    [changed] = run([daily("daily/2026-03-09/b.md", TEA)], [kept(first)])
    assert (changed.action, changed.target_path) == ("CORRECT", first.target_path)
    standing, superseded = changed.text.split("## Superseded 2026-03-09\n")
    assert "green tea" in standing
    assert "- I drink coffee" not in standing
    assert "- I drink coffee in the morning, I like a dark roast." in superseded
    assert "contradicted_by:: [[daily/2026-03-09/b.md]]" in superseded
    for source in ("daily/2026-03-02/a.md", "daily/2026-03-09/b.md"):
        assert changed.text.count(f"derived_from:: [[{source}]]") == 1


def test_a_corrected_step_replaces_that_step_only(daily: Daily, kept: Kept) -> None:
    [first] = run([daily("daily/2026-03-02/a.md", RELEASE)], [])
    [changed] = run([daily("daily/2026-03-09/b.md", CORRECTED)], [kept(first)])
    assert changed.action == "CORRECT"
    standing, superseded = changed.text.split("## Superseded 2026-03-09\n")
    assert "30 minutes" in superseded
    assert "30 minutes" not in standing
    assert "step 1" in standing
    assert "step 3" in standing
    assert "24 hours" in standing


def test_another_matter_is_another_node(daily: Daily, kept: Kept) -> None:
    [first] = run([daily("daily/2026-03-02/a.md", COFFEE)], [])
    [other] = run(
        [daily("daily/2026-03-03/b.md", "## Preferences\n\n- I prefer short answers without an introduction.\n")],
        [kept(first)],
    )
    assert other.action == "CREATE"
    assert other.target_path != first.target_path


def test_one_person_is_not_mixed_with_another(daily: Daily, kept: Kept) -> None:
    facts = "- I went camping in the mountains last week.\n- The camping trip was the best of the year for me.\n"
    body = "## {0}: facts\n\n" + facts
    [first] = run([daily("daily/2026-03-02/a.md", body.format("Ana"))], [])
    [other] = run([daily("daily/2026-03-03/b.md", body.format("Ben"))], [kept(first)])
    assert (first.action, other.action) == ("CREATE", "CREATE")
    assert "/ana-" in first.target_path
    assert "/ben-" in other.target_path


def test_old_lines_of_a_note_a_person_edited_survive(daily: Daily, kept: Kept) -> None:
    [first] = run([daily("daily/2026-03-02/a.md", COFFEE)], [])
    edited = first.text + "\n## My own section\n\nWritten by hand, see [[digest/wiki/roasting.md]].\n"
    note = Candidate(first.target_path, "", "", edited)
    [changed] = run([daily("daily/2026-03-09/b.md", TEA)], [note])
    old = [line for line in edited.split("\n") if line.strip() and not line.startswith("description:")]
    assert [line for line in old if line not in changed.text.split("\n")] == []


def test_a_name_that_is_taken_gets_a_number(daily: Daily) -> None:
    material = daily("daily/2026-03-02/a.md", COFFEE)
    [unit] = extract([material], 20)["units"]
    taken = {integrate(unit, [material], []).target_path}
    outcome = integrate(unit, [material], [], taken=lambda path: path in taken)
    assert outcome.target_path.endswith("-2.md")
    assert f"name: {outcome.target_path.rsplit('/', 1)[-1].removesuffix('.md')}\n" in outcome.text


def test_open_tasks_are_topics_and_not_lasting_knowledge(daily: Daily) -> None:
    found = extract([daily("daily/2026-03-02/a.md", "## 待办\n\n- 请记得周五之前把季度报告发给王小明。\n")], 20)
    assert found["units"] == []
    assert [t["evidence"] for t in found["topics"]] == ["请记得周五之前把季度报告发给王小明。"]
    assert found["topics"][0]["title"]


def test_extraction_is_deterministic(daily: Daily) -> None:
    materials = [daily("daily/2026-03-02/a.md", RELEASE + COFFEE), daily("daily/2026-03-03/b.md", TEA)]
    assert extract(materials, 20) == extract(list(materials), 20)
