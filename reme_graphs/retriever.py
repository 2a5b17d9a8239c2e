"""How does a retrieval chain read the memory? As a retriever of LangChain, over the store's own search."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from reme_store.file_store import FileStore


class ReMeRetriever(BaseRetriever):
    """Returns what search finds as documents; their metadata says which lines of which note they are."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    store: FileStore
    """An open workspace; whoever opened it closes it."""
    limit: int = 5
    """Most documents."""
    search_filter: dict[str, Any] = Field(default_factory=dict)
    """As in the search tool, such as ``{"path": "digest"}``."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if not query.strip():
            return []
        hits = self.store.search(query, limit=self.limit, search_filter=self.search_filter).metadata["results"]
        return [_document(hit) for hit in hits]


def _document(hit: dict[str, Any]) -> Document:
    kept = ("path", "start_line", "end_line", "score", "name", "description")
    return Document(page_content=hit["text"], metadata={key: hit[key] for key in kept})
