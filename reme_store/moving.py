"""Which files change when a note or folder gets another path or goes, and what must be told about the links to it?

Plans only: the texts are read from disk and rewritten in memory; carrying out is the business of transactions.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from reme_store.paths import is_within
from reme_store.text.wikilinks import parse_wikilinks, retarget_wikilinks
from reme_store.transactions import Discard, Plan, Rename, Write
from reme_store.workspace import Workspace, version

InboundSources = Callable[[str], Iterable[str]]
"""Answers the notes that link to a target, as the link graph knows them."""


@dataclass(slots=True)
class LinkReport:
    """How many wikilinks concern a move or a deletion, by the file they stand in."""

    counts: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    def by_file(self) -> list[dict[str, object]]:
        """Return them as plain values, sorted by path."""
        return [{"path": path, "count": count} for path, count in sorted(self.counts.items())]


def files_below(workspace: Workspace, path: str) -> list[str]:
    """Return a file itself, or every visible file in a folder."""
    if not workspace.absolute(path).is_dir():
        return [path]
    return sorted(workspace.walk(path, ("",)).stats)


def plan_move(
    workspace: Workspace, inbound: InboundSources, source: str, target: str, *, overwrite: bool, retarget: bool
) -> tuple[Plan, LinkReport]:
    """Plan a move of a file or folder, every link to what moves rewritten."""
    moves = {path: target + path.removeprefix(source) for path in files_below(workspace, source)}
    writes, report = _plan_retargets(workspace, inbound, moves) if retarget else ([], LinkReport())
    changes: list[Write | Discard | Rename] = list(writes)
    if overwrite and workspace.absolute(target).exists():
        changes.append(Discard(target, _version_in(writes, workspace, target)))
    changes.append(Rename(source, target, _version_in(writes, workspace, source)))
    return Plan(changes, moves), report


def count_inbound(workspace: Workspace, inbound: InboundSources, path: str) -> LinkReport:
    """Count the links from outside to a file or to anything in a folder."""
    targets = files_below(workspace, path)
    report = LinkReport()
    for source in _sources(inbound, targets):
        text = None if is_within(source, path) else _text(workspace, source)
        count = sum(link.target in set(targets) for link in parse_wikilinks(text)) if text is not None else 0
        if count:
            report.counts[source] = count
    return report


def _plan_retargets(
    workspace: Workspace, inbound: InboundSources, moves: Mapping[str, str]
) -> tuple[list[Write], LinkReport]:
    writes, report = [], LinkReport()
    for path in _sources(inbound, moves):
        text = _text(workspace, path)
        if text is None:
            continue
        rewritten, count = retarget_wikilinks(text, moves)
        if count:
            writes.append(Write(path, text.encode(), rewritten.encode()))
            report.counts[moves.get(path, path)] = count
    return writes, report


def _sources(inbound: InboundSources, targets: Iterable[str]) -> list[str]:
    return sorted({source for target in targets for source in inbound(target)})


def _text(workspace: Workspace, path: str) -> str | None:
    """Return the text of a note that may be rewritten: one in UTF-8."""
    data = workspace.read_or_none(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _version_in(writes: Iterable[Write], workspace: Workspace, path: str) -> str:
    """Return the version a file has once the writes before it are done; empty for a folder."""
    if workspace.absolute(path).is_dir():
        return ""
    written = next((write.after for write in writes if write.path == path), None)
    return version(workspace.read(path) if written is None else written)
