"""An OpenAI-compatible endpoint on loopback: answers from a list, faults among them, and counts what it served."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Fault:
    """An answer that is none."""

    status: int
    text: str = "refused"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Hang:
    """No answer until the server is closed."""


@dataclass
class Endpoint:
    """What a test sees of the server."""

    answers: Any
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    answered: int = 0
    tokens: int = 0
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def openai_endpoint(answers: Any) -> Iterator[Endpoint]:
    """Serve ``answers``: texts, (tool, args) pairs, faults, vectors; or a function of the request that gives one."""
    endpoint = Endpoint(answers)
    handler = type("Handler", (_Handler,), {"endpoint": endpoint, "lock": threading.Lock()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    endpoint.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint
    lock: Any

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keep quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            self.endpoint.requests.append(body)
            answers = self.endpoint.answers
            answer = answers(body) if callable(answers) else answers.pop(0)
        if isinstance(answer, Hang):
            self.endpoint.closing.wait(30)
            self.close_connection = True
        elif isinstance(answer, Fault):
            self._send(answer.status, {"error": {"message": answer.text}}, answer.headers)
        elif self.path.endswith("/embeddings"):
            self._embed(answer)
        else:
            self._answer(answer)

    def _embed(self, vectors: list[list[float]]) -> None:
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self._send(200, {"object": "list", "data": data, "model": "m", "usage": usage}, {})

    def _answer(self, answer: Any) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
        if not isinstance(answer, str):
            name, args = answer
            call = {
                "id": f"call-{len(self.endpoint.requests)}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            message["tool_calls"] = [call]
        usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
        with self.lock:
            self.endpoint.answered += 1
            self.endpoint.tokens += 16
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self._send(
            200,
            {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage},
            {},
        )

    def _send(self, status: int, value: Any, headers: dict[str, str]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)
