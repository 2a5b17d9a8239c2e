"""Files are the truth; everything else here can be rebuilt from them.

``open_store`` opens a workspace, ``create_store_tools`` makes LangChain tools of it. What needs numpy or LangChain is
imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from reme_store.errors import (
    EditConflictError,
    IndexCorruptError,
    InvalidFrontMatterError,
    InvalidPathError,
    InvalidRequestError,
    NoteExistsError,
    NoteNotFoundError,
    StoreError,
    StoreFaultError,
    WorkspaceLockedError,
)
from reme_store.models import Answer, CatalogEntry, FileChunk, FileLink, FileNode, FileState, NoteText
from reme_store.release import VERSION

if TYPE_CHECKING:
    from reme_store.file_store import FileStore, StoreOptions, open_store
    from reme_store.tools import create_store_tools

__version__ = VERSION

_LAZY: Final = {
    "FileStore": "reme_store.file_store",
    "StoreOptions": "reme_store.file_store",
    "create_store_tools": "reme_store.tools",
    "open_store": "reme_store.file_store",
}

__all__ = [
    "Answer",
    "CatalogEntry",
    "EditConflictError",
    "FileChunk",
    "FileLink",
    "FileNode",
    "FileState",
    "FileStore",
    "IndexCorruptError",
    "InvalidFrontMatterError",
    "InvalidPathError",
    "InvalidRequestError",
    "NoteExistsError",
    "NoteNotFoundError",
    "NoteText",
    "StoreError",
    "StoreFaultError",
    "StoreOptions",
    "WorkspaceLockedError",
    "create_store_tools",
    "open_store",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
