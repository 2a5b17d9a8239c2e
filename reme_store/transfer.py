"""How does a file come into the workspace, or a copy leave it? Only from and to folders the caller allowed."""

import os
from collections.abc import Sequence
from pathlib import Path

from reme_store.errors import InvalidPathError, InvalidRequestError, NoteExistsError
from reme_store.workspace import replace_durably


def read_outside(source: str, allowed: Sequence[str]) -> bytes:
    """Return the bytes of a file in an allowed folder.

    Raises:
        InvalidPathError: the file is not in an allowed folder, or there is none.
    """
    real = _allowed(source, allowed)
    if not real.is_file():
        raise InvalidPathError(f"there is no file {source!r} outside to copy; check its path", path=source)
    try:
        return real.read_bytes()
    except PermissionError as error:
        raise InvalidRequestError(f"{source!r} cannot be read: {error.strerror}", path=source) from error


def write_outside(destination: str, data: bytes, allowed: Sequence[str]) -> None:
    """Write a new file in an allowed folder.

    Raises:
        InvalidPathError: the place is not in an allowed folder, or its folder does not exist.
        NoteExistsError: something is there already.
    """
    real = _allowed(destination, allowed)
    if os.path.lexists(real):
        raise NoteExistsError(f"{destination!r} exists; choose another name", path=destination)
    if not real.parent.is_dir():
        raise InvalidPathError(f"the folder of {destination!r} does not exist; make it first", path=destination)
    replace_durably(real, data)


def _allowed(path: str, allowed: Sequence[str]) -> Path:
    """Follow every symbolic link, then ask whether the place is in an allowed folder."""
    if not path or "\0" in path or not Path(path).is_absolute():
        raise InvalidPathError(f"{path!r} is not absolute; outside files are named from the root", path=path)
    real = Path(os.path.realpath(path))
    folders = [Path(os.path.realpath(folder)) for folder in allowed]
    if not any(real.is_relative_to(folder) for folder in folders):
        which = (
            f"one of {', '.join(map(str, allowed))}" if allowed else "no folder; open the store with allowed_folders"
        )
        raise InvalidPathError(f"{path!r} is not in an allowed folder: allowed is {which}", path=path)
    return real
