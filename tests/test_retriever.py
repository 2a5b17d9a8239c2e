"""Does the retriever return what search finds, as documents?"""

import asyncio
from pathlib import Path

from reme_graphs.retriever import ReMeRetriever
from reme_store import open_store


def test_documents_are_the_hits_and_say_where_they_stand(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.write("digest/wiki/sqlite.md", "SQLite needs no server.\n", name="sqlite")
        store.write("daily/2026-03-02.md", "A server was bought.\n")
        [document] = ReMeRetriever(store=store, search_filter={"path": "digest"}).invoke("server")
    assert "SQLite needs no server." in document.page_content
    assert document.metadata["path"] == "digest/wiki/sqlite.md"
    assert document.metadata["start_line"] >= 1


def test_an_empty_question_finds_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        assert ReMeRetriever(store=store).invoke("  ") == []


def test_it_can_be_awaited(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.write("digest/wiki/sqlite.md", "SQLite needs no server.\n")
        assert asyncio.run(ReMeRetriever(store=store, limit=1).ainvoke("server"))
