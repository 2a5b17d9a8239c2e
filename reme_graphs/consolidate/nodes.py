"""What does each node of the maintainer do?

survey finds what is overloaded, split plans and checks how to take it apart, land asks where a review is wanted and
writes parent and children in one step, report tells the rest. Nothing else of a note changes.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from reme_graphs import prompts
from reme_graphs.agent import run_agent
from reme_graphs.consolidate.ledger import FAILED, REJECTED, WHOLE, due, read_ledger, record_outcomes, standing
from reme_graphs.consolidate.looking import digest_paths, find_all, overloaded_notes
from reme_graphs.consolidate.report import as_data, render
from reme_graphs.consolidate.reviewing import (
    ACCEPT,
    CHECKPOINTER,
    REJECT,
    RESPONSE_SCHEMA,
    diffs_of,
    read_decisions,
    review_row,
)
from reme_graphs.consolidate.splitting import Split, assemble, split_faults
from reme_graphs.consolidate.state import Candidate, ConsolidateState, Planned
from reme_graphs.context import Context, read_context
from reme_graphs.errors import ModelCallError, ModelOutputError
from reme_graphs.offline.splits import split_plan
from reme_graphs.receipts import Usage, add_usage, no_usage, receipt
from reme_graphs.resources import chat_model, engine_name, limits, open_workspace
from reme_graphs.structured import SplitPlan
from reme_store.errors import InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.models import NoteText

TOOL = "consolidate"
ROOM_FOR_REPAIR = 3_000
"""Characters of a prompt left to the rounds that repair a plan."""


class NoPlanError(Exception):
    """The rules plan no split that stands; says why."""


# ---- survey -------------------------------------------------------------------------------------


def survey(state: ConsolidateState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Find the overloaded notes and choose which of them this run takes apart."""
    start = _fresh()
    try:
        context = read_context(runtime.context)
        wanted, most = _inputs(state, context)
        with open_workspace(context) as store:
            store.refresh()
            paths = digest_paths(store, wanted)
            found = overloaded_notes(store, paths)
            ledger, engine = read_ledger(store), engine_name(context)
    except InvalidRequestError as error:
        return {**start, "refused": True, "errors": [str(error)]}
    runtime.stream_writer(_event("surveyed", len(paths), len(paths), overloaded=len(found)))
    chosen = found if wanted else due(found, ledger, engine)
    return {
        **start,
        "looked_at": paths if wanted else [],
        "overloaded": [
            {
                "path": row["path"],
                "reasons": row["reasons"],
                "before": standing(ledger.get(row["path"]), row["version"], engine),
            }
            for row in found
        ],
        "candidates": [
            Candidate(path=row["path"], version=row["version"], reasons=row["reasons"]) for row in chosen[:most]
        ],
    }


def _fresh() -> dict[str, Any]:
    """State of a run at its start; a thread may have run before."""
    rows: dict[str, Any] = {"looked_at": [], "overloaded": [], "candidates": [], "planned": [], "splits": []}
    return {
        **rows,
        "diffs": {},
        "report": "",
        "usage": no_usage(),
        "errors": [],
        "refused": False,
        "run_id": uuid.uuid4().hex[:12],
    }


def _inputs(state: ConsolidateState, context: Context) -> tuple[list[str], int]:
    paths: Any = state.get("paths") or []
    most: Any = state.get("max_splits", 1)
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise InvalidRequestError(f"paths is a list of note paths, not {paths!r}")
    if not isinstance(most, int) or isinstance(most, bool) or most < 0:
        raise InvalidRequestError(f"max_splits is a whole number from 0 up, not {most!r}")
    if context.review and not context.dry_run and not get_config().get("configurable", {}).get(CHECKPOINTER):
        raise InvalidRequestError("review needs a checkpointer: compile the graph with one and give a thread_id")
    return paths, most


# ---- split --------------------------------------------------------------------------------------


def split(state: ConsolidateState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Plan each split and keep the texts that stand in a record; what fails is said and the note stays whole."""
    context = read_context(runtime.context)
    planned: list[Planned] = []
    usage, total = no_usage(), len(state["candidates"])
    with open_workspace(context) as store:
        for number, candidate in enumerate(state["candidates"], 1):
            row, cost = _plan_one(store, context, candidate["path"], f"split-{state['run_id']}-{number}")
            planned.append(row)
            usage = add_usage(usage, cost)
            runtime.stream_writer(_event("planned", number, total, path=row["path"], children=len(row["children"])))
        if not context.dry_run:
            versions = {one["path"]: one["version"] for one in state["candidates"]}
            came = {
                row["path"]: (versions[row["path"]], FAILED if row["error"] else WHOLE)
                for row in planned
                if not row["draft"]
            }
            record_outcomes(store, came, engine_name(context))
    return {"planned": planned, "usage": usage}


def _plan_one(store: FileStore, context: Context, path: str, draft_id: str) -> tuple[Planned, Usage]:
    note, usage = store.read_note(path), no_usage()
    whole = Planned(path=path, draft="", children=[], error="", remark="")
    if not _is_utf8(store, path):
        return {**whole, "remark": f"{path} was left whole: it is not valid UTF-8; convert it first"}, usage
    try:
        made, usage, remark = _plan(store, context, note)
    except (ModelOutputError, ModelCallError) as error:
        return {**whole, "error": f"{path} was not taken apart: {error}"}, error.usage
    except NoPlanError as error:
        return {**whole, "error": f"{path} was not taken apart: {error}"}, usage
    whole["remark"] = remark
    if made is None:
        return whole, usage
    draft = f"drafts/{draft_id}.json"
    record = {"path": path, "version": note.version, "parent": made.parent, "children": dict(made.children)}
    store.records.write(draft, json.dumps(record, ensure_ascii=False).encode())
    return {**whole, "draft": draft, "children": sorted(made.children)}, usage


def _is_utf8(store: FileStore, path: str) -> bool:
    """Tell whether a note may be rewritten."""
    try:
        store.read_bytes(path)[0].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _plan(store: FileStore, context: Context, note: NoteText) -> tuple[Split | None, Usage, str]:
    """The split of a note, None where it is better left whole; and why the model did not plan it, if it did not."""
    model = chat_model(context)
    if model is None:
        return _by_rules(store, note), no_usage(), ""
    prompt = _prompt(note)
    if sum(len(message.text) for message in prompt) + ROOM_FOR_REPAIR > context.max_input_chars:
        limit = f"its {len(note.text)} characters do not fit max_input_chars={context.max_input_chars}"
        return _by_rules(store, note), no_usage(), f"{note.path} was divided by its sections: {limit}"
    try:
        ended = run_agent(
            model,
            [],
            prompt,
            limits=limits(context),
            final=SplitPlan,
            check=lambda plan: _faults(store, note, _assembled(note, plan)),
        )
    except ModelCallError as error:
        if not (error.transient and context.fallback_offline):
            raise
        return _by_rules(store, note), error.usage, f"{note.path} was divided by its sections: {error}"
    return _assembled(note, ended.value), ended.usage, ""


def _by_rules(store: FileStore, note: NoteText) -> Split | None:
    plan = split_plan(note.path, note.text, store.options.chunk_chars)
    made = assemble(note.path, note.text, plan["overview"], plan["children"]) if plan["children"] else None
    faults = _faults(store, note, made)
    if faults:
        raise NoPlanError("; ".join(faults))
    return made


def _assembled(note: NoteText, plan: SplitPlan) -> Split | None:
    if not plan.children:
        return None
    return assemble(note.path, note.text, plan.overview, [child.model_dump() for child in plan.children])


def _faults(store: FileStore, note: NoteText, made: Split | None) -> list[str]:
    if made is None:
        return []
    return [*_name_faults(store, note.path, made), *split_faults(note.path, note.text, made)]


def _name_faults(store: FileStore, parent: str, made: Split) -> list[str]:
    """Name the children that cannot be made beside the parent."""
    faults: list[str] = []
    for child in made.children:
        if child.rpartition("/")[0] != parent.rpartition("/")[0]:
            faults.append(f"{child!r} is not beside {parent!r}; a child's name has no folder")
            continue
        try:
            if child != parent and store.version_of(store.paths.new(child)) is not None:
                faults.append(f"{child!r} exists already; give the child another name")
        except InvalidRequestError as error:
            faults.append(str(error))
    return faults


def _prompt(note: NoteText) -> list[BaseMessage]:
    system = prompts.render("consolidate/split.system")
    framed = prompts.frame(note.path, note.text)
    user = prompts.render("consolidate/split.user", path=note.path, note=framed)
    return [SystemMessage(system), HumanMessage(user)]


# ---- land ---------------------------------------------------------------------------------------


def land(state: ConsolidateState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write parent and children in one step, after a review where one is wanted; a dry run only shows it."""
    context = read_context(runtime.context)
    with open_workspace(context) as store:
        drafts = {row["draft"]: _read_draft(store, row["draft"]) for row in state["planned"] if row["draft"]}
        wanted, errors = list(drafts), list[str]()
        if context.dry_run:
            diffs = {p: d for draft in drafts.values() for p, d in _diffs(store, draft).items()}
            _forget(store, drafts)
            return {"diffs": diffs}
        if context.review and drafts:
            wanted, rejected, errors = _reviewed(store, drafts)
            came = {drafts[name]["path"]: (str(drafts[name]["version"]), REJECTED) for name in rejected}
            record_outcomes(store, came, engine_name(context))
        splits: list[dict[str, Any]] = []
        for number, name in enumerate(wanted, 1):
            error = _land_one(store, drafts[name], state["run_id"])
            errors += [error] if error else []
            if not error:
                splits.append({"path": drafts[name]["path"], "children": sorted(drafts[name]["children"])})
            runtime.stream_writer(_event("landed", number, len(wanted), path=drafts[name]["path"]))
        _forget(store, drafts)
    return {"splits": splits, "errors": [*state["errors"], *errors]}


def _read_draft(store: FileStore, name: str) -> dict[str, Any]:
    draft: dict[str, Any] = json.loads(store.records.read(name) or b"{}")
    return draft


def _diffs(store: FileStore, draft: Mapping[str, Any]) -> dict[str, str]:
    old = store.read_note(draft["path"]).text
    return diffs_of(draft["path"], old, Split(draft["parent"], draft["children"]))


def _reviewed(store: FileStore, drafts: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """Ask a person. Returns names of the accepted and of the rejected drafts, and what was wrong with the answer."""
    ids = {name.rpartition("/")[2].removesuffix(".json"): name for name in drafts}
    rows = []
    for unit_id, name in ids.items():
        draft = drafts[name]
        old = store.read_note(draft["path"]).text
        rows.append(review_row(unit_id, draft["path"], old, Split(draft["parent"], draft["children"])))
    kinds, faults = read_decisions(interrupt({"units": rows}, response_schema=RESPONSE_SCHEMA), list(ids))
    by_kind = {
        wanted: [ids[unit_id] for unit_id, kind in kinds.items() if kind == wanted and unit_id in ids]
        for wanted in (ACCEPT, REJECT)
    }
    return by_kind[ACCEPT], by_kind[REJECT], faults


def _land_one(store: FileStore, draft: Mapping[str, Any], run_id: str) -> str:
    """Write a split; say why it could not be written, empty when it stands (also from a run that was cut short)."""
    path, children = draft["path"], draft["children"]
    writes = {path: draft["parent"], **children}
    if all(store.version_of(target) and store.read_note(target).text == text for target, text in writes.items()):
        return ""
    try:
        with store.journal(tool=TOOL, run_id=run_id, reason=f"SPLIT into {len(children)} notes"):
            store.apply(writes, expected={path: draft["version"], **dict.fromkeys(children)})
    except InvalidRequestError as error:
        return f"{path} was not taken apart: {error}"
    return ""


def _forget(store: FileStore, drafts: Mapping[str, Any]) -> None:
    for name in drafts:
        store.records.delete(name)


# ---- report -------------------------------------------------------------------------------------


def report(state: ConsolidateState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the page of findings and say what was done."""
    if state["refused"]:
        answer = f"refused: {state['errors'][0]}"
        return {"receipt": receipt(success=False, answer=answer, engine=_engine(runtime), errors=state["errors"])}
    context = read_context(runtime.context)
    day = context.today()
    failures = [row["error"] for row in state["planned"] if row["error"]] + state["errors"]
    with open_workspace(context) as store:
        paths = state["looked_at"] or digest_paths(store, [])
        known = {"splits": state["splits"], "overloaded": state["overloaded"], "failures": failures}
        found = find_all(store, paths, whole=not state["looked_at"], day=day, **known)
        name = f"reports/consolidate-{day}.md"
        page = render(found).encode()
        if store.records.read(name) != page:
            store.records.write(name, page)
    runtime.stream_writer(_event("reported", len(paths), len(paths)))
    metadata = {"run_id": state["run_id"], **as_data(found), **({"diffs": state["diffs"]} if context.dry_run else {})}
    made = receipt(
        success=not failures,
        answer=_answer(state, metadata["counts"], failures),
        metadata=metadata,
        engine=_engine(runtime),
        usage=state["usage"],
        errors=[*failures, *(row["remark"] for row in state["planned"] if row["remark"])],
    )
    return {"report": f"reme_metadata/{name}", "receipt": made}


def _answer(state: ConsolidateState, counts: Mapping[str, int], failures: Sequence[str]) -> str:
    done = "; ".join(f"{row['path']} taken apart into {len(row['children'])} notes" for row in state["splits"])
    told = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items() if count)
    parts = [done or "nothing taken apart", f"found {told}" if told else "nothing else found"]
    return ". ".join([*parts, *([f"failed: {len(failures)}"] if failures else [])])


def _engine(runtime: Runtime[Context]) -> str:
    """Who did the work; empty where the context itself is the mistake that the receipt reports."""
    try:
        return engine_name(read_context(runtime.context))
    except InvalidRequestError:
        return ""


def _event(event: str, done: int, total: int, **facts: Any) -> dict[str, Any]:
    return {"event": event, "graph": "consolidate", "done": done, "total": total, **facts}
