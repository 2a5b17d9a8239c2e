"""What does each node of the synchronizer do?

judge asks what the conversation changes, locate finds the task's folder, merge settles what is to be written, write
lands materials and note with the section rules applied to the note as it is then, reload reads the note back for the
host. A caller's mistake or a failing model ends in the receipt.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from langgraph.runtime import Runtime

from reme_graphs.context import Context, read_context
from reme_graphs.errors import ModelCallError, ModelOutputError
from reme_graphs.messages import Message, normalize
from reme_graphs.offline.tasks import task_update
from reme_graphs.receipts import Receipt, Usage, no_usage, receipt
from reme_graphs.resources import chat_model, engine_name, limits, open_workspace
from reme_graphs.secrets import mask_secrets
from reme_graphs.structured import TaskUpdate, ask
from reme_graphs.synchronizer.asking import judge_prompt
from reme_graphs.synchronizer.location import (
    choose_earlier,
    choose_today,
    free_name,
    hash_messages,
    is_said_done,
    read_hint,
)
from reme_graphs.synchronizer.reach import (
    folder_files,
    free_note_path,
    names_new_folder,
    note_of,
    remember_messages,
    shown_task,
    tasks_in_reach,
)
from reme_graphs.synchronizer.sections import (
    Update,
    listed_materials,
    merge_task_note,
    new_task_note,
    objective_of,
    plan_of,
)
from reme_graphs.synchronizer.state import Place, Request, SynchronizerState
from reme_store.daily import parse_day
from reme_store.errors import EditConflictError, InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.models import NoteText
from reme_store.text.front_matter import parse_note

TOOL = "synchronizer"
WRITE_TRIES = 3
"""How often a note is merged anew when another program changes it meanwhile."""


# ---- judge ------------------------------------------------------------------------------------


def judge(state: SynchronizerState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Ask what the conversation changes in the task, if it is one."""
    start = _fresh()
    try:
        context = read_context(runtime.context)
        request = _request(state, context)
    except InvalidRequestError as error:
        return {**start, "errors": [str(error)], "failed": [_failure("judge", "", str(error))]}
    messages, errors = normalize(state.get("messages") or [], context.zone, mask=context.mask_secrets)
    start |= {"request": request, "errors": errors}
    if not messages:
        return {**start, "skipped": True, "reason": "there are no messages"}
    runtime.stream_writer(_event("judge", 0, 1))
    try:
        reply, usage = _reply(context, request, messages)
    except (ModelCallError, ModelOutputError) as error:
        failed = [_failure("judge", "", str(error))]
        return {**start, "usage": error.usage, "used_llm": True, "failed": failed, "errors": [*errors, str(error)]}
    runtime.stream_writer(_event("judge", 1, 1))
    start |= {"usage": usage, "used_llm": usage["model_calls"] > 0}
    start["errors"] = [*errors, *([reply["fallback"]] if reply.get("fallback") else [])]
    if reply["skip"]:
        return {**start, "skipped": True, "reason": reply.get("reason") or "no task of several steps is in progress"}
    return {**start, "update": _checked(reply, request, messages), "heard": hash_messages(messages)}


def _fresh() -> dict[str, Any]:
    """State of a run at its start; a thread may have run before."""
    cleared: dict[str, Any] = {"update": {}, "place": {}, "draft": "", "heard": [], "found": 0, "actions": ""}
    rows: dict[str, Any] = {"applied": [], "failed": [], "errors": [], "skipped": False, "reason": "", "summary": None}
    return {**cleared, **rows, "used_llm": False, "usage": no_usage(), "run_id": uuid.uuid4().hex[:12]}


def _request(state: SynchronizerState, context: Context) -> Request:
    day = state.get("date") or context.today()
    parse_day(day)
    title, folder = read_hint(state.get("workspace") or "")
    window: Any = state.get("inherit_window_days", 7)
    if not isinstance(window, int) or isinstance(window, bool) or window < 0:
        raise InvalidRequestError(f"inherit_window_days is a whole number from 0 up, not {window!r}")
    return Request(day=day, stamp=f"{day} {context.now():%H:%M}", hint=title, folder=folder, window=window)


def _reply(context: Context, request: Request, messages: Sequence[Message]) -> tuple[dict[str, Any], Usage]:
    """The model's TaskUpdate, or that of the rules where there is no model or it is down and the caller allows it."""
    model = chat_model(context)
    with open_workspace(context) as store:
        tasks = tasks_in_reach(store, request)
    shown = shown_task(request, tasks)
    title = request["hint"] or (shown.title if shown else "")
    if model is None:
        return _by_rules(messages, title), no_usage()
    try:
        reply, usage = ask(model, judge_prompt(context, request, messages, tasks, shown), TaskUpdate, limits(context))
    except ModelCallError as error:
        if not (error.transient and context.fallback_offline):
            raise
        return {
            **_by_rules(messages, title),
            "fallback": f"judged offline, the model did not answer: {error}",
        }, error.usage
    return reply.model_dump(), usage


def _by_rules(messages: Sequence[Message], title: str) -> dict[str, Any]:
    said = [{"role": m["role"], "name": m.get("name", ""), "text": m["content"]} for m in messages]
    return task_update(said, title=title)


def _checked(reply: Mapping[str, Any], request: Request, messages: Sequence[Message]) -> dict[str, Any]:
    """The update as it holds: the hint's title wins, and a completion counts only where a person said so."""
    title = " ".join((request["hint"] or str(reply["title"])).split())[:200] or "Task"
    return {**reply, "title": title, "completed": bool(reply["completed"]) and is_said_done(messages, title)}


# ---- locate -------------------------------------------------------------------------------------


def locate(state: SynchronizerState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Find the folder of the task: today's, a new one that carries on an earlier task, or a new one."""
    request, update = state["request"], state["update"]
    with open_workspace(read_context(runtime.context)) as store:
        tasks = tasks_in_reach(store, request)
        today = [task for task in tasks if task.day == request["day"]]
        hinted = next((task for task in tasks if task.folder == request["folder"]), None)
        title = hinted.title if hinted else update["title"]
        same = hinted if hinted in today else None
        if not same and not names_new_folder(request, hinted):
            heard = [] if request["hint"] else state["heard"]  # where the host names the task, its word counts
            same = choose_today(today, title, update, heard)
        if same:
            return {"place": Place(op="updated", note_path=same.note_path, predecessor="")}
        earlier = hinted or choose_earlier([task for task in tasks if task.day < request["day"]], title)
        note_path = free_note_path(store, request, earlier.title if earlier else title)
    op = "inherited" if earlier else "created"
    return {"place": Place(op=op, note_path=note_path, predecessor=earlier.note_path if earlier else "")}


# ---- merge --------------------------------------------------------------------------------------


def merge(state: SynchronizerState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Settle what the note takes up and which files are made, and keep it in a record until it is written."""
    context = read_context(runtime.context)
    reply = _masked(state["update"]) if context.mask_secrets else state["update"]
    with open_workspace(context) as store:
        update = _update(store, state["place"], state["request"], reply)
        made = _named_materials(store, reply["materials"], state["place"]["note_path"].rpartition("/")[0])
        draft = f"drafts/synchronizer-{state['run_id']}.json"
        plan = {"update": asdict(update), "materials": made}
        store.records.write(draft, json.dumps(plan, ensure_ascii=False).encode())
    return {"draft": draft}


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, Mapping):
        return {key: _masked(item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


def _update(store: FileStore, place: Place, request: Request, reply: Mapping[str, Any]) -> Update:
    """The reply as the section rules take it; a task that is carried on brings Objective and Plan along."""
    earlier = store.read_note(place["predecessor"]).text if place["predecessor"] else ""
    matter = parse_note(earlier).front_matter
    return Update(
        day=request["day"],
        stamp=request["stamp"],
        title=str(matter.get("title") or reply["title"]),
        description=reply["description"] or str(matter.get("description") or ""),
        objective=objective_of(earlier) or reply["objective"],
        plan=reply["plan"] or plan_of(earlier),
        progress=reply["progress"],
        findings=reply["findings"],
        decisions=reply["decisions"],
        next=reply["next"],
        completed=reply["completed"],
        inherits=place["predecessor"],
    )


def _named_materials(store: FileStore, materials: Sequence[Mapping[str, Any]], folder: str) -> list[dict[str, str]]:
    """Extracted materials under fresh names; a text that a file of the folder has already is not made again."""
    there = folder_files(store, folder)
    known = {_hash(store.read_bytes(path)[0]) for path in there if path.endswith(".md")}
    taken = [*(path.rpartition("/")[2] for path in there), note_of(folder).rpartition("/")[2]]
    made: list[dict[str, str]] = []
    for material in materials:
        text = str(material["content"]).replace("\r\n", "\n").strip("\n") + "\n"
        if not text.strip() or _hash(text.encode()) in known:
            continue
        name = free_name(str(material["name"]), taken)
        known.add(_hash(text.encode()))
        taken.append(name)
        made.append({"path": f"{folder}/{name}", "text": text, "note": str(material.get("note") or "")})
    return made


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# ---- write --------------------------------------------------------------------------------------


def write(state: SynchronizerState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Write the materials, then the note; what fails is said and does not undo the rest."""
    place = state["place"]
    applied: list[dict[str, str]] = []
    failed: list[dict[str, str]] = []
    reason = f"task {state['update']['title']}"
    with (
        open_workspace(read_context(runtime.context)) as store,
        store.journal(tool=TOOL, run_id=state["run_id"], reason=reason),
    ):
        plan = json.loads(store.records.read(state["draft"]) or b"{}")
        notes: dict[str, str] = {}
        for number, material in enumerate(plan["materials"], 1):
            error = _write_material(store, material["path"], material["text"].encode())
            _tell(applied, failed, "write_material", material["path"], error)
            notes |= {} if error else {material["path"]: material["note"]}
            runtime.stream_writer(_event("write", number, len(plan["materials"]) + 1))
        found, error = _write_note(store, place["note_path"], plan["update"], notes)
        fault = "" if error else parse_note(store.read_note(place["note_path"]).text).fault
        _tell(applied, failed, "update" if place["op"] == "updated" else "create", place["note_path"], error)
        if not error:
            remember_messages(store, place["note_path"], state["heard"])
            store.records.delete(state["draft"])
    runtime.stream_writer(_event("write", len(plan["materials"]) + 1, len(plan["materials"]) + 1))
    left = [f"the front matter of {place['note_path']} was left as it is, {fault}"] if fault else []
    return {"applied": applied, "failed": failed, "found": found, "errors": [*state["errors"], *left]}


def _tell(applied: list[dict[str, str]], failed: list[dict[str, str]], op: str, path: str, error: str) -> None:
    if error:
        failed.append(_failure(op, path, error))
    else:
        applied.append({"op": op, "path": path})


def _write_material(store: FileStore, path: str, data: bytes) -> str:
    """Write one material, unless a run that was cut short has; say why it could not be written, empty when it was."""
    try:
        if store.version_of(path) is None or store.read_bytes(path)[0] != data:
            store.apply({path: data}, expected={path: None})
    except InvalidRequestError as error:
        return str(error)
    return ""


def _write_note(store: FileStore, path: str, planned: Mapping[str, Any], notes: Mapping[str, str]) -> tuple[int, str]:
    """Write the task note. Returns how many materials it lists now and did not before, and why it failed."""
    for _ in range(WRITE_TRIES):
        try:
            return _merged_and_written(store, path, planned, notes), ""
        except EditConflictError as error:
            fault = str(error)  # another program changed the note meanwhile: merge anew
        except InvalidRequestError as error:
            return 0, str(error)
    return 0, fault


def _merged_and_written(store: FileStore, path: str, planned: Mapping[str, Any], notes: Mapping[str, str]) -> int:
    old = _note_to_change(store, path) if store.version_of(path) else None
    files = folder_files(store, path.rpartition("/")[0])
    before = listed_materials(old.text, path) if old else set()
    update = Update(**{**planned, "materials": {file: notes.get(file, "") for file in files}})
    text = merge_task_note(old.text, update, path) if old else new_task_note(update, path)
    store.apply({path: text}, expected={path: old.version if old else None})
    return sum(file not in before for file in files)


def _note_to_change(store: FileStore, path: str) -> NoteText:
    """Read the note for a rewrite; one that is not valid UTF-8 must not be rewritten."""
    data, version = store.read_bytes(path)
    try:
        return NoteText(path, data.decode("utf-8"), version)
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{path!r} is not valid UTF-8 and is left as it is", path=path) from error


# ---- reload -------------------------------------------------------------------------------------


def reload(state: SynchronizerState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Read the note back from disk and say what happened."""
    note_path = state["place"]["note_path"] if state.get("place") else ""
    written = any(row["path"] == note_path for row in state["applied"])
    failed, summary = list(state["failed"]), None
    if written:
        summary, error = _read_back(read_context(runtime.context), note_path)
        failed += [_failure("reload", note_path, error)] if error else []
    actions = "[SKIP]" if state["skipped"] else ""
    if written:
        actions = f"{state['place']['op']} {note_path} (+{state['found']} materials)"
    folder = note_path.rpartition("/")[0] + "/" if note_path else None
    result = {"failed": failed, "actions": actions, "workspace": folder, "summary": None if failed else summary}
    return {**result, "receipt": _receipt(state, runtime, failed, actions, folder)}


def _read_back(context: Context, note_path: str) -> tuple[str | None, str]:
    try:
        with open_workspace(context) as store:
            return store.read_note(note_path).text, ""
    except InvalidRequestError as error:
        return None, str(error)


def _receipt(
    state: SynchronizerState,
    runtime: Runtime[Context],
    failed: Sequence[Mapping[str, str]],
    actions: str,
    folder: str | None,
) -> Receipt:
    errors = list(dict.fromkeys([*state["errors"], *(row["error"] for row in failed)]))
    metadata: dict[str, Any] = {"workspace": folder, "applied": state["applied"], "run_id": state["run_id"]}
    if state["skipped"]:
        actions = f"[SKIP] {state['reason']}"
        metadata["skipped"] = state["reason"]
    return receipt(
        success=not failed,
        answer=actions or f"failed: {errors[0]}",
        metadata=metadata,
        engine=_engine(runtime),
        usage=state["usage"],
        errors=errors,
    )


def _engine(runtime: Runtime[Context]) -> str:
    """Who did the work; empty where the context itself is the mistake that the receipt reports."""
    try:
        return engine_name(read_context(runtime.context))
    except InvalidRequestError:
        return ""


def _failure(op: str, path: str, error: str) -> dict[str, str]:
    return {"op": op, "path": path, "error": error}


def _event(event: str, done: int, total: int) -> dict[str, Any]:
    return {"event": event, "graph": "synchronizer", "done": done, "total": total}
