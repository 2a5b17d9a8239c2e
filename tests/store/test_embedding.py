"""Vectors of a workspace: found by meaning, filled in beside the work, and never in the way where a model fails."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reme_store import create_store_tools, open_store
from reme_store.embedding import cut_pieces
from reme_store.file_store import FileStore
from tests.support.word_embeddings import FailingEmbeddings, WordEmbeddings


def opened(folder: Path, embeddings: Any, model: str = "words") -> Any:
    return open_store(folder, embeddings=embeddings, embedding_model=model)


@pytest.fixture
def words() -> WordEmbeddings:
    return WordEmbeddings()


@pytest.fixture
def store(tmp_path: Path, words: WordEmbeddings) -> Iterator[FileStore]:
    with opened(tmp_path, words) as made:
        made.write("digest/wiki/a.md", "The otter sleeps.")
        made.write("digest/wiki/b.md", "A vehicle with four wheels.")
        yield made


def paths(store: FileStore, query: str, **arguments: Any) -> list[str]:
    return [hit["path"] for hit in store.search(query, **arguments).metadata["results"]]


def test_a_note_is_found_by_what_it_means(store: FileStore) -> None:
    assert store.wait_for_vectors(30)
    assert paths(store, "weasel", limit=1) == ["digest/wiki/a.md"]
    assert paths(store, "汽车", limit=1) == ["digest/wiki/b.md"]
    answer = store.search("otter")
    assert answer.metadata["counts"]["hybrid"] is True
    assert all(score > 0 for score in answer.metadata["results"][0]["scores"].values())


def test_only_what_changed_is_embedded_again(store: FileStore, words: WordEmbeddings) -> None:
    assert store.wait_for_vectors(30)
    before = len(words.documents)
    store.move("digest/wiki/b.md", "digest/wiki/c.md")
    store.append("digest/wiki/a.md", "It swims in a brook.")
    assert store.wait_for_vectors(30)
    assert [text.splitlines()[-1] for text in words.documents[before:]] == ["It swims in a brook."]
    assert paths(store, "river", limit=1) == ["digest/wiki/a.md"]


def test_vectors_are_kept_by_model_and_read_at_the_next_opening(store: FileStore, tmp_path: Path) -> None:
    assert store.wait_for_vectors(30)
    store.close()
    again, other = WordEmbeddings(), WordEmbeddings(size=16)
    with opened(tmp_path, again) as second:
        assert second.wait_for_vectors(30) and again.documents == []
        assert paths(second, "weasel", limit=1) == ["digest/wiki/a.md"]
    with opened(tmp_path, other, "words/v2") as third:
        assert third.wait_for_vectors(30) and len(other.documents) == 2
    assert {path.name[:5] for path in (tmp_path / "reme_metadata/vectors").iterdir()} == {"words"}


def test_without_a_model_there_are_no_vectors(store: FileStore, tmp_path: Path) -> None:
    assert store.wait_for_vectors(30)
    store.close()
    with open_store(tmp_path) as plain:
        assert paths(plain, "weasel") == [] and plain.wait_for_vectors()
        assert "vectors" not in plain.health_check().metadata["health"]["components"]


class SlowEmbeddings(WordEmbeddings):
    """Gives vectors of documents only when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.let.wait(30)
        return super().embed_documents(texts)


def test_a_search_never_waits_for_missing_vectors(tmp_path: Path) -> None:
    slow = SlowEmbeddings()
    with opened(tmp_path, slow) as store:
        store.write("digest/wiki/a.md", "The otter sleeps.")
        assert paths(store, "otter") == ["digest/wiki/a.md"] and paths(store, "weasel") == []
        vectors = store.health_check().metadata["health"]["components"]["vectors"]
        assert vectors == {"n_texts": 1, "n_vectors": 0}
        slow.let.set()
        assert store.wait_for_vectors(30)
        assert paths(store, "weasel") == ["digest/wiki/a.md"]
        assert store.health_check().metadata["health"]["components"]["vectors"] == {"n_texts": 1, "n_vectors": 1}


def test_a_failing_provider_leaves_search_by_words_and_is_reported(tmp_path: Path) -> None:
    failing = FailingEmbeddings()
    with opened(tmp_path, failing) as store:
        store.write("digest/wiki/a.md", "The otter sleeps.")
        assert not store.wait_for_vectors(30)
        answer = store.search("otter")
        assert [hit["path"] for hit in answer.metadata["results"]] == ["digest/wiki/a.md"]
        assert answer.metadata["counts"] == {"vector": 0, "keyword": 1, "returned": 1, "hybrid": False}
        assert "the endpoint is down" in answer.metadata["vector_fault"]
        told = store.health_check()
        assert told.metadata["health"]["healthy"] is True
        assert any("the endpoint is down" in entry["problem"] for entry in told.metadata["health"]["problems"])
        assert "embedding model words" in told.answer
        failing.broken = False
        assert store.wait_for_vectors(30)
        assert "vector_fault" not in store.search("weasel").metadata
        assert paths(store, "weasel") == ["digest/wiki/a.md"]
        assert store.health_check().metadata["health"]["problems"] == []


def test_a_failing_provider_is_left_alone_for_a_while(tmp_path: Path) -> None:
    asked: list[str] = []

    class Counting(FailingEmbeddings):
        def embed_query(self, text: str) -> list[float]:
            asked.append(text)
            return super().embed_query(text)

    with opened(tmp_path, Counting()) as store:
        store.write("digest/wiki/a.md", "The otter sleeps.")
        for number in range(20):
            assert paths(store, f"otter {number}") == ["digest/wiki/a.md"]
        assert len(asked) <= 5


def test_one_text_that_is_refused_does_not_keep_the_others_from_theirs(tmp_path: Path) -> None:
    with open_store(tmp_path) as plain:
        for name, text in (("a", "The otter sleeps."), ("b", "forbidden"), ("c", "A brook.")):
            plain.write(f"digest/wiki/{name}.md", text)
    with opened(tmp_path, FailingEmbeddings(refused="forbidden")) as store:
        store.wait_for_vectors(30)
        assert paths(store, "weasel", limit=1) == ["digest/wiki/a.md"]
        assert paths(store, "stream", limit=1) == ["digest/wiki/c.md"]
        (problem,) = store.health_check().metadata["health"]["problems"]
        assert "1 text(s) have no vector: ValueError: this text is not allowed" in problem["problem"]


class OddEmbeddings(WordEmbeddings):
    """Gives what is no vector."""

    def __init__(self, odd: list[list[float]]) -> None:
        super().__init__()
        self.odd = odd

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.odd


@pytest.mark.parametrize("odd", [[], [[]], [[float("nan")] * 32], [[1.0], [2.0]], [[[1.0]]]])
def test_what_is_no_vector_is_a_fault_of_the_provider(tmp_path: Path, odd: Any) -> None:
    with opened(tmp_path, OddEmbeddings(odd)) as store:
        store.write("digest/wiki/a.md", "The otter sleeps.")
        assert not store.wait_for_vectors(30)
        assert store.health_check().metadata["health"]["problems"] != []
        assert paths(store, "otter") == ["digest/wiki/a.md"]


def test_another_model_of_the_same_name_begins_anew(store: FileStore, tmp_path: Path) -> None:
    assert store.wait_for_vectors(30)
    store.close()
    with opened(tmp_path, WordEmbeddings(size=64)) as again:
        assert paths(again, "otter") == ["digest/wiki/a.md"]
        assert again.wait_for_vectors(30)
        assert paths(again, "weasel", limit=1) == ["digest/wiki/a.md"]


def test_two_stores_share_the_work_and_the_vectors(store: FileStore, tmp_path: Path) -> None:
    assert store.wait_for_vectors(30)
    other = WordEmbeddings()
    with opened(tmp_path, other) as second:
        assert second.wait_for_vectors(30) and other.documents == []
        store.write("digest/wiki/c.md", "A brook.")
        assert store.wait_for_vectors(30)
        assert paths(second, "stream", limit=1) == ["digest/wiki/c.md"]


def test_any_text_of_a_note_reaches_the_model_in_pieces_it_can_take(tmp_path: Path, words: WordEmbeddings) -> None:
    with opened(tmp_path, words) as store:
        body = "\n".join(f"line {n} of a long note \x00 with 河流" for n in range(300))
        store.apply({"daily/long.md": body, "daily/line.md": "x" * 7_000, "daily/blank.md": "---\nname: b\n---\n \n"})
        assert store.wait_for_vectors(30)
        assert max(map(len, words.documents)) <= 2_000 and len(words.documents) > 8
        assert not any("\x00" in text for text in words.documents)
        assert paths(store, "brook", limit=1) == ["daily/long.md"]


def test_pieces_hold_every_character_and_break_at_lines() -> None:
    text = "".join(f"{'word ' * (n % 30)}end\n" for n in range(200))
    pieces = cut_pieces(text, 300)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= 300 and piece.endswith("end") for piece in pieces)
    assert cut_pieces(" \n\n") == [] and cut_pieces("\ud800 half") == ["? half"]


def test_tools_search_by_meaning_too(store: FileStore) -> None:
    assert store.wait_for_vectors(30)
    (search,) = create_store_tools(store, "search")
    message = search.invoke({"type": "tool_call", "id": "1", "name": "search", "args": {"query": "weasel", "limit": 1}})
    (hit,) = message.artifact["metadata"]["results"]
    assert hit["path"] == "digest/wiki/a.md" and hit["scores"]["keyword"] is None


def test_the_nearest_are_those_of_a_plain_scan(tmp_path: Path, words: WordEmbeddings) -> None:
    with opened(tmp_path, words) as store:
        texts = {f"digest/wiki/n{n}.md": f"w{n % 7} w{n % 11} w{n % 13} otter" for n in range(90)}
        store.apply(texts)
        assert store.wait_for_vectors(30)
        hits = store.search("w3 w5 w8", limit=10, vector_weight=1.0, candidate_multiplier=1.0).metadata["results"]
        query = np.array(words.embed_query("w3 w5 w8"))
        cosines = {}
        for path, text in texts.items():
            vector = np.array(words.embed_documents([text])[0])
            cosines[path] = float(vector @ query / np.linalg.norm(vector) / np.linalg.norm(query))
        best = sorted(cosines.values(), reverse=True)[: sum(hit["scores"]["vector"] is not None for hit in hits)]
        found = [hit["scores"]["vector"] for hit in hits if hit["scores"]["vector"] is not None]
        assert found == pytest.approx(best, abs=1e-5)
