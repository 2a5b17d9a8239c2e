"""What is kept of the model's answers, and which of two are the same."""

from reme_graphs.auto_dream.topics import chosen_of, clean_topics, fresh_topics
from reme_graphs.auto_dream.units import clean_units, merge_units, unit_id
from tests.support.dreaming import unit


def titles(rows: list[dict[str, object]]) -> list[object]:
    return [row["title"] for row in rows]


def topics(*names: str) -> list[dict[str, object]]:
    return [{"title": name, "paths": ["a"]} for name in names]


def test_unknown_buckets_become_wiki_and_foreign_paths_go() -> None:
    rows = [
        unit("A", "a", "zzz", bucket="Encyclopedia"),
        unit("B", "zzz"),
        unit("C"),
        unit(" ", "a"),
        unit("D", "[[a]]", "./a"),
    ]
    assert [(row["name"], row["bucket"], row["paths"]) for row in clean_units(rows, ["a"])] == [
        ("A", "wiki", ["a"]),
        ("D", "wiki", ["a"]),
    ]


def test_facts_of_one_abstraction_merge_over_batches() -> None:
    first, second = (
        unit("Circuit  breaker", "a", summary="stops calls"),
        unit("circuit-breaker", "b", summary="half open"),
    )
    merged = merge_units([[first], [second, unit("Other", "b")]])
    assert [row["name"] for row in merged] == ["Circuit  breaker", "Other"]
    assert merged[0]["paths"] == ["a", "b"]
    assert "stops calls" in merged[0]["summary"]
    assert "half open" in merged[0]["summary"]


def test_a_shown_path_is_known_in_any_form_a_model_gives_it() -> None:
    shown = ["daily/2026-01-12/a.md", "daily/2026-01-12/c#.md"]
    for form in ("./{}", "[[{}]]", "[[{}|A]]", "{}#part", "![[{}#part]]"):
        assert clean_units([unit("A", form.format(shown[0]))], shown)[0]["paths"] == shown[:1], form
    assert clean_units([unit("A", "daily/2026-01-12/a")], shown)[0]["paths"] == shown[:1]
    assert clean_units([unit("C", shown[1])], shown)[0]["paths"] == shown[1:]


def test_endless_names_and_summaries_are_cut() -> None:
    [found] = clean_units([unit("n" * 100_000, "daily/a.md", summary="s" * 200_000)], ["daily/a.md"])
    assert len(found["name"]) == 200
    assert len(found["summary"]) == 1_200


def test_names_of_two_buckets_stay_two_units() -> None:
    assert len(merge_units([[unit("Deploy", "a", bucket="procedure"), unit("Deploy", "a", bucket="wiki")]])) == 2


def test_an_id_comes_from_the_content() -> None:
    assert unit_id(unit("A", "a", "b")) == unit_id(unit("A", "b", "a"))
    assert unit_id(unit("A", "a")) != unit_id(unit("A", "a", summary="other"))


def test_recent_topics_and_spelling_variants_are_not_proposed_again() -> None:
    assert titles(fresh_topics(topics("A b", "a-B!", "C", "D", "E"), topics("S"), topics("c"))) == ["A b", "D", "E"]
    assert titles(fresh_topics(topics("光伏", "光伏!", "ＡＢ", "ab"), [], [])) == ["光伏", "ＡＢ"]


def test_a_topic_without_letters_or_path_is_dropped() -> None:
    rows = [{"title": "??", "paths": ["a"]}, {"title": "X", "paths": ["zzz"]}, {"title": "Y", "paths": ["a"]}]
    assert titles(clean_topics(rows, ["a"])) == ["Y"]


def test_a_selection_counts_only_what_was_offered() -> None:
    fresh = topics("Night trains", "Deep sea", "Bridges")
    assert titles(chosen_of(fresh, topics("deep-SEA", "Unheard", "Night trains", "Deep sea"), 2)) == [
        "Deep sea",
        "Night trains",
    ]
