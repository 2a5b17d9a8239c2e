"""What do the environment and ``.env`` say? Read here and nowhere else.

The nearest ``.env`` in the working directory or above it stands in for what the environment leaves unset.
"""

import os
from collections.abc import Mapping

from dotenv import dotenv_values, find_dotenv

ENVIRONMENT_NAMES = {
    "workspace": "REME_WORKSPACE",
    "model": "REME_MODEL",
    "base_url": "REME_BASE_URL",
    "embeddings": "REME_EMBEDDINGS",
    "timezone": "REME_TIMEZONE",
    "language": "REME_LANGUAGE",
    "tool_calling": "REME_TOOL_CALLING",
    "fallback_offline": "REME_FALLBACK_OFFLINE",
    "redo_offline": "REME_REDO_OFFLINE",
    "mask_secrets": "REME_MASK_SECRETS",
    "max_concurrency": "REME_MAX_CONCURRENCY",
    "max_model_calls": "REME_MAX_MODEL_CALLS",
    "max_unit_seconds": "REME_MAX_UNIT_SECONDS",
    "max_input_chars": "REME_MAX_INPUT_CHARS",
    "call_timeout": "REME_CALL_TIMEOUT",
    "retry_wait": "REME_RETRY_WAIT",
}
"""Field of the context -> its variable."""

TOKEN_NAME = "REME_TOKEN"  # noqa: S105 - the name of a variable, no token
"""Variable of the bearer token of a server."""

SERVICE_NAME = "REME_SERVICE_INFO"
"""Variable that says where a server answers: ``{"host": …, "port": …}`` or a URL."""


def read_environment() -> Mapping[str, str]:
    """Return the environment over the values of the nearest ``.env`` file."""
    stored = {name: value for name, value in dotenv_values(dotenv_path()).items() if value is not None}
    return {**stored, **os.environ}


def dotenv_path() -> str:
    """Return the nearest ``.env`` file, or nothing."""
    return find_dotenv(usecwd=True)
