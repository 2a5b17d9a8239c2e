"""Moving notes and moving them back leaves every byte of a whole vault as it was."""

import random
from pathlib import Path

from reme_store import open_store

FORMS = (
    "see [[{0}]].",
    "- is_a:: [[{0}#Sec One|Alias]], [[{0}|x]]",
    "| [[{0}\\|cell]] | ![[{0}]] |",
    "(part_of:: [[{0}]]) `[[{0}]]` <!-- [[{0}]] -->",
    "```\n[[{0}]]\n```\n[[[{0}]]] [[{0}|]] [[{0}",
)


def make_vault(root: Path, count: int) -> None:
    """Write notes of every kind of line end, with links of every form between them."""
    choose = random.Random(7)
    folders = ("", "笔记/", "digest/wiki/", "Daily Notes/2026/", "a/b/c/")
    paths = [
        f"{folders[number % 5]}{choose.choice(['note', '光伏', 'C# ', 'v1.'])}{number}.md" for number in range(count)
    ]
    for number, path in enumerate(paths):
        lines = [choose.choice(FORMS).format(choose.choice(paths)) for _ in range(6)]
        front = (
            f"---\nup: '[[{choose.choice(paths)}]]'\nrel: [[{choose.choice(paths)}]]\n---" if number % 3 else "# Head"
        )
        newline = ("\n", "\r\n")[number % 2]
        text = newline.join([front.replace("\n", newline), "", *lines]) + newline * (number % 4 > 0)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(("\ufeff" if number % 7 == 0 else "").encode() + text.encode())


def snapshot(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and "reme_metadata" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def test_fifty_notes_move_and_come_back(tmp_path: Path) -> None:
    make_vault(tmp_path, 80)
    before = snapshot(tmp_path)
    with open_store(tmp_path) as store:
        linked = sorted(store.index.known())
        picked = [path for path in linked if "#" not in path][:50]
        changed = 0
        for number, path in enumerate(picked):
            changed += store.move(path, f"moved/{number}.md").metadata["links_changed"]
        assert changed > 200
        assert not any(store.inlinks(path) for path in picked)
        back = sum(
            store.move(f"moved/{number}.md", path).metadata["links_changed"] for number, path in enumerate(picked)
        )
        assert store.refresh()["modified"] == 0
    after = snapshot(tmp_path)
    assert back == changed
    assert set(after) == set(before)
    assert [path for path in before if before[path] != after[path]] == []
