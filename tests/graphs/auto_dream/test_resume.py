"""Killed at any point, resumed or run anew: each unit lands once, and no call is made twice."""

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from tests.support.children import run_python
from tests.support.dreaming import Dreamer, Memory, compiled_with, create, tea_topic, three, unit
from tests.support.scripted_model import Asked

CHILD = """
import os, signal, sys
from pathlib import Path
from langgraph.checkpoint.sqlite import SqliteSaver
from tests.support.dreaming import Memory, compiled_with, tea_topic, three

root, wanted, count, dry_run = sys.argv[1:5]
seen = 0

def hook(event, args):
    global seen
    if event not in ("os.rename", "shutil.rmtree"):
        return
    target = os.fsdecode(args[1] if event == "os.rename" else args[0])
    kind = ("removal" if event == "shutil.rmtree" else "digest" if "/digest/" in target
            else "interests" if target.endswith("interests.yaml")
            else "ledger" if target.endswith("ledger/dream.json") else "draft" if "/drafts/" in target else "")
    if kind == wanted:
        seen += 1
        if seen == int(count):
            os.kill(os.getpid(), signal.SIGKILL)

memory = Memory(Path(root))
dreamer = three(memory)
dreamer.topics = [tea_topic()]
with SqliteSaver.from_conn_string(str(memory.root.parent / "c.sqlite")) as saver:
    sys.addaudithook(hook)
    memory.dream(dreamer, compiled_with(saver), thread="k", dry_run=dry_run == "True")
"""

PLACES = [
    ("ledger", 1, "resumed"),
    ("ledger", 3, "run anew"),
    ("draft", 3, "resumed"),
    ("digest", 1, "resumed"),
    ("digest", 2, "run anew"),
    ("digest", 3, "resumed"),
    ("digest", 3, "run anew"),
    ("interests", 1, "resumed"),
    ("interests", 1, "run anew"),
]
"""Before which write the process dies: the how-many-th of its kind."""


def killed(memory: Memory, place: str, count: int, *, dry_run: bool = False) -> None:
    done = run_python(CHILD, memory.root, place, count, dry_run)
    assert done.returncode == -9, done.stderr


@pytest.mark.parametrize(("place", "count", "how"), PLACES)
def test_a_killed_dream_is_finished_without_doing_a_unit_twice(
    memory: Memory, place: str, count: int, how: str
) -> None:
    killed(memory, place, count)
    landed = memory.digest()
    dreamer = three(memory)
    dreamer.topics = [tea_topic()]
    if how == "resumed":
        with SqliteSaver.from_conn_string(str(memory.root.parent / "c.sqlite")) as saver:
            state = resumed(memory, dreamer, saver)
    else:
        state = memory.dream(dreamer)
    assert state["receipt"]["success"], state["receipt"]
    assert {path: memory.read(path) for path in landed} == landed, "what had landed is as it was"
    assert [text.count("\nESSENCE") for text in memory.digest().values()] == [1, 1, 1]
    if place != "ledger" or count > 1:
        assert "extract" not in dreamer.calls(), "what was extracted is known"
    if place in ("digest", "interests") and how == "resumed":
        assert dreamer.calls() == [], "every draft was finished"
    asked = len(dreamer.asked)
    assert memory.dream(dreamer)["receipt"]["success"]
    assert len(dreamer.asked) == asked, "nothing is left to do"


def resumed(memory: Memory, dreamer: Dreamer, saver: Any, **options: Any) -> dict[str, Any]:
    compiled = compiled_with(saver)
    context = {"workspace": str(memory.root), "model": dreamer.model(), "timezone": "Asia/Shanghai", **options}
    state: dict[str, Any] = compiled.invoke(None, {"configurable": {"thread_id": "k"}}, context=context)
    return state


def test_a_dry_run_killed_while_it_removes_its_copy_still_shows_its_differences(memory: Memory) -> None:
    whole = memory.dream(three(memory), dry_run=True)["receipt"]["metadata"]["diffs"]
    killed(memory, "removal", 1, dry_run=True)
    [copy] = (memory.root / "reme_metadata/drafts").glob("rehearsal-*[!n]")
    shutil.rmtree(copy)
    dreamer = three(memory)
    with SqliteSaver.from_conn_string(str(memory.root.parent / "c.sqlite")) as saver:
        state = resumed(memory, dreamer, saver, dry_run=True)
    assert state["receipt"]["metadata"]["diffs"] == whole
    assert sorted(whole) == sorted(f"digest/{name}" for name in NODES)
    assert dreamer.calls() == []


NODES = ("procedure/pump-lesson.md", "personal/tea-lesson.md", "wiki/solar-lesson.md")


def test_a_resume_repeats_only_the_unit_that_was_cut_off(memory: Memory) -> None:
    dreamer, saver = three(memory), InMemorySaver()
    plan = dreamer.plans["Theme TEA"]

    class Cut(BaseException):
        """Stands for a process that dies."""

    def cut(asked: Asked, turn: int) -> Any:
        raise Cut

    dreamer.plans["Theme TEA"] = cut
    with pytest.raises(Cut):
        memory.dream(dreamer, compiled_with(saver), thread="k")
    assert memory.digest() == {}
    dreamer.plans["Theme TEA"], asked = plan, len(dreamer.asked)
    assert resumed(memory, dreamer, saver)["receipt"]["success"]
    assert dreamer.calls()[asked:] == ["Theme TEA"]
    assert len(memory.digest()) == 3


def test_a_thread_can_be_used_for_a_second_dream(memory: Memory) -> None:
    compiled, dreamer = compiled_with(InMemorySaver()), three(memory)
    memory.dream(dreamer, compiled)
    path = memory.note("fern", day="2026-01-13")
    dreamer.units.append(unit("Fern", path))
    dreamer.plans["Fern"] = create("digest/wiki/fern.md", "ESSENCE", path)
    state = memory.dream(dreamer, compiled, date="2026-01-13")
    assert state["date"] == "2026-01-13"
    assert [row["name"] for row in state["units"]] == ["Fern"]
    assert len(state["integrate_results"]) == 1
    assert state["receipt"]["usage"]["model_calls"] == 2
    later = memory.dream(dreamer, compiled, {})
    assert later["date"] not in ("2026-01-12", "2026-01-13"), "the inputs of an earlier run do not stick"


def test_checkpoints_hold_no_texts_and_stay_small(memory: Memory) -> None:
    database, dreamer, runs = memory.root.parent / "c.sqlite", Dreamer(), 10
    with SqliteSaver.from_conn_string(str(database)) as saver:
        compiled = compiled_with(saver)
        for run in range(runs):
            for number in range(20 if run == 0 else 1):
                path = memory.note(f"note-{number}", f"BODY-MARKER {run}-{number}. " + "words " * 200)
                name = f"Unit {run}-{number}"
                dreamer.units.append(unit(name, path, summary=f"{run * 100 + number}"))
                target = f"digest/wiki/node-{run}-{number}.md"
                dreamer.plans[name] = create(target, "DRAFT-MARKER " * 50, path, description=f"{run * 100 + number}")
            assert memory.dream(dreamer, compiled, thread=f"t{run}")["receipt"]["success"]
            dreamer.units = []
    data = b"".join(file.read_bytes() for file in database.parent.glob("c.sqlite*"))
    assert b"BODY-MARKER" not in data
    assert b"DRAFT-MARKER" not in data
    assert len(data) * 50 / runs < 5_000_000, "fifty dreams over twenty notes stay below 5 MB"


def test_of_two_dreams_at_once_one_works_and_the_other_says_so(memory: Memory) -> None:
    dreamer = three(memory)
    started, go_on = threading.Event(), threading.Event()
    plan = dreamer.plans["Theme TEA"]

    def waiting(asked: Asked, turn: int) -> Any:
        started.set()
        assert go_on.wait(30)
        return plan(asked, turn)

    dreamer.plans["Theme TEA"] = waiting
    states: list[dict[str, Any]] = []
    first = threading.Thread(target=lambda: states.append(memory.dream(dreamer)))
    first.start()
    assert started.wait(30)
    other = three(memory)
    second = memory.dream(other)
    child = run_python(SECOND, memory.root)
    go_on.set()
    first.join(30)
    assert second["receipt"]["success"] is False
    assert "another dream" in second["receipt"]["errors"][0]
    assert other.asked == []
    assert "another dream" in child.stdout, child.stderr
    assert states[0]["receipt"]["success"]
    assert memory.dream(three(memory))["receipt"]["success"], "the lease has ended with the run"


SECOND = """
import sys
from pathlib import Path
from tests.support.dreaming import Memory, three
memory = Memory(Path(sys.argv[1]))
print(memory.dream(three(memory))["receipt"]["errors"])
"""


def test_a_dead_run_keeps_nobody_waiting(memory: Memory) -> None:
    killed(memory, "draft", 1)
    note = json.loads(Path(memory.root, "reme_metadata/ledger/dream-lease.json").read_text())
    assert note["run_id"]
    assert memory.dream(three(memory))["receipt"]["success"]


@pytest.mark.parametrize("record", [b"", b"[]", b'{"run_id": 1}'])
def test_a_lease_that_cannot_be_read_keeps_nobody_waiting(memory: Memory, record: bytes) -> None:
    dreamer = three(memory)
    memory.put("reme_metadata/ledger/dream-lease.json", record.decode())
    assert memory.dream(dreamer)["receipt"]["success"]
