"""May this text replace that note?

Pure checks of a draft against the note it was made from, shared by every graph that writes to digest/. Each returns
faults in words an agent can act on; a fault the old note already had is tolerated.
"""

from collections import Counter
from collections.abc import Iterable

from reme_store.text.front_matter import parse_note
from reme_store.text.wikilinks import fold_edges, parse_wikilinks

SURVIVING_SHARE = 0.6
"""Share of the old non-blank lines that an update keeps, order ignored."""
DERIVED = "derived_from"


def edge_faults(path: str, old: str, new: str) -> list[str]:
    """Name the outgoing edges (target, predicate) that the new text has lost."""
    lost = sorted(_edges(path, old) - _edges(path, new))
    return [
        f"the draft drops the link {_written(target, predicate)}; every link of the note must stay"
        for target, predicate in lost
    ]


def anchor_faults(old: str, new: str) -> list[str]:
    """Name the new links that carry an anchor; digest/ links whole notes."""
    added = sorted(_anchored(new) - _anchored(old))
    return [
        f"the new link [[{target}#{anchor}]] has an anchor; link the whole note: [[{target}]]"
        for target, anchor in added
    ]


def survival_faults(old: str, new: str) -> list[str]:
    """Refuse a text that keeps too little of the old lines."""
    before, after = _lines(old), _lines(new)
    kept, total = sum((before & after).values()), sum(before.values())
    if kept >= SURVIVING_SHARE * total:
        return []
    return [
        f"only {kept} of {total} lines of the note survive; keep what it says and change only what the unit changes"
    ]


def source_faults(path: str, old: str, new: str, sources: Iterable[str]) -> list[str]:
    """Check that each source stands once as ``derived_from::``."""
    before, after = _sources(old), _sources(new)
    faults = []
    for source in sources:
        line = f"{DERIVED}:: [[{source}]]"
        if after[source] == 0:
            faults.append(f"{path} lacks its source; add the line {line}")
        elif after[source] > max(1, before[source]):
            faults.append(f"{path} names a source {after[source]} times; keep one line {line}")
    return faults


def front_matter_faults(old: str, new: str) -> list[str]:
    """Refuse front matter that no longer parses."""
    fault = parse_note(new).fault
    return [f"the front matter of the draft does not parse: {fault}"] if fault and not parse_note(old).fault else []


def _edges(path: str, text: str) -> set[tuple[str, str]]:
    return {(edge.target_path, edge.predicate or "") for edge in fold_edges(path, parse_wikilinks(text))}


def _anchored(text: str) -> set[tuple[str, str]]:
    return {(link.target, link.anchor) for link in parse_wikilinks(text) if link.anchor and link.target}


def _sources(text: str) -> Counter[str]:
    return Counter(link.target for link in parse_wikilinks(text) if link.predicate == DERIVED)


def _lines(text: str) -> Counter[str]:
    return Counter(line.strip() for line in text.split("\n") if line.strip())


def _written(target: str, predicate: str) -> str:
    return f"{predicate}:: [[{target}]]" if predicate else f"[[{target}]]"
