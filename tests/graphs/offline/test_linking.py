from collections.abc import Callable

from reme_graphs.offline import Candidate, Material, OfflineOutcome, extract, integrate
from reme_graphs.offline.linking import with_links

Daily = Callable[[str, str], Material]
Kept = Callable[[OfflineOutcome], Candidate]

PEOPLE = (
    "## Ana: facts\n\n- I went camping in the mountains last week.\n- The camping trip was great for me this year.\n"
    "- My daughter Lena was born in Oslo in 2019.\n"
)


def run(materials: list[Material], notes: list[Candidate]) -> dict[str, OfflineOutcome]:
    texts = {m.path: m for m in materials}
    made = [integrate(u, [texts[p] for p in u["paths"]], notes) for u in extract(materials, 20)["units"]]
    return {outcome.target_path: outcome for outcome in made}


def test_a_theme_of_a_person_links_to_what_is_known_of_them(daily: Daily, kept: Kept) -> None:
    first = run([daily("daily/2026-03-02/a.md", PEOPLE)], [])
    profile = first["digest/personal/ana.md"]
    theme = next(path for path in first if path.startswith("digest/personal/ana-"))
    second = run([daily("daily/2026-03-02/a.md", PEOPLE)], [kept(profile)])
    assert "\nabout:: [[digest/personal/ana.md]]\n" in second[theme].text
    assert "about::" not in second["digest/personal/ana.md"].text


def test_neighbouring_themes_are_related_and_others_are_not(daily: Daily, kept: Kept) -> None:
    decided = "## Decisions\n\n- We decided to use TimescaleDB on Postgres for telemetry readings.\n"
    [old] = run([daily("daily/2026-03-02/a.md", decided)], []).values()
    other = Candidate("digest/wiki/bread.md", "bread", "", "# Bread\n\n- Rye flour wants a warm oven in 2026.\n")
    steps = "## How to\n\n- Step 1: stop Postgres telemetry ingest.\n- Step 2: restore the Postgres telemetry dump.\n"
    [new] = run([daily("daily/2026-03-03/b.md", steps)], [kept(old), other]).values()
    assert new.action == "CREATE"
    assert f"\nrelated:: [[{old.target_path}]]\n" in new.text
    assert "bread" not in new.text


def test_the_same_source_again_adds_no_link(daily: Daily, kept: Kept) -> None:
    first = run([daily("daily/2026-03-02/a.md", PEOPLE)], [])
    notes = [kept(outcome) for outcome in first.values()]
    again = run([daily("daily/2026-03-02/a.md", PEOPLE)], notes)
    assert {path: outcome.text for path, outcome in again.items()} == {path: o.text for path, o in first.items()}


def test_links_stand_together_below_the_title_and_once() -> None:
    text = "---\nname: a\n---\n# A\n\n## 2026-01-02\n\n- x\n"
    once = with_links(text, {"about": ["digest/personal/b.md"]})
    assert once == "---\nname: a\n---\n# A\n\nabout:: [[digest/personal/b.md]]\n\n## 2026-01-02\n\n- x\n"
    more = with_links(once, {"about": ["digest/personal/b.md"], "related": ["digest/wiki/c.md", "digest/wiki/d.md"]})
    assert "about:: [[digest/personal/b.md]]\nrelated:: [[digest/wiki/c.md]], [[digest/wiki/d.md]]\n" in more
    assert with_links(more, {"related": ["digest/wiki/c.md"]}) == more
    assert with_links("no title\n", {"about": ["digest/personal/b.md"]}) == "no title\n"
