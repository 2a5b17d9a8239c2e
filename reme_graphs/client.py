"""How does a program use the tools and graphs of a running server?

It gets what it would get from the workspace itself: a tool's artifact, a graph's receipt with ``state``, and the same
words for the same mistakes.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from reme_graphs.errors import ServiceError
from reme_graphs.service import CONNECT_SECONDS, Service

Watch = Callable[[Mapping[str, Any]], None]
"""Is told each progress event."""

_TIMEOUT = httpx.Timeout(None, connect=CONNECT_SECONDS)


class ServiceClient:
    """A connection to one server; close it, or use it in a ``with``."""

    def __init__(self, service: Service) -> None:
        self.service = service
        headers = {"Authorization": f"Bearer {service.token}"} if service.token else {}
        self._http = httpx.Client(base_url=service.url, headers=headers, timeout=_TIMEOUT, trust_env=False)

    def __enter__(self) -> "ServiceClient":
        return self

    def __exit__(self, *error: object) -> None:
        self._http.close()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its artifact.

        Raises:
            ServiceError: the server cannot be reached, or failed.
        """
        with self._failures():
            return self._read(self._http.post(f"/{tool}", json=dict(arguments)))

    def run(self, graph: str, inputs: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
        """Run a graph to its end and return its receipt with ``state``.

        Raises:
            ServiceError: the server cannot be reached, or failed; the run may go on there.
        """
        headers = {"Accept": "text/event-stream"}
        with (
            self._failures(),
            self._http.stream("POST", f"/{graph}", json=dict(inputs), headers=headers) as answer,
        ):
            if "text/event-stream" not in answer.headers.get("content-type", ""):
                answer.read()
                return self._read(answer)
            return self._follow(answer.iter_lines(), watch)

    def _follow(self, lines: Iterable[str], watch: Watch | None) -> dict[str, Any]:
        for name, data in events(lines):
            if name == "result":
                result: dict[str, Any] = data
                return result
            if name == "progress" and watch is not None:
                watch(data)
            elif name == "error":
                raise ServiceError(f"the server at {self.service.url} failed: {data}")
        raise ServiceError(f"the server at {self.service.url} ended the stream before the run was done")

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            told = answer.json()
        except ValueError:
            told = None
        if isinstance(told, dict) and "success" in told and "answer" in told:
            return told
        raise ServiceError(f"the server at {self.service.url} answered {answer.status_code}: {answer.text[:500]}")

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError as error:
            why = str(error) or type(error).__name__
            raise ServiceError(f"the server at {self.service.url} cannot be reached: {why}") from error


def events(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield name and data of each server-sent event."""
    name, data = "", []
    for line in lines:
        if line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield name, json.loads("\n".join(data))
            name, data = "", []
