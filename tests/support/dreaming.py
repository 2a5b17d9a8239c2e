"""A workspace with daily notes, and a model that dreams by a plan."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from langchain_core.messages import AIMessage

from reme_graphs.auto_dream.graph import builder, graph
from tests.support.scripted_model import Asked, ScriptedModel, calling

DAY = "2026-01-12"
Plan = Callable[[Asked, int], AIMessage | Exception | str]


def source(stem: str, day: str = DAY) -> str:
    return f"daily/{day}/{stem}.md"


def derived(*paths: str) -> str:
    return "".join(f"derived_from:: [[{path}]]\n" for path in paths)


def unit(name: str, *paths: str, bucket: str = "wiki", summary: str = "") -> dict[str, Any]:
    return {"name": name, "bucket": bucket, "summary": summary or f"about {name}", "paths": list(paths)}


def outcome(action: str, path: str) -> tuple[str, dict[str, Any]]:
    return "IntegrateOutcome", {"action": action, "target_path": path, "note": "so it is"}


def write(
    path: str, text: str, *sources: str, description: str = "", name: str | None = None
) -> tuple[str, dict[str, Any]]:
    stem = path.rpartition("/")[2].removesuffix(".md")
    args = {"path": path, "content": f"{text}\n\n{derived(*sources)}", "name": stem if name is None else name}
    return "write", {**args, "description": description or text}


def create(path: str, text: str, *sources: str, description: str = "") -> Plan:
    """Write and end in one answer, as a good model does."""
    return lambda asked, turn: calling(write(path, text, *sources, description=description), outcome("CREATE", path))


def update(action: str, path: str, old: str, new: str) -> Plan:
    """Read, then edit and end."""

    def plan(asked: Asked, turn: int) -> AIMessage:
        if turn == 0:
            return calling(("read", {"path": path}))
        return calling(("edit", {"path": path, "old": old, "new": new}), outcome(action, path))

    return plan


@dataclass
class Dreamer:
    """Answers an extraction with the units whose first path is shown, and each unit by its plan."""

    units: list[dict[str, Any]] = field(default_factory=list)
    plans: dict[str, Plan] = field(default_factory=dict)
    topics: list[dict[str, Any]] = field(default_factory=list)
    extraction: Any = None
    """An answer or exception in place of every extraction."""
    selection: Any = None
    asked: list[tuple[str, Asked]] = field(default_factory=list)
    """Who was asked ("extract", "topics" or a unit's name), and what."""
    lock: Any = field(default_factory=Lock)

    def model(self) -> ScriptedModel:
        return ScriptedModel(answers=self.answer)

    def answer(self, asked: Asked) -> Any:
        who = self.who(asked)
        with self.lock:
            self.asked.append((who, asked))
        if who == "extract":
            return self.extraction or self.extracted(asked)
        if who == "topics":
            return self.selection or calling(("SelectedTopics", {"topics": self.topics}))
        return self.plans[who](asked, sum(message.type == "ai" for message in asked.messages))

    def who(self, asked: Asked) -> str:
        if "ExtractedUnits" in asked.tools:
            return "extract"
        if "SelectedTopics" in asked.tools:
            return "topics"
        found = re.search(r"^Unit: (.*)$", asked.prompt, re.MULTILINE)
        assert found, asked.prompt
        return found[1]

    def extracted(self, asked: Asked) -> AIMessage:
        shown = [row for row in self.units if f'"{row["paths"][0]}' in asked.prompt]
        return calling(("ExtractedUnits", {"units": shown, "topics": self.topics}))

    def of(self, who: str) -> list[Asked]:
        return [asked for name, asked in self.asked if name == who]

    def calls(self) -> list[str]:
        return [name for name, _ in self.asked]


@dataclass
class Memory:
    """A workspace and the dreams in it."""

    root: Path

    def put(self, path: str, text: str) -> str:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return path

    def note(self, stem: str, text: str = "", day: str = DAY) -> str:
        return self.put(source(stem, day), f"# {stem}\n\n{text or f'MATERIAL-{stem} was discussed.'}\n")

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def digest(self) -> dict[str, str]:
        files = sorted((self.root / "digest").rglob("*.md"))
        return {path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8") for path in files}

    def files(self) -> dict[str, bytes]:
        every = {path.relative_to(self.root).as_posix(): path for path in self.root.rglob("*") if path.is_file()}
        return {name: path.read_bytes() for name, path in every.items() if not name.startswith("reme_metadata/")}

    def dream(
        self, dreamer: Dreamer | None, compiled: Any = None, inputs: Any = None, **options: Any
    ) -> dict[str, Any]:
        """Run a dream; a dreamer of None means the offline engine."""
        config = {
            "configurable": {"thread_id": options.pop("thread", "t")},
            "max_concurrency": options.pop("at_once", 4),
        }
        names = ("date", "hint", "scan_days", "max_units", "topic_count", "topic_diversity_days")
        given = {"date": DAY, **{name: options.pop(name) for name in names if name in options}}
        model = dreamer.model() if dreamer else "offline"
        context = {"workspace": str(self.root), "model": model, "timezone": "Asia/Shanghai", **options}
        state: dict[str, Any] = (compiled or graph).invoke(given if inputs is None else inputs, config, context=context)
        return state


def compiled_with(saver: Any) -> Any:
    return builder.compile(checkpointer=saver)


def three(memory: Memory) -> Dreamer:
    """Three notes, three units without a word in common."""
    dreamer = Dreamer()
    for stem, bucket in (("pump", "procedure"), ("tea", "personal"), ("solar", "wiki")):
        path = memory.note(stem)
        name = f"Theme {stem.upper()}"
        dreamer.units.append(unit(name, path, bucket=bucket, summary=f"{stem} lesson"))
        dreamer.plans[name] = create(f"digest/{bucket}/{stem}-lesson.md", f"ESSENCE-{stem}", path)
    return dreamer


def tea_topic() -> dict[str, Any]:
    """A topic that the tea note of :func:`three` gives."""
    return {"title": "Tea", "reason": "r", "evidence": "e", "keywords": [], "paths": [source("tea")]}
