"""How does an update change the note of a task?

Pure: note text and update in, note text out. Each section has one rule, so that append-only holds by construction:
Objective is set once and never lost, Plan and Next are replaced, Progress, Findings and Decisions only grow, Materials
is a union. What a person wrote (other sections, lines inside a section, front matter) stays.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import quote, unquote

from reme_graphs.offline.sentences import heading_lines
from reme_store.text.front_matter import parse_note, render_front_matter, update_front_matter

TITLES = ("Objective", "Plan", "Progress", "Findings", "Decisions", "Next", "Materials")
_STAMP = re.compile(r"^\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?(?:\s*[-–—:：])?\s+")
_MARK = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)]|\[[ xX]\])(?:\s+|$))*")
_SEPARATOR = re.compile(r"^[-–—:：]\s+")
_FENCE = re.compile(r"^(?:`{3,}|~{3,})\s*")
_UNLINKABLE = re.compile(r"[\[\]#|]")
_EARLIER = re.compile(r"^_Before \d{4}-\d{2}-\d{2}:_$")
_LINKED = re.compile(r"\[\[([^\]|#]+)[^\]]*\]\]|\]\(<?([^)>]+)>?\)")


@dataclass(frozen=True, slots=True)
class TaskNote:
    """A task note taken apart: what stands before the first section, then the sections in order."""

    head: str
    preamble: tuple[str, ...]
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    """(heading line, lines below it)."""

    def lines(self, title: str) -> list[str]:
        """Lines of the first section of that title; empty where there is none."""
        return list(next((rows for heading, rows in self.sections if _title(heading) == title.casefold()), ()))


@dataclass(frozen=True, slots=True)
class Update:
    """What a run adds to the note of a task."""

    day: str
    stamp: str
    title: str
    description: str = ""
    objective: str = ""
    plan: Sequence[str] = ()
    progress: Sequence[str] = ()
    findings: Sequence[str] = ()
    decisions: Sequence[str] = ()
    next: Sequence[Mapping[str, Any]] = ()
    completed: bool = False
    inherits: str = ""
    materials: Mapping[str, str] = field(default_factory=dict)
    """Path of each material of the folder and what it is."""


def read_task_note(text: str) -> TaskNote:
    """Take a task note apart; joining the parts gives the text again."""
    body = parse_note(text).body
    lines = body.split("\n")
    starts = [n for n in heading_lines(lines) if lines[n].startswith("## ")]
    ends = [*starts[1:], len(lines)][: len(starts)]
    sections = tuple((lines[a], tuple(lines[a + 1 : b])) for a, b in zip(starts, ends, strict=True))
    return TaskNote(text[: len(text) - len(body)], tuple(lines[: starts[0] if starts else len(lines)]), sections)


def has_task_sections(text: str) -> bool:
    """Tell whether a note has the sections that every task note starts with."""
    found = {_title(heading) for heading, _ in read_task_note(text).sections}
    return {"objective", "progress"} <= found


def new_task_note(update: Update, note_path: str) -> str:
    """Write the note of a new or inherited task."""
    matter = {
        "title": update.title,
        "description": update.description,
        "status": "active",
        "created": date.fromisoformat(update.day),
        "updated": date.fromisoformat(update.day),
        **({"inherits": f"[[{update.inherits}]]"} if update.inherits else {}),
    }
    empty = render_front_matter(matter) + "".join(f"\n## {title}\n" for title in TITLES)
    return merge_task_note(empty, update, note_path)


def merge_task_note(text: str, update: Update, note_path: str) -> str:
    """Apply an update to the note of a task. Applying the same update again changes nothing.

    Line ends follow the note's; a front matter that does not parse is left as it is.
    """
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return merge_task_note(text.replace("\r\n", "\n"), update, note_path).replace("\n", "\r\n")
    note = read_task_note(text)
    rules = {
        "Objective": lambda old: _set_objective(old, update.objective, update.day),
        "Plan": lambda old: _replace(old, [f"{n}. {step}" for n, step in enumerate(_clean(update.plan), 1)]),
        "Progress": lambda old: _append(old, _clean(update.progress), update.stamp),
        "Findings": lambda old: _append(old, _clean(update.findings)),
        "Decisions": lambda old: _append(old, _clean(update.decisions)),
        "Next": lambda old: _replace(old, _checkboxes(update.next)),
        "Materials": lambda old: _union(old, update.materials, note_path),
    }
    for title, rule in rules.items():
        note = _with_section(note, title, rule)
    return _with_matter(_joined(note), update)


def listed_materials(text: str, note_path: str) -> set[str]:
    """Paths that the Materials section links, relative links resolved against the note's folder."""
    folder = note_path.rpartition("/")[0]
    found: set[str] = set()
    for line in read_task_note(text).lines("Materials"):
        for wiki, plain in _LINKED.findall(line):
            target = wiki.strip() or unquote(plain.strip())
            found.add(target if wiki or "/" in target.removeprefix("./") else f"{folder}/{target.removeprefix('./')}")
    return found | {f"{folder}/{path}" for path in found}


def section_text(text: str, title: str) -> str:
    """Text of a section without the blank lines around it."""
    return "\n".join(read_task_note(text).lines(title)).strip()


def objective_of(text: str) -> str:
    """The objective that holds now."""
    return "\n".join(_current(read_task_note(text).lines("Objective"))).strip()


def plan_of(text: str) -> list[str]:
    """Steps of the plan."""
    return [step for line in read_task_note(text).lines("Plan") if (step := _bare(line))]


def _with_section(note: TaskNote, title: str, rule: Any) -> TaskNote:
    place = next((n for n, (heading, _) in enumerate(note.sections) if _title(heading) == title.casefold()), None)
    if place is not None:
        heading, rows = note.sections[place]
        changed = (heading, tuple(rule(list(rows))))
        return TaskNote(note.head, note.preamble, (*note.sections[:place], changed, *note.sections[place + 1 :]))
    rows = rule([""])
    if not any(row.strip() for row in rows):
        return note
    before = {t.casefold() for t in TITLES[: TITLES.index(title)]}
    at = max((n + 1 for n, (heading, _) in enumerate(note.sections) if _title(heading) in before), default=0)
    made = (f"## {title}", (*([""] if rows[0].strip() else []), *rows, *([""] if rows[-1].strip() else [])))
    return TaskNote(note.head, note.preamble, (*note.sections[:at], made, *note.sections[at:]))


def _joined(note: TaskNote) -> str:
    rows = [*note.preamble]
    for heading, lines in note.sections:
        rows += [heading, *lines]
    return note.head + "\n".join(rows)


def _title(heading: str) -> str:
    return heading.lstrip("#").strip().rstrip(":：").casefold()


def _clean(items: Sequence[str]) -> list[str]:
    """One line each, without list marks, each once; what would read as a heading or a link's edge cannot arise."""
    lines = (_MARK.sub("", _plain(item)).strip() for item in items)
    return list(dict.fromkeys(line for line in lines if line))


def _plain(text: str) -> str:
    """One line of text that hides nothing after it: no open fence and no open comment."""
    return _FENCE.sub("", re.sub(r"\s+", " ", str(text)).strip()).replace("<!--", "&lt;!--")


def _bare(line: str) -> str:
    """What a line says: without list marks, check boxes, time stamps and what separates these from it."""
    text = line.strip()
    while (shorter := _SEPARATOR.sub("", _STAMP.sub("", _MARK.sub("", text))).strip()) != text:
        text = shorter
    return text


def _key(line: str) -> str:
    return re.sub(r"[\s*_`]+", "", _bare(line)).strip(".。;；").casefold()


# ---- one rule a section -------------------------------------------------------------------------


def _append(old: list[str], items: Sequence[str], stamp: str = "") -> list[str]:
    """Add items at the end of the section's text; an item that stands there already is not added."""
    known = {_key(line) for line in old if line.strip()}
    fresh = [item for item in {_key(i): i for i in items}.values() if _key(item) and _key(item) not in known]
    lines = [f"- {stamp} {_STAMP.sub('', item)}" if stamp else f"- {item}" for item in fresh]
    return _placed(old, lines) if lines else old


def _placed(old: list[str], lines: Sequence[str]) -> list[str]:
    """Put lines after the last line with text, a blank line kept around the section."""
    end = len(old)
    while end and not old[end - 1].strip():
        end -= 1
    if not end:
        return ["", *lines, ""]
    apart = [] if re.match(r"\s*(?:[-*+]|\d+[.)])\s", old[end - 1]) or old[end - 1].startswith((" ", "\t")) else [""]
    return [*old[:end], *apart, *lines, *(old[end:] or [])]


def _replace(old: list[str], lines: Sequence[str]) -> list[str]:
    """Replace a section; nothing to say leaves it as it is."""
    if not lines or [row for row in old if row.strip()] == list(lines):
        return old
    return ["", *lines, ""]


def _checkboxes(items: Sequence[Mapping[str, Any]]) -> list[str]:
    boxes: dict[str, str] = {}
    for item in items:
        [text] = _clean([str(item.get("text", ""))]) or [""]
        if text:
            boxes[_key(text)] = f"- [{'x' if item.get('done') else ' '}] {text}"
    return list(boxes.values())


def _set_objective(old: list[str], objective: str, day: str) -> list[str]:
    """Set the objective; a differing one goes to the top and the old one stays below it."""
    lines = (_plain(line.strip().lstrip("# ")) for line in objective.split("\n"))
    new = [line for line in lines if _key(line)]
    current = _current(old)
    if not new or [_key(line) for line in current if line.strip()] == [_key(line) for line in new]:
        return old
    kept = _trimmed(old)
    if not kept:
        return ["", *new, ""]
    return ["", *new, "", f"_Before {day}:_", "", *kept, ""]


def _current(lines: Sequence[str]) -> list[str]:
    end = next((n for n, line in enumerate(lines) if _EARLIER.match(line.strip())), len(lines))
    return _trimmed(lines[:end])


def _trimmed(lines: Sequence[str]) -> list[str]:
    rows = list(lines)
    while rows and not rows[0].strip():
        rows.pop(0)
    while rows and not rows[-1].strip():
        rows.pop()
    return rows


def _union(old: list[str], materials: Mapping[str, str], note_path: str) -> list[str]:
    """List the materials that no line links yet."""
    folder = note_path.rpartition("/")[0]
    text = "## Materials\n" + "\n".join(old)
    known = listed_materials(text, note_path)
    lines = [_material_line(path, note, folder) for path, note in materials.items() if path not in known]
    return _placed(old, lines) if lines else old


def _material_line(path: str, note: str, folder: str) -> str:
    """A note as wikilink with its full path, any other file as Markdown link relative to the task note.

    A note whose path a wikilink cannot hold is linked like any other file.
    """
    said = " — " + _plain(note) if note.strip() else ""
    if path.endswith(".md") and not _UNLINKABLE.search(path):
        return f"- [[{path}]]{said}"
    name = path.removeprefix(folder + "/")
    label = re.sub(r"([\[\]])", r"\\\1", name)
    return f"- [{label}]({quote(name)}){said}"


def _with_matter(text: str, update: Update) -> str:
    """Bring the front matter up to date, touching only lines whose value differs."""
    parsed = parse_note(text)
    if parsed.fault:
        return text
    have = parsed.front_matter
    wanted: dict[str, Any] = {"updated": date.fromisoformat(update.day)}
    if update.description.strip():
        wanted["description"] = re.sub(r"\s+", " ", update.description).strip()
    if update.completed:
        wanted["status"] = "completed"
    elif any(not item.get("done") for item in update.next) and have.get("status") == "completed":
        wanted["status"] = "active"
    differing = {key: value for key, value in wanted.items() if str(have.get(key)) != str(value)}
    return update_front_matter(text, differing) if differing else text
