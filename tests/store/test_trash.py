"""Deleted files are kept for a while, up to a size."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from reme_store import open_store
from reme_store.trash import prune_trash

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def throw_away(trash: Path, days_ago: float, size: int) -> str:
    name = f"{NOW - timedelta(days=days_ago):%Y%m%dT%H%M%S}000000-abcdef"
    (trash / name / "digest").mkdir(parents=True)
    (trash / name / "digest" / "a.md").write_bytes(b"x" * size)
    return name


def test_what_is_over_age_goes_and_the_oldest_while_there_is_too_much(tmp_path: Path) -> None:
    ages = (100, 60, 30, 1)
    names = [throw_away(tmp_path, days, 400) for days in ages]
    (tmp_path / "put here by hand").mkdir()
    assert prune_trash(tmp_path, max_age_days=90, max_bytes=1000, now=NOW) == names[:2]
    assert prune_trash(tmp_path, max_age_days=90, max_bytes=1000, now=NOW) == []
    assert prune_trash(tmp_path, max_age_days=0.5, max_bytes=1000, now=NOW) == names[2:]
    assert [path.name for path in tmp_path.iterdir()] == ["put here by hand"]


def test_opening_a_workspace_prunes(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.write("a.md", "x")
        store.delete("a.md")
    with open_store(tmp_path):
        assert list((tmp_path / "reme_metadata/trash").rglob("a.md"))
    with open_store(tmp_path, history_days=0):
        assert not list((tmp_path / "reme_metadata/trash").rglob("a.md"))
