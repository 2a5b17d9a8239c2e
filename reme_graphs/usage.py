"""What did answered model calls cost?"""

from typing_extensions import TypedDict


class Usage(TypedDict):
    """What answered model calls cost."""

    model_calls: int
    input_tokens: int
    output_tokens: int


def no_usage() -> Usage:
    """Return the usage of a run that asked nothing."""
    return Usage(model_calls=0, input_tokens=0, output_tokens=0)


def add_usage(*parts: Usage) -> Usage:
    """Return the sum."""
    return Usage(
        model_calls=sum(part["model_calls"] for part in parts),
        input_tokens=sum(part["input_tokens"] for part in parts),
        output_tokens=sum(part["output_tokens"] for part in parts),
    )
