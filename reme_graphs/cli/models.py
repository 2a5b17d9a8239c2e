"""Can the models be used that are named: who thinks, and who turns text into vectors?

Nothing is asked that costs money: an endpoint says which models it has.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from reme_graphs.context import Context, read_context
from reme_graphs.environment import read_environment
from reme_graphs.errors import ModelDeniedError
from reme_graphs.resources import chat_model, engine_name
from reme_graphs.vectors import embeddings_of
from reme_store.errors import InvalidRequestError

SECONDS = 5.0


def model_faults(given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield about what, what was found, and what to do; the last is empty where all is well."""
    try:
        context = read_context(given)
    except InvalidRequestError as error:
        yield "settings", str(error), "correct the setting"
        return
    yield "model", *_of_model(context)
    yield "embeddings", *_of_embeddings(context)
    if context.base_url:
        yield "endpoint", *_of_endpoint(context.base_url)


def _of_model(context: Context) -> tuple[str, str]:
    try:
        model = chat_model(context)
    except ModelDeniedError as error:
        return str(error), "set REME_MODEL, its key or REME_BASE_URL"
    return ("offline: no model is asked" if model is None else f"{engine_name(context)} is configured"), ""


def _of_embeddings(context: Context) -> tuple[str, str]:
    try:
        model, name = embeddings_of(context)
    except InvalidRequestError as error:
        return str(error), "set REME_EMBEDDINGS, or leave it empty to search by words"
    return ("none: search goes by words" if model is None else f"{name or context.embeddings} is configured"), ""


def _of_endpoint(base_url: str) -> tuple[str, str]:
    key = read_environment().get("OPENAI_API_KEY", "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.get(f"{base_url.rstrip('/')}/models", headers=headers, timeout=SECONDS)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return f"{base_url} does not answer: {error}", "start it, or correct REME_BASE_URL"
    if answer.status_code in (401, 403):
        return f"{base_url} refuses the key ({answer.status_code})", "set OPENAI_API_KEY"
    return f"{base_url} answers ({answer.status_code})", ""
