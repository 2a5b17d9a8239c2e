"""How do two rankings of the same chunks become one?

``convex`` adds min-max scaled scores; ``rrf`` adds reciprocal ranks (Cormack, Clarke and Büttcher 2009). Where one
ranking is empty the other stands as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

Fusion = Literal["convex", "rrf"]

RRF_K = 60
VECTOR_SHARE: Mapping[str, float] = {"convex": 0.5, "rrf": 0.7}


def fuse(
    keyword: Mapping[str, float], vector: Mapping[str, float], fusion: Fusion, vector_share: float | None = None
) -> dict[str, float]:
    """Return one score for every key of either ranking.

    Args:
        vector_share: weight of the vector ranking, 0 to 1; None takes the one of the method.
    """
    if not keyword or not vector:
        return dict(keyword or vector)
    share = VECTOR_SHARE[fusion] if vector_share is None else vector_share
    scaled = _scaled if fusion == "convex" else _reciprocal
    left, right = scaled(keyword), scaled(vector)
    return {key: (1 - share) * left.get(key, 0.0) + share * right.get(key, 0.0) for key in {**keyword, **vector}}


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    low, high = min(scores.values()), max(scores.values())
    return {key: (score - low) / (high - low) if high > low else 1.0 for key, score in scores.items()}


def _reciprocal(scores: Mapping[str, float]) -> dict[str, float]:
    ranked: Sequence[str] = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: 1.0 / (RRF_K + rank) for rank, key in enumerate(ranked, 1)}
