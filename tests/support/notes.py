"""Which bytes and states stand for notes in tests? And what would a search in plain Python answer?"""

import hashlib
import math
from collections.abc import Mapping, Sequence

from reme_store.index import bm25
from reme_store.models import FileState

File = tuple[str, bytes, FileState]


def file(path: str, text: str | bytes, mtime_ns: int = 1) -> File:
    """Return a file as the store hands it to the index."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    return path, data, FileState(hashlib.sha256(data).hexdigest(), len(data), mtime_ns, mtime_ns, 7)


def naive_scores(
    documents: Mapping[str, Sequence[str]], weights: Mapping[str, float], k1: float = bm25.K1, b: float = bm25.B
) -> dict[str, float]:
    """Score every document by the formula, one term at a time; those without a term are left out."""
    n_docs = len(documents)
    average = sum(map(len, documents.values())) / n_docs if n_docs else 0.0
    scores: dict[str, float] = {}
    for name, terms in documents.items():
        total = 0.0
        for term, weight in weights.items():
            tf = terms.count(term)
            df = sum(term in other for other in documents.values())
            if tf:
                idf = math.log(1 + (n_docs - df + 0.5) / (df + 0.5))
                total += weight * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(terms) / average))
        if total:
            scores[name] = total
    return scores
