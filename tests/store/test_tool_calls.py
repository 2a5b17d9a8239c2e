"""How do the tools of a store answer, in any agent: a success, a caller's mistake, a bug?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from reme_store import create_store_tools, open_store
from reme_store.errors import InvalidRequestError, StoreFaultError
from reme_store.file_store import FileStore
from reme_store.models import Answer

NOTE = "digest/wiki/a.md"
SNAPSHOT = Path(__file__).with_name("tool_schemas.json")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    with open_store(tmp_path / "w", timezone="UTC") as opened:
        opened.write(NOTE, "one two\none three\n", name="A")
        broken = opened.root / "digest/wiki/broken.md"
        broken.write_text("---\nname: a: b\n---\nbody\n", encoding="utf-8")
        opened.refresh()
        yield opened


def tools_of(store: object, *names: str) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in create_store_tools(store, *names)}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_call", "id": "c1", "name": name, "args": arguments}


def node_of(tools: list[BaseTool]) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return graph.compile()


def asked(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [AIMessage("", tool_calls=[{"id": "c1", "name": name, "args": arguments}])]}


MISTAKES = [
    ("read", {"path": "../x.md"}, "x.md"),
    ("read", {"path": "digest/wiki/b.md"}, "did you mean"),
    ("write", {"path": NOTE, "content": "x"}, "overwrite"),
    ("write", {"path": NOTE, "content": "x", "overwrite": True, "expected_version": "0" * 64}, "version"),
    ("write", {"path": "digest/wiki/new.md", "content": "\ud800"}, "half a character"),
    ("edit", {"path": NOTE, "old": "one", "new": "x"}, "lines 5, 6"),
    ("frontmatter_update", {"path": "digest/wiki/broken.md", "metadata": {"k": 1}}, "line 2"),
    ("frontmatter_update", {"path": NOTE, "metadata": {}}, "metadata"),
    ("search", {"query": ""}, "query"),
    ("search", {"query": "x", "limit": "many"}, "limit"),
    ("search", {"query": None}, "query"),
    ("search", {}, "query"),
    ("traverse", {"path": NOTE, "direction": "up"}, "direction"),
    ("read", {"path": NOTE, "start_line": "first"}, "start_line"),
    ("write", {"path": "x.md", "content": "x", "overwirte": True}, "overwirte"),
    ("list", {"path": ".", "limit": -1}, "limit"),
    ("daily_create", {"date": "2026-02-30"}, "YYYY-MM-DD"),
    ("daily_create", {"date": "2026-02-03", "session_id": "../x"}, "session id"),
    ("delete", {"path": "digest"}, "layout"),
    ("history", {"path": "nowhere.md"}, "nowhere"),
]


@pytest.mark.parametrize(("name", "arguments", "says"), MISTAKES)
def test_a_mistake_is_an_error_message_with_the_artifact(
    store: FileStore, name: str, arguments: dict[str, Any], says: str
) -> None:
    tool = tools_of(store)[name]
    message = tool.invoke(call(name, arguments))
    assert isinstance(message, ToolMessage)
    assert (message.status, message.name, message.tool_call_id) == ("error", name, "c1")
    assert says in str(message.content)
    assert message.artifact["success"] is False
    assert message.artifact["answer"] == message.content
    assert isinstance(message.artifact["metadata"], dict)
    assert tool.invoke(arguments) == message.content


@pytest.mark.parametrize(("name", "arguments", "says"), MISTAKES)
def test_a_tool_node_without_configuration_gets_the_same(
    store: FileStore, name: str, arguments: dict[str, Any], says: str
) -> None:
    (message,) = node_of(create_store_tools(store, name)).invoke(asked(name, arguments))["messages"][1:]
    assert (message.status, message.artifact["success"]) == ("error", False)
    assert says in message.content


async def test_async_callers_get_the_same_and_the_loop_is_not_blocked(store: FileStore) -> None:
    tools = tools_of(store)
    node = node_of(list(tools.values()))
    with blockbuster_ctx():
        good = await tools["read"].ainvoke(call("read", {"path": NOTE}))
        bad = await tools["read"].ainvoke(call("read", {"path": "../x.md"}))
        plain = await tools["read"].arun({"path": NOTE})
        through = (await node.ainvoke(asked("append", {"path": NOTE, "content": "new"})))["messages"][-1]
        wrong = (await node.ainvoke(asked("append", {"path": NOTE})))["messages"][-1]
    assert (good.status, good.artifact["success"]) == ("success", True)
    assert (bad.status, bad.artifact["success"]) == ("error", False)
    assert "one two" in plain
    assert through.artifact["metadata"]["path"] == NOTE
    assert (wrong.status, wrong.artifact["success"]) == ("error", False)


def test_null_stands_for_an_optional_argument_left_out(store: FileStore) -> None:
    tools = tools_of(store)
    nulls = {"path": "digest/wiki/n.md", "content": "x", "metadata": None, "overwrite": None, "name": None}
    assert tools["write"].invoke(call("write", nulls)).status == "success"
    lines = {"path": NOTE, "start_line": None, "end_line": None}
    assert tools["read"].invoke(call("read", lines)).artifact["metadata"]["start_line"] == 1
    assert tools["daily_list"].invoke(call("daily_list", {"date": None})).status == "success"


def test_a_text_alone_is_the_first_argument(store: FileStore) -> None:
    tools = tools_of(store)
    assert "one two" in tools["read"].invoke(NOTE)
    assert "ReMe" in tools["version"].invoke("")


def test_lists_and_mappings_written_as_json_text_are_understood(store: FileStore) -> None:
    tools = tools_of(store)
    update = {"path": NOTE, "metadata": '{"status": "done"}'}
    assert tools["frontmatter_update"].invoke(call("frontmatter_update", update)).status == "success"
    delete = {"path": NOTE, "keys": '["status", "gone"]'}
    metadata = tools["frontmatter_delete"].invoke(call("frontmatter_delete", delete)).artifact["metadata"]
    assert (metadata["removed"], metadata["missing"]) == (["status"], ["gone"])


class Faulty:
    """A store that has a bug, a fault of the disk, or answers no answer."""

    def read(self, path: str, **_: Any) -> Any:
        if path == "bug.md":
            raise ZeroDivisionError("bug")
        if path == "fault.md":
            raise StoreFaultError("disk")
        return "no answer" if path == "text.md" else Answer("fine", {"path": path})


@pytest.mark.parametrize(
    ("path", "error"), [("bug.md", ZeroDivisionError), ("fault.md", StoreFaultError), ("text.md", TypeError)]
)
async def test_a_bug_propagates(path: str, error: type[Exception]) -> None:
    (tool,) = create_store_tools(Faulty(), "read")
    for arguments in ({"path": path}, call("read", {"path": path})):
        with pytest.raises(error):
            tool.invoke(arguments)
        with pytest.raises(error):
            await tool.ainvoke(arguments)
    with pytest.raises(error):
        node_of([tool]).invoke(asked("read", {"path": path}))
    assert tool.invoke({"path": "good.md"}) == "fine"


def test_tools_can_be_named_and_an_unknown_name_is_a_mistake(store: FileStore) -> None:
    assert [tool.name for tool in create_store_tools(store, "read", "edit")] == ["read", "edit"]
    with pytest.raises(InvalidRequestError, match="no tool named reed"):
        create_store_tools(store, "reed")


def test_every_tool_tells_a_model_what_it_does_and_each_argument(store: FileStore) -> None:
    for tool in create_store_tools(store):
        function = convert_to_openai_tool(tool)["function"]
        assert len(function["description"]) > 20, tool.name
        for name, spec in function["parameters"]["properties"].items():
            assert spec.get("description"), f"{tool.name}.{name} is not described"


def test_what_a_model_reads_of_the_tools_is_the_stored_text(store: FileStore) -> None:
    """To accept a change: delete the file and run this test."""
    shown = [convert_to_openai_tool(tool)["function"] for tool in create_store_tools(store)]
    text = json.dumps(shown, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if not SNAPSHOT.exists():
        SNAPSHOT.write_text(text, encoding="utf-8")
        pytest.fail(f"{SNAPSHOT.name} was missing and has been written; look at it and commit it")
    assert text == SNAPSHOT.read_text(encoding="utf-8")


METADATA = [
    ("search", {"query": "three"}, {"results", "link_expansion", "counts"}),
    ("node_search", {"query": "A"}, {"results"}),
    ("traverse", {"path": NOTE}, {"nodes", "edges"}),
    ("read", {"path": NOTE}, {"path", "start_line", "end_line", "total_lines", "version"}),
    ("write", {"path": "digest/wiki/w.md", "content": "x"}, {"path", "created", "version"}),
    ("append", {"path": NOTE, "content": "x"}, {"path", "version"}),
    ("prepend", {"path": NOTE, "content": "x"}, {"path", "version"}),
    ("edit", {"path": NOTE, "old": "two", "new": "2"}, {"path", "replacements", "version"}),
    (
        "move",
        {"src_path": NOTE, "dst_path": "digest/wiki/m.md"},
        {"moved", "files_touched", "links_changed", "by_file"},
    ),
    ("delete", {"path": NOTE}, {"deleted", "inbound"}),
    ("list", {"path": "digest"}, {"entries", "truncated"}),
    ("stat", {"path": NOTE}, {"exists", "is_dir", "is_file", "size", "mtime"}),
    ("frontmatter_read", {"path": NOTE}, {"path", "front_matter"}),
    ("frontmatter_update", {"path": NOTE, "metadata": {"k": 1}}, {"path", "changed"}),
    ("frontmatter_delete", {"path": NOTE, "keys": ["name"]}, {"path", "removed", "missing"}),
    ("tags_list", {}, {"tags"}),
    ("tags_stat", {"tag": "x"}, {"notes"}),
    ("daily_create", {"date": "2026-03-05"}, {"path", "created"}),
    ("daily_list", {"date": "2026-03-05"}, {"notes"}),
    ("daily_reindex", {"date": "2026-03-05"}, {"path", "count"}),
    ("proactive", {"date": "2026-03-05"}, {"topics", "content", "skipped"}),
    ("reindex", {}, {"counts"}),
    ("history", {"path": NOTE}, {"versions"}),
    ("health_check", {}, {"health"}),
    ("version", {}, {"version"}),
    ("help", {}, {"job_count"}),
]


@pytest.mark.parametrize(("name", "arguments", "keys"), METADATA)
def test_a_success_carries_its_metadata(store: FileStore, name: str, arguments: dict[str, Any], keys: set[str]) -> None:
    message = tools_of(store)[name].invoke(call(name, arguments))
    assert (message.status, message.artifact["success"]) == ("success", True), message.content
    assert message.artifact["answer"] == message.content
    assert keys <= message.artifact["metadata"].keys()
    json.dumps(message.artifact)


def test_help_has_a_line_a_tool(store: FileStore) -> None:
    answer = tools_of(store)["help"].invoke(call("help", {}))
    lines = str(answer.content).splitlines()
    assert answer.artifact["metadata"]["job_count"] == len(lines)
    (read,) = [line for line in lines if line.startswith("read — ")]
    assert read.endswith("(path:string* | start_line:integer=None | end_line:integer=None)")
