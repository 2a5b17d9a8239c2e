"""Which open things does a run use: the workspace and the model?

Stores are shared within the process: one per folder, zone and embedding model, opened at the first use, closed after
a while without use. A folder that was removed and made anew gets a new store. Models named by a string are built once.
"""

import atexit
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from langchain_core.embeddings import Embeddings
from langchain_core.language_models.chat_models import BaseChatModel

from reme_graphs.context import OFFLINE, Context
from reme_graphs.environment import read_environment
from reme_graphs.errors import ModelDeniedError
from reme_graphs.model_calls import Limits
from reme_graphs.vectors import embeddings_of
from reme_store.file_store import FileStore, open_store

IDLE_SECONDS = 60.0
"""A store nobody used for this long is closed when the next one is asked for."""


@dataclass(slots=True)
class _Lease:
    """A shared open store."""

    store: FileStore
    closing: ExitStack
    identity: tuple[int, int]
    """Device and inode of the folder it was opened on."""
    users: int = 0
    idle_since: float = 0.0


_Key = tuple[str, str, str, int]
"""Folder, zone, name of the embedding model and identity of the object; a lease keeps the object alive."""


class OpenStores:
    """The open stores of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: dict[_Key, _Lease] = {}
        self._orphans: list[_Lease] = []

    @contextmanager
    def use(
        self, folder: Path, timezone: str, embeddings: Embeddings | None = None, model: str = ""
    ) -> Iterator[FileStore]:
        """Give the store of a folder for as long as the block lasts."""
        lease = self._take(folder, {"timezone": timezone, "embeddings": embeddings, "embedding_model": model})
        try:
            yield lease.store
        finally:
            self._give_back(lease)

    def close_idle(self, seconds: float = 0.0) -> None:
        """Close what nobody has used for this long."""
        with self._lock:
            self._close_idle(seconds)

    def _take(self, folder: Path, options: Mapping[str, Any]) -> _Lease:
        with self._lock:
            self._close_idle(IDLE_SECONDS)
            folder.mkdir(parents=True, exist_ok=True)
            root = folder.resolve()
            key = (str(root), options["timezone"], options["embedding_model"], id(options["embeddings"]))
            lease = self._current(key, root)
            if lease is None:
                lease = self._leases[key] = _opened(root, options)
            lease.users += 1
            return lease

    def _current(self, key: _Key, root: Path) -> _Lease | None:
        lease = self._leases.get(key)
        if lease is None or lease.identity == _identity(root):
            return lease
        self._orphans.append(self._leases.pop(key))
        self._close_idle(IDLE_SECONDS)
        return None

    def _give_back(self, lease: _Lease) -> None:
        with self._lock:
            lease.users -= 1
            lease.idle_since = time.monotonic()

    def _close_idle(self, seconds: float) -> None:
        before = time.monotonic() - seconds
        for key, lease in list(self._leases.items()):
            if not lease.users and lease.idle_since <= before:
                self._leases.pop(key).closing.close()
        for orphan in [lease for lease in self._orphans if not lease.users]:
            self._orphans.remove(orphan)
            orphan.closing.close()


OPEN_STORES = OpenStores()
atexit.register(OPEN_STORES.close_idle)


def _opened(root: Path, options: Mapping[str, Any]) -> _Lease:
    closing = ExitStack()
    store = closing.enter_context(open_store(root, **options))
    return _Lease(store, closing, _identity(root))


def _identity(root: Path) -> tuple[int, int]:
    stat = root.stat()
    return stat.st_dev, stat.st_ino


class Turns:
    """Named locks within this process: work on one session is done by one run at a time."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()

    @contextmanager
    def take(self, name: str) -> Iterator[None]:
        """Wait for the turn and keep it for as long as the block lasts."""
        with self._guard:
            turn = self._turns.setdefault(name, _Turn())
        with turn.lock:
            yield


class _Turn:
    def __init__(self) -> None:
        self.lock = threading.Lock()


TURNS = Turns()


@contextmanager
def open_workspace(context: Context) -> Iterator[FileStore]:
    """Give the store of the run's workspace; many nodes use it at once.

    Raises:
        InvalidRequestError: no workspace is named, or the embedding model cannot be used.
    """
    with OPEN_STORES.use(context.folder, context.timezone, *embeddings_of(context)) as store:
        yield store


def limits(context: Context) -> Limits:
    """Return what a conversation with the model may use."""
    return Limits(
        max_calls=context.max_model_calls,
        max_seconds=context.max_unit_seconds,
        max_input_chars=context.max_input_chars,
        first_wait=context.retry_wait,
        max_concurrency=context.max_concurrency,
        tool_calling=context.tool_calling,
        gate=context.gate,
    )


def engine_name(context: Context) -> str:
    """Return who does the work: ``offline`` or the model's name."""
    model = context.model
    if isinstance(model, str):
        return model or OFFLINE
    named = getattr(model, "model_name", "") or getattr(model, "model", "")
    return named if isinstance(named, str) and named else model._llm_type


def chat_model(context: Context) -> BaseChatModel | None:
    """Return the run's model, None for the offline engine.

    Raises:
        ModelDeniedError: the name cannot be used: no key, an unknown provider, a package that is not installed.
    """
    model = context.model
    if not isinstance(model, str):
        return model
    if model in ("", OFFLINE):
        return None
    provider, _, name = model.partition(":")
    environment = read_environment()
    if context.base_url or not name or provider == "openai":
        plain = name if provider == "openai" and name else model
        return _openai_model(
            plain,
            context.base_url or environment.get("OPENAI_BASE_URL", ""),
            environment.get("OPENAI_API_KEY", ""),
            context.call_timeout,
        )
    return _other_model(model, context.call_timeout)


@lru_cache(maxsize=32)
def _openai_model(name: str, base_url: str, key: str, timeout: float) -> BaseChatModel:
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - costs half a second, the offline engine never needs it
    from pydantic import SecretStr  # noqa: PLC0415 - belongs to the line above

    if not key and not base_url:
        raise ModelDeniedError(
            f"model {name!r} needs a key: set OPENAI_API_KEY, or base_url for an endpoint of your own"
        )
    return ChatOpenAI(
        model=name,
        base_url=base_url or None,
        api_key=SecretStr(key or "not-needed"),
        timeout=timeout,
        max_retries=0,
        stream_usage=True,
    )


@lru_cache(maxsize=32)
def _other_model(name: str, timeout: float) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 - an extra, not always installed
    except ImportError as error:
        raise ModelDeniedError(f"model {name!r} needs the extra: pip install 'reme-graphs[langchain]'") from error
    try:
        model: BaseChatModel = init_chat_model(name, timeout=timeout, max_retries=0)
    except (ImportError, ValueError) as error:
        raise ModelDeniedError(f"model {name!r} cannot be used: {error}") from error
    return model
