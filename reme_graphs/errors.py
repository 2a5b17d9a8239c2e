"""Which errors can a graph raise, and what do they end?

    GraphError
    ├─ PromptError                  a prompt file is missing or its variables do not fit: a bug or a broken installation
    ├─ ModelOutputError             the model answered, but nothing usable came after its repair rounds: ends a unit
    ├─ ModelCallError               the model did not answer; the text is the provider's own: ends a unit
    │  └─ ModelDeniedError          no key, a wrong key, no access, an unknown provider: ends the run
    └─ ServiceError                 a server of this program cannot be reached, or refuses

Whatever a failed conversation with a model cost is on the error (``usage``), so that receipts add up.
"""

from reme_graphs.usage import Usage, no_usage


class GraphError(Exception):
    """Root of everything the graphs raise on purpose."""


class PromptError(GraphError):
    """A prompt cannot be loaded or rendered."""


class ModelOutputError(GraphError):
    """The model's answers could not be used."""

    def __init__(self, message: str, *, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or no_usage()


class ModelCallError(GraphError):
    """A model call failed after its retries."""

    def __init__(self, message: str, *, usage: Usage | None = None, transient: bool = False) -> None:
        super().__init__(message)
        self.usage = usage or no_usage()
        self.transient = transient
        """True where the provider was down or busy, so that asking for the next piece now is pointless."""


class ModelDeniedError(ModelCallError):
    """The model cannot be asked at all with these credentials or this name."""


class ServiceError(GraphError):
    """A server of this program cannot be reached or used."""
