"""What do changed notes teach?

The notes go to the model in batches within the budget; names of units found in earlier batches are shown, so that one
abstraction gets one unit. A batch that fails leaves its notes unprocessed and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from reme_graphs import offline, prompts
from reme_graphs.auto_dream.batches import Material, Piece, clip, cost_of, make_batches
from reme_graphs.auto_dream.progress import Tell
from reme_graphs.auto_dream.state import Request
from reme_graphs.auto_dream.topics import Topic, clean_topics
from reme_graphs.auto_dream.units import Unit, clean_units, merge_units
from reme_graphs.context import Context
from reme_graphs.errors import ModelCallError, ModelDeniedError, ModelOutputError
from reme_graphs.receipts import Usage, add_usage, no_usage
from reme_graphs.resources import limits
from reme_graphs.secrets import mask_secrets
from reme_graphs.structured import ExtractedUnits, ask

KNOWN_SHARE = 10
"""The list of units already found takes at most a tenth of the budget."""
REPAIR_ROOM = 2_500
"""Kept free for a repair round and, without tool calling, for the description of the reply."""
ALL_UNITS = 10_000
"""The offline engine returns every unit; those over ``max_units`` wait in the ledger."""


@dataclass(slots=True)
class Extraction:
    """What came out of the batches."""

    units: list[Unit] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    failed_paths: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=no_usage)
    denied: bool = False
    """True where the model could not be asked at all: the run ends."""


def extract_units(
    model: BaseChatModel | None, context: Context, request: Request, materials: Sequence[Material], tell: Tell
) -> Extraction:
    """Read all materials; None as model means the offline engine."""
    if model is None:
        tell("extract", 0, 1)
        found = _offline(materials)
        tell("extract", 1, 1)
        return found
    return _Reading(model, context, request, materials).run(tell)


class _Reading:
    """The batches of one run, one after the other."""

    def __init__(self, model: BaseChatModel, context: Context, request: Request, materials: Sequence[Material]) -> None:
        self.model, self.context = model, context
        self.day, self.hint = request["day"], request["hint"].strip() or "nothing in particular"
        self.system = prompts.render("auto_dream/extract.system")
        self.shown = [Material(row.path, prompts.escape(_clean(context, row.text))) for row in materials]
        self.texts = {row.path: row for row in materials}
        self.units: list[list[Unit]] = []
        self.result = Extraction()

    def run(self, tell: Tell) -> Extraction:
        batches = make_batches(self.shown, self._room())
        for number, batch in enumerate(batches):
            tell("extract", number, len(batches))
            if not self._take(batch):
                self._fail([piece for rest in batches[number + 1 :] for piece in rest])
                break
        tell("extract", len(batches), len(batches), failed=len(self.result.failed_paths))
        self.result.units = merge_units(self.units)
        return self.result

    def _take(self, batch: Sequence[Piece]) -> bool:
        """Read one batch; False where asking for the next one is pointless."""
        try:
            reply, usage = ask(self.model, self._messages(batch), ExtractedUnits, limits(self.context))
        except (ModelOutputError, ModelCallError) as error:
            self.result.usage = add_usage(self.result.usage, error.usage)
            return self._survive(batch, error)
        self.result.usage = add_usage(self.result.usage, usage)
        paths = [piece.path for piece in batch]
        self.units.append(clean_units((row.model_dump() for row in reply.units), paths))
        self.result.topics += clean_topics((row.model_dump() for row in reply.topics), paths)
        return True

    def _survive(self, batch: Sequence[Piece], error: ModelOutputError | ModelCallError) -> bool:
        down = isinstance(error, ModelCallError) and error.transient
        if down and self.context.fallback_offline:
            self._read_offline(batch, str(error))
            return True
        paths = ", ".join(dict.fromkeys(piece.path for piece in batch))
        self.result.errors.append(f"extraction of {paths}: {error}")
        self._fail(batch)
        self.result.denied = isinstance(error, ModelDeniedError)
        return not (down or self.result.denied)

    def _fail(self, pieces: Sequence[Piece]) -> None:
        every = [*self.result.failed_paths, *(piece.path for piece in pieces)]
        self.result.failed_paths = list(dict.fromkeys(every))

    def _read_offline(self, batch: Sequence[Piece], why: str) -> None:
        paths = dict.fromkeys(piece.path for piece in batch)
        found = _offline([self.texts[path] for path in paths])
        self.units.append(found.units)
        self.result.topics += found.topics
        self.result.errors.append(f"read {len(paths)} notes offline, the model did not answer: {why}")

    def _messages(self, batch: Sequence[Piece]) -> list[BaseMessage]:
        material = "\n\n".join(prompts.frame(piece.label, piece.text) for piece in batch)
        return [SystemMessage(self.system), HumanMessage(self._user(material, self._known()))]

    def _user(self, material: str, known: str) -> str:
        return prompts.render(
            "auto_dream/extract.user", day=self.day, hint=prompts.escape(self.hint), known=known, material=material
        )

    def _known(self) -> str:
        """Name the units found so far, without their paths: those notes are not shown now."""
        rows = [f"- {unit['name']} ({unit['bucket']}): {unit['summary']}" for unit in merge_units(self.units)]
        return clip(prompts.escape("\n".join(rows)), self._known_room()) or "none yet"

    def _known_room(self) -> int:
        return self.context.max_input_chars // KNOWN_SHARE

    def _room(self) -> int:
        fixed = cost_of(self.system) + cost_of(self._user("", ""))
        return max(1_000, self.context.max_input_chars - fixed - self._known_room() - REPAIR_ROOM)


def _offline(materials: Sequence[Material]) -> Extraction:
    rows = [offline.Material(row.path, row.text) for row in materials]
    found = offline.extract(rows, ALL_UNITS)
    paths = [row.path for row in materials]
    return Extraction(merge_units([clean_units(found["units"], paths)]), clean_topics(found["topics"], paths))


def _clean(context: Context, text: str) -> str:
    return mask_secrets(text) if context.mask_secrets else text
