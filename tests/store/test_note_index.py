"""The index of notes: whatever happened to it, it equals one built from the files."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reme_store import retrieval
from reme_store.index import store as index_store
from reme_store.note_index import NoteIndex
from tests.support.notes import File, file

ALPHA = file("digest/wiki/a.md", "---\nname: Alpha\n---\n\notter [[digest/wiki/b.md]]\n")
BETA = file("digest/wiki/b.md", "---\nname: Beta\n---\n\nbeaver\n")


def opened(folder: Path, **options: Any) -> NoteIndex:
    index = NoteIndex(folder, **options)
    index.open()
    return index


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NoteIndex]:
    made = opened(tmp_path / "meta")
    yield made
    made.close()


def paths(index: NoteIndex, query: str) -> list[str]:
    return [hit["path"] for hit in retrieval.search(index, query, 20).metadata["results"]]


def snapshot(index: NoteIndex) -> dict[str, Any]:
    """Return everything an index says, to be compared with another's."""
    nodes = sorted(index.nodes(), key=lambda node: node.path)
    targets = sorted({link.target_path for node in nodes for link in node.links} | {node.path for node in nodes})
    answers = {
        query: [(hit["path"], hit["start_line"], hit["score"], hit["count"]) for hit in found.metadata["results"]]
        for query in ("otter beaver", "common", "name0 heading", "数据", "the of")
        for found in [retrieval.search(index, query, 50)]
    }
    return {
        "nodes": nodes,
        "known": dict(index.known()),
        "inlinks": {target: index.inlinks(target) for target in targets},
        "counts": index.counts(),
        "problems": index.problems(),
        "answers": answers,
        "rows": retrieval.node_search(index, "otter name0 common").metadata["results"],
    }


def test_what_was_applied_is_found_and_what_was_deleted_is_not(index: NoteIndex) -> None:
    index.apply([ALPHA, BETA])
    assert paths(index, "otter") == ["digest/wiki/a.md"]
    index.apply([file("digest/wiki/a.md", "walrus")], ["digest/wiki/b.md"])
    assert paths(index, "otter beaver") == []
    assert paths(index, "walrus") == ["digest/wiki/a.md"]
    assert list(index.known()) == ["digest/wiki/a.md"]


def test_known_files_have_the_state_they_were_read_with(index: NoteIndex) -> None:
    index.apply([ALPHA])
    known = index.known()
    assert known["digest/wiki/a.md"] == ALPHA[2]
    assert "digest/wiki/b.md" not in known
    assert dict(known) == {ALPHA[0]: ALPHA[2]}
    index.apply([BETA])
    assert len(known) == 1
    assert len(index.known()) == 2


def test_a_commit_survives_without_closing(tmp_path: Path) -> None:
    opened(tmp_path).apply([ALPHA, BETA])
    assert paths(opened(tmp_path), "beaver") == ["digest/wiki/b.md"]


def test_a_second_index_sees_commits_at_its_next_question(tmp_path: Path) -> None:
    writer, reader = opened(tmp_path), opened(tmp_path)
    writer.apply([ALPHA])
    assert paths(reader, "otter") == ["digest/wiki/a.md"]
    reader.apply([BETA])
    assert paths(writer, "beaver") == ["digest/wiki/b.md"]
    assert not writer.catch_up()


def test_a_second_index_follows_merges_and_rebuilds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_store, "_FLUSH", 4)
    writer, reader = opened(tmp_path), opened(tmp_path)
    for n in range(40):
        writer.apply([file(f"digest/n{n}.md", f"common word{n}")])
        if n % 7 == 0:
            assert paths(reader, f"word{n}") == [f"digest/n{n}.md"]
    held = reader.view()
    writer.rebuild([ALPHA])
    assert held.n_notes == 40
    assert reader.record_of(held, *next(held.places())).path.startswith("digest/n")
    assert paths(reader, "common") == []
    assert paths(reader, "otter") == ["digest/wiki/a.md"]
    assert snapshot(reader) == snapshot(writer)


def test_node_and_links_of_both_directions(index: NoteIndex) -> None:
    index.apply([ALPHA, BETA, file("daily/c.md", "[[digest/wiki/b.md#x]] [[digest/wiki/b.md#y]] [[nowhere.md]]")])
    node = index.node("digest/wiki/a.md")
    assert node is not None
    assert node.front_matter == {"name": "Alpha"}
    assert len(node.chunk_ids) == 1
    assert [link.target_path for link in index.outlinks("daily/c.md")].count("nowhere.md") == 1
    assert index.inbound_sources("digest/wiki/b.md") == ["daily/c.md", "digest/wiki/a.md"]
    assert index.node("nowhere.md") is None
    assert index.counts()["n_virtual"] == 1


def test_a_virtual_target_becomes_a_note_and_virtual_again(index: NoteIndex) -> None:
    index.apply([ALPHA])
    assert (index.counts()["n_virtual"], index.view().exists("digest/wiki/b.md")) == (1, False)
    index.apply([BETA])
    assert (index.counts()["n_virtual"], index.view().exists("digest/wiki/b.md")) == (0, True)
    index.apply([], ["digest/wiki/b.md"])
    assert (index.counts()["n_virtual"], index.inbound_sources("digest/wiki/b.md")) == (1, ["digest/wiki/a.md"])


def test_other_text_files_are_searched_but_link_nowhere(index: NoteIndex) -> None:
    index.apply([file("resource/2026-01-01/x.csv", "a,b\nmarmot,[[digest/wiki/a.md]]\n")])
    hits = retrieval.search(index, "marmot", search_filter={"path": "resource"}).metadata["results"]
    assert [hit["path"] for hit in hits] == ["resource/2026-01-01/x.csv"]
    assert index.outlinks("resource/2026-01-01/x.csv") == []


def test_a_note_in_another_encoding_is_found_and_reported(index: NoteIndex) -> None:
    index.apply([file("digest/wiki/g.md", "量子计算机与数据库，据说很快。".encode("gb18030"))])
    assert paths(index, "数据库") == ["digest/wiki/g.md"]
    assert "gb18030" in index.problems()[0]["problem"]


def test_a_binary_file_is_known_and_reported_but_no_note(index: NoteIndex) -> None:
    index.apply([file("digest/wiki/b.md", b"\x89PNG\x00\x01\xff\xfe\x00" * 40)])
    assert "digest/wiki/b.md" in index.known()
    assert index.node("digest/wiki/b.md") is None
    assert list(index.nodes()) == []
    assert index.problems()[0]["path"] == "digest/wiki/b.md"


def test_a_faulty_front_matter_is_body_and_reported(index: NoteIndex) -> None:
    index.apply([file("digest/wiki/a.md", "---\nname: Plan: part two\nat: @home\n---\n\nThe heron nests early.\n")])
    assert paths(index, "heron nests") == ["digest/wiki/a.md"]
    assert paths(index, "plan") == ["digest/wiki/a.md"]
    assert "front matter" in index.problems()[0]["problem"]


def test_the_texts_of_chunks_are_not_in_memory(index: NoteIndex) -> None:
    index.apply([file("digest/wiki/a.md", "otter " * 500)])
    (part,) = index.view().parts
    arrays = [*part.segment.notes.arrays().values(), *part.segment.postings.arrays().values()]
    assert sum(array.nbytes for array in arrays) < 1_500


@pytest.mark.parametrize("options", [{"chunk_chars": 500}, {"embed_toc": False}])
def test_other_options_begin_anew_and_say_so(tmp_path: Path, options: dict[str, Any]) -> None:
    opened(tmp_path).apply([ALPHA])
    index = opened(tmp_path, **options)
    assert dict(index.known()) == {}
    assert "another" in index.notices[0]
    index.apply([ALPHA])
    assert paths(index, "otter") == ["digest/wiki/a.md"]


def damage(path: Path, place: float) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * place)] ^= 0x40
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["manifest.json", ".arrays", "notes"])
def test_a_damaged_file_begins_anew_and_never_answers_wrong(
    tmp_path: Path, kind: str, place: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_store, "_FLUSH", 4)
    index = opened(tmp_path)
    files = [file(f"digest/n{n}.md", f"common word{n}") for n in range(11)]
    for one in files:
        index.apply([one])
    expected = snapshot(index)
    for path in sorted((tmp_path / "file_store").iterdir()):
        if kind in path.name:
            damage(path, place)
    again = opened(tmp_path)
    again.verify()
    known = again.known()
    if again.verify():
        again.rebuild(files)
    else:
        again.apply([one for one in files if known.get(one[0]) != one[2]])
    assert snapshot(again) == expected


def test_verify_names_a_damaged_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_store, "_FLUSH", 1)
    index = opened(tmp_path)
    index.apply([ALPHA])
    assert index.verify() == []
    (path,) = (tmp_path / "file_graph").iterdir()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"digest/wiki/b.md", b"digest/wiki/B.md"))
    assert path.stem in index.verify()[0]


def test_the_index_does_not_grow_with_repeated_edits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_store, "_TAIL_BYTES", 3_000)
    monkeypatch.setattr(index_store, "_SLACK_BYTES", 3_000)
    index = opened(tmp_path)
    for n in range(200):
        index.apply([file("digest/a.md", f"version {n} " + os.urandom(40).hex())])
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size < 40_000
    assert paths(index, "version") == ["digest/a.md"]
    assert snapshot(opened(tmp_path)) == snapshot(index)


def test_one_edit_costs_its_own_size(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.apply([file(f"digest/n{n}.md", f"common word{n} " * 30) for n in range(300)])
    before = {path: path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()}
    index.apply([file("digest/n7.md", "short")])
    grown = {p: p.stat().st_size - before.get(p, 0) for p in tmp_path.rglob("*") if p.is_file()}
    assert sum(grown.values()) < 1_500


def test_leftovers_of_a_crash_are_swept(tmp_path: Path) -> None:
    opened(tmp_path).apply([ALPHA])
    leftover = tmp_path / "file_store" / "segment-99.arrays"
    leftover.write_bytes(b"half")
    opened(tmp_path)
    assert not leftover.exists()


LINES = [
    "otter",
    "beaver",
    "common",
    "数据库",
    "the",
    "[[n/1.md]]",
    "[[n/2.md#x]]",
    "rel:: [[n/3.md]]",
    "# heading",
    "",
]
BODIES = st.lists(st.sampled_from(LINES), max_size=6).map("\n".join)


@settings(max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck))
class IndexEqualsRebuild(RuleBasedStateMachine):
    """Random changes, reopenings, torn tails and a second index; the model is the files."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(_SCRATCH[0]) / f"run{next(_COUNTER)}"
        self.files: dict[str, File] = {}
        self.index, self.other = opened(self.folder / "meta"), opened(self.folder / "meta")

    @rule(changes=st.dictionaries(st.integers(0, 5), BODIES, min_size=1, max_size=4), gone=st.sets(st.integers(0, 5)))
    def change(self, changes: dict[int, str], gone: set[int]) -> None:
        changed = [file(f"n/{n}.md", f"---\nname: name{n}\n---\n{body}") for n, body in changes.items()]
        deleted = [f"n/{n}.md" for n in gone - changes.keys()]
        self.index.apply(changed, deleted)
        self.files |= {one[0]: one for one in changed}
        for path in deleted:
            self.files.pop(path, None)

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.index = opened(self.folder / "meta")

    @rule()
    def crash(self) -> None:
        self.index = opened(self.folder / "meta")

    @rule()
    def swap(self) -> None:
        self.index, self.other = self.other, self.index

    @rule(cut=st.integers(1, 60))
    def tear(self, cut: int) -> None:
        """Lose the end of the log, as a crash before the sync would; then look at the disk again."""
        (log,) = (self.folder / "meta" / "file_store").glob("notes-*")
        os.truncate(log, max(0, log.stat().st_size - cut))
        self.index, self.other = opened(self.folder / "meta"), opened(self.folder / "meta")
        known = self.index.known()
        stale = [one for one in self.files.values() if known.get(one[0]) != one[2]]
        self.index.apply(stale, [path for path in known if path not in self.files])

    @rule()
    def rebuild(self) -> None:
        self.index.rebuild(self.files.values())

    @invariant()
    def equals_a_rebuilt_index(self) -> None:
        fresh = opened(self.folder / "fresh")
        fresh.rebuild(self.files.values())
        expected = snapshot(fresh)
        assert snapshot(self.index) == expected
        assert snapshot(self.other) == expected

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


_SCRATCH: list[str] = [""]
_COUNTER = iter(range(1_000_000))


@pytest.fixture(autouse=True)
def _small_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    _SCRATCH[0] = str(tmp_path)
    if "equals_a_rebuild" in request.node.nodeid or "IndexEqualsRebuild" in request.node.nodeid:
        monkeypatch.setattr(index_store, "_FLUSH", 3)
        monkeypatch.setattr(index_store, "_SLACK_BYTES", 1_000)


TestIndexEqualsRebuild = IndexEqualsRebuild.TestCase
