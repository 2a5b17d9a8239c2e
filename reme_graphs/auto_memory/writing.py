"""How do the waiting messages of one day get into its note?

Part by part: a writer works on a draft; then the note with its source and the ledger with the messages it now
reflects land in one journal entry. A crash or failure between two parts leaves exactly the rest waiting.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import NAMESPACE_URL, uuid5

from langchain_core.language_models.chat_models import BaseChatModel

from reme_graphs import offline, prompts
from reme_graphs.auto_memory.dialog import Line, parse_dialog
from reme_graphs.auto_memory.ledger import Ledger, load_ledger, record_name, render_ledger
from reme_graphs.auto_memory.parts import Part, next_part, plan_parts
from reme_graphs.auto_memory.state import Target
from reme_graphs.context import OFFLINE, Context
from reme_graphs.drafts import record_name as draft_record
from reme_graphs.errors import ModelCallError, ModelDeniedError, ModelOutputError
from reme_graphs.messages import Message, spoken
from reme_graphs.note_writing import (
    REPAIR_CHARS,
    Written,
    language_rule,
    new_view,
    offline_text,
    shown_note,
    tools_room,
    with_links,
    write_draft,
)
from reme_graphs.resources import chat_model, engine_name, limits
from reme_graphs.usage import Usage, add_usage, no_usage
from reme_store.errors import EditConflictError, InvalidRequestError
from reme_store.file_store import FileStore

SOURCE_KEY = "source_conversation"
ATTEMPTS = 3
"""How often a part is written anew because somebody changed the note meanwhile."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a workspace, as a run sees it."""

    store: FileStore
    context: Context
    stem: str
    path: str
    """Its dialog file."""
    hint: str = ""

    def lines(self) -> list[Line]:
        """Return the dialog as it is now."""
        return parse_dialog(read_text(self.store, self.path) or "")

    def ledger(self) -> Ledger:
        """Return the ledger as it is now."""
        return load_ledger(self.store, self.stem)

    def waiting(self, day: str) -> list[Line]:
        """Return the messages that wait for this day's note."""
        ledger = self.ledger()
        lines = ledger.waiting(self.lines(), redo_offline=self.redo)
        return [line for line in lines if ledger.days.get(line.key) == day]

    @property
    def redo(self) -> bool:
        """Whether a model does again what the offline engine has done."""
        return self.context.redo_offline and engine_name(self.context) != OFFLINE


@dataclass(slots=True)
class Progress:
    """What became of the parts of one note."""

    written: int = 0
    parts: int = 0
    skipped: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    engines: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=no_usage)
    stopped: bool = False
    """Whether asking on is pointless: the key is denied or the provider is down."""


def read_text(store: FileStore, path: str) -> str | None:
    """Return the text of a file, None where there is none."""
    return store.read_note(path).text if store.version_of(path) is not None else None


def count_parts(session: Session, target: Target) -> int:
    """Return how many conversations with the model the waiting messages will take, roughly."""
    waiting = session.waiting(target["day"])
    if engine_name(session.context) == OFFLINE:
        return min(len(waiting), 1)
    room = room_of(session, target, read_text(session.store, target["note_path"]))
    return len(plan_parts(waiting, session.ledger().partial, session.context.zone, room.conversation))


def write_day(session: Session, target: Target, advance: Callable[[], None]) -> Progress:
    """Take up the waiting messages of one day; never raises for what a model or a caller does."""
    try:
        model = chat_model(session.context)
    except ModelDeniedError as error:
        return Progress(failures=[str(error)], stopped=True)
    writer = _DayWriter(session, target, model)
    for _ in writer.parts():
        advance()
    return writer.progress


class _DayWriter:
    """Writes one note, part by part."""

    def __init__(self, session: Session, target: Target, model: BaseChatModel | None) -> None:
        self.session, self.target, self.model = session, target, model
        self.store, self.path = session.store, target["note_path"]
        self.unit_id = f"memory-{uuid5(NAMESPACE_URL, session.path + target['day'])}"
        self.progress = Progress()
        self.failed: set[str] = set()

    def parts(self) -> Iterator[int]:
        """Take up part after part until nothing waits that has not failed in this run."""
        while not self.progress.stopped:
            waiting = [line for line in self.session.waiting(self.target["day"]) if line.key not in self.failed]
            if not waiting:
                return
            self._take_up(waiting)
            self.progress.parts += 1
            yield self.progress.parts

    def _take_up(self, waiting: Sequence[Line]) -> None:
        part = offline_part(waiting) if self.model is None else self._next_part(waiting)
        try:
            self._write(part, self._lines_of(waiting, part), self.model)
        except ModelOutputError as error:
            self._fail(part, error.usage, str(error))
        except ModelCallError as error:
            self._without_answer(error, part, self._lines_of(waiting, part))
        except InvalidRequestError as error:
            self._fail(part, no_usage(), str(error))

    def _without_answer(self, error: ModelCallError, part: Part, lines: Sequence[Line]) -> None:
        if error.transient and self.session.context.fallback_offline:
            self.progress.usage = add_usage(self.progress.usage, error.usage)
            self._write(offline_part(lines), lines, None)
        else:
            self.progress.stopped = error.transient or isinstance(error, ModelDeniedError)
            self._fail(part, error.usage, str(error))

    def _fail(self, part: Part, usage: Usage, text: str) -> None:
        self.progress.usage = add_usage(self.progress.usage, usage)
        self.progress.failures.append(text)
        self.failed |= {*part.done, *part.partial}

    def _next_part(self, waiting: Sequence[Line]) -> Part:
        room = room_of(self.session, self.target, read_text(self.store, self.path))
        part = next_part(waiting, self.session.ledger().partial, self.session.context.zone, room.conversation)
        assert part is not None  # noqa: S101 - something waits
        return part

    @staticmethod
    def _lines_of(waiting: Sequence[Line], part: Part) -> list[Line]:
        keys = {*part.done, *part.partial}
        return [line for line in waiting if line.key in keys]

    # ---- one part ----

    def _write(self, part: Part, lines: Sequence[Line], model: BaseChatModel | None) -> None:
        """Write and land a part, anew where somebody changed the note meanwhile."""
        engine = OFFLINE if model is None else engine_name(self.session.context)
        for attempt in range(1, ATTEMPTS + 1):
            written = self._written(part, lines, model)
            self.progress.usage = add_usage(self.progress.usage, written.usage)
            try:
                landed = self._land(part, written, engine)
            except EditConflictError:
                if attempt == ATTEMPTS:
                    raise
                continue
            if landed:
                self._account(part, written, engine)
            return

    def _account(self, part: Part, written: Written, engine: str) -> None:
        self.progress.engines.add(engine)
        self.progress.written += len(part.done)
        if written.skipped:
            self.progress.skipped.append(written.skipped)

    def _written(self, part: Part, lines: Sequence[Line], model: BaseChatModel | None) -> Written:
        if not part.spoken:
            return Written(None, None, "nobody says anything in it", no_usage())
        return self._extracted(lines) if model is None else self._composed(part, model)

    def _extracted(self, lines: Sequence[Line]) -> Written:
        version, existing = self.store.version_of(self.path), read_text(self.store, self.path)
        messages = [as_spoken(line.message) for line in lines if line.message and spoken(line.message)]
        note = offline.write_note(messages, existing or "")
        if note is None:
            return Written(None, None, "no sentence worth keeping", no_usage())
        return Written(offline_text(existing, note), version, "", no_usage())

    def _composed(self, part: Part, model: BaseChatModel) -> Written:
        version = self.store.version_of(self.path)
        room = room_of(self.session, self.target, read_text(self.store, self.path))
        view = new_view(self.store, self.path, self.unit_id, {self.path: version} if room.is_shown else {})
        user = prompts.render(
            "auto_memory/write_note.user",
            note_path=self.path,
            day=self.target["day"],
            note=room.note,
            hint=_hint(self.session.hint),
            position=POSITION if part.partial else "",
            conversation=prompts.frame("conversation", part.text),
        )
        return write_draft(view, self.path, model, limits(self.session.context), system=room.system, user=user)

    def _land(self, part: Part, written: Written, engine: str) -> bool:
        """Land the note and the ledger together; False where another run has taken the messages up meanwhile."""
        with self.store.lock():
            ledger = self.session.ledger()
            lines = ledger.waiting(self.session.lines(), redo_offline=self.session.redo)
            stands = {*part.done, *part.partial} <= {line.key for line in lines}
            records: dict[str, bytes | None] = {draft_record(self.unit_id): None}
            if stands:
                settled = ledger.settled(part.done, part.partial, engine)
                records[record_name(self.session.stem)] = render_ledger(settled)
            if stands and written.text is not None:
                text = with_links(written.text, {SOURCE_KEY: self.session.path})
                self.store.apply({self.path: text}, expected={self.path: written.base_version}, records=records)
            else:
                self.store.apply({}, records=records)
        return stands


def offline_part(lines: Sequence[Line]) -> Part:
    """Return all the messages as one part; the offline engine has no limit of characters."""
    heard = any(line.message and spoken(line.message) for line in lines)
    return Part("", tuple(line.key for line in lines), {}, heard)


def as_spoken(message: Message) -> dict[str, str]:
    """Return a message as the offline engine reads it."""
    return {
        "id": message["id"],
        "role": message["role"],
        "name": message.get("name", ""),
        "text": message["content"],
        "time": message.get("created_at", ""),
    }


# ---- room ----


@dataclass(frozen=True, slots=True)
class Room:
    """How a prompt divides its characters."""

    system: str
    note: str
    is_shown: bool
    conversation: int


def room_of(session: Session, target: Target, existing: str | None) -> Room:
    """Give a third of what is free to the note if it fits there, the rest to the conversation."""
    system = prompts.render("auto_memory/write_note.system", language=language_rule(session.context.language))
    empty = prompts.render(
        "auto_memory/write_note.user",
        note_path=target["note_path"],
        day=target["day"],
        note="",
        hint=_hint(session.hint),
        position=POSITION,
        conversation=prompts.frame("conversation", ""),
    )
    taken = len(system) + len(empty) + REPAIR_CHARS + tools_room(session.store, limits(session.context))
    free = session.context.max_input_chars - taken
    note = shown_note(target["note_path"], existing, free // 3)
    is_shown = existing is not None and existing in note
    return Room(system, note, is_shown, max(200, free - len(note)))


POSITION = "This is one part of a longer conversation; other parts come before or after it.\n\n"


def _hint(hint: str) -> str:
    return f"The host asks to look for this:\n\n{prompts.frame('hint', hint)}\n\n" if hint.strip() else ""
