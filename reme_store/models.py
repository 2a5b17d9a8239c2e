"""Which values pass between the parts of the store? Frozen, without behaviour.

Paths are workspace-relative POSIX paths with extension; lines are 1-based and inclusive, split on ``\\n`` only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Direction = Literal["both", "forward", "backward"]


@dataclass(frozen=True, slots=True)
class FileLink:
    """One edge of the link graph."""

    source_path: str
    target_path: str
    target_anchor: str | None = None
    predicate: str | None = None


@dataclass(frozen=True, slots=True)
class FileChunk:
    """A searchable piece of a note. ``metadata["chunk_type"]`` is ``content`` or ``index``."""

    id: str
    path: str
    start_line: int
    end_line: int
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileNode:
    """A note in the link graph."""

    path: str
    st_mtime: float
    links: tuple[FileLink, ...] = ()
    chunk_ids: tuple[str, ...] = ()
    front_matter: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was when it was read: the content hash, and the stat fields that pre-filter a rescan."""

    sha256: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class NoteText:
    """The text of a note together with the version it had."""

    path: str
    text: str
    version: str
    """sha256 of the bytes, in hex; pass it back as ``expected_version``."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is no longer what a consumer has processed."""

    path: str
    kind: Literal["added", "modified", "deleted"]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """What a consumer has processed of a file."""

    sha256: str
    """Content hash as read, before the work was done."""
    engine: str = ""
    """Who did the work: ``offline`` or a model's name; empty where that has no meaning."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: text for a model or a person, metadata for a program."""

    answer: str
    metadata: dict[str, Any] = field(default_factory=dict)
