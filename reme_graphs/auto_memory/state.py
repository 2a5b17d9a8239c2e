"""What passes between the nodes of auto_memory?

Plain JSON: paths, keys and counts. The texts of notes and the dialog stay in the workspace; only the caller's own
``messages`` are part of the state, in their plain form after the first node.
"""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from reme_graphs.receipts import Receipt, Usage


class Input(TypedDict):
    """What a caller gives."""

    messages: list[Any]
    """Messages in any usual shape: role and content, perhaps name, id and created_at."""
    session_id: NotRequired[str]
    """Name of the conversation. Empty: the day's own page takes the note."""
    date: NotRequired[str]
    """Day of the note, YYYY-MM-DD. Empty: the day of the latest new message."""
    memory_hint: NotRequired[str]
    """What the writer should look for."""


class Target(TypedDict):
    """A note of this run."""

    day: str
    note_path: str


class State(Input):
    """What the nodes know."""

    run_id: NotRequired[str]
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
    receipt: NotRequired[Receipt]
