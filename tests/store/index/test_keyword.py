"""BM25 over segments: exact scores, whatever the history."""

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store.index import keyword
from reme_store.index.keyword import KeywordView, Postings
from reme_store.text.term_counts import TermCounter, Weighted
from reme_store.text.tokenize import Tokenizer
from tests.support.notes import naive_scores

WORDS = ["plum", "melon", "kiwi", "mango", "lemon", "fig"]
"""Words that are their own stems."""


def view_of(*documents: str, k1: float = 1.2, b: float = 0.75) -> KeywordView:
    return KeywordView([(postings_of(*documents), None)], k1=k1, b=b)


def postings_of(*documents: str) -> Postings:
    return Postings.build(TermCounter(Tokenizer()).count([[Weighted(document, 1)] for document in documents]))


def scores(view: KeywordView, query: str) -> list[float]:
    return np.concatenate(view.scores(dict.fromkeys(query.split(), 1.0))).tolist()


def test_known_scores_of_plain_words() -> None:
    view = view_of("plum melon plum", "plum kiwi", "mango", k1=1.5)
    assert scores(view, "plum") == pytest.approx([0.578466, 0.470004, 0.0], abs=1e-6)


def test_a_repeated_query_word_counts_once_and_unknown_words_nothing() -> None:
    view = view_of("plum melon", "kiwi")
    assert scores(view, "plum plum") == scores(view, "plum")
    assert scores(view, "nothing") == [0.0, 0.0]
    assert scores(view, "") == [0.0, 0.0]


def test_more_occurrences_rarer_words_and_shorter_documents_win() -> None:
    low, middle, high = scores(view_of("fig a b c", "fig fig a b", "fig fig fig a", "x"), "fig")[:3]
    assert low < middle < high
    common, rare = scores(view_of("fig fig", "plum plum", "fig lemon", "fig mango"), "plum fig")[:2]
    assert common < rare
    short, long = scores(view_of("fig", "fig a b c d e", "x"), "fig")[:2]
    assert short > long


def test_dead_documents_count_neither_in_scores_nor_in_df_and_average() -> None:
    postings = postings_of("plum melon plum", "plum plum kiwi mango lemon", "plum kiwi", "mango")
    alive = np.array([True, False, True, True])
    left = KeywordView([(postings, alive)], k1=1.2, b=0.75)
    right = view_of("plum melon plum", "plum kiwi", "mango")
    assert [score for score, lives in zip(scores(left, "plum kiwi"), alive, strict=True) if lives] == scores(
        right, "plum kiwi"
    )
    assert scores(left, "plum")[1] == 0.0
    assert (left.n_docs, left.average_length) == (3, 2.0)
    assert left.vocabulary_size() == right.vocabulary_size()


def test_scores_equal_those_of_bm25s() -> None:
    rng = np.random.default_rng(5)
    documents = [[WORDS[n] for n in rng.zipf(1.6, size=rng.integers(1, 30)) % len(WORDS)] for _ in range(60)]
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index(documents, show_progress=False)
    ours = view_of(*(" ".join(document) for document in documents))
    for query in (["plum"], ["melon", "fig"], WORDS):
        # Lucene's form leaves out the constant factor k1 + 1
        expected = theirs.get_scores(query) * (1.2 + 1)
        assert scores(ours, " ".join(query)) == pytest.approx(expected.tolist(), rel=1e-5)


DOCUMENT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


@settings(max_examples=80)
@given(st.lists(st.tuples(DOCUMENT, st.booleans()), min_size=1, max_size=12), st.integers(0, 12), DOCUMENT)
def test_segments_and_tombstones_score_like_a_naive_scorer(
    documents: list[tuple[list[str], bool]], cut: int, query: list[str]
) -> None:
    groups = [group for group in (documents[:cut], documents[cut:]) if group]
    view = KeywordView(
        [
            (postings_of(*(" ".join(words) for words, _ in group)), np.array([alive for _, alive in group]))
            for group in groups
        ]
    )
    live = {str(n): words for n, (words, alive) in enumerate(documents) if alive}
    expected = naive_scores(live, dict.fromkeys(query, 1.0)) if live else {}
    got = scores(view, " ".join(query))
    assert got == pytest.approx([expected.get(str(n), 0.0) for n in range(len(documents))])


@settings(max_examples=60)
@given(st.lists(st.tuples(DOCUMENT, st.integers(-1, 0)), min_size=1, max_size=10), st.integers(1, 9), st.integers(1, 9))
def test_merged_postings_equal_postings_built_at_once(
    documents: list[tuple[list[str], int]], cut: int, slices: int
) -> None:
    kept = [words for words, fate in documents if fate >= 0]
    moved = np.full(len(documents), -1, dtype=np.int64)
    moved[[n for n, (_, fate) in enumerate(documents) if fate >= 0]] = np.arange(len(kept))
    groups = [(documents[:cut], moved[:cut]), (documents[cut:], moved[cut:])]
    parts = [(postings_of(*(" ".join(words) for words, _ in group)), fate) for group, fate in groups]
    keyword._SLICE_POSTINGS, before = slices, keyword._SLICE_POSTINGS
    merged = Postings.merge(parts, len(kept)).arrays()
    keyword._SLICE_POSTINGS = before
    at_once = postings_of(*(" ".join(words) for words in kept)).arrays()
    for name, array in at_once.items():
        assert np.array_equal(merged[name], array), name
