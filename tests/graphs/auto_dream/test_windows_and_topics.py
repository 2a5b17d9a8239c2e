"""Which days a dream reads, and which topics it proposes."""

from typing import Any

import pytest
import yaml

from reme_graphs.auto_dream.batches import Material
from reme_graphs.auto_dream.graph import graph
from reme_graphs.auto_dream.sources import is_blank_page, window
from tests.support.dreaming import DAY, Dreamer, Memory, create, source, three, unit
from tests.support.scripted_model import calling

INTERESTS = f"daily/{DAY}/interests.yaml"


def topic(title: str, path: str) -> dict[str, Any]:
    return {"title": title, "reason": "r", "evidence": "e", "keywords": [], "paths": [path]}


def with_topics(memory: Memory, *titles: str) -> Dreamer:
    dreamer = three(memory)
    dreamer.topics = [topic(title, source("tea")) for title in titles]
    return dreamer


def proposed(memory: Memory) -> list[str]:
    return [row["title"] for row in yaml.safe_load(memory.read(INTERESTS))["topics"]]


def test_the_window_ends_at_the_day() -> None:
    from datetime import date

    assert window(date(2026, 3, 1), 3) == ["2026-02-27", "2026-02-28", "2026-03-01"]
    assert window(date(1, 1, 2), 8) == ["0001-01-01", "0001-01-02"]


def test_scan_days_zero_reaches_every_day_up_to_the_date(memory: Memory) -> None:
    dreamer = Dreamer()
    for day in ("2024-02-29", "2026-01-12", "2026-01-13"):
        path = memory.note("talk", day=day)
        dreamer.units.append(unit(f"Talk {day}", path, summary=day))
        dreamer.plans[f"Talk {day}"] = create(f"digest/wiki/talk-{day}.md", f"ESSENCE {day}", path, description=day)
    state = memory.dream(dreamer, scan_days=0)
    assert state["changed_paths"] == [source("talk", "2024-02-29"), source("talk")]
    assert (memory.root / "daily/2024-02-29.md").exists()
    assert not (memory.root / "daily/2026-01-13.md").exists()


def test_a_day_page_counts_as_material_only_with_a_person_s_text(memory: Memory) -> None:
    dreamer = three(memory)
    memory.dream(dreamer)
    page = f"daily/{DAY}.md"
    assert not any(f'name="{page}"' in asked.prompt for asked in dreamer.of("extract"))
    memory.put(page, "My own thought.\n\n" + memory.read(page))
    state = memory.dream(dreamer)
    assert state["changed_paths"] == [page]
    shown = dreamer.of("extract")[-1].prompt
    assert "My own thought." in shown
    assert "reme:index" not in shown


def test_a_page_with_only_its_title_is_blank() -> None:
    page = f"daily/{DAY}.md"
    assert is_blank_page(Material(page, f"---\nname: x\n---\n# {DAY}\n\n"))
    assert not is_blank_page(Material(page, "# Milk to buy\n"))
    assert not is_blank_page(Material(source("tea"), ""))


def test_the_model_chooses_only_when_there_are_more_candidates_than_places(memory: Memory) -> None:
    few = with_topics(memory, "Night trains", "Deep sea")
    assert memory.dream(few)["topics_written"] == 2
    assert few.of("topics") == []
    assert proposed(memory) == ["Night trains", "Deep sea"]


def test_the_model_s_choice_is_kept_to_what_was_offered(memory: Memory) -> None:
    dreamer = with_topics(memory, "A", "B", "C", "D")
    dreamer.selection = calling(
        ("SelectedTopics", {"topics": [topic("d", "x"), topic("Unheard", "x"), topic("B", "x")]})
    )
    state = memory.dream(dreamer)
    assert proposed(memory) == ["D", "B"]
    assert state["topics_written"] == 2
    assert [row["title"] for row in state["topics"]] == ["D", "B"]


@pytest.mark.parametrize("answer", [RuntimeError("SAYS-BROKEN"), "no idea"])
def test_a_model_that_fails_to_choose_is_replaced_by_the_order(memory: Memory, answer: Any) -> None:
    dreamer = with_topics(memory, "A", "B", "C", "D")
    dreamer.selection = answer
    state = memory.dream(dreamer)
    assert state["receipt"]["success"], state["receipt"]
    assert proposed(memory) == ["A", "B", "C"]
    assert any("without the model" in line for line in state["receipt"]["errors"])


def test_a_file_that_cannot_be_read_is_kept_and_reported(memory: Memory) -> None:
    memory.put(INTERESTS, "topics: [broken\n")
    state = memory.dream(with_topics(memory, "A"))
    assert memory.read(INTERESTS) == "topics: [broken\n"
    assert state["receipt"]["success"]
    assert any(INTERESTS in line for line in state["receipt"]["errors"])
    assert state["topics_written"] == 0


def test_a_day_that_is_full_stays_as_it_is(memory: Memory) -> None:
    text = "date: 2026-01-12\ntopics:\n- {title: One}\n- {title: Two}\n- {title: Three}\n"
    memory.put(INTERESTS, text)
    dreamer = with_topics(memory, "Four", "Five")
    assert memory.dream(dreamer)["topics_written"] == 0
    assert memory.read(INTERESTS) == text
    assert dreamer.of("topics") == []


def test_no_topics_no_file(memory: Memory) -> None:
    assert memory.dream(three(memory))["interests_path"] == ""
    assert not (memory.root / INTERESTS).exists()


def test_progress_tells_what_happens_to_each_unit(memory: Memory) -> None:
    dreamer = with_topics(memory, "A")
    context = {"workspace": str(memory.root), "model": dreamer.model(), "timezone": "Asia/Shanghai"}
    events = list(graph.stream({"date": DAY}, context=context, stream_mode="custom"))
    assert all(event["graph"] == "auto_dream" and 0 <= event["done"] <= event["total"] for event in events)
    for kind in ("scan", "extract", "recalled", "writing", "drafted", "committed", "topics"):
        assert any(event["event"] == kind for event in events), kind
    committed = [(event["done"], event["total"]) for event in events if event["event"] == "committed"]
    assert committed == [(1, 3), (2, 3), (3, 3)]
    assert [event["done"] for event in events if event["event"] == "drafted"][-1] == 3
