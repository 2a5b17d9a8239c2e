"""Where does a sentence begin and end, in English and Chinese, in prose and in Markdown?

Invariant: every piece is verbatim text of the source; only white space inside it may be folded. Lists keep their
items whole, fenced code stays one block, tables and headings are not sentences.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reme_graphs.offline import words

BlockKind = Literal["heading", "paragraph", "item", "code", "table"]

_ABBREVIATIONS = frozenset(words.ABBREVIATIONS.split())
_FINAL_ABBREVIATIONS = frozenset(words.FINAL_ABBREVIATIONS.split())
_CLOSERS = "\"'”’」』)）]】》*_`"
_END = re.compile(
    rf"[。！？!?]+[{re.escape(_CLOSERS)}]*|(?:\.{{2,}}|\.)[{re.escape(_CLOSERS)}]*(?=\s|$|[\u4e00-\u9fff])"
)
_WIDE_END = re.compile(r"[。！？]")
_REPORTED = re.compile(r"\s*[，,]|[他她它我你您咱](?:们)?(?:说|问|道|答|想|喊)")
_EMOJI_TAIL = re.compile(
    "\\s*[\u2190-\u21ff\u2600-\u27bf\ufe0f\u200d\U0001f1e6-\U0001faff]+(?=\\s|$)|\\s+[:;]-?[)(DPp](?=\\s|$)"
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$")
_ITEM = re.compile(
    r"^(\s*)([-*+•](?=\s)|\d{1,3}[.)](?=\s|[\u4e00-\u9fff])|\d{1,3}、|[（(]\d{1,2}[)）])"
    r"\s*(?=\S)(?:\[([ xX])\]\s+)?(.*)$"
)
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*([-*_=]\s*){3,}$")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of Markdown between structural borders."""

    kind: BlockKind
    text: str
    """Verbatim, without the heading's or item's mark."""
    mark: str = ""
    """``##`` of a heading, ``-`` or ``1.`` of an item."""
    ticked: bool | None = None
    """State of a task's check box; None where there is none."""


def split_sentences(text: str) -> list[str]:
    """Split prose into verbatim sentences; line breaks inside a sentence become one space.

    Returns:
        Sentences in order, terminators and closing quotes included. Empty for blank text.
    """
    return [piece for line in _logical_lines(text) for piece in _split_line(line)]


def split_blocks(text: str) -> list[Block]:
    """Take Markdown apart into headings, paragraphs, list items, code and tables, in order."""
    return list(_blocks(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")))


def heading_lines(lines: Sequence[str]) -> list[int]:
    """Places of the heading lines, those inside fenced code left out."""
    found: list[int] = []
    number = 0
    while number < len(lines):
        if fence := _FENCE.match(lines[number]):
            number = _fence_end(lines, number, fence.group(1))
        elif _HEADING.match(lines[number]):
            found.append(number)
        number += 1
    return found


def has_cjk(text: str) -> bool:
    """Tell whether the text holds Chinese, Japanese or Korean letters."""
    return bool(_CJK.search(text))


def mostly_cjk(text: str) -> bool:
    """Tell whether the text is Chinese, Japanese or Korean: a CJK letter weighs as much as three Latin ones."""
    return 3 * len(_CJK.findall(text)) > len(re.findall(r"[A-Za-z]", text))


def mostly_chinese(text: str) -> bool:
    """Tell whether the text is Chinese rather than Japanese or Korean, which have letters of their own."""
    return mostly_cjk(text) and 5 * len(_KANA_OR_HANGUL.findall(text)) < len(_CJK.findall(text))


def squeeze(text: str) -> str:
    """Fold what does not change a statement: white space, emphasis, case, punctuation at the ends."""
    return re.sub(r"[\s*_`]+", "", text).strip(".,;:!?。，；：！？()（）—–-→\"'“”‘’").casefold()


def _logical_lines(text: str) -> Iterator[str]:
    """Join soft-wrapped lines; every other line break ends a sentence."""
    held = ""
    for raw in text.replace("\r\n", "\n").split("\n"):
        line = raw.strip()
        if held and line and _continues(held, line):
            held += ("" if _CJK.match(held[-1]) and _CJK.match(line[0]) else " ") + line
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _continues(held: str, line: str) -> bool:
    """Tell a line wrapped by an editor from a line its author ended."""
    if held[-1] in ".!?。！？:：;；" or _ITEM.match(line) or len(held) < 40:
        return False
    return line[0].islower() or bool(_CJK.match(held[-1]) and _CJK.match(line[0])) or held[-1] in ",，、"


def _split_line(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        if match.start() < start or not _ends_sentence(line, start, match):
            continue
        end = match.end()
        tail = _EMOJI_TAIL.match(line, end)
        end = tail.end() if tail else end
        if piece := line[start:end].strip():
            yield piece
        start = end
    if piece := line[start:].strip():
        yield piece


def _ends_sentence(line: str, start: int, match: re.Match[str]) -> bool:
    rest = line[match.end() :]
    if not rest.strip():
        return True
    if _WIDE_END.search(match.group()):
        return not (match.group()[-1] in _CLOSERS and _REPORTED.match(rest))
    if match.group()[0] in "!?":
        return rest[0].isspace() or bool(_CJK.match(rest)) or bool(_CJK.search(line[start : match.start()][-1:]))
    return _full_stop_ends(line[start : match.start()], match.group(), rest)


def _full_stop_ends(before: str, stop: str, rest: str) -> bool:
    """Decide over a full stop that white space or a CJK letter follows."""
    following = rest.lstrip()
    word = re.split(r"[\s(\[“\"']", before)[-1]
    if stop.startswith(".."):
        return following[:1].isupper() or bool(_CJK.match(following))
    if word.isdigit() and word == before.strip():
        return False
    if re.fullmatch(r"[A-Z]", word) and word != "I":
        return False
    if word.lower() in _ABBREVIATIONS:
        return word.lower() in _FINAL_ABBREVIATIONS and following[:1].isupper() and len(before) > 12
    return True


def _blocks(lines: list[str]) -> Iterator[Block]:
    paragraph: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        begun = not line.strip() or bool(_FENCE.match(line)) or _starts_block(line)
        if begun and paragraph:
            yield Block("paragraph", "\n".join(paragraph))
            paragraph = []
        if fence := _FENCE.match(line):
            end = _fence_end(lines, number, fence.group(1))
            yield Block("code", "\n".join(lines[number + 1 : end]), lines[number].strip())
            number = end + 1
            continue
        if heading := _HEADING.match(line):
            yield Block("heading", (heading.group(2) or "").strip(), heading.group(1))
        elif _TABLE.match(line):
            yield Block("table", line.strip())
        elif _RULE.match(line):
            pass
        elif item := _ITEM.match(line):
            end = _item_end(lines, number, len(item.group(1)))
            body = " ".join([item.group(4).strip(), *(wrapped.strip() for wrapped in lines[number + 1 : end])])
            box = item.group(3)
            yield Block("item", body.strip(), item.group(2), None if box is None else box in "xX")
            number = end
            continue
        elif line.strip():
            paragraph.append(re.sub(r"^\s*(>\s*)+", "", line))
        number += 1
    if paragraph:
        yield Block("paragraph", "\n".join(paragraph))


def _starts_block(line: str) -> bool:
    return bool(_HEADING.match(line) or _TABLE.match(line) or _RULE.match(line) or _ITEM.match(line))


def _fence_end(lines: Sequence[str], number: int, fence: str) -> int:
    """Line of the closing fence; past the end where the fence never closes."""
    for later in range(number + 1, len(lines)):
        if re.match(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}\s*$", lines[later]):
            return later
    return len(lines)


def _item_end(lines: list[str], number: int, indent: int) -> int:
    """Line after the item: wrapped lines belong to it, a blank line or another block ends it."""
    end = number + 1
    while end < len(lines):
        line = lines[end]
        deeper = len(line) - len(line.lstrip()) > indent
        if not line.strip() or _FENCE.match(line) or _starts_block(line) or not deeper:
            break
        end += 1
    return end
