"""Which text do these bytes hold, and in which encoding?

UTF-8 is the rule; a byte order mark stays part of the text. Anything else is guessed, and what holds no text is None.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from charset_normalizer import from_bytes

_SAMPLE_BYTES = 64_000
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffee]")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\x0b\x0c\r\x1b"))


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Text and the encoding it was read with."""

    text: str
    encoding: str


def decode_text(data: bytes) -> DecodedText | None:
    """Decode the bytes of a text file; None where they hold no text."""
    try:
        return DecodedText(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        return _guess(data)


def _guess(data: bytes) -> DecodedText | None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _try(data, "utf-16")
    if _is_binary(data):
        return None
    for encoding in ("gb18030", "big5", "shift_jis", "euc_kr"):
        decoded = _try(data, encoding)
        if decoded is not None and _is_plausible(decoded.text):
            return decoded
    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    return _try(data, best.encoding) if best is not None else None


def _is_binary(data: bytes) -> bool:
    """Control characters, NUL among them, do not occur in text of a legacy encoding."""
    sample = data[:_SAMPLE_BYTES]
    return len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) // 100


def _try(data: bytes, encoding: str) -> DecodedText | None:
    try:
        return DecodedText(data.decode(encoding), encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _is_plausible(text: str) -> bool:
    """Whether nearly all that is not ASCII is common in East Asian text, which other encodings seldom look like."""
    foreign = [char for char in text[:_SAMPLE_BYTES] if char > "\x7f"]
    common = len(_EAST_ASIAN.findall(text[:_SAMPLE_BYTES]))
    pairs = sum(a > "\x7f" and b > "\x7f" for a, b in pairwise(text[:_SAMPLE_BYTES]))
    return bool(foreign) and common >= 0.95 * len(foreign) and pairs * 2 >= len(foreign)
