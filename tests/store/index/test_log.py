"""The framed log: what was appended is read, what was torn is dropped."""

from pathlib import Path

import pytest
import zstandard

from reme_store.errors import IndexCorruptError
from reme_store.index.log import FrameLog, pack_frame


def filled(path: Path, count: int = 3) -> FrameLog:
    log = FrameLog(path)
    offset = 0
    for n in range(count):
        ((start, length),) = log.append([[{"n": n}, {"text": "字\nline"}]], at=offset)
        offset = start + length
    return log


def numbers(log: FrameLog) -> list[int]:
    return [frame.rows[0]["n"] for frame in log.frames()]


def test_frames_come_back_in_order(tmp_path: Path) -> None:
    log = filled(tmp_path / "a.jsonl.zst")
    assert numbers(log) == [0, 1, 2]
    offsets = [frame.offset for frame in log.frames()]
    assert log.read_line(offsets[1], 0) == {"n": 1}
    assert log.read_line(offsets[1], 1) == {"text": "字\nline"}


def test_the_file_is_a_plain_zstd_stream_of_json_lines(tmp_path: Path) -> None:
    log = filled(tmp_path / "a.jsonl.zst", 1)
    with zstandard.ZstdDecompressor().stream_reader(log.path.open("rb"), read_across_frames=True) as reader:
        assert reader.read().splitlines()[0] == b'{"n":0}'


def test_a_torn_tail_is_dropped_wherever_it_was_torn(tmp_path: Path) -> None:
    log = filled(tmp_path / "a.jsonl.zst")
    whole = log.path.read_bytes()
    last = [frame.offset for frame in log.frames()][-1]
    for cut in range(last + 1, len(whole)):
        log.path.write_bytes(whole[:cut])
        assert numbers(FrameLog(log.path)) == [0, 1]


def test_a_tail_of_zeros_is_torn(tmp_path: Path) -> None:
    log = filled(tmp_path / "a.jsonl.zst")
    log.path.write_bytes(log.path.read_bytes() + bytes(500))
    assert numbers(FrameLog(log.path)) == [0, 1, 2]


def test_the_next_append_replaces_the_torn_tail(tmp_path: Path) -> None:
    log = filled(tmp_path / "a.jsonl.zst")
    end = log.size()
    log.path.write_bytes(log.path.read_bytes() + pack_frame([{"n": 9}])[:-3])
    log = FrameLog(log.path)
    log.append([[{"n": 3}]], at=end)
    assert numbers(log) == [0, 1, 2, 3]
    assert log.size() == end + len(pack_frame([{"n": 3}]))


def test_damage_before_whole_frames_is_an_error_and_can_be_salvaged(tmp_path: Path) -> None:
    log = filled(tmp_path / "a.jsonl.zst")
    data = bytearray(log.path.read_bytes())
    second = [frame.offset for frame in log.frames()][1]
    data[second + 20] ^= 0xFF
    log.path.write_bytes(bytes(data))
    with pytest.raises(IndexCorruptError):
        numbers(FrameLog(log.path))
    frames, damaged = FrameLog(log.path).salvage()
    assert [frame.rows[0]["n"] for frame in frames] == [0, 2]
    assert damaged > 0


def test_a_replaced_file_is_noticed(tmp_path: Path) -> None:
    log = filled(tmp_path / "a.jsonl.zst")
    assert log.is_current()
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "b").replace(log.path)
    assert not log.is_current()
