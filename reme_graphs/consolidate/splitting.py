"""Is a note overloaded, and may this plan take it apart?

Pure. A split keeps the parent at its path as overview and puts children beside it. Nothing is lost: every line of the
old body and every outgoing (target, predicate) pair stands in the parent or in a child, else the plan is refused.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from reme_graphs.draft_checks import anchor_faults
from reme_graphs.offline.splits import sections_of
from reme_graphs.offline.terms import overlap, themes
from reme_store.text.front_matter import parse_note, render_front_matter
from reme_store.text.markdown import Heading, read_headings
from reme_store.text.wikilinks import fold_edges, parse_wikilinks

MOST_CHUNKS = 2
"""A note of more chunks than this is overloaded."""
MOST_SECTIONS = 12
SPREAD_FROM_SECTIONS = 4
SPREAD_FROM_CHARS = 3_000
SPREAD_SHARE = 0.06
"""Mean share of terms two sections have in common, below which a note of some size is about several things."""
PART_OF = "part_of"


@dataclass(frozen=True, slots=True)
class Overload:
    """Why a note is overloaded, and how badly."""

    reasons: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Split:
    """A note taken apart."""

    parent: str
    """Whole new text of the parent."""
    children: Mapping[str, str]
    """Whole text by path."""


def measure(text: str, chunk_chars: int) -> Overload | None:
    """Tell whether a note is overloaded; None where it is not, or cannot be taken apart by its headings."""
    body = parse_note(text).body
    headings = _below_title(read_headings(body.replace("\r\n", "\n")))
    reasons: list[str] = []
    score = max(len(body) / (MOST_CHUNKS * chunk_chars), len(headings) / MOST_SECTIONS)
    if len(body) > MOST_CHUNKS * chunk_chars:
        reasons.append(f"{len(body)} characters, more than {MOST_CHUNKS * chunk_chars}")
    if len(headings) > MOST_SECTIONS:
        reasons.append(f"{len(headings)} sections, more than {MOST_SECTIONS}")
    shared = shared_terms(body)
    if not reasons and shared is not None and shared < SPREAD_SHARE:
        reasons.append(f"its sections share {shared:.0%} of their terms")
        score += SPREAD_SHARE - shared
    return Overload(tuple(reasons), round(score, 4)) if reasons else None


def _below_title(headings: Sequence[Heading]) -> Sequence[Heading]:
    """Leave out the title: the only heading of the first level."""
    first = [heading for heading in headings if heading.level == 1]
    return [heading for heading in headings if heading.level > 1] if len(first) == 1 else headings


def shared_terms(body: str) -> float | None:
    """Mean share of terms that two sections have in common; None where the note is too small to tell."""
    _, sections = sections_of(body)
    if len(sections) < SPREAD_FROM_SECTIONS or len(body) < SPREAD_FROM_CHARS:
        return None
    sets = [{term for line in lines for term in themes(line)} for _, lines in sections]
    told = [terms for terms in sets if len(terms) >= 8]
    if len(told) < SPREAD_FROM_SECTIONS:
        return None
    pairs = [overlap(left, right) for left, right in combinations(told[:40], 2)]
    return sum(pairs) / len(pairs)


def assemble(path: str, old: str, overview: str, children: Sequence[Mapping[str, Any]]) -> Split:
    """Build the texts of a plan.

    The parent keeps its front matter byte for byte, and all texts have the note's line ends. The list of children and
    ``part_of::`` are added where the plan has none.
    """
    if "\r\n" in old and old.count("\r\n") == old.count("\n"):
        plain = assemble(path, _unix(old), _unix(overview), [{**c, "body": _unix(str(c["body"]))} for c in children])
        made = {child: text.replace("\n", "\r\n") for child, text in plain.children.items()}
        return Split(plain.parent.replace("\n", "\r\n"), made)
    folder, _, stem = path.removesuffix(".md").rpartition("/")
    made = {}
    for child in children:
        name = str(child["name"]).strip().removesuffix(".md")
        made[f"{folder}/{name}.md"] = _child_text(path, name, child)
    body = parse_note(overview).body.strip("\n") or f"# {stem}"
    linked = {link.target for link in parse_wikilinks(body)}
    missing = [f"- [[{child}]]" for child in made if child not in linked]
    listed = "\n\n## Parts\n\n" + "\n".join(missing) if missing else ""
    return Split(_front_matter_of(old) + body + listed + "\n", made)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def split_faults(path: str, old: str, split: Split) -> list[str]:
    """Name what a split would lose or spoil; empty where it may land. Whether a child's path is free is not asked."""
    texts = [split.parent, *split.children.values()]
    faults = [*_line_faults(old, texts), *_edge_faults(path, old, split)]
    faults += [fault for text in texts for fault in anchor_faults(old, text)]
    if path in split.children:
        faults.append(f"a child has the parent's name {path!r}; give it another")
    if len({unicodedata.normalize("NFC", child).casefold() for child in split.children}) < len(split.children):
        faults.append("two children have names that differ only in case; give them names that differ")
    if len(parse_note(split.parent).body) >= len(parse_note(old).body):
        faults.append("the overview is not shorter than the note; move the sections into the children")
    old_lines = _lines(old)
    idle = [child for child, text in split.children.items() if not _lines(text) & old_lines]
    faults += [f"{child!r} takes over no line of the note; leave it out" for child in idle]
    return faults


def _child_text(parent: str, name: str, child: Mapping[str, Any]) -> str:
    parsed = parse_note(str(child["body"]))
    described = str(child.get("description") or parsed.front_matter.get("description") or "")
    body = parsed.body.strip("\n")
    links = parse_wikilinks(body)
    if not any(link.predicate == PART_OF and link.target == parent for link in links):
        body = f"{body}\n\n{PART_OF}:: [[{parent}]]"
    return render_front_matter({"name": name, "description": " ".join(described.split())}) + body + "\n"


def _front_matter_of(text: str) -> str:
    body = parse_note(text).body
    return text[: len(text) - len(body)] if body and text.endswith(body) else text if not body else ""


def _lines(text: str) -> Counter[str]:
    return Counter(line.rstrip() for line in parse_note(text).body.split("\n") if line.strip())


def _line_faults(old: str, texts: Sequence[str]) -> list[str]:
    kept: Counter[str] = Counter()
    for text in texts:
        kept += _lines(text)
    lost = list((_lines(old) - kept).elements())
    if not lost:
        return []
    shown = "; ".join(repr(line[:120]) for line in lost[:5])
    return [f"{len(lost)} lines of the note stand nowhere in the plan, among them {shown}; move them word for word"]


def _edge_faults(path: str, old: str, split: Split) -> list[str]:
    kept = _pairs(path, split.parent).union(*(_pairs(child, text) for child, text in split.children.items()))
    lost = sorted(_pairs(path, old) - kept)
    return [
        f"the plan loses the link {f'{predicate}:: ' if predicate else ''}[[{target}]]; keep it where its text goes"
        for target, predicate in lost
    ]


def _pairs(path: str, text: str) -> set[tuple[str, str]]:
    return {(edge.target_path, edge.predicate or "") for edge in fold_edges(path, parse_wikilinks(text))}
