"""How does a run go on the workspace itself: to its end, or to the question it asks?"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from langgraph.types import Command, Interrupt

from reme_graphs.checkpoints import new_thread, thread_config
from reme_graphs.cli.words import UsageError
from reme_graphs.embedding import Inputs, ReMe, UnfinishedRun
from reme_graphs.receipts import add_usage, no_usage

Watch = Callable[[Mapping[str, Any]], None]


def run_graph(reme: ReMe, graph: str, inputs: Inputs, watch: Watch | None = None, thread: str = "") -> dict[str, Any]:
    """Run a graph, or go on with its thread.

    Returns:
        The receipt with ``state``; of a run that waits for a person ``waiting``, what it asks, and how to answer.
    """
    thread = thread or new_thread(graph)
    state: dict[str, Any] = {}
    asked: tuple[Interrupt, ...] = ()
    runs = reme.graphs[graph].stream(inputs, thread_config(thread), stream_mode=["custom", "updates", "values"])
    for mode, part in runs:
        if mode == "values":
            state = part
        elif mode == "updates":
            asked = part.get("__interrupt__", asked)
        elif watch is not None:
            watch(part)
    return _question(graph, thread, asked) if asked else _result(state)


def _result(state: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in state.items() if key not in ("receipt", "__interrupt__")}
    return {**state["receipt"], "state": kept}


def _question(graph: str, thread: str, asked: tuple[Interrupt, ...]) -> dict[str, Any]:
    waiting = [interrupt.value for interrupt in asked]
    return {
        "success": True,
        "answer": f"{_shown(waiting)}\n{graph} waits for your answer: reme resume thread={thread} accept | reject",
        "metadata": {"thread": thread, "waiting": waiting},
        "errors": [],
    }


def _shown(waiting: list[Any]) -> str:
    """Return what a person decides on: each unit with what it does and its difference; anything else as JSON."""
    units = [unit for asked in waiting if isinstance(asked, Mapping) for unit in asked.get("units", ())]
    lines = [f"{unit['unit_id']} {unit['action']} {unit['target_path']}\n{unit['diff']}" for unit in units]
    return "\n".join(lines) or json.dumps(waiting, ensure_ascii=False, indent=2, default=str)


def retry(reme: ReMe, watch: Watch | None = None) -> dict[str, Any]:
    """Run what waits once more.

    Returns:
        ``success``, ``answer`` with a line a run, ``usage`` of all, and ``metadata`` with the receipts in ``runs``.
    """
    receipts = []
    for name, inputs in reme.waiting():
        about = inputs.get("session_id") or inputs.get("date") or "resource/"
        receipts.append({"graph": name, "about": about, **run_graph(reme, name, inputs, watch)})
    lines = [f"{each['graph']} {each['about']}: {_told(each)}" for each in receipts]
    return {
        "success": all(each["success"] for each in receipts),
        "answer": "\n".join(lines) or "Nothing waits.",
        "usage": add_usage(*(each["usage"] for each in receipts)) if receipts else no_usage(),
        "metadata": {"runs": receipts},
    }


def _told(receipt: Mapping[str, Any]) -> str:
    """Return the answer of a receipt with the errors it does not name."""
    answer = str(receipt["answer"])
    return "\n  ".join([answer, *(error for error in receipt["errors"] if error not in answer)])


def resume(reme: ReMe, thread: str, answer: Any, watch: Watch | None = None, *, served: bool = False) -> dict[str, Any]:
    """List the unfinished runs, or go on with one.

    Args:
        reme: The open workspace.
        thread: Which run, or enough of its name; empty means the only one.
        answer: What the run asked for; None goes on with a run that was killed, and lists where no thread is named.
        watch: Is told the progress.
        served: A server holds the workspace: a run that asks nothing may be its own, still at work.
    """
    runs = reme.unfinished()
    if not thread and answer is None:
        return _listed(runs)
    chosen = _chosen(runs, thread)
    if chosen.interrupts and answer is None:
        return _question(chosen.graph, chosen.thread, chosen.interrupts)
    if not chosen.interrupts and answer is not None:
        raise UsageError(f"{chosen.thread} asks nothing; 'reme resume thread={chosen.thread}' goes on with it")
    if not chosen.interrupts and served:
        raise UsageError(f"a server holds this workspace and may be at work on {chosen.thread}; stop it first")
    inputs: Inputs = None if answer is None else Command(resume=answer)
    return run_graph(reme, chosen.graph, inputs, watch, chosen.thread)


def _chosen(runs: list[UnfinishedRun], thread: str) -> UnfinishedRun:
    found = [run for run in runs if thread in run.thread]
    if len(found) != 1:
        named = ", ".join(run.thread for run in found or runs) or "none"
        told = f"several runs match {thread!r}" if found else f"no unfinished run matches {thread!r}"
        raise UsageError(f"{told}; there are: {named}")
    return found[0]


def _listed(runs: list[UnfinishedRun]) -> dict[str, Any]:
    rows = [
        {"thread": run.thread, "graph": run.graph, "next": list(run.next), "waits_for_answer": bool(run.interrupts)}
        for run in runs
    ]
    lines = [
        f"{row['thread']} {'waits for your answer: accept | reject' if row['waits_for_answer'] else 'was killed'}"
        for row in rows
    ]
    return {"success": True, "answer": "\n".join(lines) or "No run is unfinished.", "metadata": {"runs": rows}}
