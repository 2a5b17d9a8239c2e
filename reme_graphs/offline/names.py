"""How does a title become a file name that people of every script can read?"""

import re
import unicodedata

_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))})


def slug(title: str, *, limit: int = 60, max_bytes: int = 180) -> str:
    """Kebab-case stem of a title; letters and digits of every script stay.

    Args:
        title: any text.
        limit: most characters.
        max_bytes: most UTF-8 bytes, so that a suffix still fits a file system's 255.

    Returns:
        The stem; empty when the title holds no letter or digit.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", title).casefold())
    folded = folded.replace("c++", "cpp").replace("c#", "csharp").replace("'", "")
    words = re.findall(r"(?:[^\W_]|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff])+", folded)
    stem = ""
    for word in words:
        longer = f"{stem}-{word}" if stem else word
        if len(longer) > limit or len(longer.encode()) > max_bytes:
            break
        stem = longer
    stem = stem or _cut("".join(words[:1]), limit, max_bytes)
    return f"{stem}-note" if stem in _RESERVED else stem


def _cut(word: str, limit: int, max_bytes: int) -> str:
    word = word[:limit]
    while len(word.encode()) > max_bytes:
        word = word[:-1]
    return word
