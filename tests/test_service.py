"""Is a server found where it is, asked for its token when it wants one, and never mistaken for another?"""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reme_graphs import service
from reme_graphs.errors import ServiceError
from reme_graphs.service import Service, Wanted, announced, find_service, parse_address, probe, read_service
from reme_store.errors import InvalidRequestError
from tests.support.children import dead_pid

WORKSPACE = "/somewhere/memory"


class Guarded(BaseHTTPRequestHandler):
    """A server that answers like ours to whoever knows the token."""

    def do_GET(self) -> None:
        known = self.headers.get("Authorization") == "Bearer open sesame"
        self.server.seen.append(self.headers.get("Authorization"))  # type: ignore[attr-defined]
        told = {"program": "reme-graphs", "pid": 1, "version": "1", "workspace": WORKSPACE, "engine": "offline"}
        body = json.dumps(told if known else {"detail": "no"}).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def guarded() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        server.seen = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ('{"host": "127.0.0.1", "port": 2100}', "http://127.0.0.1:2100"),
        ('{"port": "2100"}', "http://127.0.0.1:2100"),
        ("http://memory.local:80/", "http://memory.local:80"),
        ("https://memory.local", "https://memory.local:443"),
        ("127.0.0.1:2100", "http://127.0.0.1:2100"),
        ('{"host": "::1", "port": 2100}', "http://[::1]:2100"),
    ],
)
def test_an_address_may_be_json_or_a_url(text: str, url: str) -> None:
    assert parse_address(text).url == url


@pytest.mark.parametrize("text", ["{", '{"port": "many"}', "ftp://x", "http://x:many", "[]"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequestError, match="REME_SERVICE_INFO"):
        parse_address(text)


def test_the_token_is_sent_to_a_server_that_asks_for_it(guarded: ThreadingHTTPServer) -> None:
    address = Service("127.0.0.1", guarded.server_port)
    found = probe(address, "open sesame")
    assert found is not None
    assert (found.workspace, found.token) == (WORKSPACE, "open sesame")
    assert guarded.seen == [None, "Bearer open sesame"]  # type: ignore[attr-defined]
    assert "sesame" not in repr(found)


@pytest.mark.parametrize(("token", "why"), [("", "wants a token"), ("wrong", "refuses the token")])
def test_a_server_that_does_not_let_in_is_told(token: str, why: str, guarded: ThreadingHTTPServer) -> None:
    with pytest.raises(ServiceError, match=why):
        probe(Service("127.0.0.1", guarded.server_port), token)


def test_a_named_address_must_answer() -> None:
    with pytest.raises(ServiceError, match="no server of this program"):
        find_service(Wanted(port=9))


def test_an_address_of_the_environment_that_is_silent_is_told_and_the_workspace_meant(tmp_path: Path) -> None:
    environment = {"REME_SERVICE_INFO": "127.0.0.1:9"}
    with pytest.raises(ServiceError, match="name a workspace"):
        find_service(Wanted(environment=environment))
    found = find_service(Wanted(workspace=str(tmp_path), environment=environment))
    assert found.service is None and "127.0.0.1:9" in found.notice


def test_the_default_port_comes_last_and_only_for_its_own_workspace(
    guarded: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(service, "DEFAULT_PORT", guarded.server_port)
    token = {"REME_TOKEN": "open sesame"}
    found = find_service(Wanted(environment=token))
    assert found.service is not None and found.source == "the default port"
    assert find_service(Wanted(workspace=str(tmp_path), environment=token)).service is None
    assert find_service(Wanted(workspace=WORKSPACE, environment=token)).service is not None


def test_a_server_is_written_down_while_it_lives(tmp_path: Path) -> None:
    one = Service("127.0.0.1", 9, os.getpid(), "1", str(tmp_path))
    path = service.service_file(tmp_path)
    with announced(one):
        assert read_service(path) == one == next(each for each in service.user_services() if each.port == 9)
        assert path.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    assert read_service(path) is None and not path.exists()


def test_what_is_written_down_of_a_dead_process_goes(tmp_path: Path) -> None:
    path = tmp_path / "service.json"
    path.write_text(json.dumps({"host": "h", "port": 9, "pid": dead_pid(), "version": "1", "workspace": "w"}))
    assert read_service(path) is None
    assert not path.exists()
    path.write_text("no json")
    assert read_service(path) is None
