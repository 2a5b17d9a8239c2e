"""Terms in any language: what a text yields and what a query weighs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme_store.text.tokenize import Tokenizer, fold

TOKENIZER = Tokenizer()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("get_user_id()", ["get_user_id", "get", "user", "id"]),
        ("node.js", ["node.js", "node", "js"]),
        ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
        ("src/app/main.py", ["src/app/main.py", "src", "app", "main", "py"]),
        ("getUserId", ["getuserid", "get", "user", "id"]),
        ("foo_bar2", ["foo_bar2", "foo", "bar2"]),
        ("iphone15 9999 元", ["iphone15", "9999", "元"]),
        ("C++ C# R", ["c++", "c", "c#", "c", "r"]),
    ],
)
def test_identifiers_yield_themselves_and_their_parts(text: str, terms: list[str]) -> None:
    assert TOKENIZER.tokenize(text) == terms


def test_one_letter_words_count() -> None:
    assert TOKENIZER.tokenize("I use R") == ["i", "use", "r"]


@pytest.mark.parametrize(("text", "same"), [("ＩＰＸ ＡＢＣ１２３", "ipx abc123"), ("Café Zürich", "cafe zurich")])
def test_width_case_and_accents_do_not_matter(text: str, same: str) -> None:
    assert TOKENIZER.tokenize(text) == TOKENIZER.tokenize(same)


def test_voiced_kana_and_hangul_keep_their_marks() -> None:
    assert fold("ガ") != fold("カ")
    assert TOKENIZER.tokenize("게임") == ["게임", "게", "임"]


def test_unspaced_scripts_yield_pairs_and_singles() -> None:
    assert TOKENIZER.tokenize("数据库") == ["数据", "据库", "数", "据", "库"]
    assert TOKENIZER.tokenize("しり") == ["しり", "し", "り"]


def test_rare_ideographs_and_emoji_are_terms() -> None:
    assert TOKENIZER.tokenize("𠮷野 㐂 🚀") == ["𠮷野", "𠮷", "野", "㐂", "🚀"]


def test_punctuation_is_no_term() -> None:
    assert TOKENIZER.tokenize("，。！ --- ,.; () [] ' _") == []


def test_english_words_are_stemmed() -> None:
    assert TOKENIZER.tokenize("Running runs Caroline's") == ["run", "run", "carolin"]


def test_typographic_apostrophe_is_the_plain_one() -> None:
    assert TOKENIZER.tokenize("don’t") == TOKENIZER.tokenize("don't")


def test_stop_words_weigh_less_and_stay_findable() -> None:
    weights = TOKENIZER.query_weights("the otter of 我们")
    assert 0 < weights["the"] < weights["otter"] == 1.0
    assert 0 < weights["我们"] < 1.0


def test_single_characters_weigh_less_beside_their_pair() -> None:
    weights = TOKENIZER.query_weights("悬空")
    assert weights["悬空"] == 1.0
    assert 0 < weights["悬"] < 1.0
    assert TOKENIZER.query_weights("悬")["悬"] == 1.0


def test_fingerprint_is_the_same_for_every_instance() -> None:
    assert Tokenizer().fingerprint == TOKENIZER.fingerprint


def test_an_endless_word_is_cut_alike_on_both_sides() -> None:
    assert TOKENIZER.tokenize("x" * 5_000) == TOKENIZER.tokenize("x" * 9_000)
    assert len(TOKENIZER.tokenize("x" * 5_000)[0]) < 200


@given(st.text(max_size=200))
def test_terms_are_never_empty_and_case_never_matters_for_ascii(text: str) -> None:
    assert all(TOKENIZER.tokenize(text))
    ascii_text = "".join(char for char in text if char.isascii() and not char.isupper())
    assert set(TOKENIZER.tokenize(ascii_text)) <= set(TOKENIZER.tokenize(ascii_text.upper())) | set(
        TOKENIZER.tokenize(ascii_text)
    )


@given(st.text(max_size=200), st.text(max_size=200))
def test_texts_apart_yield_the_terms_of_both(left: str, right: str) -> None:
    assert TOKENIZER.tokenize(f"{left}\n{right}") == TOKENIZER.tokenize(left) + TOKENIZER.tokenize(right)
