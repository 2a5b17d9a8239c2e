"""The link graph of one segment, from both ends."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reme_store.index.links import LinkTable
from reme_store.models import FileLink


def link(source: str, target: str, anchor: str | None = None, predicate: str | None = None) -> FileLink:
    return FileLink(source, target, anchor, predicate)


def test_both_directions_with_anchor_and_predicate() -> None:
    table = LinkTable.build([[link("a", "b", "x", "is_a"), link("a", "c")], [], [link("c", "b")]])
    assert table.outlinks(0, "a") == [link("a", "b", "x", "is_a"), link("a", "c")]
    assert table.outlinks(1, "b") == []
    everyone = np.ones(3, dtype=bool)
    assert table.inlinks("b", everyone)[0] == [(0, "x", "is_a"), (2, None, None)]
    assert table.inlinks("b", np.array([False, True, True])) == ([(2, None, None)], 1)
    assert table.inlinks("unknown", everyone) == ([], 0)
    assert table.inlinks("b", everyone, 1) == ([(0, "x", "is_a")], 2)


LINKS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from([None, "x", "y"]), st.sampled_from([None, "p"])), max_size=4
)


@given(st.lists(st.tuples(LINKS, st.booleans()), min_size=2, max_size=8))
def test_a_merged_table_equals_one_built_at_once(
    notes: list[tuple[list[tuple[str, str | None, str | None]], bool]],
) -> None:
    links = [[link(str(n), *marks) for marks in item] for n, (item, _) in enumerate(notes)]
    kept = [n for n, (_, alive) in enumerate(notes) if alive]
    moved = np.full(len(notes), -1, dtype=np.int64)
    moved[kept] = np.arange(len(kept))
    half = len(notes) // 2
    tables = [(LinkTable.build(links[:half]), moved[:half]), (LinkTable.build(links[half:]), moved[half:])]
    merged = LinkTable.merge(tables, len(kept))
    at_once = LinkTable.build([links[n] for n in kept])
    everyone = np.ones(len(kept), dtype=bool)
    for place, note in enumerate(kept):
        assert merged.outlinks(place, str(note)) == at_once.outlinks(place, str(note))
    for target in "abcde":
        assert merged.inlinks(target, everyone) == at_once.inlinks(target, everyone)
