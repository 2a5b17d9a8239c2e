"""Killed or refused by the disk at any step of any tool: every file is old or new, and the workspace opens whole."""

import json
import resource
import shutil
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from reme_store import FileStore, StoreError, StoreFaultError, open_store
from reme_store.history import History
from reme_store.models import CatalogEntry
from reme_store.text.wikilinks import fold_edges, parse_wikilinks
from tests.support.children import run_python
from tests.support.store_actions import ACTIONS

ZYGOTE = """
import os, shutil, signal, sys
from pathlib import Path
from reme_store import open_store
from tests.support.store_actions import ACTIONS

def run(root, action, fatal):
    calls, armed = 0, False

    def die(event, args):
        nonlocal calls
        writing = event == "open" and (args[2] or 0) & (os.O_WRONLY | os.O_RDWR)
        if armed and (writing or event in ("os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir")):
            calls += 1
            if calls == fatal:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(die)
    with open_store(root) as store:
        store.refresh()
        armed = True
        ACTIONS[action](store)
        armed = False

template, folder, action = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
fatal = killed = 0
while killed == fatal:
    fatal += 1
    shutil.copytree(template, folder / str(fatal))
    if (child := os.fork()) == 0:
        run(folder / str(fatal), action, fatal)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        killed += 1
    elif status:
        sys.exit(f"step {fatal}: status {status}")
print(killed)
"""
"""Runs one action again and again on copies of a workspace, killed before its first, second, ... change of the disk."""


def fill(root: Path) -> None:
    """Make a workspace with a hub, five notes that link to it, a folder, a record and a catalog."""
    with open_store(root) as store:
        store.write("digest/wiki/hub.md", "first")
        store.write("digest/wiki/hub.md", "center [[digest/wiki/hub.md#self]]", name="hub", overwrite=True)
        for number in range(5):
            store.write(
                f"digest/wiki/in{number}.md",
                f"n{number} rel:: x\n- is_a:: [[digest/wiki/hub.md|Hub]] [[digest/wiki/hub.md]]",
            )
        store.write("digest/wiki/sub/x.md", "[[digest/wiki/sub/y.md]]")
        store.write("digest/wiki/sub/y.md", "[[digest/wiki/sub/x.md]] [[digest/wiki/hub.md]]")
        store.write("daily/2026-01-01.md", "[[digest/wiki/sub/x.md]]")
        store.records.write("ledger/dream.json", b"before")
        store.catalog("dream").update(
            {"digest/wiki/in1.md": CatalogEntry(store.version_of("digest/wiki/in1.md") or "")}
        )


def files(root: Path) -> dict[str, bytes]:
    """Return every file of the user, and the record."""
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {
        path: data
        for path, data in found.items()
        if not path.startswith("reme_metadata") or path.endswith("dream.json")
    }


def edges(store: FileStore) -> set[tuple[object, ...]]:
    return {
        (link.source_path, link.target_path, link.target_anchor, link.predicate)
        for node in store.index.nodes()
        for link in node.links
    }


def edges_in_files(store: FileStore) -> set[tuple[object, ...]]:
    """Return what the link graph must be, straight from the texts."""
    return {
        (link.source_path, link.target_path, link.target_anchor, link.predicate)
        for path in store.index.known()
        for link in fold_edges(path, parse_wikilinks((store.root / path).read_text(encoding="utf-8")))
    }


def check_whole(root: Path, before: Mapping[str, bytes], after: Mapping[str, bytes], label: object) -> bool:
    """Open a workspace that was hurt; answer whether the change is in it."""
    with open_store(root) as store:
        store.refresh()
        now = files(root)
        assert now in (before, after), (
            label,
            set(now) ^ set(after),
            [p for p in now if now[p] not in (before.get(p), after.get(p))],
        )
        assert History(root / "reme_metadata/history").pending() is None, label
        known = {path: state.sha256 for path, state in store.index.known().items()}
        assert known == {path: store.version_of(path) for path in now if not path.startswith("reme_metadata")}, label
        assert edges(store) == edges_in_files(store), label
        if now == after and "digest/personal/moved/hub.md" in after:
            entry = store.catalog("dream").get("digest/wiki/in1.md")
            assert entry is not None
            assert entry.sha256 == store.version_of("digest/wiki/in1.md"), label
        assert store.health_check().answer.startswith("✅"), label
    assert not list(root.rglob(".reme-*.tmp")), label
    return now == after


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "w"
    fill(root)
    return root


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_killed_at_any_step_a_tool_did_its_work_or_nothing(template: Path, tmp_path: Path, action: str) -> None:
    zygote = run_python(ZYGOTE, template, tmp_path, action)
    assert zygote.returncode == 0, zygote.stderr
    killed = int(zygote.stdout)
    before, after = files(template), files(tmp_path / str(killed + 1))
    assert before != after
    outcomes = [check_whole(tmp_path / str(step), before, after, (action, step)) for step in range(1, killed + 1)]
    assert outcomes == sorted(outcomes), "once recorded, always finished"
    assert outcomes[0] is False


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_on_a_full_disk_a_tool_says_so_and_nothing_is_half_written(template: Path, tmp_path: Path, action: str) -> None:
    before = files(template)
    refused = 0
    for size in (0, 20, 400, 3000, 20_000):
        root = Path(shutil.copytree(template, tmp_path / str(size)))
        with open_store(root) as store:
            store.refresh()
            fault = attempt(store, action, size)
            refused += fault is not None
            now = files(root)
            whole = {path: data for path, data in now.items() if data != before.get(path)}
            if fault is not None and "nothing was changed" in str(fault):
                assert now == before, (action, size, whole.keys())
            if now == before:
                ACTIONS[action](store)
            done = files(root)
        assert now in (before, done), (action, size)
        assert check_whole(root, before, done, (action, size))
    assert refused > 1


def attempt(store: FileStore, action: str, size: int) -> StoreError | None:
    with room_for(size):
        try:
            ACTIONS[action](store)
        except StoreFaultError as error:
            return error
    return None


def test_a_full_disk_under_the_index_is_told_and_made_up_for(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"n{number}.md").write_text(f"note {number} " + "walrus narwhal " * number, encoding="utf-8")
    with open_store(tmp_path) as store:
        store.refresh()
        log = next((tmp_path / "reme_metadata/file_store").glob("notes-*"))
        with room_for(log.stat().st_size), pytest.raises(StoreFaultError, match="not yet their index"):
            store.write("digest/wiki/new.md", "heliotrope")
        assert [hit["path"] for hit in store.search("heliotrope").metadata["results"]] in ([], ["digest/wiki/new.md"])
        store.append("digest/wiki/new.md", "more")
        assert [hit["path"] for hit in store.search("heliotrope").metadata["results"]] == ["digest/wiki/new.md"]
        assert len(store.history("digest/wiki/new.md").metadata["versions"]) == 2


WRITER = """
import sys
from pathlib import Path
from reme_store import open_store

with open_store(Path(sys.argv[1])) as store:
    for number in range(int(sys.argv[3])):
        store.frontmatter_update("digest/wiki/note.md", {f"{sys.argv[2]}_{number}": number})
"""


def test_two_processes_keep_all_keys_of_one_note(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.write("digest/wiki/note.md", "body", name="note")
    with ThreadPoolExecutor(2) as pool:
        for child in pool.map(lambda name: run_python(WRITER, tmp_path, name, 120), ("left", "right")):
            assert child.returncode == 0, child.stderr
    with open_store(tmp_path) as store:
        front_matter = store.frontmatter_read("digest/wiki/note.md").metadata["front_matter"]
    expected = {f"{name}_{number}": number for name in ("left", "right") for number in range(120)}
    assert front_matter == {"name": "note", **expected}


MIXER = """
import json, random, sys, time
from pathlib import Path
from reme_store import InvalidRequestError, open_store

root, me, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
choose, appended, edited = random.Random(me), [], 0
with open_store(root) as store:
    end = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < end:
        turn += 1
        notes = sorted(path.relative_to(root).as_posix() for path in (root / "digest").rglob("hub*.md"))
        path = choose.choice(notes)
        try:
            kind = choose.randrange(3)
            if kind == 0:
                store.append(path, f"line {me} {turn}")
                appended.append(f"line {me} {turn}")
            elif kind == 1:
                folder = choose.choice(["wiki", "personal", "procedure"])
                target = f"digest/{folder}/hub{path.split('hub')[1][0]}-{me}-{turn}.md"
                store.move(path, target)
            else:
                store.edit(path, f"counter {me}:", f"counter {me}:+")
                edited += 1
        except InvalidRequestError:
            continue  # another process moved the note first
print(json.dumps({"appended": appended, "edited": edited}))
"""


def test_four_processes_lose_nothing_and_every_link_is_right(tmp_path: Path) -> None:
    names = "abcd"
    counters = "\n".join(f"counter {name}:" for name in names)
    with open_store(tmp_path) as store:
        for number in range(3):
            store.write(f"digest/wiki/hub{number}.md", f"{counters}\n[[digest/wiki/hub{(number + 1) % 3}.md]]")
        store.write("daily/2026-01-01.md", " ".join(f"[[digest/wiki/hub{number}.md]]" for number in range(3)))
    with ThreadPoolExecutor(4) as pool:
        children = list(pool.map(lambda name: run_python(MIXER, tmp_path, name, 2), names))
    assert [child.returncode for child in children] == [0] * 4, [child.stderr for child in children]
    told = [json.loads(child.stdout) for child in children]
    hubs = sorted((tmp_path / "digest").rglob("hub*.md"))
    assert len(hubs) == 3
    everything = "\n".join(path.read_text(encoding="utf-8") for path in hubs)
    assert sorted(line for each in told for line in each["appended"]) == sorted(
        line for line in everything.splitlines() if line.startswith("line ")
    )
    assert everything.count("+") == sum(each["edited"] for each in told)
    assert sum(each["edited"] for each in told) > 0
    with open_store(tmp_path) as store:
        store.refresh()
        targets = {path.relative_to(tmp_path).as_posix() for path in hubs}
        assert {link.target_path for link in store.outlinks("daily/2026-01-01.md")} == targets
        assert {link.target_path for path in targets for link in store.outlinks(path)} == targets
        assert store.health_check().metadata["health"]["drift"] == []
        assert store.index.counts()["n_virtual"] == 0
