"""A process that is killed while it commits and merges leaves an index that opens and equals a rebuilt one."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from reme_store import retrieval
from reme_store.note_index import NoteIndex
from tests.support.notes import File, file

ROOT = Path(__file__).parents[2]

CHILD = """
import sys
from pathlib import Path
from reme_store.index import store
from reme_store.note_index import NoteIndex
from tests.store.test_index_crash import edit
store._FLUSH, store._SLACK_BYTES, store._TAIL_BYTES = 3, 2_000, 4_000
index = NoteIndex(Path(sys.argv[1]))
index.open()
for step in range(int(sys.argv[2]), 100_000):
    changed, deleted = edit(step)
    index.apply(changed, deleted)
    print(step, flush=True)
"""


def edit(step: int) -> tuple[list[File], list[str]]:
    """Return the change of a step: some notes written anew, one deleted now and then."""
    rng = random.Random(step)
    chosen = rng.sample(range(12), 3)
    changed = [file(f"n/{n}.md", f"version {step} common [[n/{rng.randrange(12)}.md]]") for n in chosen[:2]]
    return changed, [f"n/{chosen[2]}.md"] if step % 4 == 0 else []


def run_until_killed(folder: Path, first: int, lines: int) -> int:
    """Let a process edit from a step on, kill it after some lines, and return the last step it confirmed."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(first)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child.stdout:
        confirmed = [int(child.stdout.readline()) for _ in range(lines)][-1]
        child.kill()
        rest = child.stdout.read().split()
    child.wait()
    return int(rest[-1]) if rest else confirmed


def content(index: NoteIndex) -> tuple[object, ...]:
    hits = retrieval.search(index, "common version", 50).metadata["results"]
    nodes = sorted(index.nodes(), key=lambda node: node.path)
    return dict(index.known()), nodes, index.counts(), [(hit["path"], hit["score"]) for hit in hits]


def expected(folder: Path, last: int) -> tuple[object, ...]:
    files: dict[str, File] = {}
    for step in range(last + 1):
        changed, deleted = edit(step)
        for path in deleted:
            files.pop(path, None)
        files |= {one[0]: one for one in changed}
    fresh = NoteIndex(folder)
    fresh.open()
    fresh.rebuild(files.values())
    return content(fresh)


@pytest.mark.parametrize("seed", range(2))
def test_every_reopening_after_a_kill_equals_a_rebuild(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    first = 0
    for round_number in range(4):
        confirmed = run_until_killed(tmp_path / "meta", first, rng.randint(1, 40))
        index = NoteIndex(tmp_path / "meta")
        index.open()
        assert index.notices == []
        found = content(index)
        possible = [expected(tmp_path / f"fresh{round_number}{n}", confirmed + n) for n in (0, 1)]
        assert found in possible
        first = confirmed + 1 + possible.index(found)
        index.close()
