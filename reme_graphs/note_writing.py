"""How does a model write one note?

Conversations and resources share the writer: an agent with read, edit, append, frontmatter_update and write on a
draft of exactly one note. The note is created by the first write. No write means "nothing worth keeping" only where
the last message begins with ``[SKIP]`` and says why; anything else goes back once and is then a failure.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from reme_graphs import prompts
from reme_graphs.agent import run_agent
from reme_graphs.drafts import DraftView, record_name
from reme_graphs.errors import ModelOutputError
from reme_graphs.model_calls import Limits
from reme_graphs.offline import OfflineNote, merge_additions
from reme_graphs.secrets import mask_secrets
from reme_graphs.text_tools import describe
from reme_graphs.usage import Usage
from reme_store import editing
from reme_store.file_store import FileStore
from reme_store.text.front_matter import parse_note, update_front_matter
from reme_store.tools import create_store_tools

WRITER_TOOLS = ("read", "edit", "append", "frontmatter_update", "write")
SKIP = re.compile(r"\s*\[SKIP\]\s*(?P<reason>.*)", re.IGNORECASE | re.DOTALL)
REPAIR_CHARS = 1000
"""Kept free in a prompt for what a repair round adds to it."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer ended with."""

    text: str | None
    """The whole note as it should be; None where nothing was worth keeping."""
    base_version: str | None
    """Version of the note the text was made from; None where there was none."""
    skipped: str
    """Why nothing was kept."""
    usage: Usage


def new_view(store: FileStore, note_path: str, unit_id: str, shown: Mapping[str, str | None]) -> DraftView:
    """Return the store as the writer of this note sees it, without leftovers of a killed run."""
    store.records.delete(record_name(unit_id))
    return DraftView(store, unit_id=unit_id, target=note_path, shown=shown)


def write_draft(
    view: DraftView, note_path: str, model: BaseChatModel, limits: Limits, *, system: str, user: str
) -> Written:
    """Let the model work on the draft.

    Raises:
        ModelOutputError: it neither wrote nor said why not.
        ModelCallError: it did not answer.
    """
    before = view.draft

    def unsaid(text: Any) -> list[str]:
        if view.draft is not before or _skip_reason(str(text)) is not None:
            return []
        return [f"You changed nothing. Write to {note_path}, or end with `[SKIP]` and the reason."]

    tools = create_store_tools(view, *WRITER_TOOLS)
    messages = [SystemMessage(system), HumanMessage(user)]
    result = run_agent(model, tools, messages, limits=limits, check=unsaid, repairs=1)
    return _written(view, result.text, result.usage)


def _written(view: DraftView, last: str, usage: Usage) -> Written:
    draft = view.draft
    if draft is not None and draft.text != draft.base_text:
        return Written(draft.text, draft.base_version, "", usage)
    reason = _skip_reason(last)
    if reason is None and draft is None:
        raise ModelOutputError("the model changed nothing and did not say why", usage=usage)
    return Written(None, None, reason or "the note says it already", usage)


def _skip_reason(text: str) -> str | None:
    found = SKIP.match(text)
    return (found["reason"].strip() or "nothing worth keeping")[:500] if found else None


def offline_text(existing: str | None, note: OfflineNote) -> str:
    """Return the note with what the offline engine adds; a name and description it has are kept."""
    parsed = parse_note(existing or "")
    body = merge_additions(parsed.body, note.body_additions)
    name = "" if parsed.front_matter.get("name") else note.name
    description = "" if parsed.front_matter.get("description") else note.description
    return editing.write_text(existing, body, name, description, {})


def with_links(text: str, links: Mapping[str, str]) -> str:
    """Return the note with front-matter keys that link a source, for example ``source_conversation``.

    Raises:
        InvalidFrontMatterError: the note's block does not parse.
    """
    have = parse_note(text).front_matter
    wanted = {key: f"[[{path}]]" for key, path in links.items()}
    missing = {key: value for key, value in wanted.items() if have.get(key) != value}
    return update_front_matter(text, missing) if missing else text


def shown_note(path: str, text: str | None, room: int) -> str:
    """Return the part of a prompt that says what the note holds so far.

    A note of a person may hold secrets; in a prompt they are masked, and then the writer has to read the note.
    """
    if text is None:
        return prompts.render("shared/note_absent.user", path=path)
    if len(text) > room:
        return prompts.render("shared/note_long.user", path=path, chars=str(len(text)))
    return prompts.render("shared/note_present.user", path=path, note=prompts.frame(path, mask_secrets(text)))


def tools_room(store: FileStore, limits: Limits) -> int:
    """Return how many characters of the prompt the description of the tools takes in text mode."""
    return 0 if limits.tool_calling else len(describe(create_store_tools(store, *WRITER_TOOLS))) + 2


def language_rule(language: str) -> str:
    """Return the sentence that says in which language to write."""
    return f"Write in {language}." if language else "Write in the language of the material."
