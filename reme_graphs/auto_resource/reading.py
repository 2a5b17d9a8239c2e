"""What does a resource say, as text a reader can take in?

Prose stays as it is; HTML becomes readable text; tables and records that are too long to show whole are described by
their columns or fields, counted, and sampled from all over. What does not parse is shown as text and called so, never
half-parsed.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

SUFFIXES = (".md", ".txt", ".json", ".jsonl", ".csv", ".yaml", ".html")
MOST_BYTES = 20 * 1024 * 1024
WHOLE_CHARS = 20_000
"""Tables and records up to this size are shown as they are."""
SAMPLED = 30
MANY = 5
"""Of a list within JSON so many items are shown; records beyond that are sampled."""
CELL_CHARS = 300
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Material:
    """A resource as it is shown."""

    text: str
    about: str
    """What kind of text it is, and how much of it is shown."""
    is_sampled: bool = False
    """Whether it is a description with samples rather than the text."""


def read_material(path: str, text: str) -> Material:
    """Return the text of a resource in a form for reading."""
    readers = {".html": _read_html, ".csv": _read_csv, ".json": _read_json, ".jsonl": _read_jsonl}
    suffix = path[path.rfind(".") :].lower()
    plain = text.removeprefix("\ufeff")
    return readers.get(suffix, _read_prose)(plain)


def split_material(text: str, room: int) -> list[str]:
    """Cut a text into pieces of at most ``room`` characters, at paragraphs, lines or words; nothing is left out."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = _cut_at(text, start, room)
        pieces.append(text[start:end])
        start = end
    return pieces or [""]


def _cut_at(text: str, start: int, room: int) -> int:
    end = start + room
    if end >= len(text):
        return len(text)
    floor = start + room * 3 // 4
    for mark in ("\n\n", "\n", "。", ". ", " "):
        found = text.rfind(mark, floor, end)
        if found >= 0:
            return found + len(mark)
    return end


def _read_prose(text: str) -> Material:
    return Material(text, f"text of {len(text)} characters")


# ---- tables ----


def _read_csv(text: str) -> Material:
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=_delimiter(text), strict=True) if row]
    except csv.Error as error:
        return Material(text, f"no readable table ({error}), shown as text")
    if not rows:
        return Material(text, "an empty table")
    header, body = rows[0], rows[1:]
    uneven = sum(len(row) != len(header) for row in body)
    about = f"table of {len(body)} rows and {len(header)} columns"
    about += f", {uneven} of them with another number of cells" if uneven else ""
    if len(text) <= WHOLE_CHARS:
        return Material(text, about)
    columns = [_column_line(name, [row[n] for row in body if n < len(row)]) for n, name in enumerate(header)]
    shown = [f"row {n + 1}: " + " | ".join(_short(cell) for cell in body[n]) for n in sample_places(len(body))]
    return Material(
        "\n".join(["Columns:", *columns, "", "Rows:", *shown]), f"{about}; {len(shown)} rows are shown", is_sampled=True
    )


def _delimiter(text: str) -> str:
    """Return the mark that stands as often in every early line, counted outside of quotes."""
    lines = [line for line in re.sub(r'"(?:[^"]|"")*"', "", text[:8000]).split("\n") if line.strip()]
    lines = lines[: max(1, len(lines) - (len(text) > 8000))]  # the last one may be cut
    counts = {mark: Counter(line.count(mark) for line in lines).most_common(1)[0] for mark in ",;\t|"} if lines else {}
    found = {mark: (alike, number) for mark, (number, alike) in counts.items() if number}
    return max(found, key=lambda mark: found[mark], default=",")


def _column_line(name: str, cells: Sequence[str]) -> str:
    filled = [cell.strip() for cell in cells if cell.strip()]
    numbers = [number for number in map(_number, filled) if number is not None]
    line = f"- {_short(name)}: {len(filled)} filled, {len(set(filled))} different"
    if filled and len(numbers) == len(filled):
        return f"{line}, numbers from {min(numbers):.15g} to {max(numbers):.15g}"
    common = ", ".join(f"{_short(value)} ({count})" for value, count in Counter(filled).most_common(3))
    return f"{line}, most often {common}" if filled else line


def _number(text: str) -> float | None:
    """Return a number; a comma counts only between thousands, for elsewhere it may mean a decimal point."""
    plain = text.replace(",", "") if THOUSANDS.fullmatch(text) else text
    return float(plain) if NUMBER.fullmatch(plain) else None


def sample_places(count: int) -> list[int]:
    """Return places to look at: the beginning, the end and evenly between."""
    if count <= SAMPLED:
        return list(range(count))
    edge = SAMPLED // 3
    step = (count - 2 * edge) / edge
    between = {edge + int(number * step) for number in range(edge)}
    return sorted({*range(edge), *between, *range(count - edge, count)})


# ---- records ----


def _read_json(text: str) -> Material:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Material(text, f"no valid JSON ({error}), shown as text")
    if len(text) <= WHOLE_CHARS:
        return Material(text, "JSON")
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return _records(value, f"JSON list of {len(value)} records")
    outline = json.dumps(_outline(value, 0), ensure_ascii=False, indent=1)
    return Material(outline, "JSON, long parts shortened and counted", is_sampled=True)


def _read_jsonl(text: str) -> Material:
    lines = [line for line in text.split("\n") if line.strip()]
    values, broken = [], 0
    for line in lines:
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            broken += 1
    about = f"{len(lines)} JSON lines" + (f", {broken} of them not readable" if broken else "")
    return Material(text, about) if len(text) <= WHOLE_CHARS else _records(values, about)


def _records(values: Sequence[Any], about: str) -> Material:
    schema = [f"- {_short(name)}: in {count} records" for name, count in _fields(values)]
    places = sample_places(len(values))
    shown = [f"record {n + 1}: {_short(json.dumps(values[n], ensure_ascii=False), 4 * CELL_CHARS)}" for n in places]
    return Material(
        "\n".join(["Fields:", *schema, "", "Records:", *shown]), f"{about}; {len(shown)} are shown", is_sampled=True
    )


def _outline(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _short(value, 4 * CELL_CHARS)
    if isinstance(value, list) and len(value) > MANY and any(isinstance(item, dict) for item in value):
        return _outlined_records(value, depth)
    if isinstance(value, list):
        kept = [_outline(item, depth + 1) for item in value[:MANY]] if depth < 6 else []
        return [*kept, f"… {len(value)} items"] if len(value) > len(kept) else kept
    if isinstance(value, dict):
        kept_keys = list(value)[: 100 if depth < 6 else 0]
        outlined = {key: _outline(value[key], depth + 1) for key in kept_keys}
        return outlined if len(kept_keys) == len(value) else {**outlined, "…": f"{len(value)} keys"}
    return value


def _outlined_records(values: Sequence[Any], depth: int) -> dict[str, Any]:
    sampled = sample_places(len(values))
    places = sorted({*sampled[:: 3 if depth < 3 else 10], sampled[-1]})
    shown = {f"record {n + 1}": _outline(values[n], depth + 1) for n in places} if depth < 6 else {}
    return {"…": f"{len(values)} records, {len(shown)} are shown", "fields": dict(_fields(values)), **shown}


def _fields(values: Sequence[Any]) -> list[tuple[str, int]]:
    """Return the fields of records with the number of records that have each, at most 60."""
    return Counter(str(key) for value in values if isinstance(value, dict) for key in value).most_common(60)


def _short(text: str, most: int = CELL_CHARS) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= most else f"{line[:most]}… ({len(line)} characters)"


# ---- HTML ----

HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "iframe", "nav"})
CODE = frozenset({"script", "style"})
BLOCKS = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "ul",
        "ol",
        "table",
        "pre",
        "blockquote",
        "header",
        "footer",
        "main",
        "figure",
        "dl",
    }
)
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}


def _read_html(text: str) -> Material:
    reader = _HtmlReader(HIDDEN)
    reader.feed(text)
    reader.close()
    if reader.hidden:  # something hidden never ends: better too much than the rest of the page lost
        reader = _HtmlReader(CODE)
        reader.feed(text)
        reader.close()
    return Material(reader.result(), f"web page of {len(text)} characters as text")


class _HtmlReader(HTMLParser):
    """Collects what a reader of the page would see, with headings, items and table rows kept apart."""

    def __init__(self, hiding: Collection[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.hiding = hiding
        self.parts: list[str] = []
        self.hidden = 0
        self.titles = 0
        self.kept_lines = 0
        """How many elements around here keep their line ends."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.hidden:
            self.titles += 1
            self.parts.append("\n\n# ")
        elif tag in self.hiding:
            self.hidden += 1
        elif tag == "body":
            self.hidden = 0
        elif tag in HEADINGS:
            self.parts.append("\n\n" + HEADINGS[tag])
        elif tag in BLOCKS:
            self.kept_lines += tag == "pre"
            self.parts.append("\n\n")
        elif tag in ("br", "tr"):
            self.parts.append("\n")
        elif tag in ("li", "dt", "dd"):
            self.parts.append("\n- ")
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag == "img":
            self.parts.append(f" [image: {dict(attrs).get('alt') or 'no description'}] ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and self.titles:
            self.titles -= 1
            self.parts.append("\n\n")
        elif tag in self.hiding:
            self.hidden = max(0, self.hidden - 1)
        elif tag in HEADINGS or tag in BLOCKS:
            self.kept_lines = max(0, self.kept_lines - (tag == "pre"))
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self.kept_lines and not self.hidden:
            self.parts.append(re.sub(r"\n(?=[ \t]*\n)", "", data))
        elif self.titles or not self.hidden:
            self.parts.append(re.sub(r"[ \t\r\f\v]*\n[ \t\r\f\v\n]*", " ", data))

    def result(self) -> str:
        """Return the text with blanks and blank lines squeezed."""
        lines = [re.sub(r"[ \t\xa0]+", " ", line).strip() for line in "".join(self.parts).split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
