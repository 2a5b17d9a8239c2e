"""Vectors of texts: what is kept, how near texts are, and what becomes of damage. One contract for any such index."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme_store.index.arrays import Array
from reme_store.index.protocols import VectorIndex
from reme_store.index.vectors import StoredVectors, folder_name

Made = Callable[[], VectorIndex]


class PlainVectors:
    """The same in plain Python, one product at a time."""

    def __init__(self) -> None:
        self._rows: dict[int, list[list[float]]] = {}

    def keys(self) -> Array:
        return np.array(sorted(self._rows), dtype=np.uint64)

    def add(self, vectors: Mapping[int, Array]) -> None:
        fresh = {key: np.asarray(rows).tolist() for key, rows in vectors.items()}
        sizes = {len(row) for rows in (*self._rows.values(), *fresh.values()) for row in rows}
        self._rows = {**(self._rows if len(sizes) == 1 else {}), **fresh}

    def similarities(self, vector: Array) -> tuple[Array, Array]:
        cosines = [max(_cosine(row, vector.tolist()) for row in rows) for _, rows in sorted(self._rows.items())]
        return self.keys(), np.array(cosines, dtype=np.float32)

    def retain(self, keys: Array) -> None:
        """Nothing has to be dropped."""

    def clear(self, reason: str) -> None:
        self._rows.clear()


def _cosine(one: list[float], other: list[float]) -> float:
    length = (sum(a * a for a in one) * sum(b * b for b in other)) ** 0.5
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0


@pytest.fixture(params=["stored", "plain"])
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> VectorIndex:
    return StoredVectors(tmp_path, "m") if request.param == "stored" else PlainVectors()


def texts(*rows: tuple[int, list[list[float]]]) -> dict[int, Array]:
    return {key: np.array(values, dtype=np.float32) for key, values in rows}


def near(index: VectorIndex, *vector: float) -> dict[int, float]:
    keys, cosines = index.similarities(np.array(vector, dtype=np.float32))
    return {int(key): pytest.approx(float(cosine), abs=1e-5) for key, cosine in zip(keys, cosines, strict=True)}


def test_nothing_is_near_where_there_is_nothing(vectors: VectorIndex) -> None:
    assert near(vectors, 1, 0) == {} and len(vectors.keys()) == 0


def test_similarity_is_the_cosine_whatever_the_lengths(vectors: VectorIndex) -> None:
    vectors.add(texts((1, [[3, 0]]), (2, [[0, 0.5]]), (3, [[-2, 0]])))
    assert near(vectors, 5, 0) == {1: 1.0, 2: 0.0, 3: -1.0}


def test_of_a_text_in_pieces_the_nearest_counts(vectors: VectorIndex) -> None:
    vectors.add(texts((7, [[1, 0], [0, 1], [-1, 0]])))
    assert near(vectors, 0, 2) == {7: 1.0}


def test_a_text_given_again_has_its_new_vectors(vectors: VectorIndex) -> None:
    vectors.add(texts((7, [[1, 0], [0, 1]]), (2**64 - 1, [[1, 1]])))
    vectors.add(texts((7, [[0, 1]])))
    assert vectors.keys().tolist() == [7, 2**64 - 1]
    assert near(vectors, 1, 0)[7] == 0.0


def test_vectors_of_another_size_replace_what_was_there(vectors: VectorIndex) -> None:
    vectors.add(texts((1, [[1, 0]])))
    vectors.add(texts((2, [[1, 0, 0]])))
    assert near(vectors, 1, 0, 0) == {2: 1.0}


def test_cleared_is_empty_and_can_be_filled_again(vectors: VectorIndex) -> None:
    vectors.add(texts((1, [[1, 0]])))
    vectors.clear("a test")
    assert len(vectors.keys()) == 0
    vectors.add(texts((2, [[1, 0, 0]])))
    assert vectors.keys().tolist() == [2]


_NUMBERS = st.floats(-10, 10, width=16)
_ROWS = st.lists(st.lists(_NUMBERS, min_size=3, max_size=3), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.dictionaries(st.integers(0, 12), _ROWS, max_size=5), max_size=8),
    st.lists(_NUMBERS, min_size=3, max_size=3),
    st.integers(0, 8),
)
def test_any_sequence_gives_what_plain_python_gives(
    tmp_path_factory: pytest.TempPathFactory, batches: list[dict[int, list[list[float]]]], wanted: list[float], at: int
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    stored, plain = StoredVectors(folder, "m"), PlainVectors()
    for n, batch in enumerate(batches):
        for index in (stored, plain):
            index.add(texts(*batch.items()))
        if n == at:
            stored.close()
            stored = StoredVectors(folder, "m")
    assert stored.keys().tolist() == plain.keys().tolist()
    expected = dict(
        zip(*(side.tolist() for side in plain.similarities(np.array(wanted, dtype=np.float32))), strict=True)
    )
    assert near(stored, *wanted) == {key: pytest.approx(value, abs=1e-5) for key, value in expected.items()}


def many(first: int, count: int) -> dict[int, Array]:
    random = np.random.default_rng(first)
    return {key: random.normal(size=(1, 8)).astype(np.float32) for key in range(first, first + count)}


def test_thousands_become_array_files_and_come_back_after_a_restart(tmp_path: Path) -> None:
    index, plain = StoredVectors(tmp_path, "m"), PlainVectors()
    for first in range(0, 9_000, 600):
        for each in (index, plain):
            each.add(many(first, 700))  # the last hundred is given again
    assert 1 <= len(list((tmp_path / "m").glob("*.arrays"))) <= 3
    index.close()
    again = StoredVectors(tmp_path, "m")
    wanted = np.arange(8, dtype=np.float32)
    keys, cosines = again.similarities(wanted)
    best = dict(zip(keys.tolist(), cosines.tolist(), strict=True))
    for key, cosine in zip(*(side.tolist() for side in plain.similarities(wanted)), strict=True):
        assert best[key] == pytest.approx(cosine, abs=1e-5)
    assert again.verify() == []


def test_another_process_sees_what_was_added_and_adds_to_it(tmp_path: Path) -> None:
    one, other = StoredVectors(tmp_path, "m"), StoredVectors(tmp_path, "m")
    one.add(many(0, 10))
    assert len(other.keys()) == 10
    other.add(many(10, 3_000))
    one.add(many(5_000, 1))
    assert one.keys().tolist() == other.keys().tolist() == [*range(3_010), 5_000]


def test_vectors_of_another_model_or_other_options_are_never_read(tmp_path: Path) -> None:
    StoredVectors(tmp_path, "provider:m/1").add(many(0, 5))
    assert len(StoredVectors(tmp_path, "provider:m/2").keys()) == 0
    assert len(StoredVectors(tmp_path, "provider:m/1").keys()) == 5
    assert len(StoredVectors(tmp_path, "provider:m/1", "longer pieces").keys()) == 0
    names = {folder_name(model) for model in ("a/b", "a:b", "a-b", "../a", "", "模型", "型模")}
    assert len(names) == 7 and not any("/" in name or name.startswith(".") for name in names)


def test_a_torn_frame_is_dropped_and_the_rest_stays(tmp_path: Path) -> None:
    index = StoredVectors(tmp_path, "m")
    index.add(many(0, 5))
    index.add(many(5, 5))
    index.close()
    (log,) = (tmp_path / "m").glob("*.zst")
    log.write_bytes(log.read_bytes()[:-3])
    again = StoredVectors(tmp_path, "m")
    assert again.keys().tolist() == [0, 1, 2, 3, 4]
    again.add(many(9, 1))
    assert StoredVectors(tmp_path, "m").keys().tolist() == [0, 1, 2, 3, 4, 9]


@pytest.mark.parametrize("kind", ["*.arrays", "manifest.json", "*.zst"])
@pytest.mark.parametrize("harm", ["cut", "gone"])
def test_damage_means_beginning_anew_never_wrong_vectors(tmp_path: Path, kind: str, harm: str) -> None:
    index = StoredVectors(tmp_path, "m")
    index.add(many(0, 2_500))
    index.add(many(2_500, 5))
    index.close()
    for path in (tmp_path / "m").glob(kind):
        path.unlink() if harm == "gone" else path.write_bytes(path.read_bytes()[:40])
    again = StoredVectors(tmp_path, "m")
    left = len(again.keys())
    assert left in ((0, 2_500) if kind == "*.zst" and harm == "cut" else (0,))
    again.add(many(0, 7))
    assert StoredVectors(tmp_path, "m").keys().tolist() == again.keys().tolist()


def test_a_flipped_bit_is_found_by_verifying(tmp_path: Path) -> None:
    index = StoredVectors(tmp_path, "m")
    index.add(many(0, 2_500))
    (path,) = (tmp_path / "m").glob("*.arrays")
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(bytes(data))
    assert len(index.verify()) == 1


def test_what_nobody_has_any_more_goes_when_it_is_most_of_it(tmp_path: Path) -> None:
    index = StoredVectors(tmp_path, "m")
    index.add(many(0, 3_000))
    index.retain(np.arange(10, dtype=np.uint64))
    assert len(index.keys()) == 3_000  # moving back and undoing cost nothing
    index.add(many(3_000, 3_000))
    index.retain(np.arange(10, dtype=np.uint64))
    assert index.keys().tolist() == list(range(10))
    assert StoredVectors(tmp_path, "m").keys().tolist() == list(range(10))
