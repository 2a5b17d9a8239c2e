"""What does a conversation or a document leave in its daily note when no model is there?

Only verbatim sentences, under headings by kind and speaker; what the note already says is left out.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reme_graphs.offline.material import LABELS, Material, Statement, is_form, read_statements
from reme_graphs.offline.salience import WORTH, WORTH_OF_PERSON, Kind, is_change, judge
from reme_graphs.offline.sentences import (
    Block,
    heading_lines,
    mostly_chinese,
    mostly_cjk,
    split_blocks,
    split_sentences,
    squeeze,
)
from reme_graphs.offline.terms import key_phrases, rarity, themes

_GENERIC = re.compile(
    r"^(?:user|human|assistant|ai|bot|system|agent|model|me|you|none)?$|gpt|claude|gemini|assistant|agent|llama|qwen",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"^\s*(?:\[[^\]]{1,40}\]\s*)?([A-Z][\w .'-]{0,30}|[\u4e00-\u9fff]{1,6})[:：]\s*(?=\S)(?!//)")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.]{0,40}\b(?:instructions?|prompts?|guidelines|you(?:r| were| have))\b"
    r"|\b(?:always|never|only|must|should)\s+(?:answer|respond|reply|speak|write)\s+(?:only\s+)?(?:in\s+[A-Z]\w+|with|as|like|that)\b"
    r"|\byou are (?:now )?(?:an?|the) (?:AI|assistant|agent|language model|chatbot)\b|\bsystem prompt\b"
    r"|忽略(?:之前|以上|前面|先前|所有|一切)[^。]{0,12}(?:指令|指示|提示|规则|要求)"
    r"|(?:始终|总是|永远|一律|必须|只能?)(?:用|以)[^。]{1,8}(?:回答|回复|答复)|你(?:现在)?是(?:一[个名位])?(?:AI|人工智能|助手|智能体)",
    re.IGNORECASE,
)
"""What a document says to the program that reads it is no knowledge, and must not become a rule of somebody."""
_ORDERED = re.compile(r"^\d")
_MOST_STATEMENTS = 25
_MOST_OF_DOCUMENT = 40
_MOST_ROWS = 80


@dataclass(frozen=True, slots=True)
class OfflineNote:
    """What offline mode adds to a note."""

    body_additions: str
    """Markdown to append: headings and verbatim sentences."""
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class _Turn:
    speaker: str
    assistant: bool
    text: str


def write_note(messages: Sequence[Mapping[str, Any]], existing: str) -> OfflineNote | None:
    """Choose what a conversation leaves in its note.

    Args:
        messages: mappings with ``role``, ``name`` and ``text``; only users and assistants are heard.
        existing: text of the note so far, empty when there is none.

    Returns:
        The additions; None when nothing new is worth keeping.
    """
    spoken = [m for m in messages if m.get("role") in ("user", "assistant") and str(m.get("text") or "").strip()]
    turns = [turn for message in spoken for turn in _turns(message)]
    return _note(list(_said(turns)), existing, _MOST_STATEMENTS)


def interpret_resource(path: str, text: str, existing: str, *, about: str = "") -> OfflineNote | None:
    """Choose what a document leaves in its note; the arguments are as in `write_note`.

    Args:
        path: its suffix tells data (csv, json, jsonl, yaml) from prose.
        text: the document as text.
        existing: text of the note so far.
        about: what the text samples, where it is no longer the file itself.

    Returns:
        The additions; None when the document holds nothing that can be said in a line.
    """
    suffix = path.rsplit(".", 1)[-1].casefold()
    if suffix in ("csv", "json", "jsonl", "yaml", "yml"):
        turns = _recorded_turns(text, suffix)
        return (
            _note(list(_said(turns)), existing, _MOST_OF_DOCUMENT) if turns else _data_note(path, text, existing, about)
        )
    turns = _labelled_turns(text)
    if turns:
        return _note(list(_said(turns)), existing, _MOST_OF_DOCUMENT)
    return _document_note(text, existing)


def merge_additions(existing: str, additions: str) -> str:
    """Put additions under the headings a note already has; new headings go to the end.

    Every old line stays, in order. The result ends with a line end.
    """
    lines = existing.rstrip("\n").split("\n") if existing.strip() else []
    for heading, body in _sections(additions):
        at = _end_of_section(lines, heading) if heading else len(lines)
        if at is None or not heading:
            lines += [*([""] if lines else []), *([heading, ""] if heading else []), *body]
        else:
            lines[at:at] = body
    return "\n".join(lines) + "\n"


def title_of(statements: Sequence[Statement], limit: int = 3) -> str:
    """A short title: the speakers, then what their statements share."""
    speakers = list(dict.fromkeys(s.speaker for s in statements if s.speaker))[:3]
    ranked = sorted(statements, key=lambda s: (-s.score, s.order))
    words = key_phrases([s.text for s in ranked], limit, without=[w for name in speakers for w in name.split()])
    subject = ", ".join(words)
    return f"{', '.join(speakers)}: {subject}" if speakers and subject else subject or ", ".join(speakers)


def description_of(statements: Sequence[Statement], limit: int = 160) -> str:
    """The most telling statements that fit one line of `limit` Latin characters; a CJK letter counts twice."""
    limit = limit // 2 if mostly_cjk("".join(s.text for s in statements)) else limit
    ranked = sorted(statements, key=lambda s: (-s.score, s.order))
    chosen: list[Statement] = []
    for statement in ranked[:4]:
        if not chosen or len(" ".join(s.text for s in [*chosen, statement])) <= limit:
            chosen.append(statement)
    text = " ".join(s.text for s in sorted(chosen, key=lambda s: s.order))
    return re.sub(r"\s+", " ", text if len(text) <= 2 * limit else text[: 2 * limit].rsplit(" ", 1)[0] + " …")


def label(kind: Kind, speaker: str, chinese: bool) -> str:
    """Heading of the statements of one kind and speaker."""
    word = LABELS[kind][chinese]
    if not speaker:
        return word
    return f"{speaker}：{word}" if chinese else f"{speaker}: {word.lower()}"


# ---- what was said ------------------------------------------------------------------------------


def _turns(message: Mapping[str, Any]) -> list[_Turn]:
    text, name = str(message["text"]), str(message.get("name") or "").strip()
    if labelled := _labelled_turns(text):
        return labelled
    speaker = "" if _GENERIC.search(name) else re.sub(r"[\[\]#|:：\n]", " ", name).strip()
    return [_Turn(speaker, message["role"] == "assistant" and not speaker, text)]


def _labelled_turns(text: str) -> list[_Turn]:
    """Turns of a transcript whose lines name their speaker; empty when the text is none."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = [_LABELLED.match(line) for line in lines]
    names = [match.group(1) for match in found if match]
    if len(names) < 4 or len(names) < 0.6 * len(lines) or len(set(names)) < 2 or len(set(names)) > len(names) / 2:
        return []
    turns: list[_Turn] = []
    for line, match in zip(lines, found, strict=True):
        if match:
            who = match.group(1)
            generic = bool(_GENERIC.search(who))
            turns.append(
                _Turn("" if generic else who, who.casefold() in ("assistant", "ai", "bot"), line[match.end() :])
            )
        elif turns:
            turns[-1] = replace(turns[-1], text=turns[-1].text + "\n" + line)
    return turns


def _recorded_turns(text: str, suffix: str) -> list[_Turn]:
    """Turns of a conversation kept as JSON rows of role or name and text; empty for other data."""
    rows = _json_rows(text, suffix)
    turns: list[_Turn] = []
    for row in rows:
        said = row.get("content", row.get("text"))
        who = str(row.get("name") or row.get("speaker") or row.get("role") or "")
        if isinstance(said, str) and who:
            generic = bool(_GENERIC.search(who))
            turns.append(_Turn("" if generic else who, who.casefold() == "assistant", said))
    return turns if rows and len(turns) >= 0.8 * len(rows) else []


def _json_rows(text: str, suffix: str) -> list[dict[str, Any]]:
    if not suffix.startswith("json"):
        return []
    try:
        value = (
            [json.loads(line) for line in text.splitlines() if line.strip()] if suffix == "jsonl" else json.loads(text)
        )
    except ValueError:
        return []  # not JSON after all: its lines are read as they stand
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _said(turns: Iterable[_Turn]) -> Iterator[Statement]:
    """Every sentence of the turns with its worth, in order; steps of a list and their code stay together."""
    order = 0
    for turn in turns:
        held: Statement | None = None
        for statement in _of_turn(turn):
            if isinstance(statement, Block):
                if held and held.kind == "procedure" and held.score >= WORTH and statement.text.count("\n") < 12:
                    held = replace(held, code=statement.text)
                continue
            if held:
                yield held
            order += 1
            held = replace(statement, order=order)
        if held:
            yield held


def _of_turn(turn: _Turn) -> Iterator[Statement | Block]:
    blocks = split_blocks(turn.text)
    ordered = sum(block.kind == "item" and bool(_ORDERED.match(block.mark)) for block in blocks)
    runbook = ordered >= 2 and _is_runbook(blocks)
    for block in blocks:
        if block.kind == "code":
            yield block
        elif block.kind == "item" and runbook and _ORDERED.match(block.mark):
            yield Statement(block.text, "procedure", WORTH + 0.6, speaker=turn.speaker, mark=block.mark)
        elif block.kind in ("paragraph", "item"):
            for text in [block.text] if block.kind == "item" else split_sentences(block.text):
                judged = judge(text, assistant=turn.assistant)
                yield Statement(text, judged.kind, judged.score, speaker=turn.speaker)


def _is_runbook(blocks: Sequence[Block]) -> bool:
    """Tell steps to follow from a list of suggestions: several of them, or what leads to them, read as procedure."""
    steps = [block.text for block in blocks if block.kind == "item" and _ORDERED.match(block.mark)]
    lead = " ".join(block.text for block in blocks if block.kind == "paragraph")
    commands = sum(
        judge(step).kind == "procedure" or bool(re.search(r"`[^`]+`|^[A-Z]?[a-z]+ the ", step)) for step in steps
    )
    return len(steps) <= 15 and (
        2 * commands >= len(steps)
        or bool(
            re.search(r"\b(?:steps?|how to|runbook|procedure|in this order)\b|步骤|流程|顺序|做法", lead, re.IGNORECASE)
        )
    )


# ---- documents ------------------------------------------------------------------------------------


def _document_note(text: str, existing: str) -> OfflineNote | None:
    """A document's note: its telling sentences under its own headings."""
    found = list(read_statements(Material("", text)))
    if not found:
        prose = [
            s
            for block in split_blocks(text)
            if block.kind in ("paragraph", "item")
            for s in split_sentences(block.text)
        ]
        found = [
            Statement(s, "fact", WORTH, order=n) for n, s in enumerate(prose[:3]) if not is_form(s) and len(s) > 12
        ]
    said = [statement for statement in found if not _ORDER.search(statement.text)]
    return _note(said, existing, _MOST_OF_DOCUMENT, own_headings=True, title=_first_heading(text))


def _first_heading(text: str) -> str:
    return next((block.text for block in split_blocks(text) if block.kind == "heading" and block.text), "")


def _data_note(path: str, text: str, existing: str, about: str) -> OfflineNote | None:
    """A note of data: the file as it is when it is small, else its first rows, in one block of code."""
    rows = [row.rstrip("\r") for row in text.split("\n") if row.strip()]
    whole = len(rows) <= _MOST_ROWS and len(text) <= 6000
    shown = rows if whole else _within(rows if about else rows[: _MOST_ROWS // 4], 8000 if about else 4000)
    known = squeeze(existing)
    if not shown or all(squeeze(row) in known for row in shown):
        return None
    heading = about[:1].upper() + about[1:] or ("Content" if whole else f"Rows 1-{len(shown)} of {len(rows)}")
    fence = "````" if "```" in text else "```"
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return OfflineNote(
        "\n".join([f"## {heading}", "", fence, *shown, fence]) + "\n", stem, _telling(text) or shown[0][:160]
    )


def _within(rows: Sequence[str], chars: int) -> list[str]:
    """As many of the first rows as fit, at least one; a longer row is left out rather than cut."""
    taken: list[str] = []
    for row in rows:
        if sum(map(len, taken)) + len(row) > chars:
            break
        taken.append(row)
    return taken or [rows[0][:chars]]


def _telling(text: str) -> str:
    """The longest value of some words in data, as it stands there."""
    values = re.findall(r'"([^"\\\n]{12,200})"|:[ \t]+([^\s"{\[][^\n]{12,200})', text)
    return max(
        (first or second for first, second in values if " " in (first or second).strip()), key=len, default=""
    ).strip()


# ---- the note -------------------------------------------------------------------------------------


def _note(
    found: list[Statement], existing: str, most: int, *, own_headings: bool = False, title: str = ""
) -> OfflineNote | None:
    fresh = _unsaid(found, existing)
    chosen = _unrepeated(_choose(fresh, most))
    if not chosen:
        return None
    additions = _render(chosen, own_headings=own_headings)
    return OfflineNote(additions, _one_line(title) or title_of(chosen), description_of(chosen))


def _one_line(title: str) -> str:
    return re.sub(r"[\[\]|]|\s+", " ", title).strip()[:80]


def _unsaid(found: Iterable[Statement], existing: str) -> list[Statement]:
    """Each statement once, without those the note holds already or another statement repeats."""
    known = squeeze(existing)
    fresh: dict[str, Statement] = {}
    for statement in found:
        key = statement.key
        if (
            key
            and key not in known
            and key not in fresh
            and not is_form(statement.text)
            and "<!--" not in statement.text
        ):
            fresh[key] = statement
    return list(fresh.values())


def _unrepeated(chosen: Sequence[Statement]) -> list[Statement]:
    """Leave out a statement that stands whole inside another one, an item of several sentences for example."""
    keys = [s.key for s in chosen]
    return [s for s in chosen if not any(len(s.key) > 8 and s.key in key and s.key != key for key in keys)]


def _choose(found: Sequence[Statement], most: int) -> list[Statement]:
    """The statements most worth keeping, in their order: at most `most`, and not much more than a third of all."""
    places = max(5, min(most, math.ceil(len(found) * 0.45)))
    weights = rarity(themes(s.text) for s in found)
    worth = [s for s in found if s.score >= (WORTH_OF_PERSON if s.speaker else WORTH)]
    ranked = sorted(worth, key=lambda s: (-(s.score + _novelty(s, weights)), s.order))
    kept = {s.key for s in ranked[:places]}
    runs = {s.key for s in worth if s.kind == "procedure" and s.mark != "-"}
    return [s for s in worth if s.key in kept or s.key in runs]


def _novelty(statement: Statement, weights: Mapping[str, float]) -> float:
    """Up to one point for terms that the rest of the text uses too, but not everywhere."""
    about = set(themes(statement.text))
    told = sum(1 for term in about if weights.get(term, 0.0) > 0)
    return min(1.0, told * 0.12) + (0.5 if is_change(statement.text) else 0.0)


def _render(chosen: Sequence[Statement], *, own_headings: bool) -> str:
    chinese = mostly_chinese(" ".join(s.text for s in chosen))
    groups: dict[str, list[Statement]] = {}
    for statement in chosen if own_headings else sorted(chosen, key=_group_order(chosen)):
        own = statement.heading if own_headings else ""
        groups.setdefault(own or label(statement.kind, statement.speaker, chinese), []).append(statement)
    parts = [
        f"## {heading}\n\n" + "\n".join(line for s in rows for line in render_statement(s))
        for heading, rows in groups.items()
    ]
    return "\n\n".join(parts) + "\n"


def render_statement(statement: Statement) -> list[str]:
    """Lines of one statement: a list item, and its code in a plain fence."""
    text = re.sub(r"\s*\n\s*", " ", statement.text)
    lines = [f"{statement.mark} {text}"]
    if statement.code:
        fence = "````" if "```" in statement.code else "```"
        lines += ["", fence, *statement.code.split("\n"), fence, ""]
    return lines


def _group_order(chosen: Sequence[Statement]) -> Any:
    speakers = list(dict.fromkeys(s.speaker for s in chosen))
    kinds = list(LABELS)
    return lambda s: (speakers.index(s.speaker), kinds.index(s.kind), s.order)


def _sections(additions: str) -> list[tuple[str, list[str]]]:
    """Additions as (heading line, lines below it), blank lines at both ends left out."""
    found: list[tuple[str, list[str]]] = []
    lines = additions.rstrip("\n").split("\n")
    headings = set(heading_lines(lines))
    for number, line in enumerate(lines):
        if number in headings:
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
        else:
            found.append(("", [line]))
    return [(heading, _trimmed(body)) for heading, body in found]


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _end_of_section(lines: Sequence[str], heading: str) -> int | None:
    """Where to insert at the end of a section's list; None when the note has no such heading."""
    headings = heading_lines(lines)
    start = next((n for n in headings if lines[n].strip() == heading), None)
    if start is None:
        return None
    end = next((n for n in headings if n > start), len(lines))
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end
