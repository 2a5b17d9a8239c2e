"""What becomes of one unit in digest/?

Recall in code, then one of three ways to the same thing, a checked draft of one note: an agent with tools, one
structured answer for models without tool calling, or the offline engine. Nothing lands here; the draft and what the
landing must know are the record ``drafts/dream-<run>-<unit>.json``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from reme_graphs import offline, prompts
from reme_graphs.agent import run_agent
from reme_graphs.auto_dream.batches import Material, clip, cost_of
from reme_graphs.auto_dream.checks import CORROBORATE, check_draft, home_of, place_fault, unchanged_faults
from reme_graphs.auto_dream.recall import FIRST, Found, is_near
from reme_graphs.auto_dream.sources import read_material, text_of
from reme_graphs.auto_dream.state import UnitTask
from reme_graphs.context import OFFLINE, Context
from reme_graphs.drafts import DraftView, load_draft
from reme_graphs.errors import ModelCallError, ModelOutputError
from reme_graphs.receipts import Usage, no_usage
from reme_graphs.resources import chat_model, engine_name, limits
from reme_graphs.secrets import mask_secrets
from reme_graphs.structured import IntegrateOutcome
from reme_store.errors import InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.tools import create_store_tools

TOOLS = ("node_search", "traverse", "read", "frontmatter_read", "write", "edit", "frontmatter_update")
REPAIR_ROOM = 4_000
"""Kept free for messages of repair rounds and, without tool calling, for the description of the tools."""
MATERIAL_SHARE = 0.55
BODY_SHARE = 0.5
"""Of the room left beside the material, what one candidate's body may take."""
NOTE_CHARS = 300


class Edit(BaseModel):
    """One replacement in the body of an existing note."""

    old: str = Field(min_length=1, description="Text that stands in the note exactly once.")
    new: str = Field(description="What stands there instead.")


class WrittenUnit(BaseModel):
    """What becomes of the unit, with the text itself."""

    action: Literal["CREATE", "CORROBORATE", "REFINE", "CORRECT"] = Field(description="What is done.")
    target_path: str = Field(min_length=1, description="Path of the note that holds the unit.")
    description: str = Field("", description="CREATE: the note in one sentence.")
    body: str = Field("", description="CREATE: the whole text of the note, without front matter.")
    edits: list[Edit] = Field(
        default_factory=list, description="Otherwise: the changes, each kept as small as possible."
    )
    note: str = Field("", description="Why, in one sentence.")


@dataclass(frozen=True, slots=True)
class Integrated:
    """What an integration came to; the draft is in its record."""

    action: str
    target_path: str
    usage: Usage


def draft_name(run_id: str, unit_id: str) -> str:
    """Return the id of a unit's draft in a run."""
    return f"dream-{run_id[:12]}-{unit_id}"


def integrate_unit(store: FileStore, context: Context, task: UnitTask, found: Sequence[Found]) -> Integrated:
    """Bring one unit to a draft.

    Raises:
        ModelOutputError: no draft that stands; carries the usage.
        ModelCallError: the model did not answer; carries the usage.
    """
    work = _Work(store, context, task, found)
    model = chat_model(context)
    if model is None:
        return work.offline()
    try:
        return work.by_agent(model) if context.tool_calling else work.by_answer(model)
    except ModelCallError as error:
        if error.transient and context.fallback_offline:
            return work.offline(error.usage)
        raise


def has_material(store: FileStore, task: UnitTask) -> bool:
    """Tell whether a source of the unit can still be read."""
    return any(read_material(store, path) is not None for path in task["unit"]["paths"])


class _Work:
    """One unit, what is known about it, and the view its draft is made in."""

    def __init__(self, store: FileStore, context: Context, task: UnitTask, found: Sequence[Found]) -> None:
        self.store, self.context, self.task, self.found = store, context, task, found
        self.unit = task["unit"]
        self.draft_id = draft_name(task["run_id"], self.unit["id"])
        self.before = load_draft(store, self.draft_id) if task["attempt"] > 1 else None
        every = (read_material(store, path) for path in self.unit["paths"])
        self.materials = [material for material in every if material is not None]
        self.whole: dict[str, str] = {}
        """Version by path of the candidates shown whole."""

    # ---- three ways ----

    def by_agent(self, model: BaseChatModel) -> Integrated:
        messages = self._messages("auto_dream/integrate.system")
        view = self._view(self.whole)
        ended = run_agent(
            model,
            create_store_tools(view, *TOOLS),
            messages,
            limits=limits(self.context),
            final=IntegrateOutcome,
            check=lambda outcome: self._faults(view, outcome.action, outcome.target_path),
        )
        return self._finish(view, ended.value, ended.usage, engine_name(self.context))

    def by_answer(self, model: BaseChatModel) -> Integrated:
        messages = self._messages("auto_dream/integrate_answer.system")
        view = self._view(self.whole)
        ended = run_agent(
            model,
            [],
            messages,
            limits=limits(self.context),
            final=WrittenUnit,
            check=lambda written: self._written_faults(view, written),
        )
        return self._finish(view, ended.value, ended.usage, engine_name(self.context))

    def offline(self, spent: Usage | None = None) -> Integrated:
        found = [*self.found, *self._planned()]
        candidates = [
            offline.Candidate(row.path, row.name, row.description, text_of(self.store, row.path)) for row in found
        ]
        materials = [offline.Material(row.path, row.text) for row in self.materials]
        outcome = offline.integrate(self.unit, materials, candidates, taken=self._is_taken)
        view = self._view({row.path: row.version for row in found})
        old = next((row.text for row in candidates if row.path == outcome.target_path), None)
        faults = self._replaced(view, outcome.target_path, outcome.text) if outcome.text != old else []
        faults = faults or self._faults(view, outcome.action, outcome.target_path)
        if faults:
            raise ModelOutputError(f"the offline engine's draft does not stand: {'; '.join(faults)}", usage=spent)
        return self._finish(view, outcome, spent or no_usage(), OFFLINE)

    def _planned(self) -> list[Found]:
        """Return the note a CREATE by name would meet, where the recall missed it: it is the unit's own."""
        path = offline.planned_path(self.unit)
        version = self.store.version_of(path)
        missed = version is not None and path not in {row.path for row in self.found}
        return [Found(path, "", "", version)] if missed and version else []

    # ---- the draft ----

    def _view(self, shown: Mapping[str, str]) -> DraftView:
        return DraftView(self.store, unit_id=self.draft_id, allowed=self._refuse_place, shown=shown)

    def _refuse_place(self, path: str) -> None:
        fault = place_fault(path, self.unit["bucket"], exists=self._is_taken(path))
        if fault:
            raise InvalidRequestError(fault, path=path)

    def _is_taken(self, path: str) -> bool:
        return self.store.version_of(path) is not None

    def _faults(self, view: DraftView, action: str, target: str) -> list[str]:
        try:
            path = self.store.paths.candidate(target)
        except InvalidRequestError as error:
            return [str(error)]
        if view.draft is None and action == CORROBORATE and self._is_taken(path):
            return unchanged_faults(self.unit, path, self.store.read_note(path).text)
        return check_draft(self.unit, action, path, view.draft)

    def _replaced(self, view: DraftView, path: str, text: str) -> list[str]:
        try:
            view.replace(path, text)
        except InvalidRequestError as error:
            return [str(error)]
        return []

    def _written_faults(self, view: DraftView, written: WrittenUnit) -> list[str]:
        """Carry out a structured answer in a view without an earlier draft, then check it."""
        view.discard()
        try:
            if written.body.strip():
                stem = written.target_path.rpartition("/")[2].removesuffix(".md")
                view.write(written.target_path, written.body, name=stem, description=written.description)
            for edit in written.edits:
                view.edit(written.target_path, edit.old, edit.new)
        except InvalidRequestError as error:
            return [str(error)]
        return self._faults(view, written.action, written.target_path)

    def _finish(self, view: DraftView, outcome: Any, usage: Usage, engine: str) -> Integrated:
        path = self.store.paths.candidate(outcome.target_path)
        facts = {
            "unit_id": self.unit["id"],
            "action": outcome.action,
            "target_path": path,
            "note": " ".join(outcome.note.split())[:NOTE_CHARS],
            "engine": engine,
            "unchanged": view.draft is None,
            "recall": {row.path: row.version for row in self.found},
            "approved": (self.before or {}).get("approved", ""),
        }
        if view.draft is None:
            facts["base_version"] = self.store.version_of(path)
        view.finish(facts)
        return Integrated(outcome.action, path, usage)

    # ---- the prompt ----

    def _messages(self, system_name: str) -> list[BaseMessage]:
        rules = prompts.load(f"auto_dream/{self.unit['bucket']}.system").text
        system = prompts.render(system_name, home=home_of(self.unit["bucket"]), rules=rules)
        room = self.context.max_input_chars - REPAIR_ROOM - cost_of(system) - cost_of(self._user("", "", ""))
        earlier = self._earlier(room // 4)
        room -= cost_of(earlier)
        material = self._material(int(room * MATERIAL_SHARE))
        candidates = self._candidates(room - cost_of(material))
        return [SystemMessage(system), HumanMessage(self._user(material, candidates, earlier))]

    def _user(self, material: str, candidates: str, earlier: str) -> str:
        return prompts.render(
            "auto_dream/integrate.user",
            unit=prompts.escape(self.unit["name"]),
            bucket=self.unit["bucket"],
            summary=prompts.escape(self.unit["summary"]),
            paths="\n".join(f"- {path}" for path in self.unit["paths"]),
            hint=prompts.escape(self.task["hint"].strip() or "nothing in particular"),
            material=material,
            candidates=candidates or "none: no related note was found",
            earlier=earlier,
        )

    def _material(self, room: int) -> str:
        share = room // max(1, len(self.materials))
        return "\n\n".join(self._framed(row, share) for row in self.materials)

    def _framed(self, material: Material, room: int) -> str:
        text = prompts.escape(self._clean(material.text))
        shown = clip(text, room - cost_of(material.path) - 200)
        if len(shown) < len(text):
            line = shown.count("\n") + 1
            shown += f"\n(cut here; the rest comes with read, start_line={line})"
        return prompts.frame(material.path, shown)

    def _candidates(self, room: int) -> str:
        """List the candidates; the first also with their text, where they are near and there is room."""
        rows = [
            f"- {row.path} — {row.name} — {row.description}{' (linked)' if row.linked else ''}" for row in self.found
        ]
        listed = clip(prompts.escape("\n".join(rows)), room // 2)
        room -= cost_of(listed)
        most = int(room * BODY_SHARE)
        bodies: list[str] = []
        for row in self.found[:FIRST]:
            text = text_of(self.store, row.path)
            if not is_near(self.unit, text):
                continue
            body = prompts.frame(row.path, self._clean(text))
            if self.store.version_of(row.path) == row.version and cost_of(body) <= min(room, most):
                bodies.append(body)
                room -= cost_of(body)
                self.whole[row.path] = row.version
        return "\n\n".join([listed, *bodies]).strip()

    def _earlier(self, room: int) -> str:
        if self.before is None or not self.before["text"]:
            return ""
        text = clip(prompts.escape(self._clean(self.before["text"])), max(1, room - 1_000))
        return prompts.render("auto_dream/integrate_again.user", draft=prompts.frame(self.before["target_path"], text))

    def _clean(self, text: str) -> str:
        return mask_secrets(text) if self.context.mask_secrets else text
