"""Which tasks and files of the workspace are in reach of a run?"""

import json
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from reme_graphs.offline import slug
from reme_graphs.synchronizer.location import Task
from reme_graphs.synchronizer.sections import has_task_sections
from reme_graphs.synchronizer.state import Request
from reme_store.file_store import FileStore
from reme_store.text.front_matter import parse_note

LEDGER = "ledger/synchronizer.json"
"""Which conversation each task was last brought up to date with: {note path: [hash of a message]}."""
REMEMBERED = 200
"""Tasks whose conversations are remembered."""
MOST_FILES = 10_000


def tasks_in_reach(store: FileStore, request: Request) -> list[Task]:
    """Tasks of today and of the window before it, and the one the hint names, latest first."""
    last = date.fromisoformat(request["day"])
    first = (last - timedelta(days=min(request["window"], last.toordinal() - 1))).isoformat()
    rows = store.list("daily", limit=MOST_FILES).metadata["entries"]
    names = sorted((row["path"].rpartition("/")[2] for row in rows if row["is_dir"]), reverse=True)
    days = [day for day in names if first <= day <= request["day"]]
    paths = [path for day in days for path in _task_paths(store, day)]
    hinted = note_of(request["folder"]) if request["folder"] else ""
    if hinted and hinted not in paths and store.version_of(hinted):
        paths.append(hinted)
    heard = heard_messages(store)
    return [task for path in paths if (task := _read_task(store, path, heard.get(path, ())))]


def note_of(folder: str) -> str:
    """Path of the note of a task's folder."""
    return f"{folder}/{folder.rpartition('/')[2]}.md"


def shown_task(request: Request, tasks: Sequence[Task]) -> Task | None:
    """The task whose note the model is shown: the one of the hint, else the only one of today."""
    wanted = slug(request["hint"])
    hinted = [t for t in tasks if t.folder == request["folder"] or (wanted and slug(t.title) == wanted)]
    today = [task for task in tasks if task.day == request["day"]]
    return next(iter([*hinted, *(today if len(today) == 1 else [])]), None)


def folder_files(store: FileStore, folder: str) -> list[str]:
    """Paths of the files of a task's folder, of any type and depth, its note left out."""
    if not (store.root / folder).is_dir():
        return []
    rows = store.list(folder, recursive=True, limit=MOST_FILES).metadata["entries"]
    return sorted(row["path"] for row in rows if not row["is_dir"] and row["path"] != note_of(folder))


def free_note_path(store: FileStore, request: Request, title: str) -> str:
    """Path of a new task note of today; a folder that holds files but no note of its own is taken as the task's."""
    today = f"daily/{request['day']}/"
    hinted = request["folder"].removeprefix(today) if request["folder"].startswith(today) else ""
    stem = hinted or slug(title) or "task"
    free, number = stem, 2
    while store.version_of(note_of(today + free)) is not None:
        free, number = f"{stem}-{number}", number + 1
    return note_of(today + free)


def names_new_folder(request: Request, hinted: Task | None) -> bool:
    """Tell whether the hint is a folder of today that has no task yet."""
    return hinted is None and request["folder"].startswith(f"daily/{request['day']}/")


def heard_messages(store: FileStore) -> dict[str, list[str]]:
    """Which conversation each task was last brought up to date with."""
    data = store.records.read(LEDGER)
    return json.loads(data) if data else {}


def remember_messages(store: FileStore, note_path: str, heard: Sequence[str]) -> None:
    """Note which conversation a task was brought up to date with now."""
    with store.lock():
        rows = {path: hashes for path, hashes in heard_messages(store).items() if path != note_path}
        kept = dict(list(rows.items())[-REMEMBERED + 1 :]) | {note_path: list(heard)}
        store.records.write(LEDGER, json.dumps(kept, ensure_ascii=False).encode())


def _task_paths(store: FileStore, day: str) -> list[str]:
    parts = [path.split("/") for path in store.scan(f"daily/{day}")]
    return sorted("/".join(part) for part in parts if len(part) == 4 and f"{part[2]}.md" == part[3])


def _read_task(store: FileStore, path: str, heard: Iterable[str]) -> Task | None:
    """The task of a folder note; None where the note has no status and so is something else.

    A task whose front matter a person broke is still known by its folder and its sections.
    """
    text = store.read_note(path).text
    parsed = parse_note(text)
    matter = parsed.front_matter
    if "status" not in matter and not (parsed.fault and has_task_sections(text)):
        return None
    title = str(matter.get("title") or matter.get("name") or path.split("/")[2])
    return Task(path, path.split("/")[1], title, str(matter.get("status", "active")), text, frozenset(heard))
