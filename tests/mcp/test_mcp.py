"""Does the official client reach every tool and graph, on both transports, as it would from an agent's program?"""

import asyncio
import base64
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ImageContent, TextContent

from reme_graphs.cli import app
from reme_graphs.descriptions import DESCRIPTIONS
from reme_graphs.embedding import open_reme
from reme_graphs.mcp_offers import ADDING, READING, REPEATABLE, choose
from reme_graphs.mcp_server import make_server
from reme_store.errors import InvalidRequestError
from reme_store.tool_arguments import TOOLS, tool_parameters
from tests.support.langgraph_dev import STOP_SECONDS, free_port
from tests.support.reme_start import environment

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SAID = [{"role": "user", "content": "We decided to use SQLite because it needs no server."}]
TOKEN = "open sesame"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@asynccontextmanager
async def over_stdio(workspace: Path, state: Path, *words: str) -> AsyncIterator[Client]:
    arguments = ["-m", "reme_graphs.cli", "mcp", "--workspace", str(workspace), *words]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment(state), cwd=state)
    with (state / "stdio.log").open("a") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            yield client


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, state: Path) -> Iterator[tuple[str, Path]]:
    """Run ``reme mcp transport=http`` behind a token."""
    workspace, port = tmp_path_factory.mktemp("http") / "workspace", free_port()
    command = [
        sys.executable,
        "-m",
        "reme_graphs.cli",
        "mcp",
        "transport=http",
        f"port={port}",
        f"--workspace={workspace}",
    ]
    with (state / "http.log").open("w") as log:
        process = subprocess.Popen(command, env=environment(state, REME_TOKEN=TOKEN), stdout=log, stderr=log, cwd=state)
    url = f"http://127.0.0.1:{port}/mcp"
    with httpx.Client(transport=httpx.HTTPTransport(retries=8), trust_env=False, timeout=60) as http:
        assert http.get(url).status_code == httpx.codes.UNAUTHORIZED
    yield url, workspace
    process.send_signal(signal.SIGTERM)
    assert process.wait(STOP_SECONDS) == 0, (state / "http.log").read_text()


@asynccontextmanager
async def over_http(url: str, token: str = TOKEN) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def text_of(result: Any) -> str:
    [first, *_] = result.content
    assert isinstance(first, TextContent)
    return first.text


async def _use(client: Client, workspace: Path) -> None:
    """Do with a client what an agent does."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {*TOOLS, *DESCRIPTIONS}
    assert tools["search"].input_schema == tool_parameters("search")
    assert tools["auto_memory"].input_schema["required"] == ["messages"]
    assert "long-term memory" in (client.instructions or "")

    written = await client.call_tool("write", {"path": "digest/wiki/a.md", "content": "Reached.", "name": "A"})
    assert not written.is_error and written.structured_content["metadata"]["created"] is True
    assert (workspace / "digest/wiki/a.md").exists()
    found = await client.call_tool("search", {"query": "reached"})
    assert "digest/wiki/a.md" in text_of(found)
    assert found.structured_content["metadata"]["results"][0]["path"] == "digest/wiki/a.md"

    refused = await client.call_tool("read", {"path": "digest/wiki/b.md"})
    assert refused.is_error and "did you mean" in text_of(refused)
    assert refused.structured_content["success"] is False
    misfit = await client.call_tool("search", {"quary": "x"})
    assert misfit.is_error and "it takes query:string*" in text_of(misfit)

    events: list[tuple[float, str]] = []

    async def watch(progress: float, total: float | None, message: str | None) -> None:
        events.append((progress, message or ""))

    inputs = {"messages": SAID, "session_id": "s1", "date": "2026-03-02"}
    remembered = await client.call_tool("auto_memory", inputs, progress_callback=watch)
    assert not remembered.is_error, text_of(remembered)
    assert (workspace / remembered.structured_content["state"]["note_path"]).exists()
    assert [number for number, _ in events] == sorted({number for number, _ in events}) != []
    assert all(message.startswith("auto_memory ") for _, message in events)
    missing = await client.call_tool("auto_memory", {"session": "s1"})
    assert missing.is_error and "messages is missing" in text_of(missing)

    (workspace / "resource").mkdir(exist_ok=True)
    (workspace / "resource/dot.png").write_bytes(PIXEL)
    image = await client.call_tool("read_image", {"path": "resource/dot.png"})
    [picture] = [part for part in image.content if isinstance(part, ImageContent)]
    assert (picture.mime_type, base64.b64decode(picture.data)) == ("image/png", PIXEL)
    assert "base64" not in image.structured_content["metadata"]

    resources = {resource.uri: resource for resource in (await client.list_resources()).resources}
    assert resources["reme://digest/wiki/a.md"].title == "A"
    [content] = (await client.read_resource("reme://digest/wiki/a.md")).contents
    assert content.text.endswith("Reached.\n")
    assert (await client.list_resource_templates()).resource_templates[0].uri_template == "reme://{+path}"
    with pytest.raises(MCPError, match="nothing"):
        await client.read_resource("reme://digest/wiki/nothing.md")
    with pytest.raises(MCPError, match="no tool 'serch'"):
        await client.call_tool("serch", {})


async def test_no_call_blocks_the_loop(tmp_path: Path) -> None:
    """Within this process, where a blocked loop is an error."""
    async with open_reme(tmp_path / "workspace") as reme, Client(await asyncio.to_thread(make_server, reme)) as client:
        await _use(client, reme.store.root)


async def test_a_fault_of_the_store_is_told_in_its_words(tmp_path: Path) -> None:
    async with open_reme(tmp_path / "workspace") as reme, Client(await asyncio.to_thread(make_server, reme)) as client:
        await client.call_tool("write", {"path": "digest/wiki/a.md", "content": "x"})
        forbidden = reme.store.root / "digest/wiki/a.md"
        await asyncio.to_thread(forbidden.unlink)
        await asyncio.to_thread(os.mkfifo, forbidden)
        result = await client.call_tool("read", {"path": "digest/wiki/a.md"})
        assert result.is_error and "digest/wiki/a.md" in text_of(result)


async def test_an_agents_program_uses_it_by_standard_input_and_output(tmp_path: Path, state: Path) -> None:
    async with over_stdio(tmp_path / "workspace", state) as client:
        await _use(client, tmp_path / "workspace")


async def test_an_agents_program_uses_it_by_http(served: tuple[str, Path]) -> None:
    url, workspace = served
    async with over_http(url) as client:
        await _use(client, workspace)


async def test_several_clients_work_at_once(served: tuple[str, Path]) -> None:
    url, workspace = served

    async def write(number: int) -> None:
        async with over_http(url) as client:
            result = await client.call_tool("write", {"path": f"digest/wiki/n{number}.md", "content": "x"})
            assert not result.is_error

    await asyncio.gather(*(write(number) for number in range(5)))
    assert len(list((workspace / "digest/wiki").glob("n*.md"))) == 5


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}])
async def test_without_the_token_nobody_comes_in(headers: dict[str, str], served: tuple[str, Path]) -> None:
    async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
        answer = await http.post(served[0], json={})
    assert answer.status_code == httpx.codes.UNAUTHORIZED
    assert answer.json()["success"] is False and answer.headers["www-authenticate"] == "Bearer"


async def test_a_page_of_another_site_does_not_come_in(served: tuple[str, Path]) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "https://elsewhere.example"}
    async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
        answer = await http.post(served[0], json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == httpx.codes.FORBIDDEN
    assert "access-control-allow-origin" not in answer.headers


async def test_only_named_tools_are_offered(tmp_path: Path, state: Path) -> None:
    async with over_stdio(tmp_path / "workspace", state, "tools=search,read,auto_memory") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "read", "auto_memory"]
        with pytest.raises(MCPError, match="no tool 'write'"):
            await client.call_tool("write", {"path": "a.md", "content": "x"})


def test_standard_output_is_clean_and_the_end_of_input_is_the_end(tmp_path: Path, state: Path) -> None:
    command = [sys.executable, "-m", "reme_graphs.cli", "mcp", "--workspace", str(tmp_path / "w")]
    done = subprocess.run(
        command, input=b"", capture_output=True, env=environment(state), cwd=tmp_path, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, b""), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="the signals are those of POSIX systems")
def test_a_signal_ends_it_while_the_client_is_silent(tmp_path: Path, state: Path) -> None:
    command = [sys.executable, "-m", "reme_graphs.cli", "mcp", "--workspace", str(tmp_path / "w")]
    hello = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{},"clientInfo":{"name":"t","version":"0"}}}\n'
    )
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, env=environment(state), cwd=tmp_path) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(hello)
        child.stdin.flush()
        assert b'"serverInfo"' in child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        assert child.wait(STOP_SECONDS) == 0


def test_annotations_name_tools_that_exist() -> None:
    assert {*READING, *ADDING, *REPEATABLE} <= set(TOOLS)
    assert not READING & ADDING and not READING & REPEATABLE
    assert {"write", "edit", "move", "delete", "undo_run"} <= set(TOOLS) - READING - ADDING


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="serch"):
        choose("search, serch")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["transport=sse"], app.USAGE, "sse"),
        (["transport=http", "host=0.0.0.0"], app.USAGE, "REME_TOKEN"),
        (["tools=serch"], app.FAILED, "serch"),
    ],
)
def test_a_senseless_command_is_refused(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["mcp", "--workspace", str(tmp_path / "w"), *words]) == code
    shown = capsys.readouterr()
    assert said in shown.err and shown.out == ""
