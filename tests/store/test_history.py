"""The journal: survives torn tails, is read by others while it grows, and stays within its bounds."""

import os
from pathlib import Path

import pytest

from reme_store import history as journal
from reme_store.history import Actor, History, Step, Transaction, acting, actor_or, new_transaction_id


def make(number: int, path: str = "a.md", run_id: str = "") -> Transaction:
    step = Step("put", path, before=f"v{number}", after=f"v{number + 1}")
    return Transaction(new_transaction_id(), f"2026-01-01T00:00:{number % 60:02d}", Actor("test", run_id), (step,))


def record(history: History, number: int, path: str = "a.md", text: bytes = b"text") -> Transaction:
    transaction = make(number, path)
    history.begin(transaction, [text])
    history.end(transaction.id)
    return transaction


def test_transactions_come_back_newest_first_with_their_texts(tmp_path: Path) -> None:
    history = History(tmp_path)
    made = [record(history, number, text=b"text %d" % number) for number in range(5)]
    for reader in (history, History(tmp_path)):
        entries = list(reader.entries())
        assert [entry.transaction.id for entry in entries] == [transaction.id for transaction in reversed(made)]
        texts = [reader.text_before(entry, entry.transaction.steps[0]) for entry in entries]
        assert texts == [b"text 4", b"text 3", b"text 2", b"text 1", b"text 0"]


def test_only_transactions_that_name_a_path_or_a_folder_above(tmp_path: Path) -> None:
    history = History(tmp_path)
    for path in ("x/a.md", "x/b.md", "x"):
        record(history, 1, path)
    assert [entry.transaction.steps[0].path for entry in history.entries({"x/a.md"})] == ["x", "x/a.md"]


def test_what_did_not_end_is_pending_for_every_reader(tmp_path: Path) -> None:
    history, other = History(tmp_path), History(tmp_path)
    transaction = make(1)
    history.begin(transaction, [None])
    for reader in (history, other, History(tmp_path)):
        pending = reader.pending()
        assert pending is not None
        assert (pending[0].transaction.id, pending[1]) == (transaction.id, False)
    history.undo(transaction.id)
    pending = other.pending()
    assert pending is not None
    assert pending[1] is True
    other.end(transaction.id)
    assert history.pending() is None
    assert list(history.entries()) == [], "what was taken back never happened"


@pytest.mark.parametrize("cut", [1, 5, 17, 40])
def test_a_torn_tail_is_dropped_and_the_journal_goes_on(tmp_path: Path, cut: int) -> None:
    history = History(tmp_path)
    kept = record(history, 1)
    torn = make(2)
    history.begin(torn, [b"more"])
    segment = next(tmp_path.iterdir())
    os.truncate(segment, segment.stat().st_size - cut)
    reopened = History(tmp_path)
    assert reopened.pending() is None
    after = record(reopened, 3)
    for reader in (reopened, History(tmp_path)):
        assert [entry.transaction.id for entry in reader.entries()] == [after.id, kept.id]
        assert reader.pending() is None


def test_damage_in_the_middle_loses_no_later_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SEGMENT_BYTES", 600)
    history = History(tmp_path)
    made = [record(history, number) for number in range(12)]
    first = min(tmp_path.iterdir())
    data = bytearray(first.read_bytes())
    data[40] ^= 0xFF
    first.write_bytes(bytes(data))
    left = [entry.transaction.id for entry in History(tmp_path).entries()]
    assert left == [transaction.id for transaction in reversed(made)][: len(left)]
    assert len(left) >= 8


def test_segments_roll_over_and_a_reader_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SEGMENT_BYTES", 500)
    writer, reader = History(tmp_path), History(tmp_path)
    for number in range(10):
        record(writer, number)
        assert reader.pending() is None
    assert len(list(tmp_path.iterdir())) > 2
    assert len(list(reader.entries())) == 10


def test_old_and_big_segments_go_but_never_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SEGMENT_BYTES", 500)
    history = History(tmp_path, max_age_days=1, max_bytes=1500)
    for number in range(12):
        record(history, number, text=os.urandom(300))
    names = sorted(path.name for path in tmp_path.iterdir())
    history.prune()
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == names[-len(left) :]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1500 + 1000
    history.prune(now=(tmp_path / names[-1]).stat().st_mtime + 2 * 86400)
    assert [path.name for path in tmp_path.iterdir()] == names[-1:]
    record(history, 13)
    assert len(list(history.entries())) >= 1


def test_who_acts_is_named_by_the_outermost_word(tmp_path: Path) -> None:
    assert actor_or("write") == Actor("write")
    with acting(Actor("auto_dream", "run-1", "why")):
        assert actor_or("write") == Actor("auto_dream", "run-1", "why")
    assert actor_or("edit") == Actor("edit")
