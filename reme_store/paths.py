"""Which file of the workspace does this text name, and may it be named so?

One resolver serves every path that enters: from tools, models, change lists, scans and watchers. Its answers are
workspace-relative POSIX paths with extension. Syntax (absolute, ``..``, ``~``) and symbolic links that leave the
workspace are refused always; the rules for names bind only what does not exist yet, so that a note some other
program named stays within reach.
"""

import difflib
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from reme_store.errors import InvalidPathError, NoteExistsError, NoteNotFoundError, StoreFaultError

METADATA: Final = "reme_metadata"
LAYERS: Final = (
    *("daily", "digest", "digest/personal", "digest/procedure", "digest/wiki"),
    *("resource", "reme_session", "reme_session/dialog"),
)
"""Folders that belong to the workspace itself: opening one makes them, and they are neither deleted nor moved."""
NOTE_SUFFIX: Final = ".md"
TEXT_SUFFIXES: Final = frozenset((".md", ".txt", ".json", ".jsonl", ".csv", ".yaml", ".html"))
"""What the index reads."""
KNOWN_SUFFIXES: Final = TEXT_SUFFIXES | frozenset(
    (
        *(".yml", ".htm", ".markdown", ".tsv", ".xml", ".log", ".ini", ".toml", ".rst", ".org", ".tex", ".ipynb"),
        *(".canvas", ".base", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".tif", ".tiff", ".ico"),
        *(".heic", ".avif", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".xls", ".xlsx", ".ods", ".ppt", ".pptx"),
        *(".odp", ".epub", ".eml", ".ics", ".vcf", ".mp3", ".wav", ".m4a", ".ogg", ".flac", ".mp4", ".mov", ".mkv"),
        *(".webm", ".avi", ".zip", ".gz", ".tar", ".tgz", ".7z", ".bz2", ".xz", ".zst", ".db", ".sqlite"),
        *(".parquet", ".py", ".js", ".ts", ".tsx", ".jsx", ".css", ".sh", ".sql", ".go", ".rs", ".c", ".h", ".cpp"),
        *(".java", ".rb", ".php", ".bak"),
    )
)
"""Suffixes that are part of a name; any other dot (``v1.2``) is text and the path means ``<path>.md``."""
MAX_NAME_BYTES: Final = 255
MAX_PATH_BYTES: Final = 2048

_RESERVED = frozenset(
    ("con", "prn", "aux", "nul", *(f"com{n}" for n in "0123456789¹²³"), *(f"lpt{n}" for n in "0123456789¹²³"))
)
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff<>:"|?*\\\[\]#]')
_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\((?:[^()]*\s)?(?:conflicted copy|case conflict)[^()]*\)", re.IGNORECASE
)
_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:")


def fold(path: str) -> str:
    """Return the form under which two paths are the same file on some file system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _fold_quickly(name: str) -> str:
    return name.lower() if name.isascii() else fold(name)


def is_within(path: str, folder: str) -> bool:
    """Tell whether a path is the folder or lies below it, by whole segments. The empty folder is the workspace."""
    return not folder or path == folder or path.startswith(folder + "/")


def suffix_of(path: str) -> str:
    """Return the known suffix in lower case, or an empty text."""
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122 - text in, text out
    return suffix if suffix in KNOWN_SUFFIXES else ""


def is_note(path: str) -> bool:
    """Tell whether a file is Markdown, so that it may have front matter."""
    return suffix_of(path) == NOTE_SUFFIX


def with_suffix(path: str) -> str:
    """Add ``.md`` to a path without a known suffix."""
    return path if suffix_of(path) else path + NOTE_SUFFIX


def is_hidden(name: str) -> bool:
    """Tell whether a name is one of a hidden file or of an editor's temporary."""
    return name.startswith((".", "~$")) or name.endswith("~")


def is_conflict_copy(name: str) -> bool:
    """Tell whether a sync program made this copy because two machines disagreed."""
    return ("(" in name or ".sync-conflict-" in name) and _CONFLICT.search(name) is not None


def is_memory(path: str) -> bool:
    """Tell whether a relative path may hold a note: nothing hidden, no temporary, no conflict copy, not derived."""
    parts = path.split("/")
    return parts[0] != METADATA and not any(is_hidden(part) for part in parts) and not is_conflict_copy(parts[-1])


def name_fault(name: str) -> str:
    """Say what is wrong with the name of a new file or folder; empty when nothing is."""
    found = _FORBIDDEN.search(name)
    if found:
        return f"the character {found.group()!r} breaks links or is not portable"
    if name != name.strip() or name.endswith("."):
        return "a name neither begins nor ends with a space, nor ends with a dot"
    if name.partition(".")[0].strip().casefold() in _RESERVED:
        return "Windows reserves this name"
    if is_hidden(name):
        return "hidden files and editor temporaries are not memory"
    return "it looks like a sync program's conflict copy" if is_conflict_copy(name) else ""


def near(path: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return the known paths a caller most likely meant, best first."""
    wanted, stem = fold(path), fold(Path(path).stem)
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(fold(candidate), candidate)
    same = [folded[key] for key in folded if key == wanted or key.rsplit("/", 1)[-1].rsplit(".", 1)[0] == stem]
    pool = [key for key in folded if stem[:2] in key][:2000] or list(folded)[:2000]
    close = difflib.get_close_matches(wanted, pool, n=limit, cutoff=0.75)
    return list(dict.fromkeys([*same, *(folded[key] for key in close)]))[:limit]


class PathResolver:
    """Turn text into the identity of a file or folder of one workspace."""

    def __init__(self, root: Path, known: Callable[[], Iterable[str]] = tuple) -> None:
        """``known`` yields the paths from which near matches are offered."""
        self.root = Path(os.path.realpath(root))
        self._known = known

    def absolute(self, path: str) -> Path:
        """Return where a relative path is on disk."""
        return self.root / path if path else self.root

    def clean(self, path: str) -> str:
        """Refuse what is no relative path; drop ``./``, doubled and trailing slashes. The workspace itself is empty."""
        if not path.strip():
            raise InvalidPathError("the path is empty; give one relative to the workspace, like 'digest/wiki/solar.md'")
        if path.startswith(("/", "~", "\\")) or _WINDOWS_DRIVE.match(path):
            raise InvalidPathError(
                f"{path!r} is not relative to the workspace; write it like 'digest/wiki/solar.md'", path=path
            )
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise InvalidPathError(f"{path!r} uses '..'; give the path from the workspace down", path=path)
        if "\0" in path or not _encodable(path):
            raise InvalidPathError(f"{path!r} holds characters no file name can have; leave them out", path=path)
        return _bounded("/".join(parts))

    def note(self, path: str) -> str:
        """Return the path of a file that exists, for reading."""
        found = self.candidate(path)
        if not os.path.lexists(self.absolute(found)):
            raise self.missing(path, folder=self.is_folder(self.clean(path)))
        if self.is_folder(found):
            raise InvalidPathError(f"{path!r} is a folder; list shows what is in it", path=found)
        return found

    def writable(self, path: str) -> str:
        """Return the path of a file that exists and may be changed."""
        return self.own(self.note(path))

    def new(self, path: str) -> str:
        """Return the path of a file to be made or replaced; the rules for names bind what is new."""
        found = self.own(self.candidate(path))
        if not self.exists(found) and os.path.islink(self.absolute(with_suffix(self.clean(path)))):  # noqa: PTH114
            raise InvalidPathError(
                f"{path!r} is a symbolic link to {found!r}, which does not exist; name that", path=path
            )
        if self.is_folder(found):
            raise InvalidPathError(f"{path!r} is a folder; add the name of a file", path=found)
        if self.exists(found) and not is_regular(self.absolute(found)):
            raise InvalidPathError(f"{path!r} is a pipe or device; choose another name", path=found)
        self.check_new(found)
        return found

    def folder(self, path: str) -> str:
        """Return the path of a folder, which may be missing; ``""`` and ``.`` mean the workspace."""
        if not path or path.strip("/") in ("", "."):
            return ""
        cleaned = self.clean(path)
        self._visible(cleaned)
        return self._inside(cleaned)

    def target(self, path: str) -> str:
        """Return an existing folder of that name, else the note of that name, which may be missing."""
        cleaned = self._inside(self.clean(path))
        if self.is_folder(cleaned):
            return cleaned
        return self.candidate(path)

    def own_target(self, path: str) -> str:
        """Return what may be moved or deleted under a path: a folder, else a note; never what a link points to."""
        cleaned = self.clean(path)
        for named in (cleaned, _bounded(with_suffix(cleaned))) if cleaned else ():
            if self.absolute(named).is_symlink():
                raise InvalidPathError(f"{named!r} is a symbolic link to {self._inside(named)!r}; name that", path=path)
        return self.own(self.target(path))

    def candidate(self, path: str) -> str:
        """Return the file a path means, whether or not it exists: with ``.md`` where it has no known suffix."""
        cleaned = self.clean(path)
        if not cleaned:
            raise InvalidPathError(f"{path!r} is the workspace itself; name a file in it", path=path)
        self._visible(cleaned)
        named = _bounded(with_suffix(cleaned))
        if named != cleaned and not self.exists(named) and os.path.isfile(self.absolute(cleaned)):  # noqa: PTH113
            named = cleaned
        return self._inside(named)

    def own(self, path: str) -> str:
        """Refuse what belongs to the program and not to its user."""
        if is_within(path, METADATA) or fold(path.partition("/")[0]) == METADATA:
            raise InvalidPathError(
                f"{path!r} is inside {METADATA}/, which the program keeps for itself; use another folder", path=path
            )
        return path

    def check_new(self, path: str) -> None:
        """Apply the rules for names to every part of a path that does not exist yet."""
        parts = path.split("/")
        for depth, name in enumerate(parts):
            parent = "/".join(parts[:depth])
            here = "/".join(parts[: depth + 1])
            if os.path.lexists(self.absolute(here)):
                if depth + 1 < len(parts) and self.exists(here) and not self.is_folder(here):
                    raise InvalidPathError(
                        f"{here!r} is a file, so nothing can be in it; choose another path", path=path
                    )
                continue
            fault = name_fault(name)
            if fault:
                raise InvalidPathError(f"{name!r} in {path!r} cannot be a new name: {fault}; choose another", path=path)
            self._refuse_twin(parent, name, path)

    def is_folder(self, path: str) -> bool:
        """Tell whether a relative path is a folder on disk now."""
        return os.path.isdir(self.absolute(path))  # noqa: PTH112 - False where it cannot be seen

    def exists(self, path: str) -> bool:
        """Tell whether there is something at a relative path, links followed; False where it cannot be seen."""
        return os.path.exists(self.absolute(path))  # noqa: PTH110 - see is_folder

    def missing(self, path: str, *, folder: bool = False) -> NoteNotFoundError:
        """Make the error for a path that is not there, naming near matches.

        Raises:
            StoreFaultError: nobody may look there.
        """
        try:
            self.absolute(path).lstat()
        except PermissionError as error:
            raise StoreFaultError(f"{path!r}: {error.strerror}; its folder cannot be entered", path=path) from error
        except (OSError, ValueError):
            pass
        if folder:
            return NoteNotFoundError(f"there is no note {path!r}; it is a folder, list shows what is in it", path=path)
        close = near(path, self._known())
        help_text = (
            f"; did you mean {', '.join(map(repr, close))}?" if close else "; list or search shows what there is"
        )
        return NoteNotFoundError(f"there is no {path!r}{help_text}", path=path)

    def _visible(self, path: str) -> None:
        hidden = next((part for part in path.split("/") if is_hidden(part)), "")
        if hidden:
            raise InvalidPathError(
                f"{path!r} is hidden or an editor's temporary ({hidden!r}), which are not memory; choose another name",
                path=path,
            )

    def _inside(self, path: str) -> str:
        """Refuse a path that a symbolic link takes out of the workspace; follow one that stays inside."""
        place = self.absolute(path)
        real = os.path.realpath(place)
        if real == str(place) and not os.path.islink(place):  # noqa: PTH114 - see is_folder
            return path
        if os.path.islink(real):  # noqa: PTH114 - see is_folder
            raise InvalidPathError(f"{path!r} is a symbolic link that leads to itself; name another file", path=path)
        relative = os.path.relpath(real, self.root)
        if relative.startswith(".."):
            raise InvalidPathError(
                f"{path!r} is a symbolic link that leaves the workspace; name a file in it", path=path
            )
        return "" if relative == "." else Path(relative).as_posix()

    def _refuse_twin(self, parent: str, name: str, path: str) -> None:
        if not self.is_folder(parent):
            return
        wanted = fold(name)
        try:
            with os.scandir(self.absolute(parent)) as entries:
                found = [entry.name for entry in entries if _fold_quickly(entry.name) == wanted]
        except OSError as error:
            raise StoreFaultError(f"{parent!r}: {error.strerror}; nothing was changed", path=parent) from error
        if found and name not in found:  # the very name: somebody made it meanwhile
            existing = f"{parent}/{found[0]}" if parent else found[0]
            raise NoteExistsError(
                f"{path!r} differs only in case or accents' encoding from {existing!r}; use that one", path=existing
            )


def leaves_workspace(root: Path, entry: Path) -> bool:
    """Tell whether a symbolic link points out of the workspace, or at nothing."""
    real = os.path.realpath(entry)
    return not (real == str(root) or real.startswith(f"{root}{os.sep}")) or not os.path.exists(real)  # noqa: PTH110


def is_regular(entry: Path) -> bool:
    """Tell whether a path is a plain file, links followed; pipes and devices are not."""
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False


def _bounded(path: str) -> str:
    """Refuse what no file system takes, so that asking the disk about a path never fails."""
    longest = max(path.split("/"), key=lambda name: len(os.fsencode(name)))
    size = len(os.fsencode(longest))
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise InvalidPathError(f"the path is longer than {MAX_PATH_BYTES} bytes; use fewer folders", path=path)
    if size > MAX_NAME_BYTES:
        raise InvalidPathError(
            f"{longest!r} is {size} bytes long, {MAX_NAME_BYTES} is the limit; shorten it", path=path
        )
    return path


def _encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
