"""Which text do these bytes hold, and in which encoding?

UTF-8 is the rule; a byte order mark stays part of the text. Anything else is guessed, and what holds no text is None.
"""

from dataclasses import dataclass
from itertools import pairwise

from charset_normalizer import from_bytes

_SAMPLE_BYTES = 64_000
_CONTROL = bytes(set(range(32)) - set(b"\t\n\x0b\x0c\r\x1b"))
_ENOUGH = 0.85
"""Share of the characters beyond ASCII that have to be common ones of an encoding."""


@dataclass(frozen=True, slots=True)
class _EastAsian:
    """Where a two-byte encoding keeps what its language uses most: ranges of lead bytes."""

    encoding: str
    letters: tuple[int, int]
    signs: tuple[int, int]
    trail: int = 0xA1
    """Lowest second byte of its letters."""
    kana: tuple[int, int] | None = None
    """Japanese text has these, or the encoding is not meant."""
    common: frozenset[str] = frozenset()
    """Some of the text's letters are of these, or the encoding is not meant."""


_HANGUL = frozenset(
    "이다는을를가에의고하지한은기사로도인리어나서아그정시자스대수있해라일만보부상전제주과으니와김박서울게"
)
_EAST_ASIAN = (
    _EastAsian("cp949", (0xB0, 0xC8), (0xA1, 0xA3), common=_HANGUL),
    _EastAsian("euc_jp", (0xB0, 0xCF), (0xA1, 0xA3), kana=(0xA4, 0xA5)),
    _EastAsian("cp932", (0x88, 0x97), (0x81, 0x81), trail=0x40, kana=(0x82, 0x83)),
    _EastAsian("gb18030", (0xB0, 0xD7), (0xA1, 0xA3)),
    _EastAsian("big5", (0xA4, 0xC6), (0xA1, 0xA3), trail=0x40),
)
_WESTERN = frozenset("áéíóúñüäößçàèìòùâêîôûëïÿœæåøãõýðþÁÉÍÓÚÑÜÄÖÇÀÈÌÒÙÂÊÎÔÛËÏŒÆÅØÃÕÝÐÞ¿¡«»€£§©®°·½¼×’‘“”„–—…•ªº\xa0")
_CYRILLIC = frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯёЁіІїЇєЄґҐ«»–—…№„“”\xa0")
_ONE_BYTE = (("cp1252", _WESTERN, False), ("cp1251", _CYRILLIC, True))
"""Encodings of one byte, their letters, and whether whole words are written in them."""


_WIDE_LETTERS = (
    ("\u0370", "\u06ff"),
    ("\u2010", "\u203f"),
    ("\u3000", "\u9fff"),
    ("\uac00", "\ud7a3"),
    ("\uff01", "\uffef"),
)
"""Ranges of what is written every day beyond Latin letters."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text and the encoding it was read with."""

    text: str
    encoding: str


def decode_text(data: bytes) -> DecodedText | None:
    """Decode the bytes of a text file; None where they hold no text."""
    wide = _wide_encoding(data)
    if wide:
        return _try(data, wide)
    try:
        return DecodedText(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _guess(data)


def _guess(data: bytes) -> DecodedText | None:
    if _is_binary(data):
        return None
    for script in _EAST_ASIAN:
        decoded = _try(data, script.encoding)
        if decoded is not None and _is_plausible(decoded.text[:_SAMPLE_BYTES], script):
            return decoded
    for encoding, letters, in_words in _ONE_BYTE:
        decoded = _try(data, encoding)
        if decoded is not None and _is_written_in(decoded.text, letters, in_words=in_words):
            return decoded
    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    return _try(data, best.encoding) if best is not None else None


def _wide_encoding(data: bytes) -> str:
    """Return the encoding of two or four bytes a character that the text is in, with or without a mark; else ""."""
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "utf-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    sample = data[:_SAMPLE_BYTES]
    if b"\x00" not in sample or len(data) % 2:
        return ""
    if sample.count(0) * 4 < len(sample) and _try(data, "utf-8") is not None:
        return ""  # text in UTF-8 that holds a NUL here and there
    halves = {"utf-16-le": sample[1::2], "utf-16-be": sample[::2]}
    return next((encoding for encoding, high in halves.items() if _is_wide(sample, high, encoding)), "")


def _is_wide(sample: bytes, high: bytes, encoding: str) -> bool:
    """Tell whether the bytes that should be the upper halves are: few different ones, those of blanks zero."""
    decoded = _try(sample[: len(sample) // 2 * 2], encoding)
    if decoded is None or "\0" in decoded.text:
        return False
    known = sum(char < "\u0250" or any(low <= char <= top for low, top in _WIDE_LETTERS) for char in decoded.text)
    return high.count(0) * 100 > len(high) and known > 0.95 * len(decoded.text)


def _is_binary(data: bytes) -> bool:
    """Control characters, NUL among them, do not occur in text of a legacy encoding."""
    sample = data[:_SAMPLE_BYTES]
    return len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) // 100


def _try(data: bytes, encoding: str) -> DecodedText | None:
    try:
        return DecodedText(data.decode(encoding), encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _is_plausible(text: str, script: _EastAsian) -> bool:
    """Tell whether the letters are those the encoding keeps for everyday use, and stand together as its words do."""
    if not _stand_together(text):
        return False
    foreign = [char for char in text if char > "\x7f"]
    codes = [char.encode(script.encoding, "ignore") for char in foreign]
    kana = sum(_within(code, script.kana) for code in codes) if script.kana else 0
    letters = sum(_within(code, script.letters) and code[1] >= script.trail for code in codes)
    signs = sum(_within(code, script.signs) for code in codes)
    if script.kana and kana < 0.15 * len(codes):
        return False
    if script.common and sum(char in script.common for char in foreign) < 0.2 * letters:
        return False
    return bool(kana + letters + signs >= _ENOUGH * len(codes) and kana + letters > 0)


def _is_written_in(text: str, letters: frozenset[str], *, in_words: bool) -> bool:
    """Tell whether all characters beyond ASCII are these letters, and stand as they do in their languages."""
    known = all(char < "\x80" or char in letters for char in text)
    return known and _stand_together(text[:_SAMPLE_BYTES]) is in_words


def _stand_together(text: str) -> bool:
    """Tell whether characters beyond ASCII form words, rather than being letters within words."""
    foreign = sum(char > "\x7f" for char in text)
    together = sum(first > "\x7f" and second > "\x7f" for first, second in pairwise(text))
    return together * 2 >= foreign > 0


def _within(code: bytes, leads: tuple[int, int] | None) -> bool:
    return leads is not None and len(code) == 2 and leads[0] <= code[0] <= leads[1]
