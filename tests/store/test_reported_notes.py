"""Which notes does health_check report, so that their owner can repair them?"""

from pathlib import Path

import pytest

from reme_store import open_store


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("name: a\nkind: x\nname: b\n", "name more than once, the last one counts"),
        ("name: a: b\n", "line 2: not valid YAML"),
        ("- a\n", "line 2: not a mapping"),
    ],
)
def test_front_matter_that_says_not_what_its_owner_means_is_reported(tmp_path: Path, block: str, reason: str) -> None:
    note = tmp_path / "digest/wiki/a.md"
    note.parent.mkdir(parents=True)
    note.write_text(f"---\n{block}---\nbody\n", encoding="utf-8")
    with open_store(tmp_path) as store:
        store.refresh()
        problems = store.health_check().metadata["health"]["problems"]
        note.write_text("---\nname: b\n---\nbody\n", encoding="utf-8")
        store.refresh()
        assert store.health_check().metadata["health"]["problems"] == []
    assert [problem["path"] for problem in problems] == ["digest/wiki/a.md"]
    assert reason in problems[0]["problem"]
