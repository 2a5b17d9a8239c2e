"""Every character of the material reaches a batch, and no batch is over the budget."""

from hypothesis import given
from hypothesis import strategies as st

from reme_graphs.auto_dream.batches import Material, clip, cost_of, cut, make_batches

TEXTS = st.text(alphabet="ab字 \n", max_size=400)


@given(st.lists(TEXTS, max_size=6), st.integers(min_value=200, max_value=600))
def test_batches_hold_all_material_in_order_and_within_the_budget(texts: list[str], budget: int) -> None:
    materials = [Material(f"daily/2026-01-12/{n}.md", text) for n, text in enumerate(texts)]
    batches = make_batches(materials, budget)
    pieces = [piece for batch in batches for piece in batch]
    for material in materials:
        assert "".join(piece.text for piece in pieces if piece.path == material.path) == material.text
    assert all(sum(piece.cost for piece in batch) <= budget for batch in batches)


def test_small_notes_share_a_batch() -> None:
    materials = [Material(f"{n}.md", "short\n") for n in range(10)]
    assert len(make_batches(materials, 5_000)) == 1


def test_a_large_note_comes_in_numbered_pieces_of_whole_lines() -> None:
    pieces = cut(Material("big.md", "a line of words\n" * 100), 500)
    assert [piece.label for piece in pieces] == [f"big.md part {n}/{len(pieces)}" for n in range(1, len(pieces) + 1)]
    assert all(piece.text.endswith("\n") for piece in pieces)


def test_chinese_weighs_more_than_its_characters() -> None:
    assert cost_of("汉字") == 3 * cost_of("ab")
    assert len(make_batches([Material(f"{n}.md", "汉" * 300) for n in range(4)], 2_100)) == 2


@given(TEXTS, st.integers(min_value=1, max_value=300))
def test_a_clipped_text_is_a_beginning_that_fits(text: str, room: int) -> None:
    shown = clip(text, room)
    assert text.startswith(shown)
    assert cost_of(shown) <= max(room, 3)
