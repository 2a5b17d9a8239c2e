"""A scripted note writer: it keeps what ``facts`` says of what it is shown, in any note it is told to keep."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import AIMessage

from tests.support.scripted_model import Answer, Asked, ScriptedModel, calling

NOTE = re.compile(r"Keep the note (.+?\.md)[.,]")


def facts_of(facts: Mapping[str, str]) -> Callable[[str], list[str]]:
    """Say a fact when its trigger stands in the prompt."""
    return lambda prompt: [fact for trigger, fact in facts.items() if trigger in prompt]


def writer(
    find: Callable[[str], list[str]] | Mapping[str, str], fail: Callable[[Asked], Exception | None] | None = None
) -> ScriptedModel:
    """A model that reads its note, adds the facts that are not in it, and ends; ``fail`` may raise instead."""
    said = facts_of(find) if isinstance(find, Mapping) else find

    def answer(asked: Asked) -> Answer:
        failure = fail(asked) if fail else None
        return failure or _step(asked, said)

    return ScriptedModel(answers=answer)


def _step(asked: Asked, said: Callable[[str], list[str]]) -> AIMessage | str:
    human = asked.messages[1].text
    found = NOTE.search(human)
    assert found, human[:200]
    path, results = found[1], asked.results
    if not results:
        return calling(("read", {"path": path}))
    known = results[0].text if results[0].status != "error" else ""
    fresh = [fact for fact in said(human) if fact not in known]
    if not fresh:
        return "[SKIP] nothing new"
    if len(results) == 1:
        lines = "\n".join(f"- {fact}" for fact in fresh)
        return calling(
            ("append", {"path": path, "content": lines})
            if known
            else ("write", {"path": path, "content": lines + "\n"})
        )
    return "Done."


def prompts_of(model: ScriptedModel) -> str:
    """Everything the model was shown as system and user messages."""
    return "\n\n".join(asked.prompt for asked in model.asked)


def context_of(workspace: Any, model: Any = "offline", **more: Any) -> dict[str, Any]:
    """The context of a run in a test."""
    return {"workspace": str(workspace), "model": model, "timezone": "Asia/Shanghai", "retry_wait": 0, **more}
