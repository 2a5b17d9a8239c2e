"""Are own finished threads dropped, and all others kept?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from reme_graphs import checkpoints
from reme_graphs.checkpoints import Builder, is_own, new_thread, open_checkpoints, prune, thread_config, unfinished


class Question(TypedDict, total=False):
    text: str
    reply: str


def _ask(state: Question) -> Question:
    return {"reply": interrupt(state["text"]) if state["text"] else "nothing to ask"}


def _asking() -> Mapping[str, Builder]:
    builder = StateGraph(Question)
    builder.add_node("ask", _ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return {"asking": builder}


def _run(path: Path, thread: str, inputs: Any) -> dict[str, Any]:
    with open_checkpoints(path) as saver:
        compiled = _asking()["asking"].compile(checkpointer=saver)
        result: dict[str, Any] = compiled.invoke(inputs, thread_config(thread))
        return result


def _threads(path: Path) -> set[str]:
    with open_checkpoints(path) as saver:
        return {found.config["configurable"]["thread_id"] for found in saver.list(None)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reme_metadata" / "checkpoints.sqlite"


def test_a_new_thread_names_its_graph_and_is_own() -> None:
    thread = new_thread("auto_dream")
    assert is_own(thread)
    assert checkpoints.graph_of(thread) == "auto_dream"
    assert thread != new_thread("auto_dream")


def test_prune_drops_own_finished_threads_only(path: Path) -> None:
    finished, waiting, foreign = new_thread("asking"), new_thread("asking"), "3f8e-of-a-server"
    _run(path, finished, {"text": ""})
    _run(path, waiting, {"text": "Which colour?"})
    _run(path, foreign, {"text": ""})
    assert prune(path, _asking()) == 1
    assert _threads(path) == {waiting, foreign}


def test_an_interrupted_run_is_unfinished_until_it_has_its_answer(path: Path) -> None:
    waiting = new_thread("asking")
    _run(path, waiting, {"text": "Which colour?"})
    [(thread, state)] = unfinished(path, _asking()).items()
    assert thread == waiting
    assert state.next == ("ask",)
    assert [question.value for question in state.interrupts] == ["Which colour?"]
    assert _run(path, waiting, Command(resume="green"))["reply"] == "green"
    assert unfinished(path, _asking()) == {}


def test_a_thread_of_a_graph_that_no_longer_exists_is_left_alone(path: Path) -> None:
    gone = new_thread("of_another_version")
    _run(path, gone, {"text": ""})
    assert prune(path, _asking()) == 0
    assert _threads(path) == {gone}


def test_prune_gives_the_disk_its_space_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "VACUUM_BYTES", 100_000)
    _run(path, new_thread("asking"), {"text": "x" * 1_000_000})
    _run(path, new_thread("asking"), {"text": ""})
    kept = path.stat().st_size
    assert prune(path, _asking()) == 1
    assert path.stat().st_size == kept, "the waiting run still needs its million characters"
    for thread in list(unfinished(path, _asking())):
        _run(path, thread, Command(resume="done"))
    assert prune(path, _asking()) == 1
    assert path.stat().st_size < kept / 4


def test_two_connections_write_one_file(path: Path) -> None:
    with open_checkpoints(path), open_checkpoints(path) as second:
        compiled = _asking()["asking"].compile(checkpointer=second)
        compiled.invoke({"text": ""}, thread_config("t"))
    assert _threads(path) == {"t"}


def test_a_run_killed_between_its_last_task_and_the_checkpoint_is_not_finished(path: Path) -> None:
    thread = new_thread("asking")
    _run(path, thread, {"text": ""})
    with open_checkpoints(path) as saver:
        saver.conn.execute("DELETE FROM checkpoints WHERE checkpoint_id = (SELECT MAX(checkpoint_id) FROM checkpoints)")
        saver.conn.commit()
    assert prune(path, _asking()) == 0
    assert list(unfinished(path, _asking())) == [thread]
    assert _run(path, thread, None)["reply"] == "nothing to ask"
    assert prune(path, _asking()) == 1
