"""Which files change when a note or folder gets another path or goes, and what must be told about the links to it?

Checks and plans only: the texts are read from disk and rewritten in memory; carrying out is the business of
transactions.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from reme_store.errors import InvalidPathError, InvalidRequestError, NoteExistsError
from reme_store.paths import LAYERS, PathResolver, is_within, suffix_of
from reme_store.text.wikilinks import parse_wikilinks, retarget_wikilinks
from reme_store.transactions import Discard, Plan, Rename, Write
from reme_store.workspace import Workspace, disk_faults, version

InboundSources = Callable[[str], Iterable[str]]
"""Answers the notes that link to a target, as the link graph knows them."""


@dataclass(slots=True)
class LinkReport:
    """How many wikilinks concern a move or a deletion, by the file they stand in."""

    counts: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    def by_file(self) -> list[dict[str, object]]:
        """Return them as plain values, sorted by path."""
        return [{"path": path, "count": count} for path, count in sorted(self.counts.items())]


def move_ends(paths: PathResolver, src_path: str, dst_path: str, was_there: Callable[[str], bool]) -> tuple[str, str]:
    """Return the paths that a move means.

    Args:
        paths: The resolver of the workspace.
        src_path: What moves: a folder, else a note.
        dst_path: Its whole new path.
        was_there: Answers whether a file was at a path before.

    Raises:
        InvalidRequestError: one of them cannot be meant so.
    """
    source = paths.own_target(src_path)
    if source in ("", *LAYERS):
        raise _of_the_layout(src_path, source)
    if not paths.exists(source):
        raise paths.missing(src_path)
    is_folder = paths.is_folder(source)
    target = paths.own(paths.folder(dst_path) if is_folder else paths.target(dst_path))
    if "/" not in dst_path and "/" in source and not was_there(target):
        raise InvalidPathError(
            f"{dst_path!r} names no folder; write the whole path, './{dst_path}' for the top", path=dst_path
        )
    if is_folder:
        _check_folder_target(source, target)
    else:
        _check_file_target(paths, source, target, dst_path)
    _check_name(paths, source, target)
    return source, target


def check_move(paths: PathResolver, source: str, target: str, *, overwrite: bool) -> None:
    """Refuse a move from what is gone, or onto what is there and not to be replaced."""
    if not paths.exists(source):
        raise paths.missing(source)
    if paths.is_folder(target):
        raise NoteExistsError(f"{target!r} exists; a folder is never replaced, move its notes one by one", path=target)
    if paths.exists(target) and paths.is_folder(source):
        raise NoteExistsError(f"{target!r} is a file; a folder does not replace it, choose another path", path=target)
    if paths.exists(target) and not overwrite:
        raise NoteExistsError(f"{target!r} exists; overwrite=true replaces it", path=target)


def deletable(paths: PathResolver, path: str, *, recursive: bool) -> str:
    """Return the path that a deletion means.

    Raises:
        InvalidRequestError: it is not there, part of the layout, or a folder with files and ``recursive`` is not set.
    """
    found = paths.own_target(path)
    if found in ("", *LAYERS):
        raise _of_the_layout(path, found)
    if not paths.exists(found):
        raise paths.missing(path)
    if paths.is_folder(found) and not recursive and _holds_something(paths, found):
        raise InvalidRequestError(f"{found!r} is a folder with files; recursive=true deletes it with them", path=found)
    return found


def _of_the_layout(path: str, found: str) -> InvalidPathError:
    return InvalidPathError(
        f"{path!r} is part of the workspace's layout and stays; name a note or folder inside it", path=found
    )


def _holds_something(paths: PathResolver, folder: str) -> bool:
    with disk_faults(folder):
        return any(paths.absolute(folder).iterdir())


def _check_folder_target(source: str, target: str) -> None:
    if not target:
        raise NoteExistsError("the workspace itself cannot be replaced; write the folder's whole new path", path=target)
    if is_within(target, source) and target != source:
        raise InvalidPathError(f"{source!r} cannot move into itself; choose a place outside it", path=target)


def _check_file_target(paths: PathResolver, source: str, target: str, dst_path: str) -> None:
    if paths.is_folder(target):
        raise NoteExistsError(f"{target!r} is a folder; write '{target}/{source.rpartition('/')[2]}'", path=target)
    if dst_path.endswith("/"):
        named = f"{dst_path}{source.rpartition('/')[2]}"
        raise InvalidPathError(f"{dst_path!r} is the name of a folder; write {named!r}", path=target)
    if suffix_of(source) != suffix_of(target) and not suffix_of(dst_path):
        raise InvalidPathError(f"{dst_path!r} lacks the suffix of {source!r}; write the whole name", path=target)


def _check_name(paths: PathResolver, source: str, target: str) -> None:
    """Apply the rules for new names; another case of the same name is a new name of the same file."""
    try:
        paths.check_new(target)
    except NoteExistsError as error:
        if error.path != source:
            raise


def files_below(workspace: Workspace, path: str) -> list[str]:
    """Return a file itself, or every visible file in a folder."""
    if not workspace.absolute(path).is_dir():
        return [path]
    return sorted(workspace.walk(path, ("",)).stats)


def plan_move(
    workspace: Workspace, inbound: InboundSources, source: str, target: str, *, overwrite: bool, retarget: bool
) -> tuple[Plan, LinkReport]:
    """Plan a move of a file or folder, every link to what moves rewritten."""
    moves = {path: target + path.removeprefix(source) for path in files_below(workspace, source)}
    writes, report = _plan_retargets(workspace, inbound, moves, target) if retarget else ([], LinkReport())
    changes: list[Write | Discard | Rename] = list(writes)
    if overwrite and workspace.absolute(target).exists():
        changes.append(Discard(target, _version_in(writes, workspace, target)))
    changes.append(Rename(source, target, _version_in(writes, workspace, source)))
    return Plan(changes, moves), report


def count_inbound(workspace: Workspace, inbound: InboundSources, path: str) -> LinkReport:
    """Count the links from outside to a file or to anything in a folder."""
    targets = files_below(workspace, path)
    report = LinkReport()
    for source in _sources(inbound, targets):
        text = None if is_within(source, path) else _text(workspace, source)
        count = sum(link.target in set(targets) for link in parse_wikilinks(text)) if text is not None else 0
        if count:
            report.counts[source] = count
    return report


def _plan_retargets(
    workspace: Workspace, inbound: InboundSources, moves: Mapping[str, str], replaced: str
) -> tuple[list[Write], LinkReport]:
    """Plan new texts of the notes that link to what moves; the one that is replaced goes as it is."""
    writes, report = [], LinkReport()
    for path in _sources(inbound, moves):
        text = _text(workspace, path) if path != replaced else None
        if text is None:
            continue
        rewritten, count = retarget_wikilinks(text, moves)
        if count:
            writes.append(Write(path, text.encode(), rewritten.encode()))
            report.counts[moves.get(path, path)] = count
    return writes, report


def _sources(inbound: InboundSources, targets: Iterable[str]) -> list[str]:
    return sorted({source for target in targets for source in inbound(target)})


def _text(workspace: Workspace, path: str) -> str | None:
    """Return the text of a note that may be rewritten: one in UTF-8."""
    data = workspace.read_or_none(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _version_in(writes: Iterable[Write], workspace: Workspace, path: str) -> str:
    """Return the version a file has once the writes before it are done; empty for a folder."""
    if workspace.absolute(path).is_dir():
        return ""
    written = next((write.after for write in writes if write.path == path), None)
    return version(workspace.read(path) if written is None else written)
