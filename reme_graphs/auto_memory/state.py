"""What passes between the nodes of auto_memory?

Plain JSON: paths, keys and counts. The texts of notes and the dialog stay in the workspace; the caller's own messages
are part of the state only until they are saved.
"""

from typing import Annotated, Any, NotRequired

from langgraph.channels import EphemeralValue
from pydantic import with_config
from typing_extensions import TypedDict

from reme_graphs.messages import Message
from reme_graphs.receipts import Receipt, Usage


@with_config(use_attribute_docstrings=True)
class Input(TypedDict):
    """What a caller gives; it lives for the first step only, so that a next run on a thread inherits nothing."""

    messages: Annotated[list[Any], EphemeralValue]
    """Messages in any usual shape: role and content, perhaps name, id and created_at."""
    session_id: NotRequired[Annotated[str, EphemeralValue]]
    """Name of the conversation. Empty: the day's own page takes the note."""
    date: NotRequired[Annotated[str, EphemeralValue]]
    """Day of the note, YYYY-MM-DD. Empty: the day of the latest new message."""
    memory_hint: NotRequired[Annotated[str, EphemeralValue]]
    """What the writer should look for."""


class Target(TypedDict):
    """A note of this run."""

    day: str
    note_path: str


class State(Input):
    """What the nodes know."""

    run_id: NotRequired[str]
    said: NotRequired[Annotated[list[Message], EphemeralValue]]
    """The messages in their plain form, until they are saved."""
    session: NotRequired[str]
    """The session's id, empty where there is none."""
    hint: NotRequired[str]
    stem: NotRequired[str]
    """File name of the session, without suffix; empty without a session."""
    day: NotRequired[str]
    session_path: NotRequired[str]
    note_path: NotRequired[str]
    """Note of the newest messages; the planned one where none was made."""
    new_messages: NotRequired[int]
    """How many messages are new to the writer, those of failed runs included."""
    targets: NotRequired[list[Target]]
    parts: NotRequired[int]
    written: NotRequired[int]
    """Messages taken up by this run."""
    skipped: NotRequired[list[str]]
    """Why parts left no trace in the note."""
    errors: NotRequired[list[str]]
    """What was wrong with single messages."""
    failures: NotRequired[list[str]]
    """What failed and waits for the next run."""
    engine: NotRequired[str]
    usage: NotRequired[Usage]
    receipt: NotRequired[Receipt | None]
