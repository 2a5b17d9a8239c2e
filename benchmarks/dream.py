"""How long does a dream take, and what does it ask a model for? Prints one table.

    python benchmarks/dream.py [--units 20] [--delay 0.5] [--at-once 8]

A scripted model answers after a delay: it names one unit a note, then writes each node and ends, in two calls or in
one. The same dream runs with one conversation at a time and with several.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from reme_graphs.auto_dream.graph import graph

DAY = "2026-01-12"
NAMES = (
    "turbine harbour violin glacier saffron copper orchard lantern monsoon basalt falcon pepper quartz willow tundra "
    "velvet cobalt meadow cactus anchor ginger marble otter prairie ribbon sonata timber urchin walnut zephyr"
)
WORDS = NAMES.split()


class SlowModel(BaseChatModel):
    """Answers like a good model, after a delay."""

    delay: float
    steps: int
    """Calls for one unit: 2 = write, then end; 1 = both at once."""
    _calls: Counter[str] = PrivateAttr(default_factory=Counter)
    _chars: Counter[str] = PrivateAttr(default_factory=Counter)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "slow"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: Any = None,  # noqa: ARG002 - the base class's signature
        run_manager: Any = None,  # noqa: ARG002 - the base class's signature
        **kwargs: Any,
    ) -> ChatResult:
        time.sleep(self.delay)
        names = {tool["function"]["name"] for tool in kwargs["tools"]}
        prompt = "\n".join(message.text for message in messages)
        who, calls = self._answer(names, prompt, messages)
        with self._lock:
            self._calls[who] += 1
            self._chars[who] += len(prompt)
        listed = [
            {"name": name, "args": args, "id": f"{who}-{n}", "type": "tool_call"}
            for n, (name, args) in enumerate(calls)
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="", tool_calls=listed))])

    def _answer(
        self, names: set[str], prompt: str, messages: list[BaseMessage]
    ) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        if "ExtractedUnits" in names:
            shown = [word for word in WORDS if f"daily/{DAY}/{word}.md" in prompt]
            return "extract", [("ExtractedUnits", {"units": [unit_of(word) for word in shown], "topics": []})]
        word = next(word for word in WORDS if f"Unit: Care of the {word}" in prompt)
        path = f"digest/wiki/{word}.md"
        end = ("IntegrateOutcome", {"action": "CREATE", "target_path": path, "note": "new"})
        if any(message.type == "tool" for message in messages):
            return word, [end]
        text = f"# {word}\n\nThe {word} is cared for.\n\nderived_from:: [[daily/{DAY}/{word}.md]]\n"
        write = ("write", {"path": path, "content": text, "name": word, "description": f"how the {word} is cared for"})
        return word, [write, end] if self.steps == 1 else [write]


def unit_of(word: str) -> dict[str, Any]:
    """Return the unit that a note gives."""
    summary = f"what the notes say about the {word} and how it is cared for over the year"
    return {"name": f"Care of the {word}", "bucket": "wiki", "summary": summary, "paths": [f"daily/{DAY}/{word}.md"]}


def run(units: int, delay: float, at_once: int, steps: int) -> tuple[float, list[int], list[float]]:
    """Dream once; return seconds, and for each unit its calls and its prompt in tokens (four characters each)."""
    with tempfile.TemporaryDirectory() as folder:
        for word in WORDS[:units]:
            note = Path(folder, f"daily/{DAY}/{word}.md")
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(f"# {word}\n\n" + f"We talked about the {word} today and what it needs. " * 40)
        model = SlowModel(delay=delay, steps=steps)
        context = {"workspace": folder, "model": model, "max_concurrency": at_once}
        began = time.perf_counter()
        state = graph.invoke({"date": DAY, "max_units": units}, context=context)
        seconds = time.perf_counter() - began
        assert state["receipt"]["success"], state["receipt"]
        rows = WORDS[:units]
        return seconds, [model._calls[word] for word in rows], [model._chars[word] / 4 for word in rows]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=20)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--at-once", type=int, default=8)
    args = parser.parse_args()
    print(f"{args.units} units, the model answers after {args.delay} s")
    print(
        f"{'calls a unit':<14}{'at once':>8}{'seconds':>9}{'calls (median)':>16}{'prompt tokens a unit (median)':>31}"
    )
    for steps in (2, 1):
        for at_once in (1, args.at_once):
            seconds, calls, tokens = run(args.units, args.delay, at_once, steps)
            print(
                f"{steps:<14}{at_once:>8}{seconds:>9.1f}{statistics.median(calls):>16}{statistics.median(tokens):>31.0f}"
            )


if __name__ == "__main__":
    main()
