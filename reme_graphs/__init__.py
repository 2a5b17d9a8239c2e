"""LangGraph state machines over the store: from conversations and documents to lasting, linked memory.

The graphs themselves are modules: ``from reme_graphs.auto_dream.graph import builder, graph``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reme_graphs.context import Context
    from reme_graphs.embedding import ReMe, UnfinishedRun, WorkspaceGraph, open_reme

_LAZY = {
    "Context": "reme_graphs.context",
    "open_reme": "reme_graphs.embedding",
    "ReMe": "reme_graphs.embedding",
    "UnfinishedRun": "reme_graphs.embedding",
    "WorkspaceGraph": "reme_graphs.embedding",
}
"""Where each public name lives; it is loaded when it is asked for, so that importing the package costs nothing."""

__all__ = ["Context", "ReMe", "UnfinishedRun", "WorkspaceGraph", "open_reme"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
