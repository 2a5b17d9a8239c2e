"""What does the content of a message say, as text?

Content is a text, a block, or a list of blocks of several makers. Text stays text; tool calls and results are told
apart; pictures, sound and files become short markers that name them. Encoded data (base64 in a block, a data URI or a
long run within a text) is replaced by a marker with its kind, size and hash: it never reaches a file or a prompt.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

DATA_URI = re.compile(
    r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.=+-]+)*;base64,([A-Za-z0-9+/_=%-]+(?:\s+[A-Za-z0-9+/_=%-]{40,})*)"
)
LONG_RUN = re.compile(r"[A-Za-z0-9+/_-]{256,}={0,2}")
THOUGHTS = ("thinking", "redacted_thinking", "reasoning")
TEXTS = ("text", "input_text", "output_text", "refusal")
RESULTS = ("tool_result", "function_call_output")
CALLS = ("tool_use", "tool_call", "server_tool_use")


@dataclass(slots=True)
class Content:
    """What a message's content holds."""

    text: str = ""
    calls: list[Mapping[str, Any]] = field(default_factory=list)
    """Tool calls that stand in it as blocks."""
    answers: str = ""
    """Id of the call whose result it holds."""
    only_results: bool = False
    """Whether it holds tool results and nothing else."""


def read_content(fields: Mapping[str, Any]) -> Content:
    """Return the content of a message given by its fields."""
    raw = next((fields[key] for key in ("content", "text", "parts", "output") if fields.get(key) is not None), "")
    if isinstance(raw, Mapping):
        raw = [raw]
    if not isinstance(raw, list | tuple):
        return Content(text=without_data(raw if isinstance(raw, str) else str(raw)))
    content, kinds, pieces = Content(), set[str](), list[str]()
    for block in raw:
        kinds.add(_read_block(block, content, pieces))
    content.text = "\n".join(piece for piece in pieces if piece)
    content.only_results = kinds == {"result"}
    return content


def _read_block(block: Any, content: Content, pieces: list[str]) -> str:
    """Add what a block says; return what kind of thing it was."""
    if not isinstance(block, Mapping):
        pieces.append(without_data(str(block)))
        return "text"
    kind = str(block.get("type") or ("text" if "text" in block else ""))
    if kind in CALLS:
        content.calls.append(block)
        return "call"
    if kind in RESULTS:
        content.answers = content.answers or str(block.get("tool_use_id") or block.get("call_id") or "")
        pieces.append(read_content(block).text)
        return "result"
    if kind not in THOUGHTS:
        pieces.append(_said(block, kind))
    return "text"


def _said(block: Mapping[str, Any], kind: str) -> str:
    text = block.get("text", block.get("refusal"))
    if kind in TEXTS:
        return without_data(text) if isinstance(text, str) else ""
    return _media_marker(block, kind)


def _media_marker(block: Mapping[str, Any], kind: str) -> str:
    """Return ``[image: address]``, or the kind, size and hash of data that stands in the block."""
    label = re.sub(r"_url$|^input_", "", kind) or "attachment"
    strings = dict(_strings(block))
    address = next((text for text in strings.values() if re.match(r"https?://", text)), "")
    if address:
        return f"[{label}: {address[:300]}]"
    named = strings.get("filename") or strings.get("title") or strings.get("name") or strings.get("file_id") or ""
    data = next((text for key, text in strings.items() if key in ("data", "file_data", "base64", "url", "bytes")), "")
    detail = " ".join(part for part in (named, _size_of(data)) if part)
    return f"[{label}: {detail}]" if detail else f"[{label}]"


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _strings(item, str(name))


def without_data(text: str) -> str:
    """Return the text with encoded data replaced by markers."""
    if "base64," in text:
        text = DATA_URI.sub(lambda match: f"[{match[1] or 'data'}: {_size_of(match[2])}]", text)
    return LONG_RUN.sub(_run_marker, text) if len(text) >= 256 else text


def _run_marker(match: re.Match[str]) -> str:
    run = match[0]
    mixed = all(re.search(kind, run) for kind in ("[a-z]", "[A-Z]", "[0-9+/]"))
    return f"[base64: {_size_of(run)}]" if mixed and len(set(run)) > 12 else run


def _size_of(data: str) -> str:
    if not data:
        return ""
    encoded = data.rpartition("base64,")[2]
    digest = hashlib.sha256(encoded.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{len(encoded.rstrip('=')) * 3 // 4} bytes, sha256 {digest}"
