"""Which terms do many texts have, how often, as arrays? The terms of ``text.tokenize``, counted a batch at a time.

A term is named by 64 bits. A character of an unspaced script, and a pair of them, is named by its code points, so that
no text is made of it; any other term by a digest. Words are looked up once and are numbers from then on.
"""

import threading
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reme_store.text.tokenize import Tokenizer, is_unspaced, split_tokens, title_term

_TITLE = "="
"""Begins the term of a title, and no word."""
_CHAR_BITS = 18
"""Characters of unspaced scripts end below U+40000."""
_DOC_BITS, _WEIGHT_BITS = 22, 6
_MAX_DOCS = 1 << _DOC_BITS
_KNOWN_WORDS = 300_000
_64_BITS = (1 << 64) - 1


class Weighted(NamedTuple):
    """One of the texts by which a document is found."""

    text: str
    weight: int
    """How often it counts, 63 at most."""
    is_title: bool = False
    """Whether the text is one term as a whole."""


@dataclass(frozen=True, slots=True)
class TermCounts:
    """What a batch of documents holds, as columns; postings ascend by term, then document.

    ``terms`` uint64[t] sorted; ``sizes`` int64[t] postings of each; ``docs`` int64[p]; ``counts`` int64[p]; ``lengths``
    int64[d] terms of each document.
    """

    terms: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    docs: NDArray[np.int64]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]


def term_hash(term: str) -> int:
    """Name a term by 64 bits that are the same in every process."""
    if len(term) <= 2 and is_unspaced(term):
        code = ord(term) if len(term) == 1 else ord(term[0]) << _CHAR_BITS | ord(term[1])
        return _mix(code)
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class TermCounter:
    """Counts the terms of documents; safe to share between threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._words = _Words(tokenizer)
        self._lock = threading.Lock()

    def count(self, documents: Sequence[Sequence[Weighted]]) -> TermCounts:
        """Count the terms of each document.

        Raises:
            OverflowError: there are more documents than a batch can number.
        """
        if len(documents) > _MAX_DOCS:
            raise OverflowError(f"a batch has {len(documents)} documents; {_MAX_DOCS} can be numbered")
        reader = _Reader()
        for number, texts in enumerate(documents):
            for text in texts:
                reader.read(text, number << _WEIGHT_BITS | text.weight)
        with self._lock:
            word_groups = self._words.groups(reader)
        return _joined([word_groups, reader.run_groups()], len(documents))


class _Reader:
    """The words and the runs of unspaced characters of a batch, each with its document and weight as one tag."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.tags: list[int] = []
        self.sizes: list[int] = []
        self._runs: list[str] = []
        self._run_tags: list[int] = []

    def read(self, text: Weighted, tag: int) -> None:
        """Take the terms of one text."""
        words, run = ([title_term(text.text)], "") if text.is_title else split_tokens(text.text)
        self.words += words
        self.tags.append(tag)
        self.sizes.append(len(words))
        if run:
            self._runs.append(run)
            self._run_tags.append(tag)

    def run_groups(self) -> "_Groups":
        """Count single characters and pairs."""
        sizes = np.array([len(run) + 1 for run in self._runs], dtype=np.int64)
        text = "\0".join([*self._runs, ""])
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
        tags = np.repeat(np.array(self._run_tags, dtype=np.uint64), sizes)
        real = codes != 0
        paired = real[:-1] & real[1:]
        pairs = codes[:-1][paired] << np.uint64(_CHAR_BITS) | codes[1:][paired]
        ids, postings = _counted(np.concatenate([codes[real], pairs]), np.concatenate([tags[real], tags[:-1][paired]]))
        return _Groups(_mixed(ids), *postings)


class _Words:
    """Numbers words as they are met, and knows the terms each of them stands for."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._numbers: dict[str, int] = {}
        self._terms: dict[str, int] = {}
        self._hashes = array("Q")
        self._starts = array("q", [0])
        self._expansions = array("q")

    def _learn(self, words: Iterable[str]) -> None:
        fresh = list(set(words).difference(self._numbers))
        plain = [word for word in fresh if word[0] != _TITLE]
        titles = [word for word in fresh if word[0] == _TITLE]
        for word, terms in chain(zip(plain, self._tokenizer.expand(plain), strict=True), ((t, (t,)) for t in titles)):
            self._numbers[word] = len(self._starts) - 1
            self._expansions.extend(map(self._number, terms))
            self._starts.append(len(self._expansions))

    def _number(self, term: str) -> int:
        known = self._terms.get(term)
        if known is None:
            known = self._terms[term] = len(self._hashes)
            self._hashes.append(term_hash(term))
        return known

    def groups(self, reader: _Reader) -> "_Groups":
        """Count the terms that the words of a batch stand for."""
        self._learn(reader.words)
        words = np.fromiter(map(self._numbers.__getitem__, reader.words), dtype=np.int64, count=len(reader.words))
        tags = np.repeat(np.array(reader.tags, dtype=np.uint64), reader.sizes)
        starts = np.array(self._starts, dtype=np.int64)
        sizes = np.diff(starts)[words]
        flat = np.repeat(starts[words] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        ids = np.array(self._expansions, dtype=np.uint64)[flat]
        distinct, postings = _counted(ids, np.repeat(tags, sizes))
        groups = _Groups(np.array(self._hashes, dtype=np.uint64)[distinct.astype(np.int64)], *postings)
        if len(self._numbers) > _KNOWN_WORDS:
            self._forget()
        return groups

    def _forget(self) -> None:
        self._numbers.clear()
        self._terms.clear()
        self._hashes, self._starts, self._expansions = array("Q"), array("q", [0]), array("q")


@dataclass(frozen=True, slots=True)
class _Groups:
    """Postings grouped by term, the groups in any order."""

    terms: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    docs: NDArray[np.int64]
    counts: NDArray[np.int64]


def _counted(
    ids: NDArray[np.uint64], tags: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Group occurrences by id and document; return the ids ascending, and sizes, documents and counts of the groups."""
    if not len(ids):
        empty = np.zeros(0, dtype=np.int64)
        return np.zeros(0, dtype=np.uint64), (empty, empty, empty)
    bits = np.uint64(_DOC_BITS + _WEIGHT_BITS)
    packed = np.sort(ids << bits | tags)  # sorting whole numbers is ten times as fast as sorting an order of them
    keys = packed >> np.uint64(_WEIGHT_BITS)
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    counts = np.add.reduceat((packed & np.uint64((1 << _WEIGHT_BITS) - 1)).astype(np.int64), first)
    keys = keys[first]
    docs = (keys & np.uint64(_MAX_DOCS - 1)).astype(np.int64)
    found = keys >> np.uint64(_DOC_BITS)
    starts = np.flatnonzero(np.concatenate([[True], found[1:] != found[:-1]]))
    return found[starts], (np.diff(np.append(starts, len(found))), docs, counts)


def _joined(groups: Sequence[_Groups], n_docs: int) -> TermCounts:
    """Put groups in the order of their terms."""
    terms, sizes, docs, counts = (
        np.concatenate([getattr(group, name) for group in groups]) for name in ("terms", "sizes", "docs", "counts")
    )
    order = np.argsort(terms, kind="stable")
    starts = (np.cumsum(sizes) - sizes)[order]
    sizes = sizes[order]
    places = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(docs))
    lengths = np.bincount(docs, weights=counts, minlength=n_docs).astype(np.int64)
    return TermCounts(terms[order], sizes, docs[places], counts[places], lengths)


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread numbers over 64 bits, different ones to different places (the finish of SplitMix64)."""
    codes = codes + np.uint64(0x9E3779B97F4A7C15)
    codes = (codes ^ codes >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ codes >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return codes ^ codes >> np.uint64(31)


def _mix(code: int) -> int:
    """Do the same with one number."""
    code = (code + 0x9E3779B97F4A7C15) & _64_BITS
    code = ((code ^ code >> 30) * 0xBF58476D1CE4E5B9) & _64_BITS
    code = ((code ^ code >> 27) * 0x94D049BB133111EB) & _64_BITS
    return code ^ code >> 31
