"""Which errors can the store raise, and who can fix them?

    StoreError                        .path where there is one
    ├─ InvalidRequestError            the caller, often a model, can fix it: what, which, what to do instead
    │  ├─ InvalidPathError            the path is not allowed
    │  ├─ NoteNotFoundError           nothing is there; names near matches
    │  ├─ NoteExistsError             something is already there
    │  ├─ EditConflictError           the text is not what the caller believes it to be
    │  └─ InvalidFrontMatterError     the YAML block does not parse; says where
    └─ StoreFaultError                an operator must look
       ├─ IndexCorruptError           an index or record cannot be read and cannot be rebuilt
       └─ WorkspaceLockedError        another process holds the workspace

Expected outcomes (no hits, a dangling link) are values, never errors.
"""


class StoreError(Exception):
    """Root of everything the store raises on purpose."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class InvalidRequestError(StoreError):
    """The caller asked for something that cannot be done; the message says what to do instead."""


class InvalidPathError(InvalidRequestError):
    """The path is empty, absolute, leaves the workspace, or has a forbidden name."""


class NoteNotFoundError(InvalidRequestError):
    """There is no such file; the message names near matches."""


class NoteExistsError(InvalidRequestError):
    """A file, or one equal but for case and composition, is already there."""


class EditConflictError(InvalidRequestError):
    """The text to replace does not occur exactly once, or the note is no longer the expected version."""


class InvalidFrontMatterError(InvalidRequestError):
    """The front matter block cannot be parsed, so it cannot be rewritten."""


class StoreFaultError(StoreError):
    """Nothing the caller can fix."""


class IndexCorruptError(StoreFaultError):
    """Derived or recorded state cannot be read."""


class WorkspaceLockedError(StoreFaultError):
    """Another process held the workspace's lock for too long."""
