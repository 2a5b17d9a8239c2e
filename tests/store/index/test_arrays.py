"""Arrays on disk: mapped back equal, and damage is noticed."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme_store.errors import IndexCorruptError
from reme_store.index.arrays import Strings, read_arrays, spans, write_arrays

ARRAYS = {
    "a": np.arange(7, dtype=np.uint32),
    "b": np.ones((3, 2), dtype=np.float64),
    "empty": np.zeros(0, dtype=np.int64),
}


def test_arrays_come_back_equal_and_typed(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x", ARRAYS)
    back = read_arrays(tmp_path / "x", verify=True)
    for name, array in ARRAYS.items():
        assert back[name].dtype == array.dtype
        assert np.array_equal(back[name], array)


def test_every_flipped_byte_of_content_is_found_by_verifying(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_arrays(path, ARRAYS)
    whole = path.read_bytes()
    content = bytes(ARRAYS["a"].tobytes())
    place = whole.index(content)
    for offset in (0, 4, place, place + 5, place + len(content) - 1):
        data = bytearray(whole)
        data[offset] ^= 1
        path.write_bytes(bytes(data))
        with pytest.raises(IndexCorruptError):
            read_arrays(path, verify=True)


@pytest.mark.parametrize("length", [0, 3, 40, 200])
def test_a_cut_file_is_an_error(tmp_path: Path, length: int) -> None:
    path = tmp_path / "x"
    write_arrays(path, ARRAYS)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(IndexCorruptError):
        read_arrays(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IndexCorruptError):
        read_arrays(tmp_path / "none")


@given(st.lists(st.text(), unique=True), st.text())
def test_strings_come_back_and_sorted_ones_are_found(texts: list[str], other: str) -> None:
    ordered = sorted(texts)
    strings = Strings.of(ordered)
    assert strings.texts() == [strings[n] for n in range(len(strings))] == ordered
    assert all(strings.find(text) == n for n, text in enumerate(ordered))
    assert strings.find(other) == (ordered.index(other) if other in ordered else -1)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=10))
def test_spans_are_the_ranges_one_after_another(ranges: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in ranges], dtype=np.int64)
    counts = np.array([count for _, count in ranges], dtype=np.int64)
    assert spans(starts, counts).tolist() == [start + n for start, count in ranges for n in range(count)]
