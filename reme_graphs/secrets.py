"""Which secrets does a text hold, and how does it read without them?

Only known shapes are masked: keys with a provider's prefix, tokens, private keys, passwords in connection strings
and assignments, card numbers with a valid check digit. They are found in running Chinese as in English, and in values
of structured data by the names of their keys. The mere word "password" stays. The marker keeps the kind, so that a
note still says that there was a key.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

MARKER = "[secret: {kind}]"

_START = r"(?<![A-Za-z0-9])"
"""Where a key may begin: also right behind a Chinese character or an underscore."""
_BREAK = r"(?:\s|\\[nrt])*"
"""White space of a key's text, also as JSON writes it."""
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<kind>[A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:[^-]{0,40000}(?:-(?!----)[^-]{0,2000}){0,50}-----END (?P=kind)-----"
    rf"|(?:{_BREAK}(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]{{0,200}}){{0,5}}"
    rf"(?:{_BREAK}[A-Za-z0-9+/=]{{16,}}){{1,2000}}(?:{_BREAK}[A-Za-z0-9+/=]+)?)"
)
_SHAPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "API key",
        (
            r"sk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}",
            r"AIza[0-9A-Za-z_-]{30,}",
            r"(?:gsk_|hf_|xai-|pplx-|nvapi-|tvly-|r8_|shp(?:at|ss|ca|pa)_|dop_v1_)[A-Za-z0-9_-]{20,}",
            r"lsv2_[a-z]{2}_[A-Za-z0-9_]{20,}",
        ),
    ),
    ("AWS key", (r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9])",)),
    (
        "token",
        (
            r"gh[pousr]_[A-Za-z0-9]{20,}",
            r"github_pat_[A-Za-z0-9_]{20,}",
            r"glpat-[A-Za-z0-9_-]{16,}",
            r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
            r"xapp-[A-Za-z0-9-]{10,}",
            r"[a-z]{3}_[A-Za-z0-9]{36}(?![A-Za-z0-9_])",
            r"[a-z]{4}-AgE[A-Za-z0-9_-]{30,}",
            r"dckr_pat_[A-Za-z0-9_-]{20,}",
            r"hvs\.[A-Za-z0-9_-]{20,}",
            r"ya29\.[A-Za-z0-9_-]{20,}",
            r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
            r"\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9])",
            r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        ),
    ),
)
_SHAPED = tuple((kind, re.compile(_START + "(?:" + "|".join(shapes) + ")")) for kind, shapes in _SHAPES)
_GAPS = ("", "_", "-", " ")
_QUOTED = r"[\\\"'`]{0,3}"
_IN_WORD = r"[^\s\"'`,;，。；、！？）\\]"
"""A character of a secret that ends at a blank, a quote or a mark."""
_AUTHORIZED = re.compile(
    rf"(?P<head>(?:\b(?:Bearer|Basic) +"
    rf"|\bAuthorization{_QUOTED}\s{{0,3}}[:=]\s{{0,3}}{_QUOTED}(?:[A-Za-z-]{{3,12}} +)?))"
    r"(?P<secret>(?=[A-Za-z._~+/-]{0,200}[0-9=])[A-Za-z0-9._~+/=-]{12,})",
    re.IGNORECASE,
)
_HOOK = re.compile(r"(?P<head>https://hooks\.slack\.com/services/)(?P<secret>[A-Za-z0-9/]{20,})")
_CONNECTION = re.compile(
    r"(?P<head>(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:)"
    r"(?P<secret>[^\s/\"'`<>，。；、）]{1,200}(?=@[^\s@])|(?!\d{1,5}[/?#])[^\s\"'`<>，。；、）]{1,200}?(?=@[^\s@]))",
    re.IGNORECASE,
)
_LATIN_WORDS = (
    r"password|passwd|passphrase|passcode|(?<![a-z])pwd|(?:api|secret|access|account|signing|encryption)[_ -]?key"
    r"|client[_ -]?secret|auth[_-]?token|passwort|contraseña|mot de passe"
)
_CJK_WORDS = r"密码|密碼|口令|密钥|密鑰|パスワード|비밀번호"
_PLAIN = rf"(?:{_LATIN_WORDS})[A-Za-z0-9_-]{{0,20}}{_QUOTED}\s{{0,3}}(?:=|:|：|\bis\b|是|为)\s{{0,3}}"
_CJK = rf"(?:{_CJK_WORDS}){_QUOTED}\s{{0,3}}(?:=|:|：|\bis\b|就?是|[为為は]|는)?\s{{0,3}}"
_ORDINARY = (
    r"(?!\[secret:|https?://|\d{1,3}[-–](?:\d|char|digit|letter|symbol|byte|bit|day|week|month|year|time|word|factor))"
)
_TELLING = rf"(?={_IN_WORD}{{0,200}}?(?:[0-9]|[!@#$%^&*_+~][A-Za-z0-9]))"
"""A secret holds a digit or a sign within; a mere word does not."""
_ASSIGNED = re.compile(
    rf"(?P<head>{_PLAIN}{_QUOTED}){_ORDINARY}"
    rf"(?P<secret>{_TELLING}(?:{_IN_WORD}|\\(?![\"'nrt])){{6,200}}|[A-Za-z]{{21,200}}(?![A-Za-z ]))",
    re.IGNORECASE,
)
_ASSIGNED_CJK = re.compile(
    rf"(?P<head>{_CJK}{_QUOTED}){_ORDINARY}"
    r"(?P<secret>(?=[!-~]{0,200}?(?:[0-9]|[!@#$%^&*_+~][A-Za-z0-9]))[!#-&(-+\--:<-\[\]-_a-~]{6,200})",
    re.IGNORECASE,
)
_ASSIGNED_QUOTED = re.compile(
    rf"(?P<head>(?:{_LATIN_WORDS}|{_CJK_WORDS})[A-Za-z0-9_-]{{0,20}}[\"']?\s{{0,3}}[=:：]\s{{0,3}}(?P<quote>[\"']))"
    r"(?P<secret>(?!\[secret:)(?=[^\"'\n]{0,200}?[0-9])[^\"'\n]{6,200})(?=(?P=quote))",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    rf"(?P<head>(?:token|secret|令牌){_QUOTED}\s{{0,3}}(?:[=:：]|\bis\b|是|为)\s{{0,3}}{_QUOTED})"
    r"(?P<secret>(?=(?:[A-Za-z_.~+/=-]{0,200}[0-9]){2})(?=[0-9_.~+/=-]{0,200}[A-Za-z])[A-Za-z0-9_.~+/=-]{16,400})",
    re.IGNORECASE,
)
_CARD = re.compile(
    r"(?<![A-Za-z0-9_.-])(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|3[04-9]\d{2}|6\d{3})(?:[ -]?\d){9,15}(?![A-Za-z0-9_-]|\.\d)"
)
_CARD_LENGTHS = {"4": (13, 16, 19), "5": (16,), "2": (16,), "3": (14, 15, 16), "6": (16, 17, 18, 19)}
_ASSIGNMENTS = ((_ASSIGNED_QUOTED, "password"), (_ASSIGNED, "password"), (_ASSIGNED_CJK, "password"), (_TOKEN, "token"))
_KEYS = [
    f"{owner}{gap}key" for owner in ("api", "secret", "access", "account", "signing", "encryption") for gap in _GAPS
]
_STARTS = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "passwort", "contraseña", "mot de passe"),
    *("client", "auth", "token", "secret", "令牌", *_CJK_WORDS.split("|"), *_KEYS),
)
"""Literal words with which an assignment begins: looking for them is much faster than for the expressions."""
_NAMES_SECRET = re.compile(rf"{_LATIN_WORDS}|{_CJK_WORDS}|private[_ -]?key", re.IGNORECASE)


def mask_secrets(text: str) -> str:
    """Return the text with every known secret replaced by a visible marker."""
    masked = _PRIVATE_KEY.sub(_marker("private key"), text) if "PRIVATE KEY" in text else text
    for kind, shape in _SHAPED:
        masked = shape.sub(_marker(kind), masked)
    masked = _HOOK.sub(_keep_head("token"), masked)
    masked = _CONNECTION.sub(_keep_head("password"), masked) if "://" in masked else masked
    masked = _AUTHORIZED.sub(_keep_head("token"), masked)
    return _CARD.sub(_mask_card, _mask_assigned(masked))


def mask_values(value: Any) -> Any:
    """Return JSON data with the secrets in its texts masked, keys included.

    What a key such as ``password`` names is a secret whatever it looks like, if it is one word.
    """
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, Mapping):
        return {mask_secrets(str(key)): _mask_named(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mask_values(item) for item in value]
    return value


def _mask_named(key: str, value: Any) -> Any:
    if not _NAMES_SECRET.search(key) or isinstance(value, bool) or not isinstance(value, str | int):
        return mask_values(value)
    text = str(value)
    if len(text) < 4 or " " in text or text.startswith("[secret:"):
        return mask_values(value)
    return _marker("password")


def _mask_assigned(text: str) -> str:
    """Mask what is said to be a password or token."""
    pieces: list[str] = []
    done = 0
    for start in _starts(text):
        for shape, kind in _ASSIGNMENTS if start >= done else ():
            found = shape.match(text, start)
            if found and not found["secret"].startswith("[secret:"):
                pieces += [text[done : found.end("head")], _marker(kind)]
                done = found.end()
                break
    return "".join([*pieces, text[done:]])


def _starts(text: str) -> list[int]:
    """Return the places where a word of an assignment begins."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter such as İ grows
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    found: list[int] = []
    for word in _STARTS:
        start = lower.find(word)
        while start >= 0:
            found.append(start)
            start = lower.find(word, start + 1)
    return sorted(found)


def _marker(kind: str) -> str:
    return MARKER.format(kind=kind)


def _keep_head(kind: str) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        secret = match["secret"]
        return match[0] if secret.startswith("[secret:") else match["head"] + _marker(kind)

    return replace


def _mask_card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    fits = len(digits) in _CARD_LENGTHS[match[0][0]] and _has_check_digit(digits)
    return _marker("card number") if fits else match[0]


def _has_check_digit(digits: list[int]) -> bool:
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
