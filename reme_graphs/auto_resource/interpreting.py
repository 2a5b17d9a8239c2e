"""How does one resource become its note?

A file is read once, with its hash; the note that lands belongs to that hash. A long text goes to the writer in parts
over one draft, and nothing lands before the last part. What fails stays pending, with a pause that grows.
"""

from contextlib import suppress

from reme_graphs import offline, prompts
from reme_graphs.auto_resource.ledger import ResourceRecord, load_record, record_name, render_record, session_of
from reme_graphs.auto_resource.planning import CATALOG, SOURCE_KEY, owns
from reme_graphs.auto_resource.reading import MOST_BYTES, Material, read_material, split_material
from reme_graphs.auto_resource.removing import day_of_note, outcome_of
from reme_graphs.auto_resource.state import Job, Outcome
from reme_graphs.context import OFFLINE, Context
from reme_graphs.drafts import DraftView
from reme_graphs.drafts import record_name as draft_record
from reme_graphs.errors import ModelCallError, ModelDeniedError, ModelOutputError
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
from reme_graphs.secrets import mask_secrets
from reme_graphs.usage import add_usage, no_usage
from reme_store.errors import EditConflictError, InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.models import CatalogEntry
from reme_store.paths import name_fault
from reme_store.text.decoding import decode_text
from reme_store.text.wikilinks import retarget_wikilinks

ATTEMPTS = 3
"""How often a resource is read anew because somebody changed its note meanwhile."""


class Interpreter:
    """Works on one resource."""

    def __init__(self, store: FileStore, context: Context, job: Job) -> None:
        self.store, self.context, self.job = store, context, job
        self.path, self.note_path = job["path"], job["note_path"]
        self.unit_id = f"resource-{session_of(self.path)}"
        self.sha256 = ""
        self.engine = engine_name(context)
        self.usage = no_usage()

    def run(self) -> Outcome:
        """Bring the note up to date; what goes wrong is in the outcome."""
        try:
            return self._follow() if self.job["moved_from"] else self._interpret()
        except ModelDeniedError as error:
            self.usage = add_usage(self.usage, error.usage)
            return {**outcome_of(), "error": str(error), "usage": self.usage}
        except (ModelOutputError, ModelCallError) as error:
            self.usage = add_usage(self.usage, error.usage)
            return self._failed(str(error))
        except InvalidRequestError as error:
            return self._failed(str(error))

    def _failed(self, text: str) -> Outcome:
        record = load_record(self.store, self.path).failed(self.sha256, text, self.context.now())
        records = {record_name(self.path): render_record(record), draft_record(self.unit_id): None}
        self.store.apply({}, records=records)
        return {**outcome_of(), "error": text, "usage": self.usage}

    # ---- a renamed resource ----

    def _follow(self) -> Outcome:
        """Let the note follow its renamed resource; every link to it follows too."""
        old = load_record(self.store, self.job["moved_from"])
        self._read()
        if old.note and self.store.version_of(old.note) is not None and old.note != self.note_path:
            self.store.refresh()
            self.store.move(old.note, self.note_path)
        self._name_source()
        self._retarget(self.job["moved_from"])
        record = ResourceRecord(self.path, note=self.note_path, sha256=self.sha256, engine=old.engine)
        self.store.apply({}, records={record_name(self.path): render_record(record), record_name(old.path): None})
        self.store.catalog(CATALOG).update({self.path: CatalogEntry(self.sha256, old.engine)}, [self.job["moved_from"]])
        days = {day_of_note(note) for note in (old.note, self.note_path) if note}
        return {**outcome_of(), "note": self.note_path, "days": sorted(days)}

    def _name_source(self) -> None:
        note = self.store.read_note(self.note_path)
        linked = with_links(note.text, {SOURCE_KEY: self.path})
        if linked != note.text:
            self.store.apply({self.note_path: linked}, expected={self.note_path: note.version})

    def _retarget(self, old: str) -> None:
        """Let links to the resource itself follow, where a link can say its new name.

        A note that cannot be written keeps its own.
        """
        if name_fault(self.path.rsplit("/", 1)[-1]):
            return
        for path in sorted({link.source_path for link in self.store.inlinks(old)}):
            data, version = self.store.read_bytes(path)
            with suppress(InvalidRequestError, UnicodeDecodeError):
                text, count = retarget_wikilinks(data.decode("utf-8"), {old: self.path})
                if count:
                    self.store.apply({path: text}, expected={path: version})

    # ---- a new or changed resource ----

    def _interpret(self) -> Outcome:
        text = self._read()
        record = load_record(self.store, self.path)
        if record.sha256 == self.sha256 and not self._is_redone(record):
            return self._catalogued(record)
        material = read_material(self.path, mask_secrets(text) if self.context.mask_secrets else text)
        for attempt in range(1, ATTEMPTS + 1):
            written = self._written(material)
            self.usage = add_usage(self.usage, written.usage)
            try:
                return self._landed(written)
            except EditConflictError:
                if attempt == ATTEMPTS:
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _is_redone(self, record: ResourceRecord) -> bool:
        return self.context.redo_offline and record.engine == OFFLINE != self.engine

    def _read(self) -> str:
        """Return the text of the resource and remember the hash it has."""
        data, self.sha256 = self.store.read_bytes(self.path)
        if len(data) > MOST_BYTES:
            raise InvalidRequestError(f"{len(data)} bytes are too many, {MOST_BYTES} is the limit; split the file")
        decoded = decode_text(data)
        if decoded is None:
            raise InvalidRequestError("it holds no text: the bytes are binary or of an unknown encoding")
        if decoded.text.count("\0") * 100 > len(decoded.text):
            raise InvalidRequestError("it holds NUL characters: it is binary, or has not been copied to its end")
        return decoded.text.replace("\0", " ")

    def _written(self, material: Material) -> Written:
        model = chat_model(self.context)
        if model is None:
            return self._extracted(material)
        try:
            return self._composed(material)
        except ModelCallError as error:
            if not (error.transient and self.context.fallback_offline):
                raise
            self.usage = add_usage(self.usage, error.usage)
            self.engine = OFFLINE
            return self._extracted(material)

    def _extracted(self, material: Material) -> Written:
        version = self.store.version_of(self.note_path)
        existing = self.store.read_note(self.note_path).text if version is not None else None
        about = material.about if material.is_sampled else ""
        note = offline.interpret_resource(self.path, material.text, existing or "", about=about)
        if note is None:
            return Written(None, version, "no sentence worth keeping", no_usage())
        return Written(offline_text(existing, note), version, "", no_usage())

    def _composed(self, material: Material) -> Written:
        """Let the model read the material in parts, over one draft."""
        version = self.store.version_of(self.note_path)
        existing = self.store.read_note(self.note_path).text if version is not None else None
        system = prompts.render("auto_resource/interpret.system", language=language_rule(self.context.language))
        free = self.context.max_input_chars - len(system) - len(self._user(material, "", "", 1, 1)) - REPAIR_CHARS
        free -= tools_room(self.store, limits(self.context))
        note = shown_note(self.note_path, existing, free // 3)
        is_shown = existing is not None and existing in note
        view = new_view(self.store, self.note_path, self.unit_id, {self.note_path: version} if is_shown else {})
        pieces = split_material(prompts.escape(material.text), max(200, free - len(note)))
        usage, skipped = no_usage(), ""
        for number, piece in enumerate(pieces, 1):
            shown = note if number == 1 else shown_note(self.note_path, _text_of(view, existing), 0)
            written = self._part(view, system, self._user(material, shown, piece, number, len(pieces)))
            usage, skipped = add_usage(usage, written.usage), written.skipped or skipped
        draft = view.draft
        if draft is None or draft.text == draft.base_text:
            return Written(None, version, skipped or "the note says it already", usage)
        return Written(draft.text, draft.base_version, "", usage)

    def _part(self, view: DraftView, system: str, user: str) -> Written:
        model = chat_model(self.context)
        assert model is not None  # noqa: S101 - asked for before
        return write_draft(view, self.note_path, model, limits(self.context), system=system, user=user)

    def _user(self, material: Material, note: str, piece: str, number: int, total: int) -> str:
        return prompts.render(
            "auto_resource/interpret.user",
            note_path=self.note_path,
            path=self.path,
            about=material.about,
            position=f"part {number} of {total}",
            note=note,
            material=prompts.frame(self.path, piece),
        )

    # ---- landing ----

    def _landed(self, written: Written) -> Outcome:
        has_note = written.text is not None or owns(self.store, self.note_path, self.path)
        record = ResourceRecord(
            self.path,
            note=self.note_path if has_note else "",
            sha256=self.sha256,
            engine=self.engine,
            skipped=written.skipped,
        )
        records = {record_name(self.path): render_record(record), draft_record(self.unit_id): None}
        if written.text is None:
            self.store.apply({}, records=records)
        else:
            text = with_links(written.text, {SOURCE_KEY: self.path})
            self.store.apply({self.note_path: text}, expected={self.note_path: written.base_version}, records=records)
        return self._catalogued(record)

    def _catalogued(self, record: ResourceRecord) -> Outcome:
        self.store.catalog(CATALOG).update({self.path: CatalogEntry(self.sha256, record.engine)})
        days = [day_of_note(record.note)] if record.note else []
        return {
            **outcome_of(),
            "note": record.note,
            "skipped": "" if record.note else record.skipped,
            "days": days,
            "usage": self.usage,
        }


def _text_of(view: DraftView, existing: str | None) -> str | None:
    return view.draft.text if view.draft else existing
