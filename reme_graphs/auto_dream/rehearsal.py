"""Where does a dry run work, so that it shows the result of a real one and changes nothing?

On a copy of daily/ and digest/ with the records of the dream, below ``reme_metadata/drafts/``. The whole run is real
there, conflicts and their order included; the difference of the two digest folders is what it shows. The copy is made
of hard links where the file system has them: a note is only ever replaced, never written in place. Symbolic links stay
out of the copy, since they would leave it. What the run ends with is noted beside the copy before that goes, for a run
that is killed then and resumed.
"""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reme_graphs.auto_dream.sources import text_of
from reme_graphs.context import Context
from reme_graphs.drafts import unified_diff
from reme_graphs.resources import open_workspace
from reme_store.file_store import FileStore

PREFIX = "rehearsal-"
LAYERS = ("daily", "digest")
RECORDS = ("reme_metadata/ledger/dream.json", "reme_metadata/file_catalog/dream.jsonl.zst")
ABANDONED_SECONDS = 86_400.0
FORGOTTEN_SECONDS = 30 * 86_400.0
"""A run that still waits for its review after that integrates its units again."""


def folder_of(root: Path, run_id: str) -> Path:
    """Return where the rehearsal of a run is."""
    return root / "reme_metadata" / "drafts" / f"{PREFIX}{run_id}"


@contextmanager
def dream_workspace(context: Context, run_id: str) -> Iterator[FileStore]:
    """Give the store a run works on: the workspace, or the copy of a dry run."""
    if not context.dry_run:
        with open_workspace(context) as store:
            yield store
        return
    copy = folder_of(context.folder.resolve(), run_id)
    with open_workspace(context.model_copy(update={"workspace": str(copy), "embeddings": ""})) as store:
        yield store


def sweep(root: Path) -> None:
    """Remove what runs left that ended or died long ago: rehearsals after a day, drafts after a month."""
    for pattern, seconds in ((f"{PREFIX}*", ABANDONED_SECONDS), ("dream-*.json", FORGOTTEN_SECONDS)):
        for old in (root / "reme_metadata" / "drafts").glob(pattern):
            if time.time() - old.stat().st_mtime > seconds:
                shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)


def prepare(root: Path, run_id: str) -> None:
    """Make the copy."""
    copy = folder_of(root, run_id)
    for layer in LAYERS:
        shutil.copytree(root / layer, copy / layer, copy_function=_link, ignore=_left_out)
    for record in RECORDS:
        if (root / record).is_file():
            (copy / record).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / record, copy / record)


def ended(real: FileStore, run_id: str) -> dict[str, Any] | None:
    """Return what a run has ended with; None where it goes on."""
    data = real.records.read(_record(run_id))
    return None if data is None else json.loads(data)


def end(real: FileStore, run_id: str, closed: dict[str, Any], *, resumable: bool) -> None:
    """Remove the copy of a run; before that, note what one that could be resumed ends with."""
    if resumable:
        real.records.write(_record(run_id), json.dumps(closed, ensure_ascii=False).encode())
    remove(real, run_id)


def remove(real: FileStore, run_id: str) -> None:
    """Remove the copy of a run."""
    shutil.rmtree(folder_of(real.root, run_id), ignore_errors=True)


def _record(run_id: str) -> str:
    return f"drafts/{PREFIX}{run_id}.json"


def diffs(real: FileStore, copy: FileStore, paths: Iterable[str]) -> dict[str, str]:
    """Return what a real run would change, as a unified diff by path."""
    found = {path: unified_diff(path, text_of(real, path), text_of(copy, path)) for path in paths}
    return {path: diff for path, diff in found.items() if diff}


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(".") or Path(folder, name).is_symlink()]


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
