"""Two rankings become one."""

import pytest

from reme_store.fusion import RRF_K, fuse

KEYWORD = {"shared": 4.0, "words": 2.0, "tail": 1.0}
VECTOR = {"shared": 0.9, "meaning": 0.5}


def test_rrf_prefers_what_both_found_and_the_share_decides_the_rest() -> None:
    low = fuse(KEYWORD, VECTOR, "rrf", 0.4)
    assert sorted(low, key=low.__getitem__, reverse=True) == ["shared", "words", "tail", "meaning"]
    high = fuse(KEYWORD, VECTOR, "rrf")
    assert sorted(high, key=high.__getitem__, reverse=True)[:2] == ["shared", "meaning"]
    assert high["shared"] == pytest.approx(1 / (RRF_K + 1))


def test_convex_scales_both_rankings_to_one() -> None:
    merged = fuse(KEYWORD, VECTOR, "convex")
    assert merged["shared"] == pytest.approx(1.0)
    assert merged["words"] == pytest.approx(0.5 / 3)
    assert merged["meaning"] == 0.0


def test_equal_scores_of_one_ranking_all_count_in_full() -> None:
    assert fuse({"a": 2.0, "b": 2.0}, {"c": 1.0}, "convex") == {"a": 0.5, "b": 0.5, "c": 0.5}


@pytest.mark.parametrize("method", ["convex", "rrf"])
def test_one_ranking_alone_stands_as_it_is(method: str) -> None:
    assert fuse(KEYWORD, {}, method) == KEYWORD  # type: ignore[arg-type]
    assert fuse({}, VECTOR, method) == VECTOR  # type: ignore[arg-type]
