"""What may come next on a command line? Names come from click; here are keys and paths."""

import os
from collections.abc import Callable
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
PATHS = ("path", "src_path", "dst_path")


def script(command: click.Command, shell: str, variable: str) -> str:
    """Return the script that a shell evaluates; no space follows a key."""
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 - the command takes only shells that click knows
    source = found(command, {}, "reme", variable).source()
    return source.replace("complete -o nosort -F", "complete -o nosort -o nospace -F")


def complete_words(name: str) -> Complete:
    """Return what completes ``key=value`` words of a tool: its keys, and paths of the workspace."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before = list(context.params.get(parameter.name or "") or ())
        key, separator, value = incomplete.partition("=")
        if separator:
            return [CompletionItem(f"{key}={path}") for path in _paths(context, key, value)]
        if before and before[-1] == "=":  # bash cuts words at the sign
            return [CompletionItem(path) for path in _paths(context, before[-2], incomplete)]
        return [CompletionItem(f"{each}=") for each in _keys(name) if each.startswith(incomplete)]

    return complete


def _keys(name: str) -> list[str]:
    from reme_store.tool_arguments import TOOLS  # noqa: PLC0415 - not for other completions

    return list(TOOLS[name].model_fields) if name in TOOLS else []


def _paths(context: click.Context, key: str, value: str) -> list[str]:
    from reme_graphs.environment import read_environment  # noqa: PLC0415 - not for other completions

    named = context.params.get("workspace") or read_environment().get("REME_WORKSPACE", "")
    if key not in PATHS or not named:
        return []
    root = Path(named).expanduser()
    parent, _, begun = value.rpartition("/")
    folder = root / parent
    if not folder.resolve().is_relative_to(root.resolve()) or not folder.is_dir():
        return []
    prefix = f"{parent}/" if parent else ""
    with os.scandir(folder) as entries:
        found = [f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}" for entry in entries]
    return sorted(path for path in found if path.startswith(f"{prefix}{begun}") and "reme_metadata" not in path)
