"""Which units are kept, tried again, given up and never done twice."""

import json
from pathlib import Path

from reme_graphs.auto_dream.ledger import APPLIED_KEPT, BACK_OFF, MAX_ATTEMPTS, Ledger, read_ledger, write_ledger
from reme_graphs.auto_dream.units import merge_units
from reme_store.file_store import open_store
from tests.support.dreaming import unit

ONE, TWO, THREE = merge_units([[unit("One", "a"), unit("Two", "a", "b"), unit("Three", "c")]])
HASHES = {"a": "1", "b": "2", "c": "3"}


def ledger() -> Ledger:
    found = Ledger(extracted=dict(HASHES))
    found.add([ONE, TWO, THREE], HASHES)
    return found


def test_units_come_back_in_the_order_they_were_first_seen() -> None:
    found = ledger()
    found.add([ONE], HASHES)
    assert [row["name"] for row in found.ready(0.0)] == ["One", "Two", "Three"]


def test_a_changed_source_takes_its_units_and_their_other_sources_along() -> None:
    found = ledger()
    dropped = found.drop_stale({**HASHES, "b": "new"})
    assert {row["name"] for row in dropped} == {"One", "Two"}
    assert found.extracted == {"c": "3"}
    assert [row["name"] for row in found.ready(0.0)] == ["Three"]


def test_a_vanished_source_drops_its_units() -> None:
    found = ledger()
    assert [row["name"] for row in found.drop_stale({"a": "1", "b": "2"})] == ["Three"]


def test_nothing_is_dropped_while_the_texts_are_as_read() -> None:
    found = ledger()
    assert found.drop_stale(HASHES) == []
    assert found.is_pending("a", "1")
    assert not found.is_pending("a", "2")


def test_units_of_a_source_that_was_read_in_part_only_are_dropped() -> None:
    found = ledger()
    del found.extracted["c"]
    assert [row["name"] for row in found.drop_stale(HASHES)] == ["Three"]


def test_failures_back_off_and_end_after_five() -> None:
    found, now = ledger(), 1_000_000.0
    for attempt in range(1, MAX_ATTEMPTS + 1):
        found.fail(THREE["id"], "no", f"run-{attempt}", now)
        row = found.units[THREE["id"]]
        assert row["attempts"] == attempt
        if attempt < MAX_ATTEMPTS:
            wait = BACK_OFF[attempt - 1]
            assert (THREE in found.ready(now + wait)) and (wait == 0 or THREE not in found.ready(now + wait - 1))
            assert [r["unit"] for r in found.resting(now)] == ([] if wait == 0 else [THREE])
    assert THREE not in found.ready(now + 10**9)
    assert [row["unit"] for row in found.given_up()] == [THREE]
    assert "c" in found.unsettled()


def test_a_resumed_run_counts_a_failure_once() -> None:
    found = ledger()
    found.fail(ONE["id"], "no", "run", 0.0)
    found.fail(ONE["id"], "no", "run", 0.0)
    assert found.units[ONE["id"]]["attempts"] == 1


def test_a_denied_model_costs_no_attempt() -> None:
    found = ledger()
    for number in range(9):
        found.fail(ONE["id"], "wrong key", f"run-{number}", 0.0, counts=False)
    assert found.units[ONE["id"]]["attempts"] == 0
    assert ONE in found.ready(0.0)


def test_a_settled_unit_is_known_by_id_and_source_hashes() -> None:
    found = ledger()
    found.settle(ONE, {"action": "CREATE", "sources": {"a": "1"}})
    assert ONE not in found.ready(0.0)
    assert found.settled(ONE["id"], {"a": "1"}) is not None
    assert found.settled(ONE["id"], {"a": "2"}) is None


def test_the_memory_of_settled_units_is_bounded() -> None:
    found = Ledger()
    rows = merge_units([[unit(f"Unit {n}", "a") for n in range(APPLIED_KEPT + 5)]])
    for row in rows:
        found.settle(row, {"sources": {"a": "1"}})
    assert len(found.applied) == APPLIED_KEPT
    assert rows[-1]["id"] in found.applied
    assert rows[0]["id"] not in found.applied


def test_the_record_survives_and_a_broken_one_says_so(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        write_ledger(store, ledger())
        assert read_ledger(store).units == ledger().units
        store.records.write("ledger/dream.json", b'{"units": [')
        assert "cannot be read" in read_ledger(store).fault
        store.records.write("ledger/dream.json", json.dumps({"units": {}}).encode())
        assert "cannot be read" in read_ledger(store).fault
