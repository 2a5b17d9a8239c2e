"""Which words of a sentence carry its meaning, and how are they shown?

A term is what is compared (stem of a Latin word, pair of CJK letters); a phrase is what is shown (``billing service``,
``龙井绿茶``). Pure and deterministic.
"""

import math
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import Stemmer

from reme_graphs.offline import words

_STOP = frozenset((words.STOP + words.OTHER_LATIN).split())
_GENERAL = frozenset(words.GENERAL.split())
_NOT_QUALITY = frozenset(words.NOT_QUALITY.split())
_DETERMINERS = frozenset(words.DETERMINERS.split())


def _alternatives(listed: str) -> str:
    return "|".join(map(re.escape, sorted(listed.split(), key=lambda word: (-len(word), word))))


_ZH_PIECES = re.compile(
    f"(?P<word>{_alternatives(words.ZH_WORDS)})|"
    f"(?P<stop>{_alternatives(words.ZH_STOP + words.JA_KO_STOP)})|(?P<letter>.)",
    re.DOTALL,
)
_LIGHT_FIRST = "号个加条台份秒超再应按把被为以第步次天年月日一二三四五六七八九十两"
_LIGHT_LAST = "第加到成为出上下中里的了时用要就才过着在是和与先一二三四五六七八九十两"
_SPACED = r"(?![\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
_WORD = re.compile(
    rf"[A-Za-zÀ-ɏΑ-ωЀ-ӿ](?:{_SPACED}[\w.+#/-])*{_SPACED}[\w+#]|[A-Za-zÀ-ɏΑ-ωЀ-ӿ]|[\u3400-\u9fff]+|"
    rf"[\u3040-\u30ff\uac00-\ud7af]+|\d(?:{_SPACED}[\w.:-])*{_SPACED}\w|\d"
)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NUMBER = re.compile(r"[\d.,:/-]+(?:st|nd|rd|th|am|pm|%)?", re.IGNORECASE)
_QUALITY = re.compile(r"(?:ly|ous|ful|ed|less|able|ible|est)$|n't$|^(?:re|un)\\w+ed$")
_STEMMERS = threading.local()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Stem of a lower-case Latin word (Snowball English)."""
    if not hasattr(_STEMMERS, "english"):
        _STEMMERS.english = Stemmer.Stemmer("english")
    return str(_STEMMERS.english.stemWord(word))


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """Terms of a text in order, stop words left out; CJK runs give their pairs."""
    found: list[str] = []
    for surface in _surfaces(text):
        if _HAN.match(surface):
            found += [surface[i : i + 2] for i in range(len(surface) - 1)] or [surface]
        else:
            found.append(stem(surface.lower()))
    return tuple(found)


@lru_cache(maxsize=16384)
def themes(text: str) -> tuple[str, ...]:
    """Terms that can be what a text is about: no numbers, no words that fit any talk."""
    return note_themes(text)


def note_themes(text: str) -> tuple[str, ...]:
    """The themes of a whole note, which is too long to be kept in a cache."""
    found: list[str] = []
    for surface in _surfaces(text):
        if _HAN.match(surface):
            found += _pairs(surface) or (surface,)
        elif _tells(surface) and not _NUMBER.fullmatch(surface):
            found.append(stem(surface.lower()))
    return tuple(found)


def key_phrases(texts: Iterable[str], limit: int, *, without: Iterable[str] = ()) -> list[str]:
    """Phrases that name what the texts share, best first; pairs of neighbouring words win over their parts.

    Args:
        texts: sentences, the most important first.
        limit: most phrases to return.
        without: words that shall not occur (a speaker's name that stands before them anyway).
    """
    rows = list(texts)
    banned = {stem(word.lower()) for word in without}
    shared = _shared_runs(rows)
    shown: dict[tuple[str, ...], Counter[str]] = {}
    weight: Counter[tuple[str, ...]] = Counter()
    for place, text in enumerate(rows):
        seen: set[tuple[str, ...]] = set()
        for key, surface, bonus in _candidates(text, shared):
            if banned & set(key):
                continue
            shown.setdefault(key, Counter())[surface] += 1
            if key not in seen:
                weight[key] += round((1.0 + bonus) * (1.2 if place == 0 else 1.0) * 100)
                seen.add(key)
    return _best(weight, shown, limit)


def _best(
    weight: Mapping[tuple[str, ...], int], shown: Mapping[tuple[str, ...], Counter[str]], limit: int
) -> list[str]:
    """Shown forms of the heaviest keys that share no term; first met first among equals."""
    chosen: list[str] = []
    used: set[str] = set()
    for key in sorted(weight, key=lambda key: -weight[key]):
        if len(chosen) < limit and not used & set(key):
            chosen.append(max(shown[key], key=lambda form: (shown[key][form], form.islower(), form)))
            used |= set(key)
    return chosen


def _candidates(text: str, shared: Collection[str]) -> Iterable[tuple[tuple[str, ...], str, float]]:
    """Single phrases and pairs of neighbours, as (stems, shown form, bonus)."""
    tokens = list(_spans(text))
    for number, (surface, start, end) in enumerate(tokens):
        early = 0.3 * (1 - number / len(tokens))
        if _HAN.match(surface):
            for run in _han_phrases(surface, shared):
                yield _pairs(run), run, early + 0.15 * min(len(run), 6) - 0.3
            continue
        name = surface[0].isupper() and start > 0
        before = text[:start].split()
        bonus = early + 0.3 * name + 0.35 * bool(before and before[-1].lower() in _DETERMINERS)
        yield (stem(surface.lower()),), surface if name or surface.isupper() else surface.lower(), bonus
        if number + 1 < len(tokens):
            other, other_start, other_end = tokens[number + 1]
            if text[end:other_start] in (" ", "-") and not _HAN.match(other):
                pair = text[start:other_end]
                both = bonus + 0.35 + 0.3 * (name and other[0].isupper())
                yield (stem(surface.lower()), stem(other.lower())), pair if name else pair.lower(), both


def _shared_runs(texts: Sequence[str]) -> frozenset[str]:
    """CJK strings of 2 to 8 letters that occur in more than one text: most of them are words."""
    counts: Counter[str] = Counter()
    for text in texts:
        runs = {run for run in _surfaces(text) if _HAN.match(run)}
        counts.update({run[i : i + n] for run in runs for n in range(2, 9) for i in range(len(run) - n + 1)})
    return frozenset(run for run, count in counts.items() if count > 1)


def _han_phrases(run: str, shared: Collection[str]) -> Iterable[str]:
    """The longest shared string inside a run, and the run itself when it is short enough to be a word."""
    inside = [
        run[i : i + n]
        for n in range(min(8, len(run)), 1, -1)
        for i in range(len(run) - n + 1)
        if run[i : i + n] in shared
    ]
    whole = run.lstrip(_LIGHT_FIRST).rstrip(_LIGHT_LAST)
    found = [kept] if inside and len(kept := inside[0].lstrip(_LIGHT_FIRST).rstrip(_LIGHT_LAST)) > 1 else []
    if 2 <= len(whole) <= 6 and whole not in found:
        found.append(whole)
    return found


def _pairs(surface: str) -> tuple[str, ...]:
    return tuple(surface[i : i + 2] for i in range(len(surface) - 1))


def _spans(text: str) -> Iterable[tuple[str, int, int]]:
    """Telling surfaces with their place in the text."""
    place = 0
    for surface in _surfaces(text):
        start = text.find(surface, place)
        if start < 0 or _NUMBER.fullmatch(surface):
            continue
        place = start + len(surface)
        if len(surface) > 1 if _HAN.match(surface) else _tells(surface):
            yield surface, start, place


def overlap(left: Iterable[str], right: Iterable[str], weights: Mapping[str, float] | None = None) -> float:
    """Weighted share of the smaller set that both sets hold, from 0 to 1."""
    first, second = set(left), set(right)
    if not first or not second:
        return 0.0

    def total(found: set[str]) -> float:
        return sum(weights.get(term, 1.0) if weights else 1.0 for term in found)

    return total(first & second) / min(total(first), total(second))


def rarity(texts: Iterable[Iterable[str]]) -> dict[str, float]:
    """Weight of a term by how few of the texts hold it (smoothed inverse document frequency, at least 1)."""
    rows = [set(row) for row in texts]
    counts = Counter(term for row in rows for term in row)
    return {term: 1.0 + math.log((1 + len(rows)) / (1 + count)) for term, count in counts.items()}


def _surfaces(text: str) -> Iterable[str]:
    for match in _WORD.finditer(re.sub(r"https?://\S+|\[\[|\]\]", " ", text.replace("’", "'"))):
        word = match.group()
        if _HAN.match(word):
            yield from _runs(word)
        elif word.lower() not in _STOP and not re.fullmatch(r"[A-Za-z]", word):
            yield word.rstrip("./-")


def _runs(word: str) -> Iterator[str]:
    """Runs of a CJK text between its stop words."""
    run = ""
    for match in _ZH_PIECES.finditer(word):
        if match.lastgroup != "stop":
            run += match.group()
        elif run:
            yield run
            run = ""
    if run:
        yield run


def _tells(surface: str) -> bool:
    """Tell a word that can name a theme: no general word, no adverb, no participle."""
    if surface.isupper() and len(surface) > 1:
        return surface.lower() not in _STOP
    word = surface.lower()
    if len(word) == 2 and surface[0].isupper() and word not in _STOP:
        return True
    return (
        len(word) > 2 and stem(word) not in _GENERAL_STEMS and not (_QUALITY.search(word) and word not in _NOT_QUALITY)
    )


_GENERAL_STEMS = frozenset(stem(word) for word in _GENERAL | _STOP)
