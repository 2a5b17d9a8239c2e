"""What happens to the note of a resource that is gone?"""

from reme_graphs.auto_resource.ledger import record_name
from reme_graphs.auto_resource.planning import CATALOG, SOURCE_KEY, owns
from reme_graphs.auto_resource.state import Outcome, Removal
from reme_graphs.usage import no_usage
from reme_store.errors import EditConflictError, InvalidRequestError
from reme_store.file_store import FileStore
from reme_store.text.front_matter import delete_front_matter, parse_note

ATTEMPTS = 3


def remove_note(store: FileStore, removal: Removal) -> Outcome:
    """Forget a resource; its own note goes to the trash.

    A note that a conversation shares keeps its text and only stops naming the resource.
    """
    note, outcome = removal["note_path"], outcome_of()
    if owns(store, note, removal["path"]):
        try:
            outcome = _removed(store, removal)
        except InvalidRequestError as error:
            return {**outcome_of(), "error": str(error)}
    else:
        store.apply({}, records={record_name(removal["path"]): None})
    store.catalog(CATALOG).update({}, [removal["path"]])
    return outcome


def _removed(store: FileStore, removal: Removal) -> Outcome:
    note = removal["note_path"]
    for attempt in range(1, ATTEMPTS + 1):
        read = store.read_note(note)
        shared = "source_conversation" in parse_note(read.text).front_matter
        left = delete_front_matter(read.text, [SOURCE_KEY])[0] if shared else None
        try:
            store.apply({note: left}, expected={note: read.version}, records={record_name(removal["path"]): None})
        except EditConflictError:
            if attempt == ATTEMPTS:
                raise
            continue
        return {**outcome_of(), "removed": "" if shared else note, "days": [day_of_note(note)]}
    raise AssertionError("unreachable: the last attempt returns or raises")


def day_of_note(note_path: str) -> str:
    """Return the day a note belongs to."""
    return note_path.split("/")[1]


def outcome_of() -> Outcome:
    """Return the outcome of a resource nothing happened to."""
    return Outcome(note="", error="", skipped="", removed="", days=[], usage=no_usage())
