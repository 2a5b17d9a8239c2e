"""What does each step of auto_resource do?

plan compares the disk with the catalog; interpret and remove run side by side, one task a resource, and never raise
for what a model or a file does; refresh_days and finish put together what they left. A note, its ledger record and
the removal of its draft land in one journal entry; the catalog follows, and a crash between the two is seen by the
next run from the record.
"""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from reme_graphs.auto_resource.interpreting import Interpreter
from reme_graphs.auto_resource.planning import Plan, plan_run
from reme_graphs.auto_resource.removing import remove_note
from reme_graphs.auto_resource.state import Job, Removal, State
from reme_graphs.context import OFFLINE, Context, read_context
from reme_graphs.receipts import add_usage, no_usage, receipt
from reme_graphs.resources import engine_name, open_workspace
from reme_store.daily import daily_reindex
from reme_store.errors import InvalidRequestError

GRAPH = "auto_resource"


def plan(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Find out what is to be read and what is gone."""
    run_id = uuid4().hex
    start: dict[str, Any] = {
        "run_id": run_id,
        "jobs": [],
        "removals": [],
        "refused": {},
        "unchanged": 0,
        "outcomes": Overwrite({}),
        "notes": {},
        "failed": {},
        "removed": [],
        "engine": "",
        "receipt": None,
    }
    try:
        context = read_context(runtime.context)
        start["engine"] = engine_name(context)
        changes = _listed(state)
        redo = context.redo_offline and engine_name(context) != OFFLINE
        with open_workspace(context) as store:
            planned = plan_run(store, changes, context.zone, context.now(), redo_offline=redo)
    except InvalidRequestError as error:
        return {**start, "receipt": receipt(success=False, answer=str(error), errors=[str(error)])}
    runtime.stream_writer(
        {"event": "planned", "graph": GRAPH, "done": 0, "total": len(planned.reads) + len(planned.gone)}
    )
    return {**start, **_tasks(planned, run_id), "refused": planned.refused, "unchanged": planned.unchanged}


def _listed(state: State) -> list[Any]:
    given: Any = state.get("changes") or []
    if not isinstance(given, list):
        raise InvalidRequestError(f"changes must be a list, not {type(given).__name__}")
    return given


def _tasks(planned: Plan, run_id: str) -> dict[str, Any]:
    total = len(planned.reads) + len(planned.gone)
    jobs = [
        Job(run_id=run_id, path=each.path, note_path=each.note_path, moved_from=each.moved_from, total=total)
        for each in planned.reads
    ]
    removals = [
        Removal(run_id=run_id, path=path, note_path=note, total=total) for path, note in sorted(planned.gone.items())
    ]
    return {"jobs": jobs, "removals": removals}


def interpret(state: Job, runtime: Runtime[Context]) -> dict[str, Any]:
    """Read one resource and bring its note up to date."""
    context = read_context(runtime.context)
    with open_workspace(context) as store, store.journal(tool=GRAPH, run_id=state["run_id"], reason=state["path"]):
        outcome = Interpreter(store, context, state).run()
    _progress(runtime, context, state["total"])
    return {"outcomes": {state["path"]: outcome}}


def remove(state: Removal, runtime: Runtime[Context]) -> dict[str, Any]:
    """Put the note of a resource that is gone into the trash, and nobody else's."""
    context = read_context(runtime.context)
    with open_workspace(context) as store, store.journal(tool=GRAPH, run_id=state["run_id"], reason=state["path"]):
        outcome = remove_note(store, state)
    _progress(runtime, context, state["total"])
    return {"outcomes": {state["path"]: outcome}}


def refresh_days(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Bring the pages of all days up to date whose notes changed."""
    context = read_context(runtime.context)
    days = {day for outcome in state["outcomes"].values() for day in outcome["days"]}
    with open_workspace(context) as store, store.journal(tool=GRAPH, run_id=state["run_id"], reason="day page"):
        for day in sorted(days):
            daily_reindex(store, day)
    return {}


def finish(state: State) -> dict[str, Any]:
    """Put the outcomes together and say what was done."""
    outcomes = state["outcomes"]
    failed = {**state["refused"], **{path: each["error"] for path, each in outcomes.items() if each["error"]}}
    notes = {path: each["note"] for path, each in sorted(outcomes.items()) if each["note"] and not each["error"]}
    removed = sorted(each["removed"] for each in outcomes.values() if each["removed"])
    skipped = {path: each["skipped"] for path, each in sorted(outcomes.items()) if each["skipped"]}
    metadata: dict[str, Any] = {
        "notes": notes,
        "failed": failed,
        "removed": removed,
        "skipped": skipped,
        "unchanged": state["unchanged"],
        "run_id": state["run_id"],
    }
    answer = receipt(
        success=not failed,
        answer=_answer(notes, failed, removed, skipped),
        metadata=metadata,
        engine=state["engine"],
        usage=add_usage(*(each["usage"] for each in outcomes.values())) if outcomes else no_usage(),
        errors=list(dict.fromkeys(f"{path}: {reason}" for path, reason in failed.items())),
    )
    return {"notes": notes, "failed": failed, "removed": removed, "receipt": answer}


def _answer(notes: Mapping[str, str], failed: Mapping[str, str], removed: list[str], skipped: Mapping[str, str]) -> str:
    counts = {"read": notes, "without a note": skipped, "removed": removed, "failed": failed}
    said = [f"{len(items)} {what}" for what, items in counts.items() if items]
    return f"Resources: {', '.join(said)}." if said else "No resource is new or changed."


def _progress(runtime: Runtime[Context], context: Context, total: int) -> None:
    done = min(context.gate.count(GRAPH), total)
    runtime.stream_writer({"event": "resource", "graph": GRAPH, "done": done, "total": total})
