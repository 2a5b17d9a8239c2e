"""What does each step of auto_memory do?

normalize reads what the host sent; save_dialog makes it safe before any model is asked; open_note says which notes
wait for what; write_note lets the writer work part by part; link_source and refresh_day make the notes findable.
Each step may run again after a crash: what is done already is seen from the files and the ledger.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Any
from uuid import uuid4

from langgraph.runtime import Runtime

from reme_graphs.auto_memory.dialog import Line, merge_dialog, parse_dialog, render_dialog
from reme_graphs.auto_memory.ledger import Ledger, load_ledger, record_name, render_ledger
from reme_graphs.auto_memory.state import State, Target
from reme_graphs.auto_memory.writing import SOURCE_KEY, Progress, Session, count_parts, read_text, write_day
from reme_graphs.context import OFFLINE, Context, read_context
from reme_graphs.messages import Message, moment_of
from reme_graphs.messages import normalize as normalize_messages
from reme_graphs.note_writing import with_links
from reme_graphs.receipts import Receipt, add_usage, no_usage, receipt
from reme_graphs.resources import TURNS, engine_name, open_workspace
from reme_graphs.secrets import mask_secrets
from reme_store.daily import daily_reindex, day_page_path, note_path_for, parse_day, session_stem
from reme_store.errors import EditConflictError, InvalidRequestError
from reme_store.file_store import FileStore

GRAPH = "auto_memory"
DIALOG_FOLDER = "reme_session/dialog"
SAVE_ATTEMPTS = 5


def normalize(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Read the arguments and bring the messages into one form."""
    start: dict[str, Any] = {
        "run_id": uuid4().hex,
        "said": [],
        "session": "",
        "stem": "",
        "day": "",
        "hint": "",
        "session_path": "",
        "note_path": "",
        "new_messages": 0,
        "targets": [],
        "parts": 0,
        "written": 0,
        "skipped": [],
        "errors": [],
        "failures": [],
        "engine": "",
        "usage": no_usage(),
        "receipt": None,
    }
    try:
        context = read_context(runtime.context)
        start |= {"engine": engine_name(context), **_arguments(state, context)}
        messages, errors = normalize_messages(_listed(state), context.zone, mask=context.mask_secrets)
    except InvalidRequestError as error:
        return {**start, "receipt": receipt(success=False, answer=str(error), errors=[str(error)])}
    return {**start, "said": messages, "errors": errors}


def _arguments(state: State, context: Context) -> dict[str, str]:
    context.folder  # noqa: B018 - raises where no workspace is named
    session, date, hint = (str(state.get(key) or "") for key in ("session_id", "date", "memory_hint"))
    return {
        "session": session,
        "stem": session_stem(session) if session else "",
        "day": parse_day(date).isoformat() if date else "",
        "hint": mask_secrets(hint) if context.mask_secrets else hint,
    }


def _listed(state: State) -> list[Any]:
    given = state.get("messages") or []
    if not isinstance(given, list | tuple):
        raise InvalidRequestError(f"messages must be a list, not {type(given).__name__}")
    return list(given)


# ---- save_dialog ----


def save_dialog(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Save what was said, before anything is asked; end here where nothing waits."""
    context = read_context(runtime.context)
    messages = state["said"]
    with open_workspace(context) as store, store.journal(tool=GRAPH, run_id=state["run_id"], reason="dialog"):
        day = state["day"] or _day_of(messages, context)
        session = Session(store, context, state["stem"] or day, f"{DIALOG_FOLDER}/{state['stem'] or day}.jsonl")
        waiting, ledger = _save(session, messages, state["day"], state["session"])
        days = {ledger.days[line.key] for line in waiting}
        targets = [_target(state, each) for each in sorted(days)]
    _progress(runtime, "saved", 1, 1)
    planned = targets[-1]["note_path"] if targets else _target(state, day)["note_path"]
    found = {
        "day": day,
        "session_path": session.path,
        "note_path": planned,
        "targets": targets,
        "new_messages": len(waiting),
    }
    if not waiting:
        return {**found, "receipt": _nothing_new(state, found)}
    return found


def _save(session: Session, messages: Sequence[Message], given_day: str, session_id: str) -> tuple[list[Line], Ledger]:
    """Merge the messages into the dialog and give each that waits its day.

    Returns:
        The messages that wait for a note, and the ledger that knows their days.
    """
    for _ in range(SAVE_ATTEMPTS - 1):
        try:
            return _merge_once(session, messages, given_day, session_id)
        except EditConflictError:
            continue  # somebody edits the dialog by hand; their change is merged too
    return _merge_once(session, messages, given_day, session_id)


def _merge_once(
    session: Session, messages: Sequence[Message], given_day: str, session_id: str
) -> tuple[list[Line], Ledger]:
    store = session.store
    with store.lock():
        version, before = store.version_of(session.path), read_text(store, session.path) or ""
        lines = merge_dialog(parse_dialog(before), messages)
        known = load_ledger(store, session.stem)
        ledger = replace(known, session_id=session_id)
        waiting = ledger.waiting(lines, redo_offline=session.redo)
        planned = ledger.with_days(_days_of(ledger, waiting, messages, given_day, session.context))
        records = {record_name(session.stem): render_ledger(planned)} if waiting and planned != known else {}
        text = render_dialog(lines)
        changed = {session.path: text} if text != before else {}
        if changed or records:
            store.apply(changed, expected=dict.fromkeys(changed, version), records=records)
    return waiting, planned


def _days_of(
    ledger: Ledger, waiting: Sequence[Line], messages: Sequence[Message], given_day: str, context: Context
) -> dict[str, str]:
    """Return the day of each message that has none: new ones take that of this call, others keep their own."""
    sent = {message["id"] for message in messages}
    found = {line.key: line.message for line in waiting if line.message and line.key not in ledger.days}
    fresh = [message for message in found.values() if message["id"] in sent]
    day = given_day or _day_of(fresh, context)
    return {key: day if message["id"] in sent else _day_of([message], context) for key, message in found.items()}


def _day_of(messages: Sequence[Message], context: Context) -> str:
    """Return the day of the latest message in the zone, today where none has a time."""
    moments = [moment for moment in map(moment_of, messages) if moment]
    return _day(max(moments), context.zone) if moments else context.today()


def _day(moment: Any, zone: tzinfo) -> str:
    return str(moment.astimezone(zone).date().isoformat())


def _target(state: State, day: str) -> Target:
    path = note_path_for(day, state["session"]) if state["stem"] else day_page_path(day)
    return Target(day=day, note_path=path)


def _nothing_new(state: State, found: dict[str, Any]) -> Receipt:
    reason = "no messages" if not state["said"] else "no new messages"
    metadata = {
        "skipped": reason,
        "note_path": found["note_path"],
        "session_path": found["session_path"],
        "run_id": state["run_id"],
    }
    answer = f"Nothing to do: {reason}."
    return receipt(success=True, answer=answer, metadata=metadata, engine=state["engine"], errors=state["errors"])


# ---- open_note ----


def open_note(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Count the parts in which the waiting messages go to their notes."""
    context = read_context(runtime.context)
    with open_workspace(context) as store:
        session = _session(state, store, context)
        parts = sum(count_parts(session, target) for target in state["targets"])
    _progress(runtime, "parts", 0, parts)
    return {"parts": parts}


# ---- write_note ----


def write_note(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Let the writer take up what waits, day by day, part by part."""
    context = read_context(runtime.context)
    done: list[Progress] = []

    def advance() -> None:
        count = sum(progress.parts for progress in done) + 1
        _progress(runtime, "part", min(count, state["parts"]), state["parts"])

    with open_workspace(context) as store, store.journal(tool=GRAPH, run_id=state["run_id"], reason="note"):
        session = _session(state, store, context)
        with TURNS.take(f"{store.root} {session.stem}"):
            for target in state["targets"]:
                done.append(write_day(session, target, advance))
                if done[-1].stopped:
                    break
    return {
        "written": sum(progress.written for progress in done),
        "parts": sum(progress.parts for progress in done),
        "skipped": [reason for progress in done for reason in progress.skipped],
        "failures": [text for progress in done for text in progress.failures],
        "usage": add_usage(*(progress.usage for progress in done)),
        "engine": _engine(context, done),
    }


def _engine(context: Context, done: Sequence[Progress]) -> str:
    own = engine_name(context)
    fell_back = any(OFFLINE in progress.engines for progress in done) and own != OFFLINE
    return f"{own}, {OFFLINE} where it was down" if fell_back else own


# ---- link_source ----


def link_source(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """See that each note of this run names its conversation, also one from before this run."""
    context = read_context(runtime.context)
    failures = list(state["failures"])
    with open_workspace(context) as store, store.journal(tool=GRAPH, run_id=state["run_id"], reason="source"):
        for target in state["targets"]:
            try:
                _link(store, target["note_path"], state["session_path"])
            except InvalidRequestError as error:
                failures.append(f"{target['note_path']} does not name its source: {error}")
    return {"failures": failures}


def _link(store: FileStore, note_path: str, session_path: str) -> None:
    version, text = store.version_of(note_path), read_text(store, note_path)
    if text is not None:
        linked = with_links(text, {SOURCE_KEY: session_path})
        if linked != text:
            store.apply({note_path: linked}, expected={note_path: version})


# ---- refresh_day ----


def refresh_day(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Bring the day pages up to date and say what was done."""
    context = read_context(runtime.context)
    with open_workspace(context) as store, store.journal(tool=GRAPH, run_id=state["run_id"], reason="day page"):
        made = [target["note_path"] for target in state["targets"] if store.version_of(target["note_path"]) is not None]
        for target in state["targets"]:
            daily_reindex(store, target["day"])
    return {"receipt": _receipt(state, made)}


def _receipt(state: State, made: Sequence[str]) -> Receipt:
    waiting = state["new_messages"] - state["written"]
    metadata: dict[str, Any] = {
        "note_path": state["note_path"],
        "session_path": state["session_path"],
        "notes": list(made),
        "run_id": state["run_id"],
        "coverage": {"messages": state["new_messages"], "taken_up": state["written"], "parts": state["parts"]},
    }
    if state["skipped"]:
        metadata["skipped"] = "; ".join(dict.fromkeys(state["skipped"]))
    return receipt(
        success=not state["failures"],
        answer=_answer(state, made, waiting),
        metadata=metadata,
        engine=state["engine"],
        usage=state["usage"],
        errors=[*state["errors"], *state["failures"]],
    )


def _answer(state: State, made: Sequence[str], waiting: int) -> str:
    if state["failures"]:
        return f"{waiting} of {state['new_messages']} new messages wait for the next run: {state['failures'][0]}"
    if not made:
        return f"Nothing worth keeping: {'; '.join(dict.fromkeys(state['skipped']))}"
    return f"{state['new_messages']} new messages are reflected in {', '.join(made)}."


# ---- shared ----


def _session(state: State, store: FileStore, context: Context) -> Session:
    stem = state["session_path"].rsplit("/", 1)[-1].removesuffix(".jsonl")
    return Session(store, context, stem, state["session_path"], state["hint"])


def _progress(runtime: Runtime[Context], event: str, done: int, total: int) -> None:
    runtime.stream_writer({"event": event, "graph": GRAPH, "done": done, "total": total})
