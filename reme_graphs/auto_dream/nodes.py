"""What does each step of a dream do?

    extract ─> integrate (one a unit, side by side) ─> commit ─> topics ─> finish
                   └────────── conflicts <───────────────┘

A node reads, decides and has one effect, and may run again after a crash: what it did before is found in the ledger,
in the drafts' records or in the catalog, and not done twice. Failures of the model are values in the state.
"""

import time
import uuid
from typing import Any

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, interrupt

from reme_graphs.auto_dream import rehearsal
from reme_graphs.auto_dream.closing import close_run, make_receipt
from reme_graphs.auto_dream.commit import Commit
from reme_graphs.auto_dream.integration import Integrated, has_material, integrate_unit
from reme_graphs.auto_dream.interests import write_topics
from reme_graphs.auto_dream.lease import end_lease, lease
from reme_graphs.auto_dream.progress import count_drafted, forget, teller
from reme_graphs.auto_dream.reading import read_sources
from reme_graphs.auto_dream.recall import recall
from reme_graphs.auto_dream.rehearsal import dream_workspace
from reme_graphs.auto_dream.request import NoDreamError, beginning, can_resume, check_review, read_request, refusal
from reme_graphs.auto_dream.review import RESPONSE_SCHEMA, read_answer
from reme_graphs.auto_dream.state import DreamState, Outcome, Request, UnitTask
from reme_graphs.context import Context, read_context
from reme_graphs.errors import ModelCallError, ModelDeniedError, ModelOutputError
from reme_graphs.resources import chat_model, engine_name, open_workspace
from reme_store.errors import InvalidRequestError
from reme_store.file_store import FileStore

BUSY = "another dream is at work in this workspace; run this one again when that has ended"


def extract(state: DreamState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Find what changed and name what it teaches."""
    try:
        context = read_context(runtime.context)
        request = read_request(state, context)
        check_review(context, get_config().get("configurable", {}))
        return _extracted(context, request, runtime)
    except (InvalidRequestError, ModelDeniedError, NoDreamError) as error:
        return refusal(str(error))


def _extracted(context: Context, request: Request, runtime: Runtime[Context]) -> dict[str, Any]:
    model, run_id = chat_model(context), uuid.uuid4().hex
    with open_workspace(context) as store:
        rehearsal.sweep(store.root)
        if context.dry_run:
            rehearsal.prepare(store.root, run_id)
    with dream_workspace(context, run_id) as store, lease(store, run_id) as mine:
        if not mine:
            raise NoDreamError(BUSY)
        try:
            found = read_sources(store, context, request, model, teller(runtime.stream_writer))
        except BaseException:
            end_lease(store, run_id)  # nobody can go on with a run that has not begun
            raise
    found["usage"] = Overwrite(found["usage"])
    return {**beginning(request, run_id), **found}


def integrate(state: UnitTask, runtime: Runtime[Context]) -> dict[str, Any]:
    """Bring one unit to a draft; what fails is an outcome."""
    task, context, tell = state, read_context(runtime.context), teller(runtime.stream_writer)
    unit, key = task["unit"], f"{task['unit']['id']}:{task['attempt']}"
    with dream_workspace(context, task["run_id"]) as store, lease(store, task["run_id"]):
        if not has_material(store, task):
            return {"outcomes": {unit["id"]: _failed(task, "its sources are gone")}}
        found = recall(store, unit)
        tell("recalled", count_drafted(task["run_id"], 0), task["total"], unit=unit["name"], candidates=len(found))
        tell("writing", count_drafted(task["run_id"], 0), task["total"], unit=unit["name"])
        try:
            done = integrate_unit(store, context, task, found)
        except (ModelOutputError, ModelCallError) as error:
            failed = _failed(task, str(error), denied=isinstance(error, ModelDeniedError))
            tell("failed", _count(task), task["total"], unit=unit["name"], error=str(error))
            return {"outcomes": {unit["id"]: failed}, "usage": {key: error.usage}}
    tell("drafted", _count(task), task["total"], unit=unit["name"], action=done.action, target_path=done.target_path)
    return {"outcomes": {unit["id"]: _drafted(task, done)}, "usage": {key: done.usage}}


def commit(state: DreamState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Land the drafts in unit order; ask a person before, where the run wants it."""
    context = read_context(runtime.context)
    with dream_workspace(context, state["run_id"]) as store, lease(store, state["run_id"]):
        work = Commit(
            store,
            state["run_id"],
            state["units"],
            state["sources"],
            dict(state["outcomes"]),
            teller(runtime.stream_writer),
        )
        errors = _reviewed(work) if context.review and not context.dry_run else []
        work.run()
    return {"outcomes": work.outcomes, "again": work.again, "errors": [*state["errors"], *errors]}


def _reviewed(work: Commit) -> list[str]:
    """Ask about the drafts nobody has decided on; return what was wrong with the answer."""
    rows = work.to_review()
    if not rows:
        return []
    answer = interrupt({"units": rows}, response_schema=RESPONSE_SCHEMA)
    decisions = read_answer(answer, [row["unit_id"] for row in rows])
    work.decide(decisions)
    return decisions.errors


def topics(state: DreamState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Choose the day's topics of interest and write them."""
    context = read_context(runtime.context)
    with dream_workspace(context, state["run_id"]) as store, lease(store, state["run_id"]):
        chosen = write_topics(store, context, state, teller(runtime.stream_writer))
    errors = [*state["errors"], *chosen.pop("errors")]
    return {**chosen, "errors": errors}


def finish(state: DreamState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Catalog what is settled and say what the run did."""
    if state["refused"]:
        return make_receipt(state, _engine(runtime), {})
    context = read_context(runtime.context)
    closed = _rehearsed(state, context) if context.dry_run else _closed(state, context)
    forget(state["run_id"])
    return make_receipt(state, engine_name(context), closed)


def _closed(state: DreamState, context: Context, real: FileStore | None = None) -> dict[str, Any]:
    """Close the run in the workspace it works on; beside the real one where that is a copy."""
    with dream_workspace(context, state["run_id"]) as store, lease(store, state["run_id"]):
        closed = close_run(store, state, engine_name(context), time.time())
        if real is not None:
            closed["diffs"] = rehearsal.diffs(real, store, [row["target_path"] for row in closed["integrate_results"]])
        store.note_job("auto_dream", "; ".join([*state["errors"], *closed["problems"]])[:500])
        end_lease(store, state["run_id"])
    return closed


def _rehearsed(state: DreamState, context: Context) -> dict[str, Any]:
    """Close a dry run; one that was killed on the way ends as it would have."""
    with open_workspace(context) as real:
        closed = rehearsal.ended(real, state["run_id"])
        if closed is None:
            closed = _closed(state, context, real)
            resumable = can_resume(get_config().get("configurable", {}))
            rehearsal.end(real, state["run_id"], closed, resumable=resumable)
        else:
            rehearsal.remove(real, state["run_id"])
    return closed


def _engine(runtime: Runtime[Context]) -> str:
    try:
        return engine_name(read_context(runtime.context))
    except InvalidRequestError:
        return ""


def _count(task: UnitTask) -> int:
    """Count a unit once in a run, whatever comes of it."""
    return count_drafted(task["run_id"], 1 if task["attempt"] == 1 else 0)


def _drafted(task: UnitTask, done: Integrated) -> Outcome:
    return Outcome(status="drafted", action=done.action, target_path=done.target_path, attempts=task["attempt"])


def _failed(task: UnitTask, error: str, *, denied: bool = False) -> Outcome:
    return Outcome(status="failed", error=error, attempts=task["attempt"], denied=denied)
