"""Where do runs keep their checkpoints, and which of them may go?

One SQLite file a workspace, ``reme_metadata/checkpoints.sqlite``, shared by embedded runs and a local server. A thread
whose id starts with ``reme:`` was made here, as ``reme:<graph>:<uuid>``; only such threads are ever deleted here, and
only when their run is finished.
"""

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import StateGraph
from langgraph.types import StateSnapshot

BUSY_SECONDS = 30
ERASE = "PRAGMA secure_delete = ON"
"""A caller's messages stand in the checkpoints of a run as they came: dropped, they are overwritten."""
VACUUM_BYTES = 8 * 1024 * 1024

Builder = StateGraph[Any, Any, Any, Any]


def checkpoint_path(root: Path) -> Path:
    """Return the file of a workspace's checkpoints."""
    return root / "reme_metadata" / "checkpoints.sqlite"


@contextlib.contextmanager
def open_checkpoints(path: Path) -> Iterator[SqliteSaver]:
    """Open the file for synchronous runs; other processes may use it at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)) as connection:
        connection.execute(ERASE)
        saver = SqliteSaver(connection)
        saver.setup()
        yield saver


@contextlib.asynccontextmanager
async def aopen_checkpoints(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open the file for runs on this event loop; its folder must exist."""
    async with aiosqlite.connect(path, timeout=BUSY_SECONDS) as connection:
        await connection.execute(ERASE)
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        yield saver


def new_thread(graph: str) -> str:
    """Return an id for a run that nobody gave a thread."""
    return f"reme:{graph}:{uuid4().hex}"


def is_own(thread: str) -> bool:
    """Say whether the thread was made by `new_thread`."""
    return thread.startswith("reme:")


def graph_of(thread: str) -> str:
    """Return the graph's name from an own thread's id."""
    return thread.split(":")[1]


def thread_config(thread: str) -> RunnableConfig:
    """Return the configuration that addresses a thread."""
    return {"configurable": {"thread_id": thread}}


def own_threads(saver: SqliteSaver) -> list[str]:
    """Return the ids of own threads, oldest first."""
    with saver.cursor(transaction=False) as cursor:
        cursor.execute(
            "SELECT thread_id FROM checkpoints WHERE thread_id LIKE 'reme:%' "
            "GROUP BY thread_id ORDER BY MIN(checkpoint_id)"
        )
        return [str(row[0]) for row in cursor.fetchall()]


def is_finished(state: StateSnapshot) -> bool:
    """Say whether a run has nothing left to do.

    ``next`` does not tell: it is empty also where a process died after the last task of a step and before the step's
    checkpoint, with steps still to come.
    """
    return not open_nodes(state)


def open_nodes(state: StateSnapshot) -> tuple[str, ...]:
    """Return the nodes that run next, or whose end is not yet in a checkpoint."""
    return tuple(task.name for task in state.tasks)


def unfinished(path: Path, builders: Mapping[str, Builder]) -> dict[str, StateSnapshot]:
    """Return the state of each own thread that was killed or waits for an answer, oldest first."""
    with open_checkpoints(path) as saver:
        return {thread: state for thread, state in _states(saver, builders) if not is_finished(state)}


def prune(path: Path, builders: Mapping[str, Builder]) -> int:
    """Delete own finished threads, give large free space back to the disk, and return how many threads went."""
    with open_checkpoints(path) as saver:
        finished = [thread for thread, state in _states(saver, builders) if is_finished(state)]
        for thread in finished:
            saver.delete_thread(thread)
    _vacuum(path)
    return len(finished)


def _states(saver: SqliteSaver, builders: Mapping[str, Builder]) -> Iterator[tuple[str, StateSnapshot]]:
    compiled = {name: builder.compile(checkpointer=saver) for name, builder in builders.items()}
    for thread in own_threads(saver):
        graph = compiled.get(graph_of(thread))
        if graph is not None:
            yield thread, graph.get_state(thread_config(thread))


def _vacuum(path: Path) -> None:
    """Shrink the file where half of it is free. Another user of the file comes first: then the next call does it."""
    with contextlib.closing(sqlite3.connect(path, timeout=0)) as connection:
        free, pages, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count", "page_size")
        )
        if free * size < VACUUM_BYTES or free * 2 < pages:
            return
        try:
            connection.execute("VACUUM")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
