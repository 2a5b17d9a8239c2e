"""How a person's answer is understood."""

from typing import Any

import pytest

from reme_graphs.auto_dream.review import DIFF_BYTES, read_answer, row_of


@pytest.mark.parametrize("word", ["accept", " Reject "])
def test_a_plain_word_means_all_units(word: str) -> None:
    assert read_answer(word, ["u1", "u2"]).kinds == dict.fromkeys(["u1", "u2"], word.strip().lower())


@pytest.mark.parametrize(
    "answer",
    [
        '{"decisions": {"u1": {"decision": "accept"}}}',
        {"decisions": {"u1": "accept"}},
        {"decisions": {"u1": {"decision": "accept"}}},
    ],
)
def test_units_that_are_not_named_wait(answer: Any) -> None:
    found = read_answer(answer, ["u1", "u2"])
    assert (found.kinds, found.errors) == ({"u1": "accept", "u2": "wait"}, [])


@pytest.mark.parametrize("answer", [None, 7, "yes please", {"units": []}, {"decisions": ["accept"]}, "{broken"])
def test_an_answer_that_means_nothing_lets_all_units_wait_and_says_so(answer: Any) -> None:
    found = read_answer(answer, ["u1"])
    assert found.kinds == {"u1": "wait"}
    assert found.errors


@pytest.mark.parametrize("value", [{"decision": "edit"}, {"decision": "edit", "text": " "}, {"decision": "maybe"}, 3])
def test_a_decision_that_cannot_be_used_lets_its_unit_wait(value: Any) -> None:
    found = read_answer({"decisions": {"u1": value, "u9": {"decision": "accept"}}}, ["u1"])
    assert found.kinds == {"u1": "wait"}
    assert len(found.errors) == 2


def test_an_edit_brings_its_text() -> None:
    assert read_answer({"decisions": {"u1": {"decision": "edit", "text": "T"}}}, ["u1"]).texts == {"u1": "T"}


def test_a_large_difference_is_cut_and_names_the_tool() -> None:
    record = {"action": "CREATE", "target_path": "digest/wiki/x.md", "draft_id": "d1"}
    row = row_of({"id": "u1", "name": "X"}, record, "字" * DIFF_BYTES)
    assert len(row["diff"].encode()) < DIFF_BYTES + 200
    assert "draft_id=d1" in row["diff"]
    assert row_of({"id": "u1", "name": "X"}, record, "+x")["diff"] == "+x"
