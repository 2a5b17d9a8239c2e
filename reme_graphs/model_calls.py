"""How is one model call made, retried and counted?

The only place where a chat model is invoked. Busy and broken providers (429 with Retry-After, 5xx, timeouts, lost
connections) are asked again here, at the call; an agent is never restarted. Everything else ends at once with the
provider's own words. 401 and 403 close the gate of the run: no further call is made in it.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from reme_graphs.errors import ModelCallError, ModelDeniedError
from reme_graphs.secrets import mask_secrets
from reme_graphs.usage import Usage

CallableModel = Runnable[LanguageModelInput, AIMessage]
DENIED = (401, 403)
TRANSIENT = (408, 409, 425, 429)
LONGEST_WAIT = 60.0
"""Seconds. A provider that wants more than this is recorded as a failure and asked in a later run."""


class Gate:
    """What the parallel tasks of a run share: whether calls are still worth making, how many at once, and counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._denied = ""
        self._counts: Counter[str] = Counter()
        self._slots: threading.BoundedSemaphore | None = None

    def slot(self, most: int) -> threading.BoundedSemaphore:
        """Return what a call holds while it lasts; at most this many calls of the run are under way at once."""
        with self._lock:
            if self._slots is None:
                self._slots = threading.BoundedSemaphore(most)
            return self._slots

    def count(self, name: str) -> int:
        """Count a step of parallel tasks; return how many there were."""
        with self._lock:
            self._counts[name] += 1
            return self._counts[name]

    def close(self, text: str) -> None:
        """Stop all further calls of the run with the provider's text."""
        with self._lock:
            self._denied = self._denied or text

    def check(self, spent: Usage | None = None) -> None:
        """Raise ModelDeniedError where the gate is closed."""
        with self._lock:
            if self._denied:
                raise ModelDeniedError(self._denied, usage=spent)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a conversation with a model may use."""

    max_calls: int = 12
    """Answered calls of one agent or one structured reply, repairs included."""
    max_seconds: float = 600.0
    """After so long an agent makes no further call, and no call is tried again."""
    max_input_chars: int = 60_000
    """System and user messages together."""
    attempts: int = 4
    """Tries of one call while the provider is busy or broken."""
    first_wait: float = 0.5
    """Seconds before the second try; doubled each time. Retry-After wins."""
    max_concurrency: int = 8
    """Calls of a run at one time."""
    tool_calling: bool = True
    gate: Gate = field(default_factory=Gate)


def call_model(
    model: CallableModel,
    messages: Sequence[BaseMessage],
    limits: Limits,
    *,
    spent: Usage | None = None,
    seconds: float | None = None,
) -> tuple[AIMessage, Usage]:
    """Ask the model once.

    Args:
        spent: usage of the calls before this one in the same conversation; a failure carries it on.
        seconds: what is left for tries; None = all that the limits give.

    Raises:
        ModelDeniedError: wrong key or no access; the gate is closed.
        ModelCallError: any other failure, after the retries.
    """
    retrying = Retrying(
        stop=stop_after_attempt(limits.attempts)
        | stop_before_delay(limits.max_seconds if seconds is None else seconds),
        retry=retry_if_exception(is_transient),
        wait=_waiting(limits.first_wait),
        reraise=True,
    )
    try:
        with limits.gate.slot(limits.max_concurrency):
            limits.gate.check(spent)
            reply = retrying(model.invoke, list(messages))
    except ModelDeniedError:
        raise
    except Exception as error:
        raise _failure(error, limits.gate, spent) from error
    return reply, usage_of(reply)


def _failure(error: Exception, gate: Gate, spent: Usage | None) -> ModelCallError:
    text = mask_secrets(str(error).strip() or type(error).__name__)
    if status_of(error) in DENIED:
        gate.close(text)
        return ModelDeniedError(text, usage=spent)
    return ModelCallError(text, usage=spent, transient=is_transient(error))


def usage_of(reply: AIMessage) -> Usage:
    """Return what one answered call cost, as the provider counted it."""
    counted = reply.usage_metadata
    return Usage(
        model_calls=1,
        input_tokens=counted["input_tokens"] if counted else 0,
        output_tokens=counted["output_tokens"] if counted else 0,
    )


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status an SDK's exception carries."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    return status if isinstance(status, int) else None


def is_transient(error: BaseException) -> bool:
    """Say whether the same call may succeed a little later.

    A longer wait than we accept is no reason to try again now.
    """
    status = status_of(error)
    if status is not None:
        asked = retry_after(error)
        return (status in TRANSIENT or status >= 500) and (asked is None or asked <= LONGEST_WAIT)
    if getattr(error, "is_retryable", False) is True:
        return True
    causes = (error, error.__cause__)
    return any(isinstance(cause, TimeoutError | ConnectionError | httpx.TransportError) for cause in causes)


def retry_after(error: BaseException) -> float | None:
    """Return the seconds a provider asked to wait, from seconds or a date."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value = str(headers.get("retry-after", "")).strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        return _seconds_until(value)


def _seconds_until(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _waiting(first: float) -> Callable[[RetryCallState], float]:
    def seconds(state: RetryCallState) -> float:
        outcome: Any = state.outcome
        error = outcome.exception() if outcome else None
        asked = retry_after(error) if error else None
        return asked if asked is not None else min(LONGEST_WAIT, first * 2 ** (state.attempt_number - 1))

    return seconds
