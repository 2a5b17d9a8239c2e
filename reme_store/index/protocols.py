"""What may be replaced in the index, and what must each replacement be able to do?"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from reme_store.index.arrays import Array
from reme_store.models import CatalogEntry, FileLink


class KeywordIndex(Protocol):
    """Scores documents by terms."""

    n_docs: int
    """Live documents."""
    average_length: float
    """Terms of a live document, on average."""

    def scores(self, weights: Mapping[str, float]) -> list[Array]:
        """Return float64[d] for each segment: what every document is worth for the weighted terms, 0 for none."""

    def vocabulary_size(self) -> int:
        """Count the distinct terms of live documents."""


class LinkGraph(Protocol):
    """Answers who links to whom."""

    def outlinks(self, path: str) -> list[FileLink]:
        """Return the links of a note in the order of its text."""

    def inlinks(self, target: str) -> list[FileLink]:
        """Return every link to a target, which need not exist."""

    def exists(self, path: str) -> bool:
        """Whether a target is a note."""

    def label(self, path: str) -> tuple[str, str]:
        """Return name and description of a note; empty for what has none."""


class ProcessedFiles(Protocol):
    """Remembers what a consumer has processed."""

    def get(self, path: str) -> CatalogEntry | None:
        """Return what is known of a path; None when it was never processed."""

    def items(self) -> Mapping[str, CatalogEntry]:
        """Return all entries."""

    def update(self, upserts: Mapping[str, CatalogEntry], deletes: Iterable[str] = ()) -> None:
        """Record entries and drop others, durably and together."""

    def rekey(self, moves: Mapping[str, str], hashes: Mapping[str, tuple[str, str]]) -> None:
        """Follow files that were moved or re-linked by a tool."""


class VectorIndex(Protocol):
    """Keeps the vectors that one model gives to texts, which are named by 64 bits of their hash."""

    def keys(self) -> Array:
        """Return uint64[n], ascending: the texts that have a vector."""

    def add(self, vectors: Mapping[int, Array]) -> None:
        """Store float32[pieces, size] for each text; another size than before drops what was there."""

    def similarities(self, vector: Array) -> tuple[Array, Array]:
        """Return uint64[n] of all texts, each once, and float32[n]: the best cosine of each."""

    def retain(self, keys: Array) -> None:
        """Allow all texts but these to be dropped."""

    def clear(self, reason: str) -> None:
        """Begin anew."""
