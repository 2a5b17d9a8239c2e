"""What is in a user's file, and how is it replaced without ever being half-written?

The only module that touches the files of users. A file is staged as a hidden temporary beside its place, fsynced,
and renamed over it; its folder is fsynced after. Errors of the disk come back as ``StoreFaultError`` with nothing
half-done.
"""

import hashlib
import os
import secrets
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from reme_store.errors import NoteNotFoundError, StoreFaultError
from reme_store.models import FileState
from reme_store.paths import (
    LAYERS,
    METADATA,
    NOTE_SUFFIX,
    is_conflict_copy,
    is_hidden,
    is_regular,
    leaves_workspace,
)

TEMPORARY_PREFIX: Final = ".reme-"
TEMPORARY_SUFFIX: Final = ".tmp"
TRASH: Final = f"{METADATA}/trash"
RECORD_FOLDERS: Final = ("ledger", "drafts", "reports")
METADATA_FOLDERS: Final = (
    *("file_store", "file_graph", "keyword_index", "vectors", "file_catalog", "history", "trash"),
    *RECORD_FOLDERS,
)
_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)
_NO_FILE: Final = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
"""What the system says where there is no file, but perhaps a folder."""
_CLOCK_TICK_NS: Final = 20_000_000
"""A file whose change time is younger than this when it is read may change again without its times showing it."""


def version(data: bytes) -> str:
    """Return the version of a file's bytes: their sha256 in hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Scan:
    """What a walk over the disk found."""

    stats: Mapping[str, os.stat_result]
    conflict_copies: tuple[str, ...]
    unreadable: tuple[str, ...]
    leftovers: tuple[str, ...]
    """Temporaries of this program; those of a killed process where the caller holds the lock."""
    aliases: Mapping[str, str]
    """What each symbolic link to a file inside the workspace means."""


class Workspace:
    """The files below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.metadata = self.root / METADATA
        with disk_faults(METADATA):
            for name in (*LAYERS, *(f"{METADATA}/{part}" for part in METADATA_FOLDERS)):
                (self.root / name).mkdir(parents=True, exist_ok=True)

    def absolute(self, path: str) -> Path:
        """Return where a relative path is on disk."""
        return self.root / path if path else self.root

    def exists(self, path: str) -> bool:
        """Tell whether a text, which may be any at all, names something in the workspace."""
        try:
            return not path.startswith("/") and ".." not in path.split("/") and self.absolute(path).exists()
        except (OSError, ValueError):
            return False

    def read(self, path: str) -> bytes:
        """Return a file's bytes.

        Raises:
            NoteNotFoundError: there is no such file.
        """
        data = self.read_or_none(path)
        if data is None:
            raise NoteNotFoundError(f"there is no {path!r}", path=path)
        return data

    def read_or_none(self, path: str) -> bytes | None:
        """Return a file's bytes, or None where there is no file."""
        with disk_faults(path):
            try:
                with _opened(self.absolute(path)) as file:
                    return file.read()
            except _NO_FILE:
                return None

    def version_of(self, path: str) -> str | None:
        """Return the version of a file, or None where there is no file."""
        data = self.read_or_none(path)
        return None if data is None else version(data)

    def load(self, path: str) -> tuple[bytes, FileState] | None:
        """Read a file with the state that belongs to exactly these bytes; None where there is no file."""
        with disk_faults(path):
            try:
                with _opened(self.absolute(path)) as file:
                    before = os.fstat(file.fileno())
                    data = file.read()
                    after = os.fstat(file.fileno())
            except _NO_FILE:
                return None
        torn = _stamp(before) != _stamp(after)
        return data, state_of(version(data), after, torn=torn)

    def stage(self, path: str, data: bytes) -> str:
        """Write new bytes to a temporary beside their place, durably; answer its path."""
        target = self.absolute(path)
        folder = path.rpartition("/")[0]
        name = f"{TEMPORARY_PREFIX}{secrets.token_hex(6)}{TEMPORARY_SUFFIX}"
        with disk_faults(path):
            make_folder(target.parent)
            try:
                _write_new(target.parent / name, data, _mode_of(target))
            except OSError:
                (target.parent / name).unlink(missing_ok=True)
                self.prune_empty(folder)
                raise
        return f"{folder}/{name}" if folder else name

    def place(self, temporary: str, path: str) -> None:
        """Rename a temporary to its place. Durable after :meth:`sync_folders`."""
        with disk_faults(path):
            os.replace(self.absolute(temporary), self.absolute(path))  # noqa: PTH105 - the audited call

    def rename(self, source: str, target: str) -> None:
        """Rename a file or folder to a place that is free. Durable after :meth:`sync_folders`."""
        with disk_faults(source):
            make_folder(self.absolute(target).parent)
            os.rename(self.absolute(source), self.absolute(target))  # noqa: PTH104 - the audited call

    def discard(self, path: str) -> None:
        """Remove a file that may be gone."""
        with disk_faults(path):
            self.absolute(path).unlink(missing_ok=True)

    def sync_folders(self, paths: Iterable[str]) -> None:
        """Make the names in the folders of these files durable."""
        with disk_faults(METADATA):
            for folder in {self.absolute(path).parent for path in paths}:
                if folder.is_dir():
                    sync_folder(folder)

    def prune_empty(self, folder: str) -> None:
        """Remove a folder, and those above it, while they are empty and no part of the layout."""
        while folder and folder not in LAYERS and (folder.startswith(TRASH + "/") or not folder.startswith(METADATA)):
            try:
                self.absolute(folder).rmdir()
            except OSError:
                return
            folder = folder.rpartition("/")[0]

    def walk(self, prefix: str = "", suffixes: Collection[str] = (NOTE_SUFFIX,)) -> Scan:
        """Find the files below a folder that may be memory, by their suffix in lower case."""
        found: dict[str, os.stat_result] = {}
        conflicts: list[str] = []
        unreadable: list[str] = []
        leftovers: list[str] = []
        aliases: dict[str, str] = {}
        wanted = tuple(suffixes)
        pending = [prefix]
        while pending:
            folder = pending.pop()
            start = f"{folder}/" if folder else ""
            try:
                entries = list(os.scandir(self.absolute(folder)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                unreadable.append(folder)
                continue
            for entry in entries:
                name = entry.name
                if is_hidden(name) or start + name == METADATA:
                    if is_leftover(name):
                        leftovers.append(start + name)
                elif entry.is_dir(follow_symlinks=False):
                    pending.append(start + name)
                elif not name.lower().endswith(wanted):
                    continue
                elif is_conflict_copy(name):
                    conflicts.append(start + name)
                elif entry.is_symlink():
                    real = self._target_inside(Path(entry.path))
                    if real is not None:
                        aliases[start + name] = real
                        found[start + name] = self.absolute(real).stat()
                elif entry.is_file(follow_symlinks=False):
                    _look_at(entry, start + name, found, unreadable)
        return Scan(found, tuple(sorted(conflicts)), tuple(sorted(unreadable)), tuple(leftovers), aliases)

    def holds(self, path: str) -> bool:
        """Tell whether a walk would find a file at a path now."""
        place = self.absolute(path)
        if os.path.islink(place):  # noqa: PTH114 - False where it cannot be seen
            return os.path.realpath(place.parent) == str(place.parent) and self._target_inside(place) is not None
        return os.path.realpath(place) == str(place) and is_regular(place)

    def _target_inside(self, link: Path) -> str | None:
        """Return the file of the workspace that a symbolic link means, or None."""
        if leaves_workspace(self.root, link) or not is_regular(link):
            return None
        return Path(os.path.realpath(link)).relative_to(self.root).as_posix()

    def sweep_records(self) -> None:
        """Remove temporaries that a killed process left among the records. Needs the lock."""
        for name in RECORD_FOLDERS:
            for place in (self.metadata / name).rglob(f"{TEMPORARY_PREFIX}*{TEMPORARY_SUFFIX}"):
                self.discard(place.relative_to(self.root).as_posix())


def is_leftover(name: str) -> bool:
    """Tell whether a name is one of this program's temporaries."""
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX)


def state_of(sha256: str, info: os.stat_result, *, torn: bool = False) -> FileState:
    """Describe a file as read. Inode 0 says that the stat fields cannot vouch for the bytes at the next scan."""
    fresh = torn or time.time_ns() - max(info.st_mtime_ns, info.st_ctime_ns) < _CLOCK_TICK_NS
    return FileState(sha256, info.st_size, info.st_mtime_ns, info.st_ctime_ns, 0 if fresh else info.st_ino)


def is_unchanged(state: FileState, info: os.stat_result) -> bool:
    """Tell whether the stat fields vouch that a file still has the bytes of this state."""
    return (state.mtime_ns, state.size, state.ctime_ns, state.inode) == _stamp(info)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; a system that cannot open folders has nothing to sync."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably."""
    missing = [folder]
    while not missing[-1].exists():
        missing.append(missing[-1].parent)
    for above, new in zip(missing[:0:-1], missing[-2::-1], strict=True):
        new.mkdir(exist_ok=True)
        sync_folder(above)


def replace_durably(target: Path, data: bytes) -> None:
    """Write a whole file atomically and durably: one of the program's own, or one outside the workspace."""
    replace_whole(target, data, durable=True)


def replace_whole(target: Path, data: bytes, *, durable: bool) -> None:
    """Write a whole file atomically; what is not durable survives a killed process, not a power failure."""
    temporary = target.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(6)}{TEMPORARY_SUFFIX}")
    with disk_faults(target.name):
        make_folder(target.parent)
        try:
            _write_new(temporary, data, _mode_of(target), durable=durable)
            os.replace(temporary, target)  # noqa: PTH105 - the audited call
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        if durable:
            sync_folder(target.parent)


@contextmanager
def disk_faults(path: str) -> Iterator[None]:
    """Turn what the operating system refuses into an error of ours that names the file."""
    try:
        yield
    except OSError as error:
        raise StoreFaultError(f"{path!r}: {error.strerror or error}; nothing was changed", path=path) from error


def _opened(place: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe or device is none, and nobody waits for it."""
    file = open(place, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FileNotFoundError(place)
    return file


def _stamp(info: os.stat_result) -> tuple[int, int, int, int]:
    return (info.st_mtime_ns, info.st_size, info.st_ctime_ns, info.st_ino)


def _look_at(entry: "os.DirEntry[str]", path: str, found: dict[str, os.stat_result], unreadable: list[str]) -> None:
    """Add a file that is still there to those found, or to those that may not be seen."""
    try:
        found[path] = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        pass
    except OSError:
        unreadable.append(path)


def _mode_of(target: Path) -> int | None:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except OSError:
        return None


def _write_new(path: Path, data: bytes, mode: int | None, *, durable: bool = True) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        if mode is not None:
            os.fchmod(descriptor, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
