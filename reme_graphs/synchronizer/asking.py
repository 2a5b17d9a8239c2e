"""What is the model shown of a conversation and its task?

The latest messages that fit, beside the note so far, all of it framed as data.
"""

import json
from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from reme_graphs import prompts
from reme_graphs.context import Context
from reme_graphs.messages import Message
from reme_graphs.synchronizer.location import Task
from reme_graphs.synchronizer.state import Request

ROOM_FOR_REPAIR = 2_000
"""Characters of a prompt left to the round that repairs an answer."""
NOTE_SHARE = 0.3
"""Largest share of a prompt that the task's note so far may take."""
LISTED_TASKS = 20


def judge_prompt(
    context: Context, request: Request, messages: Sequence[Message], tasks: Sequence[Task], shown: Task | None
) -> list[BaseMessage]:
    """Build the messages that ask for a TaskUpdate, within the budget of the run.

    Args:
        tasks: the tasks in reach, whose titles are listed.
        shown: the task whose note is shown; None where it is not known yet which one is meant.
    """
    system = prompts.render("synchronizer/judge.system", language=_language(context))
    known = "\n".join(f"- {task.title} ({task.status}, {task.folder}/)" for task in tasks[:LISTED_TASKS]) or "- none"
    room = context.max_input_chars - len(system) - ROOM_FOR_REPAIR
    values = {
        "day": request["day"],
        "hint": prompts.escape(request["hint"] or request["folder"] or "(not given)"),
        "tasks": prompts.escape(known),
        "note": _framed_note(shown, int(room * NOTE_SHARE)),
        "conversation": "",
    }
    room -= len(prompts.render("synchronizer/judge.user", **values))
    values["conversation"] = prompts.frame("conversation", _latest(messages, room - 200))
    return [SystemMessage(system), HumanMessage(prompts.render("synchronizer/judge.user", **values))]


def _language(context: Context) -> str:
    return f"Write in {context.language}." if context.language else "Write in the language of the conversation."


def _framed_note(shown: Task | None, room: int) -> str:
    if shown is None:
        return "There is no note of this task yet."
    text = shown.text if len(shown.text) <= room else f"{shown.text[:room]}\n… (the rest of the note is not shown)"
    return prompts.frame(shown.note_path, text)


def _latest(messages: Sequence[Message], room: int) -> str:
    """The latest messages that fit, in order; how many were left out is said, and a long one loses its middle."""
    shown: list[str] = []
    for message in reversed(messages):
        line = _said(message)
        left = room - sum(len(other) + 1 for other in shown)
        if len(line) > left and shown:
            break
        shown.append(line if len(line) <= left else f"{line[: left // 2]}\n… (cut) …\n{line[-(left // 2 - 20) :]}")
    omitted = len(messages) - len(shown)
    head = [f"({omitted} earlier messages are not shown)"] if omitted else []
    return "\n".join([*head, *reversed(shown)])


def _said(message: Message) -> str:
    who = message["role"] + (f" {message['name']}" if message.get("name") else "")
    calls = [
        f"\n  called {call['name']} with {json.dumps(call['args'], ensure_ascii=False, default=str)[:300]}"
        for call in message.get("tool_calls", [])
    ]
    return f"[{who}] {message['content']}{''.join(calls)}"
