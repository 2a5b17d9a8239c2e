"""What does a person see, and what does a program?

A program reads JSON or, through a pipe, the answer an agent would get. On a terminal, lists are tables and long work
has a progress bar, which goes to standard error. Control characters of notes never reach a terminal.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.table import Table

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
SNIPPET_LINES = 3
SHORT_VERSION = 12

Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


def show(result: Mapping[str, Any], name: str, *, as_json: bool) -> None:
    """Print what a call came to."""
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=2, default=str))
        return
    rows = TABLES[name](result["metadata"]) if name in TABLES and result["success"] and _is_terminal() else None
    if rows is None or not rows[1]:
        print(readable(str(result["answer"])))
    else:
        _print_table(*rows)
    for line in result.get("errors", ()):
        if line not in result["answer"]:
            tell(line)


def tell(line: str) -> None:
    """Print a line for the person, beside the answer."""
    print(f"reme: {readable(line)}", file=sys.stderr)


def readable(text: str) -> str:
    """Return the text without what would steer a terminal, where it goes to one."""
    return CONTROL.sub("\ufffd", text) if _is_terminal() else text


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - only a terminal has tables
    from rich.table import Table  # noqa: PLC0415 - belongs to the line above

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    _fill(table, rows)
    Console().print(table)


def _fill(table: "Table", rows: Sequence[Sequence[str]]) -> None:
    from rich.text import Text  # noqa: PLC0415 - a plain text, in which brackets are no markup

    for row in rows:
        table.add_row(*(Text(CONTROL.sub("\ufffd", cell)) for cell in row))


def _search(metadata: Mapping[str, Any]) -> Rows:
    rows = [
        (f"{hit['score']:.3f}", f"{hit['path']}:{hit['start_line']}-{hit['end_line']}", _snippet(hit["text"]))
        for hit in metadata["results"]
    ]
    return ("score", "place", "text"), rows


def _snippet(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    more = "\n…" if len(lines) > SNIPPET_LINES else ""
    return "\n".join(line[:300] for line in lines[:SNIPPET_LINES]) + more


def _node_search(metadata: Mapping[str, Any]) -> Rows:
    rows = [(f"{hit['score']:.3f}", hit["path"], hit["name"], hit["description"]) for hit in metadata["results"]]
    return ("score", "note", "name", "description"), rows


def _notes(key: str) -> Callable[[Mapping[str, Any]], Rows]:
    def rows(metadata: Mapping[str, Any]) -> Rows:
        return ("note", "name", "description"), [
            (note["path"], note["name"], note["description"]) for note in metadata[key]
        ]

    return rows


def _list(metadata: Mapping[str, Any]) -> Rows:
    rows = [
        (f"{entry['path']}/", "", _moment(entry["mtime"]))
        if entry["is_dir"]
        else (entry["path"], f"{entry['size']:,}", _moment(entry["mtime"]))
        for entry in metadata["entries"]
    ]
    if metadata["truncated"]:
        rows.append((f"… {metadata['total'] - len(metadata['entries'])} more; limit=… shows them", "", ""))
    return ("path", "bytes", "changed"), rows


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _history(metadata: Mapping[str, Any]) -> Rows:
    rows = [
        (each["version"][:SHORT_VERSION], each["time"][:19], each["tool"], each["run_id"], each["reason"])
        for each in metadata["versions"]
    ]
    return ("version", "time", "by", "run", "reason"), rows


def _tags(metadata: Mapping[str, Any]) -> Rows:
    return ("tag", "notes"), [(each["tag"], str(each["count"])) for each in metadata["tags"]]


def _traverse(metadata: Mapping[str, Any]) -> Rows:
    rows = [
        (each["source_path"], each["predicate"] or "→", each["target_path"], each["target_anchor"] or "")
        for each in metadata["edges"]
    ]
    return ("from", "relation", "to", "section"), rows


def _resume(metadata: Mapping[str, Any]) -> Rows:
    rows = [
        (each["thread"], "waits for your answer" if each["waits_for_answer"] else "was killed", ", ".join(each["next"]))
        for each in metadata.get("runs", ())
    ]
    return ("thread", "state", "next"), rows


def _doctor(metadata: Mapping[str, Any]) -> Rows:
    marks = {"ok": "✓", "note": "•", "wrong": "✗"}
    rows = [
        (marks[each["state"]], each["about"], "\n".join(filter(None, (each["found"], each["advice"]))))
        for each in metadata["checks"]
    ]
    return ("", "check", "found"), rows


def _status(metadata: Mapping[str, Any]) -> Rows:
    return ("", ""), [(key.replace("_", " "), _plain(value)) for key, value in metadata.items()]


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={each}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return "\n".join(map(str, value)) or "none"
    return str(value) if value not in ("", None) else "none"


TABLES: Final[Mapping[str, Callable[[Mapping[str, Any]], Rows]]] = {
    "search": _search,
    "node_search": _node_search,
    "list": _list,
    "history": _history,
    "tags_list": _tags,
    "tags_stat": _notes("notes"),
    "daily_list": _notes("notes"),
    "traverse": _traverse,
    "resume": _resume,
    "doctor": _doctor,
    "status": _status,
}
"""What is a table on a terminal: columns and rows of the metadata."""


@contextmanager
def progress() -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Give what draws the events of long work: bars on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with _bars() as bars:
        yield Bars(bars)


def _bars() -> "Progress":
    from rich.console import Console  # noqa: PLC0415 - only a terminal has bars
    from rich.progress import (  # noqa: PLC0415 - belongs to the line above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)


class Bars:
    """One bar for each kind of work that is counted."""

    def __init__(self, bars: "Progress") -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Draw an event {event, graph, done, total}."""
        kind = f"{event.get('graph', '')} {event.get('event', '')}".strip()
        if kind not in self._tasks:
            self._tasks[kind] = self._bars.add_task(CONTROL.sub("", kind), total=None)
        self._bars.update(self._tasks[kind], completed=event.get("done") or 0, total=event.get("total") or None)


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Show on a terminal that work is going on, while the block lasts."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal has a spinner

    with Console(stderr=True).status(what):
        yield
