"""Which secrets does a text hold, and how does it read without them?

Only known shapes are masked: keys with a provider's prefix, tokens, private keys, passwords in connection strings
and assignments, card numbers with a valid check digit. The mere word "password" stays. The marker keeps the kind, so
that a note still says that there was a key.
"""

import re
from collections.abc import Callable

MARKER = "[secret: {kind}]"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?P<kind>[A-Z ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=kind)-----|\Z)", re.DOTALL
)
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("API key", re.compile(r"\bsk-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}")),
    (
        "API key",
        re.compile(
            r"\b(?:AIza[0-9A-Za-z_-]{30,}|gsk_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|lsv2_[a-z]{2}_[A-Za-z0-9_]{20,})"
        ),
    ),
    ("AWS key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})")),
    ("token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}")),
    (
        "token",
        re.compile(
            r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|SG\.[\w-]{16,}\.[\w-]{16,})"
        ),
    ),
    ("token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")),
    ("token", re.compile(r"(?<=\bBearer )[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE)),
)
_CONNECTION = re.compile(
    r"(?P<head>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:)(?P<secret>[^\s/]{1,200})(?=@[^\s@]+)", re.IGNORECASE
)
_WORDS = (
    r"password|passwd|passphrase|api[_ -]?key|secret[_-]?key|access[_-]?key|client[_-]?secret|auth[_-]?token"
    r"|密码|口令|密钥"
)
_ASSIGNED = re.compile(
    rf"(?P<head>(?:{_WORDS})[\w-]{{0,20}}[\"']?\s{{0,3}}(?:=|:|：|\bis\b|是|为)\s{{0,3}}[\"'`]?)"
    r"(?P<secret>(?=\S*[0-9!@#$%^&*_+~])[^\s\"'`,;，。；]{6,200})",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<head>(?:token|secret)[\"']?\s{0,3}[=:]\s{0,3}[\"'`]?)"
    r"(?P<secret>(?=[\w.~+/=-]*\d)(?=[\w.~+/=-]*[A-Za-z])[\w.~+/=-]{16,400})",
    re.IGNORECASE,
)
_CARD = re.compile(r"(?<![\w.-])(?:4|5[1-5]|2[2-7]|3[4-8]|6[0-9])\d?(?:[ -]?\d){11,17}(?![\w-]|\.\d)")


def mask_secrets(text: str) -> str:
    """Return the text with every known secret replaced by a visible marker."""
    masked = _PRIVATE_KEY.sub(_marker("private key"), text) if "PRIVATE KEY" in text else text
    for kind, shape in _SHAPES:
        masked = shape.sub(_marker(kind), masked)
    masked = _CONNECTION.sub(_keep_head("password"), masked)
    masked = _ASSIGNED.sub(_keep_head("password"), masked)
    masked = _TOKEN.sub(_keep_head("token"), masked)
    return _CARD.sub(_mask_card, masked)


def _marker(kind: str) -> str:
    return MARKER.format(kind=kind)


def _keep_head(kind: str) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        secret = match["secret"]
        return match[0] if secret.startswith("[secret:") else match["head"] + _marker(kind)

    return replace


def _mask_card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    return _marker("card number") if _has_check_digit(digits) else match[0]


def _has_check_digit(digits: list[int]) -> bool:
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
