"""Where does a server answer, and whose memory does it hold?

A server that ``reme start`` runs is written down twice while it lives: in its workspace
(``reme_metadata/service.json``) and in a folder of the user (``services/<port>.json`` below ``$XDG_STATE_HOME`` or
``~/.local/state``, in ``reme-graphs``), as {host, port, pid, version, workspace}. A file whose process is gone is
removed by whoever meets it. Whether a server answers, and for which workspace, only ``GET /service_info`` tells.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reme_graphs.environment import SERVICE_NAME, TOKEN_NAME
from reme_graphs.errors import ServiceError
from reme_store.errors import InvalidRequestError
from reme_store.release import VERSION

PROGRAM = "reme-graphs"
INFO_PATH = "/service_info"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 2024
CONNECT_SECONDS = 2.0
DENIED = (401, 403)


@dataclass(frozen=True, slots=True)
class Service:
    """A server of a workspace."""

    host: str
    port: int
    pid: int = 0
    """Its process, 0 where it is not known."""
    version: str = ""
    workspace: str = ""
    """Absolute path on the server's machine; empty before the server has been asked."""
    scheme: str = "http"
    engine: str = ""
    token: str = field(default="", repr=False)
    """What it wants as bearer token; empty where it is open."""

    @property
    def url(self) -> str:
        """Its address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which server a caller asks for."""

    host: str = ""
    port: int = 0
    workspace: str = ""
    """Folder that the caller named; its memory and no other is meant."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def token(self) -> str:
        """The bearer token for the server."""
        return self.environment.get(TOKEN_NAME, "")

    @property
    def folder(self) -> str:
        """The folder of the memory: the caller's own word, else that of the environment; empty where none is named."""
        return self.workspace or self.environment.get("REME_WORKSPACE", "")


@dataclass(frozen=True, slots=True)
class Found:
    """What the search for a server came to."""

    service: Service | None
    source: str = ""
    """How it was found."""
    notice: str = ""
    """What the caller should know: a named server that is not there."""


def find_service(wanted: Wanted) -> Found:
    """Return the server that a call goes to; none where the workspace is to be opened itself.

    An address the caller gives comes first, then that of the environment, then what is written down, then the default
    port. A server of another workspace than the one that is named is never taken.

    Raises:
        ServiceError: the address that was given does not answer, or several servers could be meant.
        InvalidRequestError: the environment's address cannot be read.
    """
    if wanted.host or wanted.port:
        return _given(wanted)
    if wanted.environment.get(SERVICE_NAME):
        found = _of_environment(wanted)
        return replace(_nearby(wanted), notice=found.notice) if found.service is None else found
    return _nearby(wanted)


def _given(wanted: Wanted) -> Found:
    address = Service(wanted.host or DEFAULT_HOST, wanted.port or DEFAULT_PORT)
    service = probe(address, wanted.token)
    if service is None:
        raise ServiceError(f"no server of this program answers at {address.url}; 'reme start' runs one")
    return _of_named(service, wanted.workspace, "the address given")


def _of_environment(wanted: Wanted) -> Found:
    address = parse_address(wanted.environment[SERVICE_NAME])
    service = probe(address, wanted.token)
    if service is not None:
        return _of_named(service, wanted.workspace, SERVICE_NAME)
    told = f"no server answers at {address.url}, which {SERVICE_NAME} names"
    if not wanted.folder:
        raise ServiceError(f"{told}; start it, unset the variable, or name a workspace")
    return Found(None, notice=told)


def _of_named(service: Service, workspace: str, source: str) -> Found:
    if workspace and not same_folder(service.workspace, workspace):
        return Found(None, notice=f"the server at {service.url} holds another memory; {workspace} is opened itself")
    return Found(service, source)


def _nearby(wanted: Wanted) -> Found:
    written = [read_service(service_file(Path(wanted.folder).expanduser()))] if wanted.folder else user_services()
    answering = [found for one in written if one and (found := probe(one, wanted.token))]
    matching = [one for one in answering if not wanted.folder or same_folder(one.workspace, wanted.folder)]
    if len(matching) > 1:
        told = ", ".join(f"{one.url} ({one.workspace})" for one in matching)
        raise ServiceError(f"several servers run: {told}; say which with --workspace or --port")
    if matching:
        return Found(matching[0], "its discovery file")
    service = probe(Service(DEFAULT_HOST, DEFAULT_PORT), wanted.token)
    if service is None or (wanted.folder and not same_folder(service.workspace, wanted.folder)):
        return Found(None)
    return Found(service, "the default port")


def parse_address(text: str) -> Service:
    """Read ``{"host": …, "port": …}``, a URL, or ``host:port``.

    Raises:
        InvalidRequestError: it is none of these.
    """
    try:
        if text.lstrip().startswith("{"):
            told = json.loads(text)
            return Service(str(told.get("host") or DEFAULT_HOST), int(told.get("port") or DEFAULT_PORT))
        parts = urlsplit(text if "://" in text else f"http://{text}")
        if parts.scheme in ("http", "https") and parts.hostname:
            default = 443 if parts.scheme == "https" else DEFAULT_PORT
            return Service(parts.hostname, parts.port or default, scheme=parts.scheme)
    except (ValueError, TypeError) as error:
        raise InvalidRequestError(f"{SERVICE_NAME}={text!r} cannot be read: {error}") from error
    raise InvalidRequestError(f'{SERVICE_NAME}={text!r} is neither {{"host": …, "port": …}} nor a URL')


def probe(address: Service, token: str = "") -> Service | None:
    """Ask a server who it is; None where nothing answers there, or another program.

    The token is sent only to a server that refuses without it.

    Raises:
        ServiceError: the server refuses the token, or wants one.
    """
    if not _is_listening(address):
        return None
    import httpx  # noqa: PLC0415 - costs a tenth of a second, and mostly nobody listens

    with httpx.Client(base_url=address.url, timeout=CONNECT_SECONDS, trust_env=False) as client:
        try:
            answer = client.get(INFO_PATH)
            used = token if answer.status_code in DENIED else ""
            if used:
                answer = client.get(INFO_PATH, headers={"Authorization": f"Bearer {used}"})
            told = answer.json()
        except (httpx.TransportError, ValueError):
            return None
    if answer.status_code in DENIED:
        why = "refuses the token" if used else "wants a token"
        raise ServiceError(f"the server at {address.url} {why}; set {TOKEN_NAME} to the one it was started with")
    if not isinstance(told, dict) or told.get("program") != PROGRAM:
        return None
    return replace(address, token=used, **{name: told[name] for name in ("pid", "version", "workspace", "engine")})


def _is_listening(address: Service) -> bool:
    import socket  # noqa: PLC0415 - only who looks for a server needs it

    with suppress(OSError), socket.create_connection((address.host, address.port), CONNECT_SECONDS):
        return True
    return False


def describe_service(workspace: Path, engine: str) -> dict[str, Any]:
    """Return what a server answers about itself."""
    told = {"program": PROGRAM, "version": VERSION, "workspace": str(workspace), "pid": os.getpid()}
    return {**told, "engine": engine}


def same_folder(one: str, other: str) -> bool:
    """Say whether two paths lead to the same folder of this machine."""
    return Path(one).expanduser().resolve() == Path(other).expanduser().resolve()


def service_file(workspace: Path) -> Path:
    """Return where a workspace's server is written down."""
    return workspace / "reme_metadata" / "service.json"


def user_folder() -> Path:
    """Return where the servers of this user are written down."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / PROGRAM / "services"


def user_services() -> list[Service]:
    """Return the servers of this user whose process lives, each workspace once."""
    found = [read_service(path) for path in sorted(user_folder().glob("*.json"))]
    return list({one.workspace: one for one in found if one}.values())


def read_service(path: Path) -> Service | None:
    """Return the server a file names; None without one. The file of a dead process is removed."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        known = {name: told[name] for name in ("host", "port", "pid", "version", "workspace")}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not is_alive(known["pid"]):
        with suppress(OSError):
            path.unlink()
        return None
    return Service(**known)


def is_alive(pid: int) -> bool:
    """Say whether a process lives; where the system has no way to ask, that it may."""
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


@contextmanager
def announced(service: Service) -> Iterator[None]:
    """Write a server of this process down for as long as the block lasts."""
    told = asdict(service)
    text = json.dumps({name: told[name] for name in ("host", "port", "pid", "version", "workspace")}, indent=1)
    files = [service_file(Path(service.workspace)), user_folder() / f"{service.port}.json"]
    for path in files:
        _write_privately(path, text)
    try:
        yield
    finally:
        for path in files:
            _forget(path, service.pid)


def _write_privately(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.touch(mode=0o600)
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)


def _forget(path: Path, pid: int) -> None:
    """Remove the file, unless another server has taken its place."""
    with suppress(OSError, ValueError):
        if json.loads(path.read_text(encoding="utf-8")).get("pid") == pid:
            path.unlink()
