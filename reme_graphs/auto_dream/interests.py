"""Which topics does a day propose, and how do they stand in ``daily/<date>/interests.yaml``?

The file is {date, topic_count, diversity_days, topics[]}. A file that cannot be read is a person's to repair: it is
kept as it is and said in the receipt.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

import yaml
from langchain_core.messages import HumanMessage, SystemMessage

from reme_graphs import prompts
from reme_graphs.auto_dream.batches import clip, cost_of
from reme_graphs.auto_dream.progress import Tell
from reme_graphs.auto_dream.sources import window
from reme_graphs.auto_dream.state import DreamState, Request
from reme_graphs.auto_dream.topics import Topic, chosen_of, fresh_topics
from reme_graphs.context import Context
from reme_graphs.errors import ModelCallError, ModelOutputError
from reme_graphs.receipts import Usage, no_usage
from reme_graphs.resources import chat_model, limits
from reme_graphs.secrets import mask_secrets
from reme_graphs.structured import SelectedTopics, ask
from reme_store.daily import interests_path, read_interests
from reme_store.errors import InvalidRequestError
from reme_store.file_store import FileStore

KEPT = ("title", "reason", "evidence", "keywords", "paths")
REPAIR_ROOM = 2_500


def write_topics(store: FileStore, context: Context, state: DreamState, tell: Tell) -> dict[str, Any]:
    """Choose topics among those the run has found, and write the day's file.

    Returns:
        The update of the state; ``errors`` holds only the new lines.
    """
    request, candidates = state["request"], state["topics"]
    path = interests_path(request["day"])
    present = store.version_of(path) is not None
    nothing = {"topics": [], "topics_written": 0, "interests_path": path if present else "", "errors": []}
    try:
        same_day = _topics_of(store, request["day"])
    except InvalidRequestError as error:
        return {**nothing, "errors": [str(error)]}
    recent, faults = _recent(store, request)
    places = max(0, request["topic_count"] - len(same_day))
    fresh = fresh_topics(candidates, same_day, recent)
    chosen, usage, fault = _choose(context, fresh, same_day, places)
    kept = [*same_day, *chosen][: request["topic_count"]]
    errors = [*faults, *([fault] if fault else [])]
    written = kept != same_day
    if written:
        with store.lock(), store.journal(tool="auto_dream", run_id=state["run_id"], reason="topics of interest"):
            store.apply({path: render_interests(request, kept)}, expected={path: store.version_of(path)})
    tell("topics", len(chosen), len(chosen), candidates=len(candidates))
    return {
        "topics": kept,
        "topics_written": len(chosen),
        "interests_path": path if present or written else "",
        "errors": errors,
        "usage": {"topics": usage},
    }


def render_interests(request: Request, topics: Sequence[Topic]) -> str:
    """Return the file's text."""
    rows = [{key: topic[key] for key in (*KEPT, *(set(topic) - set(KEPT))) if key in topic} for topic in topics]
    content = {
        "date": request["day"],
        "topic_count": request["topic_count"],
        "diversity_days": request["topic_diversity_days"],
        "topics": rows,
    }
    text: str = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1_000)
    return text


def _topics_of(store: FileStore, day: str) -> list[Topic]:
    found = read_interests(store, day)
    return [topic for topic in found[0] if topic.get("title")] if found else []


def _recent(store: FileStore, request: Request) -> tuple[list[Topic], list[str]]:
    """Return the topics of the days before, and which of their files cannot be read."""
    topics: list[Topic] = []
    faults = []
    for day in window(date.fromisoformat(request["day"]), request["topic_diversity_days"] + 1)[:-1]:
        try:
            topics += _topics_of(store, day)
        except InvalidRequestError as error:
            faults.append(str(error))
    return topics, faults


def _choose(
    context: Context, fresh: Sequence[Topic], same_day: Sequence[Topic], places: int
) -> tuple[list[Topic], Usage, str]:
    """Return the chosen topics, what the choice cost, and why a model that was asked did not choose."""
    local, model = list(fresh[:places]), chat_model(context)
    if model is None or len(fresh) <= places or not places:
        return local, no_usage(), ""
    messages = _messages(context, fresh, same_day, places)
    try:
        reply, usage = ask(model, messages, SelectedTopics, limits(context))
    except (ModelOutputError, ModelCallError) as error:
        return local, error.usage, f"the topics were chosen without the model: {error}"
    chosen = chosen_of(fresh, (topic.model_dump() for topic in reply.topics), places)
    return chosen or local, usage, ""


def _messages(context: Context, fresh: Sequence[Topic], same_day: Sequence[Topic], places: int) -> list[Any]:
    system = prompts.render("auto_dream/topics.system")
    rows = [f"- {topic['title']}: {topic.get('reason', '')} ({topic.get('evidence', '')})" for topic in fresh]
    listed = "\n".join(rows)
    listed = mask_secrets(listed) if context.mask_secrets else listed
    shown = clip(prompts.escape(listed), context.max_input_chars - cost_of(system) - REPAIR_ROOM)
    user = prompts.render(
        "auto_dream/topics.user",
        count=str(places),
        present=prompts.escape("\n".join(f"- {topic['title']}" for topic in same_day)) or "none",
        candidates=prompts.frame("candidates", shown),
    )
    return [SystemMessage(system), HumanMessage(user)]
