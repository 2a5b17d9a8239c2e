"""What can be asked of an open workspace?

``FileStore`` has the tools of the store as methods, which answer with text for a model and metadata for a program, and
the typed calls that graphs rely on. It holds no rule of its own about disk or index: those are the parts it wires.
"""

import builtins
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from reme_store import browsing, editing, health, history, moving, retrieval, transfer
from reme_store.commits import Commits
from reme_store.embedding import Embedding, TextEmbedder, model_name
from reme_store.errors import (
    EditConflictError,
    InvalidFrontMatterError,
    InvalidPathError,
    InvalidRequestError,
    NoteExistsError,
)
from reme_store.freshness import Freshness
from reme_store.history import Actor, History
from reme_store.index.catalog import Catalog
from reme_store.locking import workspace_lock
from reme_store.models import Answer, Direction, FileLink, FileNode, FileState, NoteText
from reme_store.note_index import NoteIndex
from reme_store.paths import NOTE_SUFFIX, PathResolver, is_note, suffix_of
from reme_store.records import Records, record_path
from reme_store.release import VERSION
from reme_store.text.decoding import decode_text
from reme_store.text.front_matter import delete_front_matter, parse_note, update_front_matter
from reme_store.transactions import Discard, Plan, Rename, Write
from reme_store.trash import prune_trash
from reme_store.versions import Versions, history_answer, unified_diff, unknown_run
from reme_store.workspace import Workspace, disk_faults, is_unchanged, version


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How a workspace is opened."""

    chunk_chars: int = 10_000
    """Largest size of a chunk, in characters."""
    embed_toc: bool = True
    """Whether a chunk shows the headings of its whole note."""
    timezone: str = ""
    """IANA name of the zone that decides which day it is; empty is the machine's own."""
    history_days: float = 90
    """Age at which history and trash go."""
    history_bytes: int = 256 * 1024 * 1024
    """Size of history, and of the trash, beyond which the oldest goes."""
    allowed_folders: tuple[str, ...] = ()
    """Folders outside from which ``upload`` and to which ``download`` may copy."""
    lock_timeout: float = 60.0
    """Seconds to wait for another writer."""
    embeddings: TextEmbedder | None = None
    """What turns text into vectors, such as any LangChain ``Embeddings``; without it search goes by words alone."""
    embedding_model: str = ""
    """Name under which the vectors are kept; vectors of another name are never read. Empty: what the object says."""


class FileStore:
    """One open workspace. Thread-safe; several processes may have it open."""

    def __init__(self, root: Path, options: StoreOptions) -> None:
        self.options = options
        self.workspace = Workspace(root)
        self.root = self.workspace.root
        metadata = self.workspace.metadata
        log = History(metadata / "history", max_age_days=options.history_days, max_bytes=options.history_bytes)
        self._index = NoteIndex(metadata, chunk_chars=options.chunk_chars, embed_toc=options.embed_toc)
        lock = workspace_lock(metadata / "lock", options.lock_timeout)
        self.commits = Commits(self.workspace, log, self._index, lock)
        self.paths = PathResolver(self.root, self._index.known)
        self.records = Records(self.workspace, self.lock)
        self.versions = Versions(self.workspace, log)
        self._embedding = self._named_embedding(metadata / "vectors")
        self.embedding_model = self._embedding.model if self._embedding else ""
        """Name of the model behind vector search; empty without one."""
        self.file_watcher = ""
        """State of the watcher, set by whoever runs one."""
        self._log = log
        self._freshness = Freshness(
            self.commits.refresh, lambda: len(self._index.known()), lambda: self.commits.held_here
        )

    def open(self) -> None:
        """Repair what a crash left, and begin to bring the index up to date with the disk."""
        self._index.open()
        with self.lock():
            self.workspace.sweep_records()
            self._prune()
        self._freshness.start()
        if self._embedding is not None:
            self._index.changed = self._embedding.wake
            self._embedding.start()

    def close(self) -> None:
        """Release files; the store is not used after."""
        self._freshness.stop()
        if self._embedding is not None:
            self._embedding.stop()
        self.commits.close()
        self._index.close()

    @property
    def index(self) -> NoteIndex:
        """The index, which is not known to be behind the disk."""
        self._freshness.wait()
        return self._index

    def lock(self) -> AbstractContextManager[None]:
        """Hold the workspace's lock, across processes and threads; the thread that has it may take it again."""
        return self.commits.lock()

    def journal(self, *, tool: str, run_id: str = "", reason: str = "") -> AbstractContextManager[None]:
        """Name who makes the changes inside, for the history."""
        return history.acting(Actor(tool, run_id, reason))

    def catalog(self, name: str) -> Catalog:
        """Return what a consumer has already processed."""
        return self.commits.catalog(name)

    def refresh(self) -> dict[str, int]:
        """Bring the index up to date with the disk; answer counts added, modified, deleted, unchanged."""
        self._freshness.wait()
        return self.commits.refresh()

    def wait_for_vectors(self, timeout: float | None = None) -> bool:
        """Wait until every text has its vector, or the model fails; return whether none is missing.

        Searching needs no such wait: what has no vector yet is found by its words. Without a model nothing is missing.
        """
        self._freshness.wait()
        return self._embedding is None or self._embedding.wait(timeout)

    # --- typed calls ---

    def read_note(self, path: str) -> NoteText:
        """Return the text of a file with its version.

        Raises:
            NoteNotFoundError: there is no such file.
        """
        found = self.paths.note(path)
        data = self.workspace.read(found)
        decoded = decode_text(data)
        if decoded is None:
            raise InvalidRequestError(f"{found!r} holds no text; read_image or download takes it", path=found)
        return NoteText(found, decoded.text, version(data))

    def read_bytes(self, path: str) -> tuple[bytes, str]:
        """Return the bytes of a file and their version."""
        data = self.workspace.read(self.paths.note(path))
        return data, version(data)

    def version_of(self, path: str) -> str | None:
        """Return the version of a file, or None where there is no file."""
        return self.workspace.version_of(self.paths.candidate(path))

    def scan(self, prefix: str, suffixes: Collection[str] = (NOTE_SUFFIX,)) -> dict[str, FileState]:
        """Return the files that are on disk below a folder now, hashed."""
        folder = self.paths.folder(prefix)
        known = self._index.known()
        states = {}
        for path, info in self.workspace.walk(folder, suffixes).stats.items():
            state = known.get(path)
            if state is None or not is_unchanged(state, info):
                loaded = self.workspace.load(path)
                state = None if loaded is None else loaded[1]
            if state is not None:
                states[path] = state
        return states

    def node(self, path: str) -> FileNode | None:
        """Return a note of the link graph."""
        return self.index.node(path)

    def outlinks(self, path: str) -> Sequence[FileLink]:
        """Return the edges that leave a note."""
        return self.index.outlinks(path)

    def inlinks(self, path: str) -> Sequence[FileLink]:
        """Return the edges that arrive at a target, real or virtual."""
        return self.index.inlinks(path)

    def apply(
        self,
        writes: Mapping[str, str | bytes | None],
        *,
        expected: Mapping[str, str | None] | None = None,
        records: Mapping[str, bytes | None] | None = None,
        tool: str = "apply",
    ) -> dict[str, str | None]:
        """Land several files, and records of the program, together or not at all; None deletes.

        Args:
            writes: New text or bytes by path.
            expected: Version a file must still have; None where there must be no file.
            records: New bytes of records by name; None deletes.
            tool: Who did it, where no :meth:`journal` names one.

        Returns:
            The version of each path of ``writes`` now; None where there is no file.

        Raises:
            EditConflictError: a file is not the expected version; nothing was changed.
        """
        texts = {self._destination(path, data): _encode(data) for path, data in writes.items()}
        if len(texts) < len(writes):
            raise InvalidPathError(f"two of {', '.join(map(repr, writes))} are the same file")
        awaited = {self.paths.candidate(path): wanted for path, wanted in (expected or {}).items()}
        own = {record_path(name): data for name, data in (records or {}).items()}
        edited = [path for path, data in zip(texts, writes.values(), strict=True) if isinstance(data, str)]

        def build() -> Plan:
            for path in edited:
                _text_to_change(path, self.workspace.read_or_none(path) or b"")
            return self._plan_writes(texts, awaited, own)

        self.commits.change(build, tool, retry=not awaited)
        named = {path: self.paths.candidate(path) for path in writes}
        return {path: None if (data := texts[found]) is None else version(data) for path, found in named.items()}

    def rewrite(self, path: str, tool: str, revise: Callable[[str], str]) -> str:
        """Give an existing note a text made from its present one; answer its version.

        ``revise`` is called anew where another program replaces the note meanwhile.
        """
        found = self.paths.writable(path)

        def build() -> Plan:
            before = self.workspace.read(found)
            after = revise(_text_to_change(found, before)).encode()
            return Plan([Write(found, before, after)] if after != before else [])

        self.commits.change(build, tool)
        return self.workspace.version_of(found) or ""

    # --- tools: reading ---

    def search(
        self,
        query: str,
        limit: int = 5,
        min_score: float = 0.0,
        search_filter: Mapping[str, Any] | None = None,
        *,
        fusion: str = "convex",
        vector_weight: float | None = None,
        candidate_multiplier: float = 3.0,
        expand_links: bool = True,
        max_links_per_direction: int = 10,
    ) -> Answer:
        """Find the places of notes that a query is about, with the neighbours of each note."""
        return retrieval.search(
            self.index,
            query,
            limit=limit,
            min_score=min_score,
            search_filter=dict(search_filter or {}),
            fusion=fusion,
            vector_weight=vector_weight,
            candidate_multiplier=candidate_multiplier,
            expand_links=expand_links,
            max_links_per_direction=max_links_per_direction,
            meaning=self._embedding,
        )

    def node_search(self, query: str, limit: int = 20) -> Answer:
        """Find digest notes by what they are called and described as."""
        return retrieval.node_search(self.index, query, limit)

    def node_hits(self, query: str, limit: int = 20) -> Sequence[retrieval.NodeHit]:
        """Return what :meth:`node_search` finds as values."""
        return retrieval.node_hits(self.index, query, limit)

    def traverse(
        self, path: str | Sequence[str], depth: int = 1, direction: Direction = "both", predicate: str = ""
    ) -> Answer:
        """Walk the link graph from one note or several."""
        return retrieval.traverse(self.index, self._starts(path), depth, direction, predicate)

    def walk(self, paths: Sequence[str], depth: int = 1, direction: Direction = "both") -> retrieval.Walk:
        """Return what :meth:`traverse` finds as values."""
        return retrieval.walk(self.index, self._starts(paths), depth, direction, "")

    def read(self, path: str, start_line: int | None = None, end_line: int | None = None) -> Answer:
        """Read lines of a note, 1-based and inclusive."""
        return browsing.read_lines(self.read_note(path), start_line, end_line)

    def read_image(self, path: str) -> Answer:
        """Read an image as base64."""
        return browsing.read_image(self.paths, path)

    def list(self, path: str, recursive: bool = False, limit: int = 100) -> Answer:
        """Show what is in a folder."""
        return browsing.list_folder(self.paths, path, recursive=recursive, limit=limit)

    def stat(self, path: str) -> Answer:
        """Tell whether a file or folder exists, its size and time."""
        return browsing.stat_path(self.paths, path)

    def frontmatter_read(self, path: str) -> Answer:
        """Read the front matter of a note."""
        note = self._markdown(path)
        parsed = parse_note(note.text)
        if parsed.fault:
            raise InvalidFrontMatterError(
                f"the front matter of {note.path!r} does not parse: {parsed.fault}", path=note.path
            )
        shown = json.dumps(parsed.front_matter, ensure_ascii=False, indent=1)
        return Answer(f"{note.path}\n{browsing.fence(shown)}", {"path": note.path, "front_matter": parsed.front_matter})

    def tags_list(self) -> Answer:
        """Show the tags of all notes with their counts."""
        return browsing.list_tags(self.index.nodes())

    def tags_stat(self, tag: str) -> Answer:
        """Show the notes that have a tag."""
        return browsing.notes_with_tag(self.index.nodes(), tag)

    # --- tools: changing ---

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
        """Make a note, or replace its body and merge its front matter where ``overwrite`` says so."""
        found = self.paths.new(path)
        if not is_note(found) and (name or description or metadata):
            raise _no_front_matter(found)
        created = False

        def build() -> Plan:
            nonlocal created
            before = self.workspace.read_or_none(found)
            created = before is None
            self._check_overwrite(found, before, overwrite, expected_version)
            existing = None if before is None else _text_to_change(found, before)
            with _naming(found):
                if is_note(found):
                    text = editing.write_text(existing, content, name, description, dict(metadata or {}))
                else:
                    text = editing.replace_text(existing, content)
            return Plan([Write(found, before, text.encode())] if text.encode() != before else [])

        self.commits.change(build, "write", retry=not expected_version)
        now = self.workspace.version_of(found)
        verb = "created" if created else "replaced"
        return Answer(f"{verb} {found}", {"path": found, "created": created, "version": now})

    def append(self, path: str, content: str) -> Answer:
        """Add text at the end of a note, on a new line."""
        return self._add(path, content, "append", editing.append_text)

    def prepend(self, path: str, content: str) -> Answer:
        """Add text at the beginning of a note, below its front matter."""
        return self._add(
            path, content, "prepend", partial(editing.prepend_text, is_note=is_note(self.paths.writable(path)))
        )

    def edit(self, path: str, old: str, new: str, replace_all: bool = False) -> Answer:
        """Replace a text that occurs once in the body of a note, or all its occurrences."""
        found = self.paths.writable(path)
        replacements = 0

        def revise(text: str) -> str:
            nonlocal replacements
            with _naming(found):
                revised, replacements = editing.edit_text(text, old, new, replace_all, is_note=is_note(found))
            return revised

        now = self.rewrite(found, "edit", revise)
        metadata = {"path": found, "replacements": replacements, "version": now}
        return Answer(f"replaced {replacements} place(s) in {found}", metadata)

    def frontmatter_update(self, path: str, metadata: Mapping[str, Any]) -> Answer:
        """Set keys of a note's front matter; every other byte stays."""
        if not metadata:
            raise InvalidRequestError("metadata is empty; give at least one key")
        note = self._markdown(path)

        def revise(text: str) -> str:
            with _naming(note.path):
                return update_front_matter(text, metadata)

        now = self.rewrite(note.path, "frontmatter_update", revise)
        front_matter = parse_note(self.read_note(note.path).text).front_matter
        details = {"path": note.path, "changed": [*metadata], "front_matter": front_matter, "version": now}
        return Answer(f"set {', '.join(metadata)} in {note.path}", details)

    def frontmatter_delete(self, path: str, keys: Sequence[str]) -> Answer:
        """Remove keys from a note's front matter; every other byte stays."""
        if not keys:
            raise InvalidRequestError("keys is empty; give at least one")
        note = self._markdown(path)
        removed: Sequence[str] = ()
        missing: Sequence[str] = ()

        def revise(text: str) -> str:
            nonlocal removed, missing
            with _naming(note.path):
                revised, removed, missing = delete_front_matter(text, keys)
            return revised

        now = self.rewrite(note.path, "frontmatter_delete", revise)
        details = {"path": note.path, "removed": [*removed], "missing": [*missing], "version": now}
        return Answer(f"removed {', '.join(removed) or 'nothing'} from {note.path}", details)

    def move(self, src_path: str, dst_path: str, overwrite: bool = False, retarget: bool = True) -> Answer:
        """Give a note or folder another path; every link to it follows."""
        self._freshness.wait()
        source, target = moving.move_ends(self.paths, src_path, dst_path, self._was_there)
        report = moving.LinkReport()

        def build() -> Plan:
            nonlocal report
            moving.check_move(self.paths, source, target, overwrite=overwrite)
            plan, report = moving.plan_move(
                self.workspace, self.index.inbound_sources, source, target, overwrite=overwrite, retarget=retarget
            )
            return plan

        transaction = self.commits.change(build, "move") if source != target else None
        moves = dict(transaction.moves) if transaction else {}
        metadata = {
            "src_path": source,
            "dst_path": target,
            "moved": [*moves.values()],
            "moves": moves,
            "files_touched": len(report.counts),
            "links_changed": report.total,
            "by_file": report.by_file(),
        }
        links = f"{report.total} link(s) in {len(report.counts)} file(s) follow"
        return Answer(f"moved {source} to {target}; {links}", metadata)

    def delete(self, path: str, recursive: bool = False) -> Answer:
        """Put a note or folder into the trash, and tell which links to it are left behind."""
        self._freshness.wait()
        found = moving.deletable(self.paths, path, recursive=recursive)
        report, deleted = moving.LinkReport(), [found]

        def build() -> Plan:
            nonlocal report, deleted
            if not self.paths.exists(found):
                raise self.paths.missing(path)
            deleted = moving.files_below(self.workspace, found)
            report = moving.count_inbound(self.workspace, self.index.inbound_sources, found)
            is_folder = self.paths.is_folder(found)
            return Plan([Discard(found, "" if is_folder else version(self.workspace.read(found)))])

        self.commits.change(build, "delete")
        inbound = {"files_touched": len(report.counts), "links_total": report.total, "by_file": report.by_file()}
        left = "".join(f"\n{entry['path']}: {entry['count']} link(s) now lead nowhere" for entry in report.by_file())
        return Answer(
            f"deleted {found} (kept in the trash){left}", {"path": found, "deleted": deleted, "inbound": inbound}
        )

    def upload(self, path: str, source: str) -> Answer:
        """Copy a file from an allowed folder outside into the workspace."""
        found = self.paths.new(path)
        wanted = suffix_of(source)
        if wanted not in ("", NOTE_SUFFIX) and not suffix_of(path):
            raise InvalidPathError(
                f"{path!r} lacks the suffix {wanted!r} of the source; write the whole name", path=path
            )
        data = transfer.read_outside(source, self.options.allowed_folders)

        def build() -> Plan:
            if self.workspace.version_of(found) is not None:
                raise NoteExistsError(f"{found!r} exists; choose another path or delete it first", path=found)
            return Plan([Write(found, None, data)])

        self.commits.change(build, "upload")
        return Answer(
            f"copied {len(data)} bytes to {found}", {"path": found, "bytes": len(data), "version": version(data)}
        )

    def download(self, path: str, destination: str) -> Answer:
        """Copy a file of the workspace to an allowed folder outside."""
        found = self.paths.note(path)
        data = self.workspace.read(found)
        transfer.write_outside(destination, data, self.options.allowed_folders)
        return Answer(f"copied {len(data)} bytes to {destination}", {"path": found, "bytes": len(data)})

    def reindex(self) -> Answer:
        """Read every file from the disk again and rebuild the index from it."""
        self._freshness.wait()
        counts = self.commits.reindex()
        total = counts["added"] + counts["modified"] + counts["unchanged"]
        return Answer(f"🔄 Reindexed {total} file(s)", {"counts": counts, **counts})

    def health_check(self) -> Answer:
        """Show whether index and files agree, and what a person should look at."""
        parts = {"embedding_model": self.embedding_model, "file_watcher": self.file_watcher}
        return health.check(self.workspace, self.index, self.commits, self.records, parts, self._embedding)

    def note_job(self, name: str, error: str = "") -> None:
        """Remember that a job of the program succeeded now, or why it failed."""
        with self.lock():
            health.note_job(self.records, name, datetime.now(UTC).isoformat(timespec="seconds"), error)

    def version(self) -> Answer:
        """Show the version of this program."""
        return Answer(f"ReMe v{VERSION}", {"version": VERSION})

    # --- tools: history ---

    def history(self, path: str) -> Answer:
        """Show which versions a file had, who made them and why."""
        found = self.paths.own(self.paths.candidate(path))
        found_versions = self.versions.of(found)
        if not found_versions and not self.paths.exists(found):
            raise self.paths.missing(path)
        return history_answer(found, found_versions)

    def diff(self, path: str, version: str) -> Answer:
        """Show what changed in a file since a version."""
        found = self.paths.own(self.paths.candidate(path))
        full, old = self.versions.text(found, version)
        changes = unified_diff(found, old, self.workspace.read_or_none(found) or b"", full[:12])
        return Answer(
            browsing.fence(changes) if changes else "no difference", {"path": found, "version": full, "diff": changes}
        )

    def restore(self, path: str, version: str) -> Answer:
        """Bring a version of a file back, as a new change."""
        found = self.paths.own(self.paths.candidate(path))
        full, data = self.versions.text(found, version)

        def build() -> Plan:
            before = self.workspace.read_or_none(found)
            return Plan([Write(found, before, data)] if before != data else [])

        self.commits.change(build, "restore")
        return Answer(f"{found} is version {full[:12]} again", {"path": found, "version": full})

    def undo_run(self, run_id: str) -> Answer:
        """Take back what a run changed, except in files changed since."""
        undone: dict[str, None] = {}
        skipped: builtins.list[dict[str, str]] = []
        with self.lock():
            transactions = self.versions.of_run(run_id)
            if not transactions:
                raise unknown_run(run_id)
            for transaction in transactions:
                try:
                    with history.acting(Actor("undo_run", "", f"undo of run {run_id}")):
                        plan = partial(self.versions.plan_undo, transaction)
                        done = self.commits.change(plan, "undo_run", retry=False)
                except EditConflictError as error:
                    skipped.append({"path": error.path, "reason": str(error)})
                else:
                    undone.update(dict.fromkeys(self.commits.files_of(done) if done else ()))
            if not undone:
                raise EditConflictError(
                    f"nothing of run {run_id!r} can be undone: {'; '.join(s['reason'] for s in skipped)}; "
                    "history and restore bring single files back"
                )
        left = "".join(f"\nleft as it is: {each['reason']}" for each in skipped)
        metadata = {"run_id": run_id, "undone": [*undone], "skipped": skipped}
        return Answer(f"undone in {len(undone)} file(s): {', '.join(undone)}{left}", metadata)

    # --- inside ---

    def _named_embedding(self, folder: Path) -> Embedding | None:
        embedder, name = self.options.embeddings, self.options.embedding_model
        if embedder is None:
            return None
        return Embedding(folder, self._index, embedder, name or model_name(embedder))

    def _prune(self) -> None:
        """Hold history and trash within their bounds."""
        self._log.prune()
        with disk_faults("trash"):
            trash, options = self.workspace.metadata / "trash", self.options
            prune_trash(trash, max_age_days=options.history_days, max_bytes=options.history_bytes)

    def _starts(self, paths: str | Sequence[str]) -> Sequence[str]:
        """Resolve where a walk starts: notes, or targets without a note."""
        return [self.paths.candidate(path) for path in ([paths] if isinstance(paths, str) else paths)]

    def _markdown(self, path: str) -> NoteText:
        note = self.read_note(path)
        if not is_note(note.path):
            raise _no_front_matter(note.path)
        return note

    def _check_overwrite(self, path: str, before: bytes | None, overwrite: bool, expected_version: str) -> None:
        if expected_version and (before is None or not version(before).startswith(expected_version)):
            raise EditConflictError(f"{path!r} is not version {expected_version!r} any more; read it again", path=path)
        if before is not None and not overwrite and not expected_version:
            raise NoteExistsError(
                f"{path!r} exists; edit or append changes it, overwrite=true replaces its body", path=path
            )

    def _add(self, path: str, content: str, tool: str, add: Callable[[str, str], str]) -> Answer:
        found = self.paths.writable(path)
        if not content:
            raise InvalidRequestError(f"there is no content to {tool}; give the text to add", path=found)

        def revise(text: str) -> str:
            with _naming(found):
                return add(text, content)

        now = self.rewrite(found, tool, revise)
        return Answer(f"{tool}ed to {found}", {"path": found, "version": now})

    def _was_there(self, path: str) -> bool:
        return bool(self.versions.of(path))

    def _destination(self, path: str, data: str | bytes | None) -> str:
        if data is not None:
            return self.paths.new(path)
        return self.paths.own(self.paths.candidate(path))

    def _plan_writes(
        self, texts: Mapping[str, bytes | None], awaited: Mapping[str, str | None], own: Mapping[str, bytes | None]
    ) -> Plan:
        for path, wanted in awaited.items():
            if self.workspace.version_of(path) != wanted:
                raise EditConflictError(f"{path!r} is not the version it was read as; read it again", path=path)
        changes: list[Write | Discard | Rename] = []
        for path, after in texts.items():
            before = self.workspace.read_or_none(path)
            if after is None and before is not None:
                changes.append(Discard(path, version(before)))
            elif after is not None and after != before:
                changes.append(Write(path, before, after))
        for path, after in own.items():
            before = self.workspace.read_or_none(path)
            if after != before:
                changes.append(Write(path, before, after, record=True))
        return Plan(changes)


def _no_front_matter(path: str) -> InvalidRequestError:
    return InvalidRequestError(
        f"{path!r} is not markdown, so it has no front matter; write, append and edit change its text", path=path
    )


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Say in an error of a pure function which note it is about."""
    try:
        yield
    except InvalidRequestError as error:
        error.path = error.path or path
        raise


def _encode(data: str | bytes | None) -> bytes | None:
    return data.encode() if isinstance(data, str) else data


def _text_to_change(path: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequestError(
            f"{path!r} is not UTF-8 (byte {error.start}); tools read it but do not change it. Convert it first",
            path=path,
        ) from error


@contextmanager
def open_store(path: str | Path, **options: Any) -> Iterator[FileStore]:
    """Open a workspace, making its folders; see :class:`StoreOptions` for what can be given."""
    store = FileStore(Path(path), StoreOptions(**options))
    store.open()
    try:
        yield store
    finally:
        store.close()
