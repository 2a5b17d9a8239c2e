"""Which terms does a text have, in any language, and how much does each weigh in a query?

Both sides fold alike: NFKC, case, and the accents of Latin and Greek letters. A word yields its English stem; an
identifier (``get_user_id``, ``node.js``, ``getUserId``, ``src/app/main.py``) itself and its parts; a run of a script
written without spaces its overlapping pairs and its single characters, so that a contiguous word beats scattered
characters; an emoji or pictograph itself. Nothing is dropped for being frequent or short: stop words only weigh less
in a query. Punctuation is no term.
"""

import hashlib
import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from operator import add

import Stemmer

_FORM = 2
"""Raised whenever the terms of some text change, so that an index of the old form is never read."""

MAX_WORD = 128
"""Characters of a word that make its term; what is longer is no word, and both sides cut alike."""

_MAX_TITLE = 200
_CACHE_WORDS = 200_000

_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_TOKEN = re.compile(
    f"[{_UNSPACED}]+"
    rf"|{_LETTER}+\+\+"  # C++
    rf"|(?<![^\W_])(?!\d){_LETTER}#(?![\w#])"  # C#
    rf"|_*{_LETTER}+(?:(?:_+|[./\\'’-]){_LETTER}+)*_*"
    "|[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_JOINT = r"(?:_++|[./\\'’-])"


def _words(letter: str, sharp: str) -> re.Pattern[str]:
    """Return what finds the words of ``_TOKEN`` where they consist of such letters.

    No possessive group: before Python 3.11.5 one keeps what a failed repetition had read.
    """
    rest = rf"(?:{_JOINT}{letter}++)*_*"
    return re.compile(rf"{sharp}{letter}++(?:\+\+|{rest})|_++{letter}++{rest}")


_ASCII = "[0-9A-Za-z]"
_SHARP = r"(?<![^\W_])[A-Za-z]#(?![\w#])|"
_ASCII_WORD = _words(_ASCII, "")
_ASCII_WORD_OR_SHARP = _words(_ASCII, _SHARP)
_AFTER_SHARP = re.compile(r"#(?<=[A-Za-z]#)(?![\w#])")
_RUN = re.compile(f"[{_UNSPACED}]+")
_LOUD = re.compile(f"[^\x00-\x7f{_UNSPACED}\u2010-\u2027\u2030-\u205e\u3001-\u3004\u3008-\u301c]")
"""Beside these a text has words of ASCII letters and runs of unspaced characters only."""
_FIRST_PAIRED = _UNSPACED[0]
_PAIRED = re.compile(f"[{_UNSPACED}]")
_PAIR = re.compile(f"[{_UNSPACED}]{{2}}")
_PLAIN = re.compile(f"[A-Z]?[a-z]{{2,{MAX_WORD - 1}}}")
"""A word whose stem is all it yields."""
_PARTS = re.compile(r"[^\W_]+")
_TITLE_WORDS = re.compile(r"\w+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CONTRACTION = re.compile(r"[a-z]+'(?:s|t|d|m|ll|re|ve)")
_ACCENTED = re.compile("[\u00c0-\u024f\u0300-\u036f\u0370-\u03ff\u0401\u0451\u1e00-\u1fff]+")

_STOP_TEXT = """
a about after all also am an and any are as at be been before being but by can could did do does doing for from had has
have he her here hers him his how i if in into is it its just me more most my no nor not of on only or other our out
over own same she should so some such than that the their them then there these they this those to too up us very was
we were what when where which while who whom whose why will with would you your yours
的 了 是 我 在 有 和 就 不 人 都 一 上 也 很 到 说 要 去 你 会 着 看 好 这 那 他 她 它 们 个 与 及 或 而 但 被 把 对 从
为 之 其 吗 呢 吧 啊 什 么 怎 哪 谁 我们 你们 他们 她们 它们 这个 那个 这些 那些 什么 怎么 怎样 为什 哪些
哪个 可以 因为 所以 如果 但是 没有 一个 一下
の は に を が と で も し た て な れ る か さ い こ そ あ
은 는 이 가 을 를 의 에 도 로
"""
_STOP_WORDS = tuple(_STOP_TEXT.split())


def fold(text: str) -> str:
    """Bring a text into the form in which terms are compared: NFKC, casefolded, Latin and Greek without accents."""
    folded = unicodedata.normalize("NFKC", text).casefold() if not text.isascii() else text.lower()
    return folded if folded.isascii() else _ACCENTED.sub(_bare, folded)


def _bare(match: re.Match[str]) -> str:
    decomposed = unicodedata.normalize("NFD", match[0])
    return "".join(char for char in decomposed if not unicodedata.combining(char))


class Tokenizer:
    """Turns text into terms; safe to share between threads."""

    stop_weight = 0.15
    """What a stop word counts in a query, against 1 of any other term."""
    title_weight = 4.0
    """What it counts when a query is, word for word, the title of a note."""
    single_weight = 0.4
    """What a single character counts in a query that also holds its pairs."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._lock = threading.Lock()
        self._cache: dict[str, tuple[str, ...]] = {}
        self._stop = frozenset(self.tokenize(" ".join(_STOP_WORDS)))
        self.fingerprint = self._fingerprint()

    def _fingerprint(self) -> str:
        """Name everything the terms depend on; another fingerprint means another index."""
        parts = [str(_FORM), Stemmer.version(), unicodedata.unidata_version, _TOKEN.pattern, *_STOP_WORDS]
        return "regex-" + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def tokenize(self, text: str) -> list[str]:
        """Return the terms in the order of the text, repeated as often as they occur."""
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text)
        terms: list[str] = []
        cache = self._cache
        for token in _TOKEN.findall(text):
            known = cache.get(token)
            if known is not None:
                terms += known
            elif token[0] >= _FIRST_PAIRED and _PAIRED.match(token):
                terms += pair_terms(token)
            else:
                terms += self._remember(token)
        return terms

    def expand(self, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the terms of each word, which holds no run of unspaced characters."""
        plain = [word.lower() if _PLAIN.fullmatch(word) else "" for word in words]
        with self._lock:
            stems = self._stemmer.stemWords(plain)
        for word, stem in zip(words, stems, strict=True):
            yield (stem,) if stem else tuple(self._expand(word[:MAX_WORD]))

    def _remember(self, word: str) -> tuple[str, ...]:
        expanded = tuple(self._expand(word[:MAX_WORD]))
        if len(word) <= MAX_WORD:
            with self._lock:
                if len(self._cache) >= _CACHE_WORDS:
                    self._cache.clear()
                self._cache[word] = expanded
        return expanded

    def _expand(self, word: str) -> list[str]:
        """Return what one word stands for: its stem, or the identifier as a whole and the stems of its parts."""
        if word.isalpha() and (word.islower() or word.istitle() or word.isupper()):
            return [self._stem(fold(word))]
        whole = fold(word).replace("’", "'").strip("_")
        if _CONTRACTION.fullmatch(whole):
            return [self._stem(whole)]
        parts = [fold(piece) for part in _PARTS.findall(word) for piece in _CAMEL.split(part)]
        if parts == [whole]:
            return [self._stem(whole)]
        stems = [self._stem(part) for part in parts]
        return [whole, *(stem for stem in stems if stem != whole)]

    def _stem(self, word: str) -> str:
        if len(word) < 3 or not word.isascii():
            return word
        with self._lock:
            return str(self._stemmer.stemWord(word))

    def query_weights(self, text: str) -> dict[str, float]:
        """Return each distinct term of a query with its weight: full, or less for a stop word or a lone character."""
        terms = self.tokenize(text)
        paired = {char for term in terms if _is_pair(term) for char in term}
        weights = {term: self._weight(term, paired) for term in terms}
        return {**weights, title_term(text): self.title_weight} if weights else {}

    def _weight(self, term: str, paired: Iterable[str]) -> float:
        if term in self._stop:
            return self.stop_weight
        return self.single_weight if term in paired else 1.0


def title_term(text: str) -> str:
    """Return the one term that stands for a whole title; no word yields such a term."""
    return "=" + " ".join(_TITLE_WORDS.findall(fold(text[:_MAX_TITLE])))


def pair_terms(run: str) -> list[str]:
    """Return the overlapping pairs of a run of characters and its single characters."""
    return [*map(add, run, run[1:]), *run]


def split_tokens(text: str) -> tuple[list[str], str]:
    """Return the words of a text, and its runs of unspaced characters with ``\\0`` between them."""
    if text.isascii():
        return _ascii_words(text), ""
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    if _LOUD.search(text) is None:
        return _ascii_words(text), "\0".join(_RUN.findall(text))
    tokens = _TOKEN.findall(text)
    runs = [token for token in tokens if token[0] >= _FIRST_PAIRED and _PAIRED.match(token)]
    return ([token for token in tokens if not is_unspaced(token[0])] if runs else tokens), "\0".join(runs)


def _ascii_words(text: str) -> list[str]:
    sharp = "#" in text and _AFTER_SHARP.search(text)
    return (_ASCII_WORD_OR_SHARP if sharp else _ASCII_WORD).findall(text)


def is_unspaced(text: str) -> bool:
    """Whether a text is characters of scripts written without spaces, and nothing else."""
    return _RUN.fullmatch(text) is not None


def _is_pair(term: str) -> bool:
    return _PAIR.fullmatch(term) is not None
