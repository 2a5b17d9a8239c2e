"""Which notes does a day have, what are they called, and what does the day's index page say?

The index page ``daily/YYYY-MM-DD.md`` holds a block between two markers; everything around the block belongs to
a person and stays. The block alone is no material: :func:`strip_index_block` gives the page without it.
"""

import datetime as dt
import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from reme_store.errors import InvalidPathError, InvalidRequestError, NoteNotFoundError
from reme_store.file_store import FileStore
from reme_store.models import Answer
from reme_store.paths import name_fault
from reme_store.text.day_list import CLOSER, OPENER, list_spans
from reme_store.text.front_matter import newline_of, parse_note
from reme_store.text.yaml_values import YamlFaultError, read_mapping

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
UNLINKABLE = re.compile(r"[\[\]#|]")
UNSAFE = re.compile(r"[^\w.@+=, ()-]")
MAPPED = re.compile(r"-[0-9a-f]{10}$")
"""How a mapped name ends; an id that ends so is mapped too, so that no id can take the name of another."""
MAX_STEM_BYTES = 120


# ---- names ------------------------------------------------------------------------------------


def parse_day(text: object) -> dt.date:
    """Read a day written ``YYYY-MM-DD``.

    Raises:
        InvalidRequestError: It is no such text, or no day of the calendar.
    """
    if isinstance(text, str) and DAY.fullmatch(text):
        try:
            return dt.date.fromisoformat(text)
        except ValueError:
            pass
    raise InvalidRequestError(f"{text!r} is not a day; write it as YYYY-MM-DD, for example 2026-03-05")


def today(store: FileStore) -> str:
    """Return the current day in the zone of the workspace."""
    zone = ZoneInfo(store.options.timezone) if store.options.timezone else None
    return dt.datetime.now(zone).astimezone(zone).date().isoformat()


def session_stem(session_id: str) -> str:
    """Map a session id to a file name: itself where that is safe, else a readable form with a hash of the id.

    Two ids never share a name, also where the file system ignores case.

    Raises:
        InvalidPathError: The id is empty or has path syntax.
    """
    if not session_id.strip() or re.search(r"[/\\\0]|^\.{1,2}$", session_id):
        raise InvalidPathError(f"session id {session_id!r} is not usable: give a name without / \\ and not . or ..")
    safe = UNSAFE.sub("_", unicodedata.normalize("NFC", session_id))
    safe = re.sub(r"^[.~ ]+", "_", safe).rstrip(". ~")
    while len(safe.encode()) > MAX_STEM_BYTES:
        safe = safe[:-1]
    if (
        safe == session_id.casefold() == session_id
        and not MAPPED.search(session_id)
        and not name_fault(session_id + ".md")
    ):
        return session_id
    if name_fault(f"{safe}-.md"):
        safe = f"_{safe}"
    return f"{safe or '_'}-{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def day_page_path(date: str) -> str:
    """Return the path of a day's index page."""
    return f"daily/{date}.md"


def note_path_for(date: str, session_id: str) -> str:
    """Return the path of a session's note of a day; without a session it is the day page."""
    return f"daily/{date}/{session_stem(session_id)}.md" if session_id else day_page_path(date)


def interests_path(date: str) -> str:
    """Return the path of a day's topics."""
    return f"daily/{date}/interests.yaml"


# ---- notes of a day ---------------------------------------------------------------------------


def daily_create(
    store: FileStore, date: str = "", session_id: str = "", name: str = "", description: str = ""
) -> Answer:
    """Make the note of a session and day, or the day's page; an existing one is untouched."""
    day = parse_day(date).isoformat() if date else today(store)
    path = note_path_for(day, session_id)
    with store.lock():
        created = store.version_of(path) is None
        if created:
            store.write(path=path, content="", name=name or (session_id or day), description=description)
            if session_id:
                daily_reindex(store, day)
    return Answer(f"{'created' if created else 'already there, untouched:'} {path}", {"path": path, "created": created})


def daily_list(store: FileStore, date: str = "") -> Answer:
    """List the notes of a day: those of sessions and resources, and the note of each task folder."""
    day = parse_day(date).isoformat() if date else today(store)
    notes = [_row(store, path) for path in _paths_of(store, day)]
    lines = [f"- {note['path']} name: {note['name']} description: {note['description']}" for note in notes]
    return Answer("\n".join(lines) or f"no notes on {day}", {"date": day, "notes": notes})


def daily_reindex(store: FileStore, date: str = "") -> Answer:
    """Write the list of a day's notes into its page; a person's text around the list stays."""
    day = parse_day(date).isoformat() if date else today(store)
    path = day_page_path(day)
    with store.lock():
        notes = [_row(store, note) for note in _paths_of(store, day)]
        with store.journal(tool="daily_reindex", reason=f"notes of {day}"):
            if store.version_of(path) is not None:
                store.rewrite(path, "daily_reindex", lambda page: render_index_page(page, notes))
            elif notes:
                store.apply({path: render_index_page("", notes)}, expected={path: None})
    return Answer(f"{path} lists {len(notes)} note(s)", {"path": path, "count": len(notes)})


def render_index_page(page: str, notes: Sequence[Mapping[str, str]]) -> str:
    """Return the page with its block renewed; one without a block gets it at the end, where there are notes."""
    blocks = list_spans(page)
    if not notes and not blocks:
        return page
    newline = newline_of(page)
    block = newline.join([OPENER, *map(_index_line, notes), CLOSER])
    if not page.strip():
        return page + (newline if page and not page.endswith("\n") else "") + block + newline
    if blocks:
        start, end = blocks[0]
        return page[:start] + block + page[end:]
    return page + ("" if page.endswith("\n") else newline) + newline + block + newline


def strip_index_block(text: str) -> str:
    """Return a page without its block and the blank lines around it: what a person wrote.

    Front matter alone is no text of a person: then the answer is empty.
    """
    blocks = list_spans(text)
    starts, ends = [0, *(end for _, end in blocks)], [*(start for start, _ in blocks), len(text)]
    pieces = [text[start:end].strip("\r\n") for start, end in zip(starts, ends, strict=True)]
    own = "\n\n".join(piece for piece in pieces if piece.strip())
    return own if parse_note(own).body.strip() else ""


def _paths_of(store: FileStore, day: str) -> list[str]:
    found = []
    for path in store.scan(f"daily/{day}"):
        parts = path.split("/")[2:]
        if len(parts) == 1 or (len(parts) == 2 and parts[1] == f"{parts[0]}.md"):
            found.append(path)
    return sorted(found)


def _row(store: FileStore, path: str) -> dict[str, str]:
    head = parse_note(_text_or_none(store, path) or "").front_matter
    stem = path.rsplit("/", 1)[1].removesuffix(".md")
    name = head.get("name") or head.get("title") or stem
    return {"path": path, "name": _flat(name), "description": _flat(head.get("description") or "")}


def _text_or_none(store: FileStore, path: str) -> str | None:
    try:
        return store.read_note(path).text
    except NoteNotFoundError:
        return None


def _flat(value: Any) -> str:
    return re.sub(r"\s+", " ", str(value)).strip()


def _index_line(note: Mapping[str, str]) -> str:
    name, description = (note[key].replace("[[", "[ [").replace("<!--", "<! --") for key in ("name", "description"))
    path = note["path"]
    shown = path if UNLINKABLE.search(path) else f"[[{path}]]"
    return f"- {shown} name: {name} description: {description}".rstrip()


# ---- topics of a day --------------------------------------------------------------------------


def read_interests(store: FileStore, date: str) -> tuple[list[dict[str, Any]], str] | None:
    """Return a day's topics as JSON values, and the raw YAML; None where there is no file.

    Raises:
        InvalidRequestError: The file is not a mapping with a list of topics.
    """
    path = interests_path(date)
    text = _text_or_none(store, path)
    if text is None:
        return None
    try:
        topics = read_mapping(text).values.get("topics")
    except YamlFaultError as fault:
        raise _unreadable(path, f"line {text.count(chr(10), 0, fault.offset) + 1}: {fault}") from None
    if topics is None:
        return [], text
    if not isinstance(topics, list) or not all(isinstance(topic, dict) for topic in topics):
        raise _unreadable(path, "topics is not a list of mappings")
    return topics, text


def _unreadable(path: str, reason: str) -> InvalidRequestError:
    return InvalidRequestError(f"{path} cannot be read, {reason}; repair it in an editor or move it away", path=path)


def proactive(store: FileStore, date: str = "", include_content: bool = True) -> Answer:
    """Answer the topics of a day; a day without any is a success that says skipped."""
    day = parse_day(date).isoformat() if date else today(store)
    found = read_interests(store, day)
    if found is None:
        reason = f"no topics on {day}: no dream has written {interests_path(day)}"
        return Answer(reason, {"date": day, "topics": [], "content": None, "skipped": True})
    topics, text = found
    lines = [f"- {_flat(topic.get('title') or '')}: {_flat(topic.get('reason') or '')}" for topic in topics]
    metadata = {"date": day, "topics": topics, "content": text if include_content else None, "skipped": False}
    return Answer("\n".join(lines) or f"{interests_path(day)} lists no topic", metadata)
