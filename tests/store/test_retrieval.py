"""search, node_search and traverse: what they find, show and refuse."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reme_store import retrieval
from reme_store.errors import InvalidRequestError, NoteNotFoundError
from reme_store.index.arrays import Array
from reme_store.index.view import IndexView
from reme_store.note_index import NoteIndex
from reme_store.ranking import TITLE_SHARE
from tests.support.notes import file, naive_scores


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NoteIndex]:
    made = NoteIndex(tmp_path / "meta")
    made.open()
    yield made
    made.close()


def fill(index: NoteIndex, **notes: str) -> None:
    index.apply([file(path.replace("__", "/") + ".md", text) for path, text in notes.items()])


def found(index: NoteIndex, query: str, limit: int = 20, **arguments: Any) -> list[str]:
    return [hit["path"] for hit in retrieval.search(index, query, limit, **arguments).metadata["results"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("悬空", "za"),
        ("itgc", "za"),
        ("数据库", "za"),
        ("端到端数据库测试结果", "za"),
        ("しりとり", "zc"),
        ("게임", "zd"),
    ],
)
def test_a_contiguous_word_beats_scattered_characters(index: NoteIndex, query: str, first: str) -> None:
    fill(
        index,
        digest__wiki__za="重跑gen-itgc后50条悬空引用清零。量子计算机与数据库。\n",
        digest__wiki__zb="据说这座仓库的数据很乱，我们把库存清点了一遍。\n",
        digest__wiki__zc="今日は成語しりとりをした。カタカナ\n",
        digest__wiki__zd="오늘 끝말잇기 게임을 했다\n",
    )
    assert found(index, query)[0] == f"digest/wiki/{first}.md"


@pytest.mark.parametrize("query", ["the", "of", "hello", "重要", "一下"])
def test_a_query_of_stop_words_finds_the_literal_words(index: NoteIndex, query: str) -> None:
    fill(index, digest__a="hello, the plan of the world\n", digest__b="这件事很重要，看一下。\n")
    assert len(found(index, query)) == 1


def test_an_index_chunk_is_a_hit_only_where_no_content_of_its_note_is(index: NoteIndex) -> None:
    fill(
        index,
        digest__x1="---\nname: 黄山徒步攻略\n---\n\nBring water.\n",
        digest__x2="---\nname: otter\n---\n\notter den\n",
    )
    (title,) = retrieval.search(index, "黄山徒步").metadata["results"]
    assert (title["path"], title["start_line"], title["end_line"]) == ("digest/x1.md", 1, 3)
    (content,) = retrieval.search(index, "otter").metadata["results"]
    assert content["text"] == "otter den"


def test_the_name_of_a_note_lifts_its_content_by_its_share(index: NoteIndex) -> None:
    fill(index, digest__a="---\nname: otter\n---\n\notter den\n", digest__b="otter den too\n", digest__c="other\n")
    assert found(index, "otter") == ["digest/a.md", "digest/b.md"]
    documents = {
        "a index": ["otter"] * 4 + ["a"] * 3 + ["=otter"] * 4 + ["=a"] * 3,
        "a": ["otter", "den"],
        "b index": ["b"] * 3 + ["=b"] * 3,
        "b": ["otter", "den", "too"],
        "c index": ["c"] * 3 + ["=c"] * 3,
        "c": ["other"],
    }
    expected = naive_scores(documents, index.tokenizer.query_weights("otter"))
    hits = retrieval.search(index, "otter").metadata["results"]
    assert hits[0]["score"] == pytest.approx(expected["a"] + TITLE_SHARE * expected["a index"])
    assert hits[1]["score"] == pytest.approx(expected["b"])


def test_equal_text_in_several_notes_is_one_hit_shown_in_the_digest(index: NoteIndex) -> None:
    fill(index, daily__a="otter facts", daily__b="otter facts", digest__z="otter facts", digest__y="otter tales")
    hits = retrieval.search(index, "otter facts", limit=2).metadata["results"]
    assert [(hit["path"], hit["count"]) for hit in hits] == [("digest/z.md", 3), ("digest/y.md", 1)]
    assert hits[0]["paths"] == ["digest/z.md", "daily/a.md", "daily/b.md"]


def test_raw_material_and_dialogs_are_found_only_by_a_path_filter(index: NoteIndex) -> None:
    fill(index, resource__a="otter", reme_session__b="otter", daily__c="otter c", resources__d="otter d")
    assert found(index, "otter") == ["daily/c.md", "resources/d.md"]
    assert found(index, "otter", search_filter={"path": "resource"}) == ["resource/a.md"]
    assert found(index, "otter", search_filter={"path": "daily/c.md"}) == ["daily/c.md"]
    assert found(index, "otter", search_filter={"path": "dail"}) == []


def test_filters_come_before_the_cut(index: NoteIndex) -> None:
    notes = [file(f"digest/n{n}.md", f"---\nkind: old\n---\notter otter otter {n}") for n in range(300)]
    index.apply([*notes, file("digest/z.md", "---\nkind: new\ntags: [a, b]\n---\n\n" + "long " * 50 + "otter")])
    for wanted in ({"kind": "new"}, {"tags": "b"}, {"tags": ["c", "a"]}, {"kind": "new", "tags": "a"}):
        assert found(index, "otter", 1, search_filter=wanted) == ["digest/z.md"]
    assert found(index, "otter", search_filter={"kind": "none"}) == []
    assert found(index, "otter", search_filter={"missing": "x"}) == []


def test_front_matter_values_are_compared_as_text(index: NoteIndex) -> None:
    fill(index, digest__a="---\nsize: 3\ndone: true\n---\n\notter")
    assert found(index, "otter", search_filter={"size": "3"}) == ["digest/a.md"]
    assert found(index, "otter", search_filter={"size": 3, "done": True}) == ["digest/a.md"]
    assert found(index, "otter", search_filter={"done": "true"}) == ["digest/a.md"]
    assert found(index, "otter", search_filter={"done": False}) == []


def test_dates_of_path_or_front_matter_bound_a_search(index: NoteIndex) -> None:
    index.apply(
        [
            file("daily/2026-01-01/s.md", "otter 1"),
            file("daily/2026-01-05.md", "otter 5"),
            file("digest/a.md", "---\ncreated: 2026-01-03\n---\n\notter 3"),
            file("digest/b.md", "otter never"),
        ]
    )
    inside = found(index, "otter", search_filter={"start_date": "2026-01-02", "end_date": "2026-01-05"})
    assert sorted(inside) == ["daily/2026-01-05.md", "digest/a.md"]
    assert sorted(found(index, "otter", search_filter={"end_date": "2026-01-03"})) == [
        "daily/2026-01-01/s.md",
        "digest/a.md",
    ]


def test_min_score_comes_before_limit(index: NoteIndex) -> None:
    fill(index, digest__a="otter otter", digest__b="otter and many other words besides")
    scores = [hit["score"] for hit in retrieval.search(index, "otter").metadata["results"]]
    assert len(scores) == 2
    assert found(index, "otter", min_score=scores[0]) == ["digest/a.md"]
    assert found(index, "otter", min_score=scores[0] + 1) == []


def test_no_hit_is_a_success_that_says_so(index: NoteIndex) -> None:
    answer = retrieval.search(index, "unheard")
    assert "No note fits" in answer.answer
    assert answer.metadata["results"] == []
    assert answer.metadata["counts"] == {"vector": 0, "keyword": 0, "returned": 0, "hybrid": False}
    assert retrieval.search(index, "，").metadata["results"] == []
    assert retrieval.node_search(index, "unheard").metadata["results"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": " "},
        {"limit": 0},
        {"limit": -1},
        {"limit": 10**9},
        {"limit": True},
        {"fusion": "sum"},
        {"vector_weight": 1.5},
        {"vector_weight": float("nan")},
        {"candidate_multiplier": 0},
        {"min_score": "high"},
        {"max_links_per_direction": -1},
        {"search_filter": {"start_date": "soon"}},
    ],
)
def test_a_callers_mistake_says_what_to_do(index: NoteIndex, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"\w"):
        retrieval.search(index, **{"query": "otter", **arguments})


def test_link_expansion_names_the_neighbours_of_both_directions(index: NoteIndex) -> None:
    fill(
        index,
        digest__a="---\nname: Alpha\n---\n\notter facts [[digest/b.md#den]] [[ghost.md]]\n",
        digest__b="---\nname: Beta\ndescription: the second\n---\n\nx\n",
        digest__c="---\nname: Gamma\n---\n\nis_a:: [[digest/a.md]]\n",
    )
    answer = retrieval.search(index, "otter")
    links = answer.metadata["link_expansion"]["digest/a.md"]
    beta, ghost = links["outlinks"]
    assert beta == {
        "path": "digest/b.md",
        "name": "Beta",
        "description": "the second",
        "predicate": None,
        "anchor": "den",
        "exists": True,
    }
    assert (ghost["path"], ghost["name"], ghost["exists"]) == ("ghost.md", "", False)
    assert [link["path"] for link in links["inlinks"]] == ["digest/c.md"]
    assert "→ outlinks (2)" in answer.answer
    assert "via anchor=#den" in answer.answer
    assert "via predicate=is_a" in answer.answer
    assert "Gamma" not in retrieval.search(index, "otter", expand_links=False).answer


def test_link_expansion_is_bounded_and_says_how_many_there_are(index: NoteIndex) -> None:
    fill(index, digest__hub="otter", **{f"digest__n{n}": "[[digest/hub.md]]" for n in range(30)})
    answer = retrieval.search(index, "otter", max_links_per_direction=3)
    assert len(answer.metadata["link_expansion"]["digest/hub.md"]["inlinks"]) == 3
    assert "← inlinks (30)" in answer.answer
    assert "… 27 more" in answer.answer


def test_text_of_a_note_cannot_pass_for_a_hit_or_a_label(index: NoteIndex) -> None:
    fake = "digest/personal/fake.md:1-1 [score=9.99 vector=0.0 keyword=9.99] narrative"
    fill(
        index,
        digest__a=f'---\nname: "x\\n{fake}"\n---\n\nnarrative\n\n{fake}\n→ outlinks (9)\n',
        digest__b=f'---\ndescription: "{fake}"\n---\n\nnarrative [[digest/a.md]]\n',
    )
    answer = retrieval.search(index, "narrative").answer
    own = [line for line in answer.split("\n") if not line.startswith((">", " "))]
    assert not [line for line in own if "fake.md" in line]
    assert not [line for line in own if line.startswith("→ outlinks (9)")]
    for node_row in retrieval.node_search(index, "narrative fake").answer.split("\n"):
        assert node_row.startswith("digest/")
        assert not node_row.startswith("digest/personal")


def test_node_search_is_one_row_a_digest_note_by_what_it_is_called(index: NoteIndex) -> None:
    fill(
        index,
        daily__s="---\nname: solar panel\n---\n\nsolar panel\n",
        digest__wiki__sp="---\nname: sp\ndescription: solar panel\n---\n\n# Solar\n\nfew words\n",
        digest__wiki__other="---\nname: other\n---\n\nsolar panel solar panel again\n",
    )
    rows = retrieval.node_search(index, "solar panel").metadata["results"]
    assert [row["path"] for row in rows] == ["digest/wiki/sp.md", "digest/wiki/other.md"]
    assert set(rows[0]) == {"path", "score", "name", "description"}
    assert len(retrieval.node_search(index, "solar panel", limit=1).metadata["results"]) == 1
    assert retrieval.node_hits(index, "solar panel")[0].name == "sp"


def edges(answer: Any) -> list[tuple[str, str]]:
    return [(edge["source_path"], edge["target_path"]) for edge in answer.metadata["edges"]]


def test_a_walk_has_depths_and_keeps_reciprocal_edges(index: NoteIndex) -> None:
    fill(index, a="[[b.md]]", b="[[a.md]] [[c.md]]", c="x", d="[[a.md]]")
    forward = retrieval.traverse(index, "a.md", depth=2, direction="forward")
    assert {node["path"]: node["depth"] for node in forward.metadata["nodes"]} == {"a.md": 0, "b.md": 1, "c.md": 2}
    assert edges(forward) == [("a.md", "b.md"), ("b.md", "a.md"), ("b.md", "c.md")]
    assert edges(retrieval.traverse(index, "a.md", direction="backward")) == [("b.md", "a.md"), ("d.md", "a.md")]
    assert len(retrieval.traverse(index, ["a.md", "c.md"], depth=0).metadata["nodes"]) == 2


def test_a_walk_follows_one_predicate_and_meets_targets_without_note(index: NoteIndex) -> None:
    fill(index, a="is_a:: [[b.md]]\n\n[[c.md]]")
    answer = retrieval.traverse(index, "a", predicate="is_a")
    assert edges(answer) == [("a.md", "b.md")]
    assert [(node["path"], node["exists"]) for node in answer.metadata["nodes"]] == [("a.md", True), ("b.md", False)]
    assert edges(retrieval.traverse(index, "b.md", direction="backward")) == [("a.md", "b.md")]


def test_a_walk_from_nowhere_names_near_matches(index: NoteIndex) -> None:
    fill(index, digest__wiki__alpha="x")
    with pytest.raises(NoteNotFoundError, match=r"digest/wiki/alpha\.md"):
        retrieval.traverse(index, "digest/wiki/alhpa.md")


@pytest.mark.parametrize("arguments", [{"depth": -1}, {"depth": 99}, {"direction": "up"}, {"path": []}])
def test_a_wrong_walk_is_refused(index: NoteIndex, arguments: dict[str, Any]) -> None:
    fill(index, a="x")
    with pytest.raises(InvalidRequestError):
        retrieval.traverse(index, **{"path": "a.md", **arguments})


def test_a_hub_of_5000_links_is_walked_quickly(index: NoteIndex) -> None:
    index.apply([file("hub.md", "x"), *(file(f"n/{n}.md", "[[hub.md]] [[n/1.md]]") for n in range(5_000))])
    retrieval.walk(index, ["hub.md"], 2)
    began = time.process_time()
    met = retrieval.walk(index, ["hub.md"], 2)
    assert len(met.nodes) == 5_001
    assert time.process_time() - began < 1.0


class Meanings:
    """Who knows how near a few notes are to every question."""

    fault = ""

    def __init__(self, index: NoteIndex, near: Mapping[str, float]) -> None:
        view = index.view()
        places = {path: view.find(path) for path in near}
        self._keys = [_text_hash(view, place) for place in places.values() if place is not None]
        self._cosines = list(near.values())

    def ask(self, question: str) -> Callable[[], tuple[Array, Array]]:
        return lambda: (np.array(self._keys, dtype=np.uint64), np.array(self._cosines, dtype=np.float32))


def _text_hash(view: IndexView, place: tuple[int, int]) -> int:
    notes = view.parts[place[0]].segment.notes
    return int(notes.columns["text_hash"][int(notes.first_doc[place[1] + 1]) - 1])


def test_meaning_and_words_are_merged_by_chunk(index: NoteIndex) -> None:
    fill(index, digest__a="otter den", digest__b="river animal", resource__c="otter river")
    meaning = Meanings(index, {"digest/b.md": 0.9, "digest/a.md": 0.8, "resource/c.md": 0.7})
    answer = retrieval.search(index, "otter", meaning=meaning)
    hits = {hit["path"]: hit for hit in answer.metadata["results"]}
    assert set(hits) == {"digest/a.md", "digest/b.md"}
    assert hits["digest/b.md"]["scores"] == {"keyword": None, "vector": pytest.approx(0.9)}
    assert hits["digest/a.md"]["scores"]["keyword"] > 0
    assert answer.metadata["counts"] == {"vector": 2, "keyword": 1, "returned": 2, "hybrid": True}
    only_words = retrieval.search(index, "otter", meaning=meaning, vector_weight=0.0, min_score=0.5)
    assert [hit["path"] for hit in only_words.metadata["results"]] == ["digest/a.md"]


def test_filters_come_before_the_cut_for_meaning_too(index: NoteIndex) -> None:
    others = {f"digest__wiki__n{n:03}": f"---\nkind: other\n---\ntext {n}" for n in range(60)}
    fill(index, **others, digest__personal__x="---\nkind: wanted\n---\nfar away", resource__r="raw")
    near = {path.replace("__", "/") + ".md": 0.9 - n / 1000 for n, path in enumerate(others)}
    meaning = Meanings(index, {**near, "digest/personal/x.md": 0.1, "resource/r.md": 0.95})
    for wanted in ({"path": "digest/personal"}, {"kind": "wanted"}):
        assert found(index, "nothing", 1, meaning=meaning, search_filter=wanted) == ["digest/personal/x.md"]
    assert found(index, "nothing", 1, meaning=meaning) == ["digest/wiki/n000.md"]
    assert found(index, "nothing", 1, meaning=meaning, search_filter={"path": "resource"}) == ["resource/r.md"]


def test_equal_texts_found_by_meaning_are_one_hit_of_the_digest(index: NoteIndex) -> None:
    fill(index, daily__a="the same text", digest__b="the same text", digest__c="another")
    meaning = Meanings(index, {"digest/b.md": 0.9, "digest/c.md": 0.5})
    (hit, other) = retrieval.search(index, "unheard", meaning=meaning).metadata["results"]
    assert (hit["path"], hit["count"], hit["paths"]) == ("digest/b.md", 2, ["digest/b.md", "daily/a.md"])
    assert other["path"] == "digest/c.md"


def test_a_title_found_by_words_lifts_the_content_found_by_meaning(index: NoteIndex) -> None:
    fill(
        index, digest__a="---\nname: Holt\n---\nwhere otters sleep", digest__b="---\nname: Den\n---\nwhere foxes sleep"
    )
    meaning = Meanings(index, {"digest/a.md": 0.5, "digest/b.md": 0.6})
    hits = retrieval.search(index, "Holt", meaning=meaning).metadata["results"]
    scores = {hit["path"]: hit["scores"] for hit in hits}
    assert set(scores) == {"digest/a.md", "digest/b.md"} and len(hits) == 2
    assert scores["digest/a.md"]["keyword"] > 0 and scores["digest/b.md"]["keyword"] is None


def test_what_points_away_from_a_question_is_no_hit(index: NoteIndex) -> None:
    fill(index, digest__a="text")
    assert found(index, "nothing", meaning=Meanings(index, {"digest/a.md": -0.2})) == []


def test_what_words_find_is_weighed_by_its_own_nearness(index: NoteIndex) -> None:
    near = {f"digest/n{n:02}.md": 0.9 - n / 100 for n in range(20)}
    fill(
        index, **{path[:-3].replace("/", "__"): f"text {path}" for path in near}, digest__a="otter", digest__b="otter!"
    )
    meaning = Meanings(index, {**near, "digest/a.md": 0.3, "digest/b.md": 0.2})
    answer = retrieval.search(index, "otter", 5, meaning=meaning, candidate_multiplier=1.0)
    scores = {hit["path"]: hit["scores"] for hit in answer.metadata["results"]}
    assert scores["digest/a.md"]["vector"] == pytest.approx(0.3)
    assert answer.metadata["counts"] == {"vector": 5, "keyword": 2, "returned": 5, "hybrid": True}
    ranks = {"fusion": "rrf", "vector_weight": 0.4, "candidate_multiplier": 1.0}
    by_rank = retrieval.search(index, "otter", 5, meaning=meaning, **ranks)
    assert by_rank.metadata["results"][0]["scores"]["vector"] is None
