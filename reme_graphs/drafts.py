"""What may an agent change before anything lands, and what has it changed so far?

A :class:`DraftView` shows the store to one agent with the agent's own changes laid over it. The changes touch one
note, live in memory and in the record ``drafts/<id>.json``, and are seen by nobody else until someone lands them.
An existing note can be changed only after this agent has read it, and only as the version it has read.
"""

import difflib
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from reme_store import browsing, editing
from reme_store.errors import EditConflictError, InvalidRequestError, NoteExistsError
from reme_store.file_store import FileStore
from reme_store.models import Answer, NoteText
from reme_store.text.front_matter import parse_note, update_front_matter
from reme_store.tools import StoreTool

FOLDER = "drafts"


@dataclass(frozen=True, slots=True)
class Draft:
    """A note as an agent wants it to be."""

    target_path: str
    base_version: str | None
    """Version the draft was made from; None where the note is new."""
    base_text: str | None
    text: str


class DraftView:
    """The store as one agent sees it: the tool methods, with writes kept in a draft of one note."""

    def __init__(
        self,
        store: FileStore,
        *,
        unit_id: str,
        allowed: Callable[[str], None] | None = None,
        target: str | None = None,
        shown: Collection[str] = (),
    ) -> None:
        """Start without a draft.

        Args:
            unit_id: Names the record; letters, digits, ``-``, ``_`` and ``.`` only.
            allowed: Raises InvalidRequestError for a path that must not be written.
            target: The one note to write; None lets the first write choose.
            shown: Paths whose whole text stands in the agent's prompt; a mapping gives the version shown.
        """
        self.store, self.unit_id = store, unit_id
        self._allowed, self._target = allowed, target
        self._seen = dict(shown) if isinstance(shown, Mapping) else {path: store.version_of(path) for path in shown}
        self._draft: Draft | None = None

    @property
    def draft(self) -> Draft | None:
        """The draft, or None while nothing was written."""
        return self._draft

    # ---- reading ----

    def read(self, path: str, start_line: int | None = None, end_line: int | None = None) -> Answer:
        """Read the draft, or the note as it is on disk."""
        found = self.store.paths.candidate(path)
        if self._draft is not None and found == self._draft.target_path:
            note = NoteText(found, self._draft.text, version_of_text(self._draft.text))
            return browsing.read_lines(note, start_line, end_line)
        answer = self.store.read(path, start_line, end_line)
        self._seen[found] = answer.metadata["version"]
        return answer

    def frontmatter_read(self, path: str) -> Answer:
        """Read the front matter of the draft, or of the note as it is on disk."""
        found = self.store.paths.candidate(path)
        if self._draft is None or found != self._draft.target_path:
            return self.store.frontmatter_read(path)
        values = parse_note(self._draft.text).front_matter
        shown = browsing.fence(json.dumps(values, ensure_ascii=False, indent=1))
        return Answer(f"{found}\n{shown}", {"path": found, "front_matter": values})

    def node_search(self, query: str, limit: int = 20) -> Answer:
        """Search digest notes; the draft is not among them."""
        return self.store.node_search(query, limit)

    def traverse(self, path: str | list[str], depth: int = 1, direction: Any = "both", predicate: str = "") -> Answer:
        """Walk the link graph as it is on disk."""
        return self.store.traverse(path, depth, direction, predicate)

    # ---- writing ----

    def write(
        self,
        path: str,
        content: str,
        name: str = "",
        description: str = "",
        metadata: Mapping[str, Any] | None = None,
        *,
        overwrite: bool = False,
        expected_version: str = "",
    ) -> Answer:
        """Make a new note, or replace the body of one."""
        found = self._writable(path)
        existing = self._present(found)
        if existing is not None and not overwrite:
            raise NoteExistsError(
                f"{found!r} exists; read it and edit it, or set overwrite=true to replace its body", path=found
            )
        if expected_version and (existing is None or version_of_text(existing) != expected_version):
            raise EditConflictError(f"{found!r} is not the version {expected_version!r}; read it again", path=found)
        text = editing.write_text(existing, content, name, description, dict(metadata or {}))
        return self._keep(found, text, {"created": existing is None})

    def append(self, path: str, content: str) -> Answer:
        """Add text at the end of the note."""
        found, text = self._existing(path)
        return self._keep(found, editing.append_text(text, content))

    def edit(self, path: str, old: str, new: str, replace_all: bool = False) -> Answer:
        """Replace text of the note's body."""
        found, text = self._existing(path)
        changed, count = editing.edit_text(text, old, new, replace_all)
        return self._keep(found, changed, {"replacements": count})

    def frontmatter_update(self, path: str, metadata: Mapping[str, Any]) -> Answer:
        """Set keys of the note's front matter."""
        found, text = self._existing(path)
        return self._keep(found, update_front_matter(text, metadata), {"changed": sorted(metadata)})

    def replace(self, path: str, text: str) -> None:
        """Take a whole text, front matter included, as the draft; the same rules hold as for the tools."""
        found = self._writable(path)
        self._present(found)
        self._keep(found, text)

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Complete the record with what the landing needs to know; a record is made where nothing was written."""
        self._save(facts)

    def discard(self) -> None:
        """Forget the draft and its record."""
        self._draft = None
        self.store.records.delete(record_name(self.unit_id))

    # ---- rules ----

    def _writable(self, path: str) -> str:
        found = self.store.paths.new(path)
        target = self._target or (self._draft.target_path if self._draft else None)
        if target is not None and found != target:
            raise InvalidRequestError(
                f"{found!r} cannot be written: this work changes one note, {target!r}; other notes stay as they are",
                path=found,
            )
        if self._allowed is not None:
            self._allowed(found)
        return found

    def _existing(self, path: str) -> tuple[str, str]:
        found = self._writable(path)
        text = self._present(found)
        if text is None:
            raise self.store.paths.missing(path)
        return found, text

    def _present(self, found: str) -> str | None:
        """Return the text a change starts from, None for a new note; refuse what this agent has not read."""
        if self._draft is not None:
            return self._draft.text
        if self.store.version_of(found) is None:
            return None
        if found not in self._seen:
            raise InvalidRequestError(
                f"{found!r} exists and you have not read it; read it first, then change it", path=found
            )
        return self._read_version(found).base_text

    def _read_version(self, found: str) -> Draft:
        note = self.store.read_note(found)
        if note.version != self._seen.get(found):
            raise EditConflictError(
                f"{found!r} was changed since you read it; read it again, then change it", path=found
            )
        return Draft(found, note.version, note.text, note.text)

    def _keep(self, found: str, text: str, facts: Mapping[str, Any] | None = None) -> Answer:
        start = self._draft or (
            Draft(found, None, None, "") if self.store.version_of(found) is None else self._read_version(found)
        )
        self._draft = Draft(found, start.base_version, start.base_text, text)
        self._save({})
        version = version_of_text(text)
        return Answer(f"{found} is as you want it in your draft.", {"path": found, **(facts or {}), "version": version})

    def _save(self, facts: Mapping[str, Any]) -> None:
        kept = self._draft
        row = {
            "draft_id": self.unit_id,
            "target_path": kept.target_path if kept else "",
            "base_version": kept.base_version if kept else None,
            "text": kept.text if kept else "",
            **facts,
        }
        data = json.dumps(row, ensure_ascii=False, indent=1).encode()
        self.store.records.write(record_name(self.unit_id), data, durable=False)


def record_name(unit_id: str) -> str:
    """Return the name of a draft's record."""
    return f"{FOLDER}/{unit_id}.json"


def load_draft(store: FileStore, unit_id: str) -> dict[str, Any] | None:
    """Return the record of a draft, None where there is none, or none left after a power failure."""
    data = store.records.read(record_name(unit_id))
    try:
        record: dict[str, Any] | None = None if data is None else json.loads(data)
    except ValueError:
        return None
    return record


def version_of_text(text: str) -> str:
    """Return the version a file with this text has."""
    return hashlib.sha256(text.encode()).hexdigest()


def unified_diff(path: str, old: str, new: str) -> str:
    """Return the difference of two texts of a note, empty where there is none."""
    before = path if old else "/dev/null"
    return "\n".join(difflib.unified_diff(old.split("\n"), new.split("\n"), before, path, lineterm="", n=3))


class DraftArguments(BaseModel):
    """Arguments of the tool ``draft``."""

    draft_id: Annotated[str, Field(description="The draft_id that a review names")]
    start_line: Annotated[int | None, Field(description="First line of the difference, from 1")] = None
    end_line: Annotated[int | None, Field(description="Last line of the difference, inclusive")] = None


def read_draft(store: FileStore, draft_id: str, start_line: int | None = None, end_line: int | None = None) -> Answer:
    """Show what a draft would change in its note, before anything is decided.

    Raises:
        InvalidRequestError: there is no such draft, or it has landed.
    """
    record = load_draft(store, draft_id)
    if record is None or not record["target_path"]:
        raise InvalidRequestError(f"there is no draft {draft_id!r}; it may have landed or been rejected already")
    path = record["target_path"]
    present = store.version_of(path) is not None
    diff = unified_diff(path, store.read_note(path).text if present else "", record["text"])
    shown = browsing.read_lines(NoteText(path, diff, version_of_text(diff)), start_line, end_line)
    return Answer(shown.answer, {"draft_id": draft_id, "target_path": path, "diff": diff, "text": record["text"]})


def create_draft_tool(store: FileStore) -> BaseTool:
    """Make the tool with which a reviewer reads a draft whole."""

    def draft(**arguments: Any) -> tuple[str, dict[str, Any]]:
        answer = read_draft(store, **arguments)
        return answer.answer, {"success": True, "answer": answer.answer, "metadata": answer.metadata}

    return StoreTool(
        name="draft",
        description="Show what a draft under review would change in its note, as a unified diff.",
        args_schema=DraftArguments,
        func=draft,
        response_format="content_and_artifact",
    )
