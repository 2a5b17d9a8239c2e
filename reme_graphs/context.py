"""How is a run configured?

``Context`` is the context schema of every graph: flat plain values with descriptions, which Studio shows as a form.
What a run leaves unset comes from the environment or ``.env``; then the default holds. Inputs of a run win over all
of it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from langchain_core.embeddings import Embeddings
from langchain_core.language_models.chat_models import BaseChatModel
from pydantic import BaseModel, ConfigDict, Field, InstanceOf, PrivateAttr, WithJsonSchema

from reme_graphs.environment import ENVIRONMENT_NAMES, read_environment
from reme_graphs.model_calls import Gate
from reme_store.errors import InvalidRequestError

OFFLINE = "offline"
"""The model name that means: no network, no key, no weights."""

ModelField = Annotated[str | InstanceOf[BaseChatModel], WithJsonSchema({"type": "string"})]
EmbeddingsField = Annotated[str | InstanceOf[Embeddings], WithJsonSchema({"type": "string"})]


class Context(BaseModel):
    """What a run may be told besides its inputs."""

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    workspace: str = Field("", description="Folder of the memory. Empty: REME_WORKSPACE.")
    model: ModelField = Field(
        "",
        description=(
            "Who thinks: 'offline', 'provider:name', or a name served by the OpenAI-compatible endpoint at base_url. "
            "Empty: REME_MODEL, else offline."
        ),
    )
    base_url: str = Field(
        "", description="Address of an OpenAI-compatible endpoint, for example http://127.0.0.1:8000/v1."
    )
    embeddings: EmbeddingsField = Field(
        "",
        description=(
            "Embedding model: 'local', 'provider:name', or a name served by the OpenAI-compatible endpoint at "
            "base_url. Empty: REME_EMBEDDINGS, else search by words only."
        ),
    )
    timezone: str = Field(
        "",
        description="IANA name of the zone in which days are counted, for example Asia/Shanghai. Empty: the machine's.",
    )
    language: str = Field("", description="Language of notes. Empty: that of the material.")
    tool_calling: bool = Field(
        True, description="Off for small models that cannot call tools: they answer in JSON text."
    )
    fallback_offline: bool = Field(False, description="Let the offline engine do the work while the provider is down.")
    redo_offline: bool = Field(False, description="Let the model do again what the offline engine has done.")
    mask_secrets: bool = Field(True, description="Mask keys, tokens and passwords before anything is written or sent.")
    max_concurrency: int = Field(8, ge=1, le=256, description="Model conversations at one time.")
    max_model_calls: int = Field(12, ge=1, le=200, description="Model calls for one unit, resource or part of a note.")
    max_unit_seconds: float = Field(
        600.0, gt=0, description="Seconds for one unit, resource or part of a note; then it has failed for this run."
    )
    max_input_chars: int = Field(60_000, ge=8_000, description="Characters of system and user messages together.")
    call_timeout: float = Field(
        120.0, gt=0, description="Seconds after which a model call is given up and tried again."
    )
    retry_wait: float = Field(
        0.5, ge=0, description="Seconds before a busy provider is asked again; doubled each time. Retry-After wins."
    )
    review: bool = Field(False, description="auto_dream: ask before anything is written to digest/.")
    dry_run: bool = Field(False, description="auto_dream: write nothing, show what would change.")

    _gate: Gate = PrivateAttr(default_factory=Gate)

    @property
    def gate(self) -> Gate:
        """What the model calls of this run share: a denied key stops them all."""
        return self._gate

    @property
    def zone(self) -> tzinfo:
        """The zone in which days are counted.

        Raises:
            InvalidRequestError: no zone has that name.
        """
        if not self.timezone:
            return MachineZone()
        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise InvalidRequestError(
                f"no time zone is called {self.timezone!r}; use a name such as Europe/Lisbon"
            ) from error

    def now(self) -> datetime:
        """Return the present moment in the zone."""
        return datetime.now(self.zone)

    def today(self) -> str:
        """Return today's date in the zone, YYYY-MM-DD."""
        return self.now().date().isoformat()

    @property
    def folder(self) -> Path:
        """The workspace's folder.

        Raises:
            InvalidRequestError: no workspace is named anywhere.
        """
        if not self.workspace:
            raise InvalidRequestError("no workspace: name its folder as context 'workspace' or in REME_WORKSPACE")
        return Path(self.workspace).expanduser()


class MachineZone(tzinfo):
    """The zone of this machine, with its summer time: what holds today does not hold for a message of last July."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Return the offset that held, or will hold, at a wall-clock time here."""
        return moment.replace(tzinfo=None).astimezone().utcoffset() if moment else None

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Return nothing: only the whole offset is known."""
        del moment
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Return the name that holds at a wall-clock time here."""
        return moment.replace(tzinfo=None).astimezone().tzname() if moment else None

    def fromutc(self, moment: datetime) -> datetime:
        """Return the wall-clock time here of a moment."""
        meant = moment.replace(tzinfo=UTC)
        here = meant.astimezone().replace(tzinfo=None)
        return here.replace(tzinfo=self, fold=int(here.astimezone(UTC) != meant))


def read_context(given: Context | Mapping[str, Any] | None) -> Context:
    """Return the context of a run with unset values taken from the environment.

    Args:
        given: what the runtime has; None where a graph is called without any.

    Raises:
        InvalidRequestError: a value cannot be used.
    """
    explicit = given if isinstance(given, Context) else _context_of(given or {})
    environment = read_environment()
    unset = {field: name for field, name in ENVIRONMENT_NAMES.items() if not _is_given(explicit, field)}
    found = {field: environment[name] for field, name in unset.items() if environment.get(name)}
    values = {field: getattr(explicit, field) for field in explicit.model_fields_set}
    merged = _context_of({**values, **found})
    merged._gate = explicit._gate
    return merged


def _is_given(context: Context, field: str) -> bool:
    return field in context.model_fields_set and getattr(context, field) != ""


def _context_of(values: Mapping[str, Any]) -> Context:
    try:
        return Context(**values)
    except ValueError as error:
        raise InvalidRequestError(f"the context cannot be used: {error}") from error
