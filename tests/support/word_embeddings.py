"""Embeddings of our own for tests: what texts mean is which groups of words they use. Small, exact, offline."""

import hashlib
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

SAME: Sequence[frozenset[str]] = (
    frozenset({"otter", "otters", "weasel", "水獭"}),
    frozenset({"river", "stream", "brook", "河流"}),
    frozenset({"car", "automobile", "vehicle", "汽车"}),
)
_SIZE = 32


class WordEmbeddings(Embeddings):
    """A direction for each group of words, and a weaker one for every other word; counts what it was asked."""

    def __init__(self, size: int = _SIZE) -> None:
        self.size = size
        self.documents: list[str] = []
        self.queries: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents += texts
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for word in text.lower().replace(".", " ").split():
            group = next((n for n, words in enumerate(SAME) if word in words), None)
            if group is not None:
                vector[group] += 1.0
            else:
                vector[len(SAME) + _number(word) % (self.size - len(SAME))] += 0.1
        return vector


class FailingEmbeddings(WordEmbeddings):
    """Works once it is mended; refuses a text that holds a certain word even then."""

    def __init__(self, refused: str = "") -> None:
        super().__init__()
        self.broken = not refused
        self.refused = refused

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self._check(texts)
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        self._check([text])
        return super().embed_query(text)

    def _check(self, texts: list[str]) -> None:
        if self.broken:
            raise ConnectionError("the endpoint is down")
        if self.refused and any(self.refused in text for text in texts):
            raise ValueError("this text is not allowed")


def _number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little")
