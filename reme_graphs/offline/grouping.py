"""Which statements belong together, and what is their theme called?

A group is one theme of one speaker (or of nobody in particular) in one bucket. Steps of one list stay together; other
statements gather around the term that most of them share. Groups of one source do not depend on other sources, so that
what was extracted can be found again when it is integrated.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reme_graphs.offline.material import Statement
from reme_graphs.offline.notes import title_of
from reme_graphs.offline.salience import WORTH, is_first_person, is_personal
from reme_graphs.offline.terms import overlap, rarity, themes

BUCKETS = ("personal", "procedure", "wiki")
USER = "About the user"
"""Name of the profile of a user without a name."""
STRONG = 3.0
"""Score from which a statement may stand alone."""
_PLURAL = re.compile(r"\b(?:we|our|us|team|let'?s)\b|我们|团队|大家", re.IGNORECASE)
_SINGULAR = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|mine|me)\b|我(?!们)|本人", re.IGNORECASE)
_CONTINUES = re.compile(
    r"(?:from now on|instead|rather|so,? |also|and |now )|以后|今后|另外|同时|改成|所以", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Group:
    """Statements of one theme."""

    bucket: str
    speaker: str
    statements: tuple[Statement, ...]
    profile: bool = False
    """Whether it gathers what is known of a speaker besides their themes."""

    @property
    def weight(self) -> float:
        """How much the group is worth: its statements, the first ones most."""
        scores = sorted((s.score for s in self.statements), reverse=True)
        return sum(score / (1 + 0.5 * place) for place, score in enumerate(scores))

    @property
    def sources(self) -> list[str]:
        """Paths the statements come from, in order."""
        return list(dict.fromkeys(s.source for s in self.statements))

    @property
    def name(self) -> str:
        """Title of the theme."""
        if self.profile:
            return self.speaker or USER
        headings = {s.heading for s in self.statements}
        if self.bucket == "procedure" and len(headings) == 1 and _is_title(next(iter(headings))):
            return next(iter(headings))
        return title_of(self.statements)

    @property
    def terms(self) -> frozenset[str]:
        """Terms of all its statements."""
        return frozenset(term for s in self.statements for term in themes(s.text))


def bucket_of(statement: Statement) -> str:
    """Bucket of one statement by plain rules; what no rule claims is wiki."""
    text = statement.text
    if statement.kind == "procedure":
        return "procedure"
    if statement.kind == "preference":
        return "personal"
    ours = bool(_PLURAL.search(text)) and not _SINGULAR.search(text)
    if statement.kind == "decision":
        return "wiki" if ours or not is_first_person(text) else "personal"
    if statement.speaker:
        return "personal" if is_first_person(text) or is_personal(text) else "wiki"
    return "personal" if is_personal(text) and not ours else "wiki"


def group_source(statements: Sequence[Statement]) -> list[Group]:
    """Groups of the statements of one source, the weightiest first."""
    lasting = [s for s in statements if _lasts(s)]
    scopes: dict[tuple[str, str], list[Statement]] = {}
    for statement in lasting:
        bucket = bucket_of(statement)
        speaker = statement.speaker if bucket == "personal" else ""
        scopes.setdefault((bucket, speaker), []).append(statement)
    groups: list[Group] = []
    for (bucket, speaker), rows in scopes.items():
        gather = _runs(rows) if bucket == "procedure" else _themes_of(rows, speaker)
        groups += [Group(bucket, speaker, tuple(found)) for found in gather]
        if bucket == "personal":
            groups += _profile(rows, [g for g in groups if g.bucket == bucket and g.speaker == speaker], speaker)
    return sorted(groups, key=lambda g: (-g.weight, g.statements[0].order))


def merge_groups(groups: Iterable[Group]) -> list[Group]:
    """Join groups of one theme over the sources, the weightiest first."""
    merged: list[Group] = []
    for group in groups:
        place = next((n for n, other in enumerate(merged) if same_theme(group, other)), None)
        if place is None:
            merged.append(group)
        else:
            other = merged[place]
            known = {s.key for s in other.statements}
            rows = (
                *other.statements,
                *(s for s in group.statements if s.key not in known or s.source not in other.sources),
            )
            merged[place] = Group(other.bucket, other.speaker, rows, other.profile and group.profile)
    return sorted(merged, key=lambda g: (-g.weight, g.name))


def same_theme(left: Group, right: Group) -> bool:
    """Tell whether two groups are about one thing."""
    if (left.bucket, left.speaker, left.profile) != (right.bucket, right.speaker, right.profile):
        return False
    if left.profile:
        return True
    return shared_theme(title_terms(left.name), left.terms, title_terms(right.name), right.terms)


def shared_theme(
    title: frozenset[str], body: frozenset[str], other_title: frozenset[str], other_body: frozenset[str]
) -> bool:
    """Tell one theme: the titles meet and the bodies support it, or the bodies alone overlap widely."""
    in_titles = title & other_title
    crossed = len((title & other_body) | (other_title & body))
    shared = overlap(body, other_body)
    return (
        (bool(in_titles) and (crossed >= 2 or shared >= 0.2))
        or (crossed >= 2 and shared >= 0.34)
        or (len(body & other_body) >= 4 and shared >= 0.5)
    )


def title_terms(title: str) -> frozenset[str]:
    """Terms of a title without the speaker before it."""
    return frozenset(themes(re.split(r"[:：]\s*", title, maxsplit=1)[-1]))


def _is_title(heading: str) -> bool:
    return 3 <= len(heading) <= 60 and bool(themes(heading)) and not re.search(r"[:：]", heading)


def _lasts(statement: Statement) -> bool:
    """Tell what belongs to lasting knowledge: an open task of an unnamed user does not, unless it is more than that."""
    return statement.kind != "task" or (bool(statement.speaker) and is_personal(statement.text))


def _runs(rows: Sequence[Statement]) -> list[list[Statement]]:
    """Procedures: steps under one heading belong together, a loose one needs a shared theme or worth of its own."""
    found: list[list[Statement]] = []
    for row in rows:
        last = found[-1] if found else []
        joined = (
            last
            and row.heading == last[-1].heading
            and (
                _follows(last[-1], row) or overlap(themes(row.text), [t for s in last for t in themes(s.text)]) >= 0.25
            )
        )
        if joined:
            last.append(row)
        else:
            found.append([row])
    return [run for run in found if len(run) > 1 or run[0].code or run[0].score >= STRONG - 0.5]


def _follows(before: Statement, after: Statement) -> bool:
    """Tell consecutive steps of one list."""
    if before.mark == "-" or after.mark == "-":
        return _is_title(after.heading)
    return int(re.sub(r"\D", "", after.mark) or 0) == int(re.sub(r"\D", "", before.mark) or 0) + 1


def _themes_of(rows: Sequence[Statement], speaker: str) -> list[list[Statement]]:
    """Gather statements around shared terms; what stays alone must be strong."""
    weights = rarity(themes(s.text) for s in rows)
    open_rows = list(rows)
    found: list[list[Statement]] = []
    while anchor := _anchor(open_rows, weights, len(rows)):
        members = [s for s in open_rows if anchor in themes(s.text)]
        around = Counter(term for s in members for term in set(themes(s.text)))
        near = [
            s
            for s in open_rows
            if s not in members
            and sum(1 for t in set(themes(s.text)) if around[t] > 1 or (around[t] and len(members) < 4)) >= 2
        ]
        taken = sorted([*members, *near], key=lambda s: s.order)
        found.append(taken)
        open_rows = [s for s in open_rows if s not in taken]
    alone = [[s] for s in open_rows if not speaker and _stands_alone(s)]
    return _continued(found + alone, open_rows)


def _continued(groups: list[list[Statement]], rest: Sequence[Statement]) -> list[list[Statement]]:
    """Join a statement that continues the one before it ("From now on …") to that one's group."""
    place = {s.key: n for n, group in enumerate(groups) for s in group}
    before = {s.order: s for group in groups for s in group} | {s.order: s for s in rest}
    for group in list(groups):
        first = group[0]
        earlier = before.get(first.order - 1)
        if len(group) == 1 and earlier and _CONTINUES.match(first.text):
            if earlier.key in place and groups[place[earlier.key]] is not group:
                groups[place[earlier.key]].append(first)
                groups[place[first.key]] = []
            elif earlier.key not in place:
                group.insert(0, earlier)
    return [group for group in groups if group]


def _anchor(rows: Sequence[Statement], weights: Mapping[str, float], size: int) -> str:
    """The term around which most worth gathers; empty when no term is shared by two statements."""
    gains: dict[str, float] = {}
    counts: Counter[str] = Counter()
    for row in rows:
        for term in set(themes(row.text)):
            gains[term] = gains.get(term, 0.0) + row.score
            counts[term] += 1
    shared = [t for t in gains if counts[t] >= 2 and (size < 7 or counts[t] <= size * 0.6)]
    return max(shared, key=lambda t: (gains[t] * (1 + 0.1 * weights.get(t, 1.0)), t), default="")


def _stands_alone(statement: Statement) -> bool:
    needed = STRONG - 0.9 if statement.kind in ("decision", "preference") else STRONG + 0.4
    return statement.score >= needed and bool(themes(statement.text))


def _profile(rows: Sequence[Statement], themed: Sequence[Group], speaker: str) -> list[Group]:
    """What is known of a speaker besides their themes: who they are, what they like, what they did."""
    taken = {s.key for g in themed for s in g.statements}
    least = STRONG - 0.4 if speaker else WORTH
    left = [s for s in rows if s.key not in taken and s.score >= least and themes(s.text)]
    return [Group("personal", speaker, tuple(left), profile=True)] if left else []
