"""Which embedding model does a run use, and under which name are its vectors kept?

Models named by a string are built once, so that the runs of a process share a store.
"""

from functools import lru_cache

from langchain_core.embeddings import Embeddings

from reme_graphs.context import Context
from reme_graphs.environment import read_environment
from reme_graphs.local_embeddings import LOCAL, LocalEmbeddings
from reme_store.errors import InvalidRequestError


def embeddings_of(context: Context) -> tuple[Embeddings | None, str]:
    """Return the embedding model of a run with its name; None where search goes by words alone.

    An object names itself, so its name here is empty.

    Raises:
        InvalidRequestError: the name cannot be used: no key, an unknown provider, an extra that is not installed.
    """
    named = context.embeddings
    if not isinstance(named, str):
        return named, ""
    if not named:
        return None, ""
    if named == LOCAL:
        return _local(), ""
    provider, _, name = named.partition(":")
    environment = read_environment()
    if context.base_url or not name or provider == "openai":
        plain = name if provider == "openai" and name else named
        base_url = context.base_url or environment.get("OPENAI_BASE_URL", "")
        return _openai(plain, base_url, environment.get("OPENAI_API_KEY", ""), context.call_timeout), plain
    return _other(named), named


@lru_cache(maxsize=1)
def _local() -> Embeddings:
    try:
        return LocalEmbeddings()
    except ImportError as error:
        raise InvalidRequestError("embeddings 'local' need the extra: pip install 'reme-graphs[local]'") from error


@lru_cache(maxsize=32)
def _openai(name: str, base_url: str, key: str, timeout: float) -> Embeddings:
    from langchain_openai import OpenAIEmbeddings  # noqa: PLC0415 - costs half a second, not always needed
    from pydantic import SecretStr  # noqa: PLC0415 - belongs to the line above

    if not key and not base_url:
        raise InvalidRequestError(
            f"embeddings {name!r} need a key: set OPENAI_API_KEY, or base_url for an endpoint of your own"
        )
    return OpenAIEmbeddings(
        model=name,
        base_url=base_url or None,
        api_key=SecretStr(key or "not-needed"),
        timeout=timeout,
        max_retries=1,
        check_embedding_ctx_length=False,  # the store sends short pieces; other endpoints take text, not token numbers
    )


@lru_cache(maxsize=32)
def _other(name: str) -> Embeddings:
    try:
        from langchain.embeddings import init_embeddings  # noqa: PLC0415 - an extra, not always installed
    except ImportError as error:
        raise InvalidRequestError(
            f"embeddings {name!r} need the extra: pip install 'reme-graphs[langchain]'"
        ) from error
    try:
        made = init_embeddings(name)
    except (ImportError, ValueError) as error:
        raise InvalidRequestError(f"embeddings {name!r} cannot be used: {error}") from error
    assert isinstance(made, Embeddings)  # noqa: S101 - other kinds are not made from a name alone
    return made
