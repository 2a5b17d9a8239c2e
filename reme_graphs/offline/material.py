"""Which statements does a note make, who made them, and when?

A statement is a verbatim sentence, or a list item taken whole, or a block of code that belongs to a step. Headings say
kind and speaker; predicates, links, comments and tables are form.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from reme_graphs.offline.salience import WORTH, Kind, Salience, judge
from reme_graphs.offline.sentences import Block, split_blocks, split_sentences, squeeze
from reme_store.text.front_matter import parse_note

LABELS: dict[Kind, tuple[str, str]] = {
    "decision": ("Decisions", "决定"),
    "preference": ("Preferences", "偏好"),
    "task": ("Open tasks", "待办"),
    "procedure": ("How to", "做法"),
    "fact": ("Facts", "事实"),
}
"""Headings of the notes offline mode writes, English and Chinese."""
_KIND_OF: dict[str, Kind] = {label.casefold(): kind for kind, labels in LABELS.items() for label in labels}
_TASK_NOTE: dict[str, Kind] = {"findings": "fact", "objective": "fact"}
_LEFT_OUT = frozenset({"next", "materials", "progress", "plan"})
"""Sections of a task note whose state is not lasting."""
_HOW_TO = re.compile(
    (
        r"\b(?:how[- ]to|steps?|procedure|runbook|rollback|roll back|install\w*|deploy\w*|set ?up|recipe|"
        r"troubleshoot\w*|checklist|workflow|instructions?)\b|步骤|流程|操作|做法|教程|部署|安装|回滚|清单|指南"
    ),
    re.IGNORECASE,
)
_PREDICATE = re.compile(r"^\s*(?:[-*]\s+)?[A-Za-z][A-Za-z0-9_]*\s*::")
_SPEAKER = re.compile(r"^(?P<who>[^:：#]{1,40}?)(?:\s*[:：]\s*(?P<label>[^:：]+))?$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Material:
    """A source note as it was read."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A verbatim statement and what is known of it."""

    text: str
    kind: Kind
    score: float
    source: str = ""
    speaker: str = ""
    heading: str = ""
    mark: str = "-"
    order: int = 0
    code: str = ""
    """Code that belongs to the statement, without its fence."""

    @property
    def key(self) -> str:
        """What two spellings of one statement share."""
        return squeeze(self.text)


def date_of(path: str) -> str:
    """The day in a path; empty where there is none."""
    found = _DATE.search(path)
    return found.group() if found else ""


def body_of(text: str) -> str:
    """Body of a note, front matter and comments left out."""
    return _COMMENT.sub("", parse_note(text).body)


@lru_cache(maxsize=256)
def read_statements(material: Material) -> tuple[Statement, ...]:
    """Statements of a note that are worth remembering, in order, each once."""
    found: dict[str, Statement] = {}
    for statement in _walk(material):
        if statement.key and statement.key not in found:
            found[statement.key] = replace(statement, order=len(found))
    return tuple(found.values())


def heading_kind(heading: str) -> tuple[Kind | None, str]:
    """Kind and speaker that a heading of an offline note gives; (None, "") for any other heading."""
    folded = heading.strip().casefold()
    if folded in _KIND_OF or folded in _TASK_NOTE:
        return _KIND_OF.get(folded) or _TASK_NOTE[folded], ""
    match = _SPEAKER.match(heading.strip())
    label = (match.group("label") or "") if match else ""
    if match and label.casefold() in _KIND_OF:
        return _KIND_OF[label.casefold()], match.group("who").strip()
    return None, ""


def is_form(text: str) -> bool:
    """Tell whether a line is form: a predicate, a bare link, a row of an index."""
    stripped = re.sub(r"!?\[\[[^\]]*\]\]", "", text)
    return (
        bool(_PREDICATE.match(text))
        or text.lstrip().startswith("[[")
        or not re.search(r"\w{2}|[\u3400-\u9fff]", stripped)
    )


def _walk(material: Material) -> Iterator[Statement]:
    kind: Kind | None = None
    speaker = heading = ""
    last: Statement | None = None
    for block in split_blocks(body_of(material.text)):
        if block.kind == "heading":
            heading = block.text.strip()
            kind, speaker = heading_kind(heading)
        elif heading.casefold() in _LEFT_OUT or block.kind == "table":
            continue
        elif block.kind == "code":
            if last and last.kind == "procedure" and block.text.count("\n") < 12:
                last = replace(last, code=block.text)
        else:
            for statement in _of_block(block, kind, bool(_HOW_TO.search(heading))):
                if last:
                    yield last
                last = replace(statement, source=material.path, speaker=speaker, heading=heading)
    if last:
        yield last


def _of_block(block: Block, kind: Kind | None, how_to: bool) -> Iterator[Statement]:
    for text in [block.text] if block.kind == "item" else split_sentences(block.text):
        if is_form(text) or "<!--" in text or ("::" in text and "[[" in text):
            continue
        judged = judge(text)
        if kind:
            judged = Salience(kind, max(judged.score, WORTH))
        elif how_to and block.kind == "item":
            judged = Salience("procedure", max(judged.score, WORTH + 0.5))
        if judged.score >= WORTH:
            mark = block.mark if block.kind == "item" and block.mark[0].isdigit() else "-"
            yield Statement(text, judged.kind, judged.score, mark=mark)
