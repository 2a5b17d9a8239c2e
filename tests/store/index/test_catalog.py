"""What a consumer has processed, across restarts, processes and damage."""

from pathlib import Path

from reme_store.index.catalog import Catalog
from reme_store.models import CatalogEntry

ONE, TWO, THREE = (CatalogEntry(char * 64) for char in "123")


def test_entries_survive_reopening(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path, "dream")
    catalog.update({"a.md": ONE, "b.md": CatalogEntry("2" * 64, "offline")})
    catalog.update({"a.md": TWO}, ["b.md", "never.md"])
    again = Catalog(tmp_path, "dream")
    assert dict(again.items()) == {"a.md": TWO}
    assert again.get("b.md") is None
    assert (tmp_path / "dream.jsonl.zst").is_file()


def test_two_open_catalogs_see_each_other(tmp_path: Path) -> None:
    left, right = Catalog(tmp_path, "c"), Catalog(tmp_path, "c")
    left.update({"a.md": ONE})
    assert right.get("a.md") == ONE
    right.update({"b.md": TWO})
    left.update({"c.md": THREE})
    assert set(left.items()) == set(right.items()) == {"a.md", "b.md", "c.md"}


def test_what_is_already_so_writes_nothing(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path, "c")
    catalog.update({"a.md": ONE})
    size = (tmp_path / "c.jsonl.zst").stat().st_size
    catalog.update({"a.md": ONE}, ["unknown.md"])
    assert (tmp_path / "c.jsonl.zst").stat().st_size == size


def test_a_torn_tail_loses_only_the_last_change(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path, "c")
    catalog.update({"a.md": ONE})
    catalog.update({"b.md": TWO})
    path = tmp_path / "c.jsonl.zst"
    path.write_bytes(path.read_bytes()[:-4])
    again = Catalog(tmp_path, "c")
    assert dict(again.items()) == {"a.md": ONE}
    again.update({"c.md": THREE})
    assert set(Catalog(tmp_path, "c").items()) == {"a.md", "c.md"}


def test_damage_in_the_middle_keeps_what_can_be_read(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path, "c")
    catalog.update({"a.md": ONE})
    catalog.update({"b.md": TWO})
    path = tmp_path / "c.jsonl.zst"
    data = bytearray(path.read_bytes())
    data[20] ^= 0xFF
    path.write_bytes(bytes(data))
    again = Catalog(tmp_path, "c")
    assert dict(again.items()) == {"b.md": TWO}
    again.update({"c.md": THREE})
    assert set(Catalog(tmp_path, "c").items()) == {"b.md", "c.md"}


def test_rekey_follows_moves_and_advances_only_current_hashes(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path, "c")
    catalog.update({"old.md": ONE, "current.md": ONE, "stale.md": TWO})
    catalog.rekey(
        {"old.md": "new.md"},
        {
            "new.md": (ONE.sha256, THREE.sha256),
            "current.md": (ONE.sha256, TWO.sha256),
            "stale.md": (ONE.sha256, THREE.sha256),
            "unknown.md": (ONE.sha256, TWO.sha256),
        },
    )
    assert dict(Catalog(tmp_path, "c").items()) == {"new.md": THREE, "current.md": TWO, "stale.md": TWO}


def test_rekey_can_swap_two_paths(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path, "c")
    catalog.update({"a.md": ONE, "b.md": TWO})
    catalog.rekey({"a.md": "b.md", "b.md": "a.md"}, {})
    assert dict(catalog.items()) == {"a.md": TWO, "b.md": ONE}


def test_many_changes_do_not_grow_the_file_without_bound(tmp_path: Path) -> None:
    writer, reader = Catalog(tmp_path, "c"), Catalog(tmp_path, "c")
    assert reader.get("a.md") is None
    for n in range(30):
        writer.update({f"{m}.md": CatalogEntry(f"{n * 100 + m:064x}") for m in range(50)})
    assert (tmp_path / "c.jsonl.zst").stat().st_size < 30_000
    assert dict(reader.items()) == dict(writer.items())
