"""Is the workspace well? What a person should look at, and whether index and files agree."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from reme_store.commits import Commits
from reme_store.embedding import Embedding
from reme_store.errors import StoreFaultError
from reme_store.models import Answer, FileState
from reme_store.note_index import NoteIndex
from reme_store.paths import NOTE_SUFFIX, fold, name_fault
from reme_store.records import Records
from reme_store.release import VERSION
from reme_store.workspace import Workspace

JOBS_RECORD: Final = "ledger/jobs.json"


def note_job(records: Records, name: str, time: str, error: str = "") -> None:
    """Remember when a job last succeeded, or why it last failed."""
    jobs = read_jobs(records)
    entry = jobs.get(name, {"last_success": None, "last_error": None})
    jobs[name] = {**entry, "last_error": f"{time} {error}"} if error else {**entry, "last_success": time}
    records.write(JOBS_RECORD, json.dumps(jobs, ensure_ascii=False, indent=1, sort_keys=True).encode())


def read_jobs(records: Records) -> dict[str, dict[str, Any]]:
    """Return what is remembered of jobs: last success and last error by name."""
    data = records.read(JOBS_RECORD)
    if data is None:
        return {}
    jobs: dict[str, dict[str, Any]] = json.loads(data)
    return jobs


def check(
    workspace: Workspace,
    index: NoteIndex,
    commits: Commits,
    records: Records,
    parts: Mapping[str, Any],
    embedding: Embedding | None = None,
) -> Answer:
    """Look at everything and change nothing.

    Args:
        workspace: The files.
        index: What was derived from them.
        commits: Who compares the two.
        records: Where jobs are remembered.
        parts: State of components outside the store: ``embedding_model`` and ``file_watcher``.
        embedding: The vectors, where there is a model.
    """
    look = commits.drift()
    drift, refused = _compare(workspace, index.known(), (*look.suspects, *look.missing))
    faults = [*index.verify(), *(embedding.verify() if embedding is not None else ())]
    damage = [{"path": "reme_metadata", "problem": fault} for fault in faults]
    problems = [
        *damage,
        *_embedding_problems(embedding),
        *({"path": entry["path"], "problem": entry["problem"]} for entry in index.problems()),
        *(
            {"path": path, "problem": "a sync program's conflict copy; merge it and delete it"}
            for path in look.scan.conflict_copies
        ),
        *({"path": path, "problem": "cannot be read: the system refuses"} for path in look.scan.unreadable),
        *refused,
        *_name_problems(look.scan.stats),
        *_broken_links(workspace, index),
    ]
    counts = index.counts()
    health = {
        "version": VERSION,
        "healthy": not drift and not damage,
        "components": {
            "file_store": {key: counts[key] for key in ("n_files", "n_chunks")},
            "file_graph": {key: counts[key] for key in ("n_nodes", "n_edges", "n_virtual")},
            "keyword_index": {key: counts[key] for key in ("n_docs", "vocab_size")},
            **parts,
            **_vectors(embedding),
        },
        "drift": drift,
        "problems": problems,
        "jobs": read_jobs(records),
    }
    return Answer(_render(health), {"health": health})


def _render(health: Mapping[str, Any]) -> str:
    mark, word = ("✅", "healthy") if health["healthy"] else ("❌", "unhealthy")
    lines = [f"{mark} ReMe v{health['version']} - {word}"]
    for name, value in health["components"].items():
        shown = (
            ", ".join(f"{key}={number}" for key, number in value.items())
            if isinstance(value, dict)
            else value or "none"
        )
        lines.append(f"{name}: {shown}")
    lines += [f"drift: {entry['path']} ({entry['kind']}); reindex takes it in" for entry in health["drift"]]
    lines += [f"problem: {entry['path']}: {entry['problem']}" for entry in health["problems"]]
    return "\n".join(lines)


def _compare(
    workspace: Workspace, known: Mapping[str, FileState], paths: Iterable[str]
) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the files whose bytes, not only their times, are not what the index knows, and those nobody may read."""
    drift, refused = [], []
    for path in sorted(paths):
        try:
            loaded = workspace.load(path)
        except StoreFaultError as error:
            refused.append({"path": path, "problem": f"cannot be read, so it is not indexed: {error}"})
            continue
        kind = _kind_of_drift(known.get(path), loaded[1] if loaded else None)
        if kind:
            drift.append({"path": path, "kind": kind})
    return drift, refused


def _kind_of_drift(known: FileState | None, now: FileState | None) -> str:
    if now is None:
        return "deleted" if known else ""
    if known is None:
        return "added"
    return "modified" if now.sha256 != known.sha256 else ""


def _vectors(embedding: Embedding | None) -> dict[str, dict[str, int]]:
    """Return how many texts have a vector; nothing where there is no model."""
    if embedding is None:
        return {}
    n_texts, n_vectors = embedding.coverage()
    return {"vectors": {"n_texts": n_texts, "n_vectors": n_vectors}}


def _embedding_problems(embedding: Embedding | None) -> Iterator[dict[str, str]]:
    if embedding is not None:
        for problem in embedding.problems:
            told = f"embedding model {embedding.model}: {problem}"
            yield {"path": "reme_metadata/vectors", "problem": told}


def _name_problems(paths: Mapping[str, object]) -> Iterator[dict[str, str]]:
    """Yield notes that cannot be linked to, and pairs that are one file elsewhere."""
    seen: dict[str, str] = {}
    for path in sorted(paths):
        fault = next((fault for name in path.split("/") if (fault := name_fault(name))), "")
        if fault and path.lower().endswith(NOTE_SUFFIX):
            yield {"path": path, "problem": f"not linkable, or not portable: {fault}"}
        twin = seen.setdefault(fold(path), path)
        if twin != path:
            yield {"path": path, "problem": f"differs only in case or composition from {twin!r}"}


def _broken_links(workspace: Workspace, index: NoteIndex) -> Iterator[dict[str, str]]:
    """Yield the links to targets that are neither a note nor any other file."""
    known = index.known()
    missing: dict[str, bool] = {}
    for node in index.nodes():
        for link in node.links:
            target = link.target_path
            if target not in missing:
                missing[target] = target not in known and not workspace.exists(target)
            if missing[target]:
                yield {"path": node.path, "problem": f"links to {target!r}, which does not exist", "target": target}
