"""What did a host send, whatever form it has?

Hosts send OpenAI dicts, LangChain messages and their serialised forms, blocks in the manner of Anthropic, pairs and
bare strings, with times under several names. All of it becomes one plain form, ``Message``, which is also the form of
a line in a dialog file. Reading a ``Message`` again changes nothing.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, NotRequired

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from reme_graphs.content import RESULTS, Content, read_content
from reme_graphs.secrets import mask_secrets, mask_values

ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "function": "tool",
    "function_call": "assistant",
    "function_call_output": "tool",
}
SPOKEN = ("user", "assistant")
"""Roles whose words can be facts. Tool results, instructions and recalled memory are none."""
TIME_NAMES = ("created_at", "timestamp", "time_created", "createdAt", "time")
SPEAKERS = ("name", "speaker", "sender", "author")
RECALLED = "recalled"
"""Set by a host on a message that repeats what memory said: kept in the dialog, never taken for news."""
TOOL_RESULT_CHARS = 2048
KEPT_CHARS = 1024
CUT = "\n...(truncated)...\n"
EMPTY_RESULT = "[empty result]"
HASHED = "sha-"


class ToolUse(TypedDict):
    """A call the assistant made."""

    id: str
    name: str
    args: Any


class Message(TypedDict):
    """One message of a conversation, and one line of its dialog file."""

    id: str
    """The host's id, else ``sha-`` and a hash of what was said."""
    role: str
    content: str
    created_at: NotRequired[str]
    """ISO 8601 in UTC; absent where the host gave none."""
    name: NotRequired[str]
    tool_calls: NotRequired[list[ToolUse]]
    tool_call_id: NotRequired[str]
    recalled: NotRequired[bool]
    full_sha256: NotRequired[str]
    """Hash of a tool result that was cut, so that two long results never pass for one."""
    edited: NotRequired[bool]
    """Another wording of the message with this id came before."""


class UnreadableMessageError(Exception):
    """One item of a conversation is no message; says why."""


def normalize(items: Sequence[Any], zone: tzinfo, *, mask: bool = True) -> tuple[list[Message], list[str]]:
    """Return the messages in their plain form, in order, and what was wrong with the others.

    Args:
        items: what the host sent.
        zone: the zone of times that name none.
        mask: whether secrets are masked.
    """
    messages: list[Message] = []
    errors: list[str] = []
    for number, item in enumerate(items, 1):
        try:
            found = [read_message(part, zone, mask=mask) for part in _parts(_fields_of(item))]
            messages += found
            if "created_at" not in found[-1] and any(True for _ in _given_times(_fields_of(item))):
                errors.append(f"message {number} has a time that cannot be read; it is kept without it")
        except UnreadableMessageError as error:
            errors.append(f"message {number} {mask_secrets(str(error)) if mask else error}")
        except RecursionError:
            errors.append(f"message {number} is nested too deeply")
    return messages, errors


def read_message(item: Any, zone: tzinfo, *, mask: bool = True) -> Message:
    """Return one message in its plain form.

    Raises:
        UnreadableMessageError: it has no role, no content, or is no message at all.
    """
    fields = _fields_of(item)
    role = _role_of(fields)
    content = read_content(fields)
    if role == "user" and content.only_results:
        role = "tool"
    text = _clean(content.text, mask=mask)
    if role == "tool" and not text.strip():
        text = EMPTY_RESULT
    calls = [_tool_use(call, mask=mask) for call in _raw_calls(fields, content)]
    if not text.strip() and not calls:
        raise UnreadableMessageError("is empty")
    message = Message(id="", role=role, content=text)
    _add_details(message, fields, content, calls, zone, mask=mask)
    message["id"] = _explicit_id(fields) or HASHED + content_hash(message, timed=True)
    return _with_short_result(message)


def _add_details(
    message: Message, fields: Mapping[str, Any], content: Content, calls: list[ToolUse], zone: tzinfo, *, mask: bool
) -> None:
    if moment := _time_of(fields, zone):
        message["created_at"] = moment
    if name := next((fields[key] for key in SPEAKERS if isinstance(fields.get(key), str) and fields[key]), ""):
        message["name"] = _clean(name, mask=mask)
    if calls:
        message["tool_calls"] = calls
    answered = fields.get("tool_call_id") or fields.get("call_id") or content.answers
    if message["role"] == "tool" and answered:
        message["tool_call_id"] = str(answered)
    if any(place.get(RECALLED) for place in _places(fields)):
        message["recalled"] = True
    if isinstance(fields.get("full_sha256"), str):
        message["full_sha256"] = fields["full_sha256"]
    if fields.get("edited") is True:
        message["edited"] = True


def content_hash(message: Message, *, timed: bool) -> str:
    """Return a hash of what was said, by whom, and (timed) when; a cut tool result counts as what it was."""
    said = message.get("full_sha256") or message["content"]
    parts = [
        message["role"],
        message.get("name", ""),
        said,
        message.get("tool_calls", []),
        message.get("tool_call_id", ""),
    ]
    if timed:
        parts.append(message.get("created_at", ""))
    whole = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()[:20]


def is_explicit(message: Message) -> bool:
    """Say whether the host gave the message its id."""
    return not message["id"].startswith(HASHED)


def moment_of(message: Message) -> datetime | None:
    """Return when it was said, None where nobody knows."""
    text = message.get("created_at")
    return datetime.fromisoformat(text) if text else None


def spoken(message: Message) -> bool:
    """Say whether its words can be facts."""
    return message["role"] in SPOKEN and not message.get("recalled") and bool(message["content"].strip())


# ---- shapes ----


def _fields_of(item: Any) -> Mapping[str, Any]:
    if isinstance(item, str):
        return {"role": "user", "content": item}
    if isinstance(item, BaseMessage):
        return {**item.model_dump(), "content": item.content}
    if isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return {"role": item[0], "content": item[1]}
    if not isinstance(item, Mapping):
        raise UnreadableMessageError(f"is no message but {type(item).__name__}: {str(item)[:80]!r}")
    return _unwrapped(item)


def _parts(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Take results of tools out of a message that says more: they are no words of whoever sends them back."""
    blocks = fields.get("content")
    if not isinstance(blocks, list | tuple) or len(blocks) < 2:
        return [fields]
    results = [block for block in blocks if isinstance(block, Mapping) and block.get("type") in RESULTS]
    if not results:
        return [fields]
    given = _explicit_id(fields)
    parts: list[Mapping[str, Any]] = []
    for number, block in enumerate(results, 1):
        answered = block.get("tool_use_id") or block.get("call_id") or ""
        told = {"role": "tool", "content": [block], "tool_call_id": str(answered)}
        parts.append(
            {**fields, **told, "tool_calls": None, **({"id": f"{given}#{answered or number}"} if given else {})}
        )
    rest = {**fields, "content": [block for block in blocks if not any(block is result for result in results)]}
    content = read_content(rest)
    return [*parts, rest] if content.text.strip() or any(True for _ in _raw_calls(rest, content)) else parts


def _unwrapped(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take a serialised LangChain message out of its envelope."""
    kwargs, data, path = item.get("kwargs"), item.get("data"), item.get("id")
    if item.get("lc") and isinstance(kwargs, Mapping):
        kind = path[-1] if isinstance(path, list) and path else ""
        return {"type": str(kind).removesuffix("Chunk").removesuffix("Message").lower(), **kwargs}
    if isinstance(data, Mapping) and isinstance(item.get("type"), str) and "content" in data:
        return {"type": item["type"], **data}
    return item


def _role_of(fields: Mapping[str, Any]) -> str:
    given = fields.get("role") or fields.get("type")
    if given in (None, "", "message", "chat") and any(isinstance(fields.get(key), str) for key in SPEAKERS):
        return "user"
    if not isinstance(given, str) or not given.strip():
        raise UnreadableMessageError("has no role")
    known = given.strip().lower().removesuffix("messagechunk").removesuffix("message")
    if known not in ROLES:
        raise UnreadableMessageError(f"has the unknown role {given[:40]!r}")
    return ROLES[known]


def _explicit_id(fields: Mapping[str, Any]) -> str:
    for key in ("id", "message_id", "uuid"):
        value = fields.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return _well_formed(str(value).strip())[:200]
    return ""


def _raw_calls(fields: Mapping[str, Any], content: Content) -> Iterator[Mapping[str, Any]]:
    listed = fields.get("tool_calls")
    listed = listed if isinstance(listed, list) else []
    yield from (call for call in listed if isinstance(call, Mapping))
    if not listed:
        yield from content.calls
    if isinstance(fields.get("function_call"), Mapping):
        yield fields["function_call"]
    if fields.get("type") == "function_call":
        yield {**fields, "id": fields.get("call_id")}


def _tool_use(call: Mapping[str, Any], *, mask: bool) -> ToolUse:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    args: Any = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), {})
    return ToolUse(
        id=str(call.get("id") or ""),
        name=_clean(str(inner.get("name") or ""), mask=mask),
        args=_clean_args(_decoded(args), mask=mask),
    )


def _decoded(args: Any) -> Any:
    if not isinstance(args, str):
        return args
    try:
        return json.loads(args)
    except json.JSONDecodeError:
        return args


# ---- times ----


def _places(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield fields
    for key in ("metadata", "additional_kwargs", "response_metadata"):
        if isinstance(fields.get(key), Mapping):
            yield fields[key]


def _given_times(fields: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what may be the time, the best name first."""
    found = (place.get(name) for name in TIME_NAMES for place in _places(fields))
    return (value for value in found if value not in (None, ""))


def _time_of(fields: Mapping[str, Any], zone: tzinfo) -> str:
    moments = (parse_time(value, zone) for value in _given_times(fields))
    moment = next((moment for moment in moments if moment), None)
    return moment.isoformat().replace("+00:00", "Z") if moment else ""


def parse_time(value: Any, zone: tzinfo) -> datetime | None:
    """Return the moment a host means, in UTC: ISO text with or without zone, seconds or milliseconds since 1970.

    None where it can be read in no way, or lies outside the years people talk about.
    """
    try:
        moment = _moment(value, zone).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return moment if 1900 <= moment.year < 2200 else None


def _moment(value: Any, zone: tzinfo) -> datetime:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_epoch(float(value))
    text = value if isinstance(value, datetime) else str(value).strip()
    if isinstance(text, str) and re.fullmatch(r"\d{9,17}(\.\d+)?", text):
        return _from_epoch(float(text))
    moment = datetime.fromisoformat(text) if isinstance(text, str) else text
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _from_epoch(number: float) -> datetime:
    while 1e11 <= abs(number) < 1e19:
        number /= 1000
    return datetime.fromtimestamp(number, UTC)


# ---- texts ----


def _clean(text: str, *, mask: bool) -> str:
    whole = _well_formed(text)
    return mask_secrets(whole) if mask else whole


def _clean_args(args: Any, *, mask: bool) -> Any:
    plain = _plain_value(args)
    return mask_values(plain) if mask else plain


def _plain_value(value: Any) -> Any:
    """Return JSON data without encoded data and half characters."""
    if isinstance(value, str):
        return _well_formed(read_content({"content": value}).text)
    if isinstance(value, Mapping):
        return {_well_formed(str(key)): _plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return value if isinstance(value, int | float | bool | None) else _well_formed(str(value))


def _well_formed(text: str) -> str:
    """Replace lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _with_short_result(message: Message) -> Message:
    text = message["content"]
    is_cut = "full_sha256" in message and len(text) <= 2 * KEPT_CHARS + len(CUT)
    if message["role"] != "tool" or len(text) <= TOOL_RESULT_CHARS or is_cut:
        return message
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {**message, "content": text[:KEPT_CHARS] + CUT + text[-KEPT_CHARS:], "full_sha256": digest}
