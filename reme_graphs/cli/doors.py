"""Who answers a command: a running server, or the workspace itself?

Both are doors with the same calls. A tool on the workspace itself loads neither LangGraph nor a model.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from reme_graphs.cli.words import OUTSIDE, UsageError
from reme_graphs.environment import read_environment
from reme_graphs.service import Found, Service, Wanted, find_service
from reme_store.errors import InvalidRequestError

if TYPE_CHECKING:
    from reme_graphs.client import ServiceClient
    from reme_graphs.embedding import ReMe
    from reme_store.file_store import FileStore

Watch = Callable[[Mapping[str, Any]], None]
MEANING = ("search", "health_check")
"""Tools that look at vectors, where there is an embedding model."""


class ToolDoor(Protocol):
    """Something that calls the tools of one memory."""

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its artifact."""


class GraphDoor(Protocol):
    """Something that runs the graphs of one memory."""

    def run(self, graph: str, inputs: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
        """Run a graph and return its receipt with ``state``."""


@dataclass(frozen=True)
class Settings:
    """What the options of a command line say."""

    workspace: str = ""
    host: str = ""
    port: int = 0
    model: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the context for a run."""
    as_json: bool = False
    tell: Callable[[str], object] = str
    """Takes a line for the person that is no part of the answer."""

    @cached_property
    def environment(self) -> Mapping[str, str]:
        """The environment, and what ``.env`` adds."""
        return read_environment()

    @property
    def wanted(self) -> Wanted:
        """Which server is asked for."""
        return Wanted(self.host, self.port, self.workspace, self.environment)

    def folder(self) -> Path:
        """Return the workspace to open.

        Raises:
            InvalidRequestError: none is named.
        """
        if not self.wanted.folder:
            raise InvalidRequestError("no workspace: name its folder with --workspace or in REME_WORKSPACE")
        return Path(self.wanted.folder).expanduser().absolute()


@contextmanager
def door_of_tool(settings: Settings, tool: str) -> Iterator[ToolDoor]:
    """Open what answers a call of a tool.

    Copies from and to this machine are made here, whatever server runs: its folders are not a person's to allow.
    """
    service = None if tool in OUTSIDE and settings.wanted.folder else found_service(settings).service
    if service is not None:
        yield from _client(service)
    elif tool in MEANING and settings.environment.get("REME_EMBEDDINGS"):
        with opened_reme(settings) as reme:
            yield OwnGraphs(reme)
    else:
        with opened_store(settings) as store:
            yield OwnTools(store)


@contextmanager
def door_of_graph(settings: Settings) -> Iterator[GraphDoor]:
    """Open what answers a run of a graph.

    Raises:
        UsageError: settings of a run are given, which a server elsewhere does not take.
    """
    own = bool(settings.model or settings.context)
    service = found_service(settings).service
    if service is not None and not own:
        yield from _client(service)
        return
    if service is not None and not settings.wanted.folder:
        raise UsageError("--model and --set are for the workspace itself: name it with --workspace")
    with opened_reme(settings) as reme:
        yield OwnGraphs(reme)


def found_service(settings: Settings) -> Found:
    """Return the server that is asked for, and tell the person what is worth knowing of the search."""
    found = find_service(settings.wanted)
    if found.notice:
        settings.tell(found.notice)
    return found


def _client(service: Service) -> Iterator["ServiceClient"]:
    from reme_graphs.client import ServiceClient  # noqa: PLC0415 - httpx is for calls of a server only

    with ServiceClient(service) as client:
        yield client


@contextmanager
def opened_store(settings: Settings) -> Iterator["FileStore"]:
    """Open the workspace for tools; a person at the shell may copy from and to any folder of theirs."""
    from reme_store.file_store import open_store  # noqa: PLC0415 - numpy is not needed against a server

    folder = settings.folder()
    zone = str(settings.context.get("timezone") or settings.environment.get("REME_TIMEZONE", ""))
    _check_zone(zone)
    with open_store(folder, timezone=zone, allowed_folders=(folder.anchor,)) as store:
        yield store


def _check_zone(zone: str) -> None:
    try:
        if zone:
            ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidRequestError(f"no time zone is called {zone!r}; use a name such as Europe/Lisbon") from error


@contextmanager
def opened_reme(settings: Settings) -> Iterator["ReMe"]:
    """Open the workspace with its graphs."""
    from reme_graphs.embedding import open_reme  # noqa: PLC0415 - LangGraph takes a second to load

    with open_reme(settings.folder(), settings.model or None, **settings.context) as reme:
        yield reme


class OwnTools:
    """The tools of a workspace that this process has open."""

    def __init__(self, store: "FileStore") -> None:
        self._store = store

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its artifact."""
        from reme_store.tool_calls import call_tool  # noqa: PLC0415 - the schemas of all tools

        return call_tool(self._store, tool, arguments)


class OwnGraphs:
    """The tools and graphs of a workspace that this process has open."""

    def __init__(self, reme: "ReMe") -> None:
        self._reme = reme

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its artifact."""
        return self._reme.call(tool, arguments)

    def run(self, graph: str, inputs: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
        """Run a graph and return its receipt with ``state``; for a run that waits, what it asks."""
        from reme_graphs.cli.runs import run_graph  # noqa: PLC0415 - LangGraph is loaded now, before it was not

        return run_graph(self._reme, graph, inputs, watch)
