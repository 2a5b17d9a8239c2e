"""What is known of the notes a run looks at? Reads the store, changes nothing."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import Any

from reme_graphs.consolidate.findings import (
    NoteFacts,
    contradictions,
    exact_duplicates,
    near_duplicates,
    orphans,
    stale_tasks,
    without_provenance,
)
from reme_graphs.consolidate.report import Report
from reme_graphs.consolidate.splitting import PART_OF, measure
from reme_store.errors import InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.models import NoteText
from reme_store.text.front_matter import parse_note

DERIVED = "derived_from"
_TASK_NOTE = re.compile(r"daily/\d{4}-\d{2}-\d{2}/([^/]+)/\1\.md")
_SOURCE = re.compile(r"(?:daily|resource|reme_session)/")


def digest_paths(store: FileStore, wanted: Sequence[str]) -> list[str]:
    """Paths of the digest notes a run looks at.

    Args:
        wanted: what the caller named; empty: all of digest/.

    Raises:
        InvalidRequestError: a path is no note of digest/.
    """
    if not wanted:
        return sorted(store.scan("digest"))
    found = [store.paths.note(str(path)) for path in wanted]
    for path in found:
        if not path.startswith("digest/") or not path.endswith(".md"):
            raise InvalidRequestError(f"{path!r} is no note of digest/; consolidate looks at these only", path=path)
    return list(dict.fromkeys(found))


def overloaded_notes(store: FileStore, paths: Sequence[str]) -> list[dict[str, Any]]:
    """Overloaded notes, the worst first: {path, reasons, version}."""
    found = []
    for path in paths:
        note = _readable(store, path)
        if note is None:
            continue
        overload = measure(note.text, store.options.chunk_chars)
        if overload:
            found.append((-overload.score, {"path": path, "reasons": list(overload.reasons), "version": note.version}))
    return [row for _, row in sorted(found, key=lambda pair: (pair[0], pair[1]["path"]))]


def find_all(store: FileStore, paths: Sequence[str], *, whole: bool, day: str, **more: Any) -> Report:
    """Collect every finding.

    Args:
        paths: the digest notes looked at.
        whole: whether these are all; else only findings about them count.
        day: the day of the run.
        more: fields of the report that are known already.
    """
    notes = list(_facts(store, paths))
    problems: list[dict[str, Any]] = store.health_check().metadata["health"]["problems"]
    if not whole:
        problems = [row for row in problems if row["path"] in set(paths)]
    copies = [row["path"] for row in problems if "conflict copy" in row["problem"]]
    others = [(row["path"], row["problem"]) for row in problems if "target" not in row and row["path"] not in copies]
    return Report(
        day=day,
        notes=len(notes),
        duplicates=[*exact_duplicates(notes), *near_duplicates(notes)],
        broken_links=sorted({(row["path"], row["target"]) for row in problems if "target" in row}),
        orphans=orphans(notes),
        unsourced=without_provenance(notes),
        stale=_stale(store, day) if whole else (),
        contradictions=contradictions(notes),
        conflict_copies=sorted(copies),
        problems=sorted(others),
        **more,
    )


def _readable(store: FileStore, path: str) -> NoteText | None:
    """A note; None where it holds no text or is gone by now, which the health check tells."""
    try:
        return store.read_note(path)
    except InvalidRequestError:
        return None


def _facts(store: FileStore, paths: Sequence[str]) -> Iterator[NoteFacts]:
    for path in paths:
        note = _readable(store, path)
        if note is None:
            continue
        parsed = parse_note(note.text)
        links, inlinks = store.outlinks(path), store.inlinks(path)
        matter = parsed.front_matter
        yield NoteFacts(
            path=path,
            name=str(matter.get("name") or matter.get("title") or path.rsplit("/", 1)[-1].removesuffix(".md")),
            description=str(matter.get("description") or ""),
            body=parsed.body,
            links=frozenset(link.target_path for link in links),
            inlinked=any(link.source_path != path for link in inlinks),
            sourced=any(_names_source(store, one) for one in (path, *_family(store, path))),
        )


def _names_source(store: FileStore, path: str) -> bool:
    return any(link.predicate == DERIVED or _SOURCE.match(link.target_path) for link in store.outlinks(path))


def _family(store: FileStore, path: str) -> set[str]:
    """The notes that were one note with this: its parents, its children and theirs."""
    parents = {link.target_path for link in store.outlinks(path) if link.predicate == PART_OF}
    return parents | {
        link.source_path for one in (path, *parents) for link in store.inlinks(one) if link.predicate == PART_OF
    }


def _stale(store: FileStore, day: str) -> list[tuple[str, str]]:
    tasks = {}
    for path in store.scan("daily"):
        node = store.node(path) if _TASK_NOTE.fullmatch(path) else None
        if node and "status" in node.front_matter:
            tasks[path] = node.front_matter
    carried: Collection[str] = {
        path for path in tasks if any(link.source_path in tasks for link in store.inlinks(path))
    }
    return stale_tasks(tasks, carried, date.fromisoformat(day))
