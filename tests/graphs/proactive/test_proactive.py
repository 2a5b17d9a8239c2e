"""A host reads the topics of a day."""

from pathlib import Path
from typing import Any

import pytest

from reme_graphs.proactive.graph import graph

TEXT = "date: 2026-01-03\ntopics:\n- title: Night trains\n  reason: r\n"


def read(root: Path, **inputs: Any) -> dict[str, Any]:
    state: dict[str, Any] = graph.invoke(inputs, context={"workspace": str(root), "timezone": "Asia/Shanghai"})
    return state


def put(root: Path, text: str) -> None:
    (root / "daily/2026-01-03").mkdir(parents=True)
    (root / "daily/2026-01-03/interests.yaml").write_text(text)


def test_a_day_without_topics_is_a_success_that_says_skipped(tmp_path: Path) -> None:
    state = read(tmp_path, date="2026-01-03")
    assert (state["topics"], state["content"], state["skipped"]) == ([], None, True)
    assert state["receipt"]["success"]


@pytest.mark.parametrize("date", [5, ["2026-01-03"], "tomorrow", "2026-02-30"])
def test_what_is_no_day_is_refused_in_the_receipt(tmp_path: Path, date: Any) -> None:
    state = read(tmp_path, date=date)
    assert not state["receipt"]["success"]
    assert state["receipt"]["errors"] == [
        f"{date!r} is not a day; write it as YYYY-MM-DD, for example 2026-03-05",
    ]


@pytest.mark.parametrize("wanted", [True, False])
def test_topics_come_with_the_raw_text_where_it_is_wanted(tmp_path: Path, wanted: bool) -> None:
    put(tmp_path, TEXT)
    state = read(tmp_path, date="2026-01-03", include_content=wanted)
    assert [row["title"] for row in state["topics"]] == ["Night trains"]
    assert state["content"] == (TEXT if wanted else None)
    assert not state["skipped"]


@pytest.mark.parametrize("text", ["topics: [broken\n", "- a list\n", "topics: [1, 2]\n"])
def test_a_file_that_cannot_be_read_is_a_failure(tmp_path: Path, text: str) -> None:
    put(tmp_path, text)
    state = read(tmp_path, date="2026-01-03")
    assert state["receipt"]["success"] is False
    assert "interests.yaml" in state["receipt"]["errors"][0]
    assert not state["skipped"]


def test_a_bad_day_is_refused_in_the_receipt(tmp_path: Path) -> None:
    assert read(tmp_path, date="../2026-01-03")["receipt"]["success"] is False


async def test_it_runs_under_ainvoke(tmp_path: Path) -> None:
    put(tmp_path, TEXT)
    state = await graph.ainvoke({"date": "2026-01-03"}, context={"workspace": str(tmp_path)})
    assert state["receipt"]["success"]
