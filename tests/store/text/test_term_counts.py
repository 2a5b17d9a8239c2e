"""Counting terms a batch at a time finds what the tokenizer finds."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reme_store.text import term_counts
from reme_store.text.term_counts import TermCounter, Weighted, term_hash
from reme_store.text.tokenize import Tokenizer, title_term

TOKENIZER = Tokenizer()
SIGNS = "aBz19_+#./-'’ \n数据ひカ한ไ，。🚀ℵ①ＡéÉ\\λ\u0301"
TEXT = st.text(alphabet=SIGNS, max_size=30) | st.text(alphabet="aB1_+#./-' 数\n", max_size=12) | st.text(max_size=20)


def counts_of(counter: TermCounter, documents: list[list[Weighted]]) -> list[Counter[int]]:
    counted = counter.count(documents)
    found: list[Counter[int]] = [Counter() for _ in documents]
    terms = np.repeat(counted.terms, counted.sizes).tolist()
    for term, document, count in zip(terms, counted.docs.tolist(), counted.counts.tolist(), strict=True):
        found[document][term] = count
    assert counted.lengths.tolist() == [each.total() for each in found]
    assert counted.terms.tolist() == sorted(set(terms))
    return found


@settings(max_examples=300)
@given(st.lists(TEXT, max_size=8))
@example(["1\\\\", "a.-b", "x_/", "a\\b."])
def test_every_text_has_the_terms_of_the_tokenizer(texts: list[str]) -> None:
    expected = [Counter(map(term_hash, TOKENIZER.tokenize(text))) for text in texts]
    assert counts_of(TermCounter(TOKENIZER), [[Weighted(text, 1)] for text in texts]) == expected


def test_texts_of_a_document_add_up_by_their_weight() -> None:
    [found] = counts_of(TermCounter(TOKENIZER), [[Weighted("plum 数据", 3), Weighted("plum", 1)]])
    assert found == {term_hash("plum"): 4, term_hash("数据"): 3, term_hash("数"): 3, term_hash("据"): 3}


def test_a_title_is_one_term_and_no_text_can_pass_for_one() -> None:
    title, text = counts_of(TermCounter(TOKENIZER), [[Weighted("Plum 数据", 4, is_title=True)], [Weighted("=plum", 1)]])
    assert title == {term_hash(title_term("plum 数据")): 4}
    assert text == {term_hash("plum"): 1}


def test_words_are_counted_alike_after_the_known_ones_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_counts, "_KNOWN_WORDS", 1)
    counter = TermCounter(TOKENIZER)
    first = counts_of(counter, [[Weighted("plum fig get_id", 1)]])
    assert counts_of(counter, [[Weighted("kiwi", 1)], [Weighted("plum fig get_id", 1)]])[1:] == first
