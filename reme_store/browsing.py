"""What is there, and what does it say? The answers of list, stat, read, read_image, tags_list and tags_stat."""

import base64
import json
import mimetypes
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from reme_store.errors import InvalidPathError, InvalidRequestError, StoreFaultError
from reme_store.models import Answer, FileNode, NoteText
from reme_store.paths import METADATA, PathResolver, is_hidden, leaves_workspace
from reme_store.workspace import disk_faults

MAX_IMAGE_BYTES: Final = 5 * 1024 * 1024
_IMAGE_SUFFIXES: Final = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".bmp",
    ".svg",
    ".tif",
    ".tiff",
    ".ico",
    ".avif",
    ".heic",
)
_FENCE_RUN = re.compile(r"`{3,}")


def fence(text: str) -> str:
    """Delimit the text of a note so that nothing in it can pass for what stands around it."""
    longest = max((len(run) for run in _FENCE_RUN.findall(text)), default=3)
    mark = "`" * max(4, longest + 1)
    return f"{mark}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{mark}"


def read_lines(note: NoteText, start_line: int | None, end_line: int | None) -> Answer:
    """Answer lines of a note, 1-based and inclusive; what lies outside the note is cut."""
    text = note.text.removeprefix("\ufeff")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    first, last = max(start_line or 1, 1), min(end_line or len(lines), len(lines))
    if lines and (first > len(lines) or last < first):
        raise InvalidRequestError(
            f"lines {first}-{end_line or 'end'} are outside {note.path!r}, which has total_lines {len(lines)}; "
            f"give lines from 1 to {len(lines)}",
            path=note.path,
        )
    shown = "\n".join(line.removesuffix("\r") for line in lines[first - 1 : last])
    span = f"{first}-{last} of {len(lines)}" if lines else "empty"
    metadata = {
        "path": note.path,
        "start_line": first,
        "end_line": last,
        "total_lines": len(lines),
        "version": note.version,
    }
    return Answer(f"{note.path}:{span} [version={note.version[:12]}]\n{fence(shown)}", metadata)


def read_image(paths: PathResolver, path: str) -> Answer:
    """Answer an image as base64."""
    found = paths.note(path)
    mime = mimetypes.guess_type(found)[0] or ""
    if not found.lower().endswith(_IMAGE_SUFFIXES):
        raise InvalidRequestError(f"{found!r} is no image; read shows text", path=found)
    with disk_faults(found):
        size = paths.absolute(found).stat().st_size
    if size > MAX_IMAGE_BYTES:
        raise InvalidRequestError(
            f"{found!r} has {size} bytes; at most {MAX_IMAGE_BYTES} are read. Make it smaller", path=found
        )
    with disk_faults(found):
        encoded = base64.b64encode(paths.absolute(found).read_bytes()).decode("ascii")
    return Answer(f"{found}: {mime}, {size} bytes", {"path": found, "mime": mime, "base64": encoded, "size": size})


def list_folder(paths: PathResolver, path: str, *, recursive: bool, limit: int) -> Answer:
    """Answer what is in a folder, hidden files left out, sorted by path."""
    if limit < 1:
        raise InvalidRequestError(f"limit is {limit}; give 1 or more")
    folder = paths.folder(path)
    if not paths.is_folder(folder):
        raise _not_a_folder(paths, path, folder)
    found = sorted(_entries(paths, folder, recursive=recursive), key=lambda entry: str(entry["path"]))
    entries = found[:limit]
    lines = [f"{entry['path']}{'/' if entry['is_dir'] else ''}" for entry in entries]
    more = [f"… {len(found) - limit} more; raise limit or list a folder below"] if len(found) > limit else []
    metadata = {"path": folder, "entries": entries, "truncated": len(found) > limit, "total": len(found)}
    return Answer("\n".join([*lines, *more]) or f"{folder or '.'}/ is empty", metadata)


def stat_path(paths: PathResolver, path: str) -> Answer:
    """Answer whether a file or folder exists; a folder comes before a note of the same name."""
    found = paths.target(path) if path.strip("./") else paths.folder(path)
    with disk_faults(found):
        info = _stat_or_none(paths.absolute(found))
    if info is None:
        missing = {"path": found, "exists": False, "is_dir": False, "is_file": False, "size": None, "mtime": None}
        return Answer(f"{found} does not exist", missing)
    is_dir = stat.S_ISDIR(info.st_mode)
    kind = "folder" if is_dir else "file"
    metadata = {"path": found, "exists": True, "is_dir": is_dir, "is_file": stat.S_ISREG(info.st_mode)}
    return Answer(
        f"{found or '.'}: {kind}, {info.st_size} bytes", {**metadata, "size": info.st_size, "mtime": info.st_mtime}
    )


def list_tags(nodes: Iterable[FileNode]) -> Answer:
    """Answer the tags of all notes with the number of notes that have each, most used first."""
    counts: dict[str, int] = {}
    for node in nodes:
        for tag in tags_of(node):
            counts[tag] = counts.get(tag, 0) + 1
    tags = [{"tag": tag, "count": count} for tag, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return Answer(
        "\n".join(f"{entry['tag']} {entry['count']}" for entry in tags) or "no note has a tag", {"tags": tags}
    )


def notes_with_tag(nodes: Iterable[FileNode], tag: str) -> Answer:
    """Answer the notes that have a tag, whatever its case."""
    wanted = tag.strip().removeprefix("#").casefold()
    if not wanted:
        raise InvalidRequestError("the tag is empty; tags_list shows which there are")
    found = sorted((node for node in nodes if wanted in map(str.casefold, tags_of(node))), key=lambda node: node.path)
    notes = [{"path": node.path, **names_of(node)} for node in found]
    lines = [f"{note['path']} {note['name']}: {note['description']}" for note in notes]
    return Answer(
        "\n".join(lines) or f"no note has the tag {tag!r}", {"tag": wanted, "count": len(notes), "notes": notes}
    )


def names_of(node: FileNode) -> dict[str, str]:
    """Return the name and description of a note; a title stands in for a missing name."""
    front_matter = node.front_matter
    name = front_matter.get("name") or front_matter.get("title") or ""
    return {"name": str(name), "description": str(front_matter.get("description") or "")}


def tags_of(node: FileNode) -> list[str]:
    """Return the tags of a note: a list, or words parted by commas or spaces, with or without ``#``."""
    value = node.front_matter.get("tags") or node.front_matter.get("tag") or []
    words = re.split(r"[,\s]+", value) if isinstance(value, str) else value if isinstance(value, list) else [value]
    plain = (word for word in words if word is not None and not isinstance(word, (list, dict)))
    texts = (word if isinstance(word, str) else json.dumps(word) for word in plain)
    tags = (text.strip().removeprefix("#") for text in texts)
    return list(dict.fromkeys(tag for tag in tags if tag))


def _entries(paths: PathResolver, folder: str, *, recursive: bool) -> Iterable[dict[str, Any]]:
    with disk_faults(folder):
        places = list(paths.absolute(folder).iterdir())
    for place in places:
        path = f"{folder}/{place.name}" if folder else place.name
        if is_hidden(place.name) or path == METADATA or (place.is_symlink() and leaves_workspace(paths.root, place)):
            continue
        with disk_faults(path):
            info = _stat_or_none(place)
        if info is None:
            continue  # it went meanwhile
        is_dir = stat.S_ISDIR(info.st_mode)
        yield {"path": path, "is_dir": is_dir, "size": info.st_size, "mtime": info.st_mtime}
        if recursive and is_dir and not place.is_symlink():
            with suppress(StoreFaultError):  # a folder below that nobody may enter is an entry itself
                yield from _entries(paths, path, recursive=True)


def _stat_or_none(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _not_a_folder(paths: PathResolver, path: str, folder: str) -> InvalidRequestError:
    if paths.exists(paths.candidate(path)) and not paths.is_folder(paths.candidate(path)):
        return InvalidPathError(f"{path!r} is a file, not a folder; read shows it", path=folder)
    return paths.missing(folder)
