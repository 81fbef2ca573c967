"""Reading recordings, good and bad, that are written here byte by byte from the format's description."""

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from stretto.errors import StrettoError
from stretto.records import HEADER, RECORD, read_directory, read_rank


def header(rank: int = 0, size: int = 1, count: int = 0, magic: bytes = b"STRETTO1", version: int = 1,
           record_bytes: int = 64, host: bytes = b"node") -> bytes:  # fmt: skip
    return struct.pack("<8sIIIiiI24sQ", magic, version, 64, record_bytes, rank, size, 0, host, count)


def record(arrival: int, leave: int, size: int = 8, sequence: int = 0, communicator: int = 0, collective: int = 0,
           ranks: int = 1, root: int = -1, algorithm: bytes = b"ring") -> bytes:  # fmt: skip
    return struct.pack("<qqQIIHHi24s", arrival, leave, size, sequence, communicator, collective, ranks, root, algorithm)


def write(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def test_layout_is_64_bytes_each() -> None:
    assert (HEADER.itemsize, RECORD.itemsize, len(header()), len(record(0, 0))) == (64, 64, 64, 64)


def test_every_field_is_read(tmp_path: Path) -> None:
    call = record(1000, 2500, 4096, 7, 3, 1, 5, 2, b"arrival_chain")
    recording = read_rank(write(tmp_path / "f", header(2, 5, 1), call))
    assert (recording.world_rank, recording.world_size, recording.host, recording.complete) == (2, 5, "node", True)
    assert recording.calls.tolist() == [(1000, 2500, 4096, 7, 3, 1, 5, 2, b"arrival_chain")]


def test_no_calls(tmp_path: Path) -> None:
    recording = read_rank(write(tmp_path / "f", header()))
    assert len(recording.calls) == 0
    assert recording.complete


def test_cut_off_last_record_is_left_out(tmp_path: Path) -> None:
    recording = read_rank(write(tmp_path / "f", header(count=2), record(1, 2), record(3, 4)[:40]))
    assert recording.calls["arrival_ns"].tolist() == [1]
    assert not recording.complete


def test_uncounted_records_are_read(tmp_path: Path) -> None:
    recording = read_rank(write(tmp_path / "f", header(count=0), record(1, 2), record(3, 4), b"\0" * 10))
    assert recording.calls["arrival_ns"].tolist() == [1, 3]
    assert not recording.complete


def test_room_after_the_counted_records_is_ignored(tmp_path: Path) -> None:
    recording = read_rank(write(tmp_path / "f", header(count=1), record(1, 2), b"\0" * 640))
    assert len(recording.calls) == 1
    assert recording.complete


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([b""], "too short"),
        ([header()[:63]], "too short"),
        ([header(magic=b"GARBAGE!")], "not a Stretto recording"),
        ([header(version=9)], "format 9"),
        ([header(record_bytes=72)], "(64, 72)"),
        ([header(rank=4, size=4)], "rank 4 of 4"),
        ([header(rank=-1, size=4)], "rank -1 of 4"),
        ([header(count=1), record(1, 2, collective=9)], "unknown collective"),
        ([header(count=1), record(2, 1)], "exit before its arrival"),
    ],
)
def test_bad_file_is_a_clear_error(tmp_path: Path, parts: Sequence[bytes], words: str) -> None:
    path = write(tmp_path / "rank-00000.stretto", *parts)
    with pytest.raises(StrettoError) as caught:
        read_rank(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(StrettoError, match="cannot be read"):
        read_rank(tmp_path / "none")


def test_directory_is_read_in_rank_order(tmp_path: Path) -> None:
    for rank in (2, 0, 1):
        write(tmp_path / f"rank-{rank:05}.stretto", header(rank, 3))
    assert [recording.world_rank for recording in read_directory(tmp_path)] == [0, 1, 2]


def test_directory_without_files(tmp_path: Path) -> None:
    with pytest.raises(StrettoError, match="no rank"):
        read_directory(tmp_path)


def test_directory_with_missing_rank(tmp_path: Path) -> None:
    for rank in (0, 2):
        write(tmp_path / f"rank-{rank:05}.stretto", header(rank, 3))
    with pytest.raises(StrettoError, match="missing"):
        read_directory(tmp_path)


def test_directory_of_two_runs(tmp_path: Path) -> None:
    write(tmp_path / "rank-00000.stretto", header(0, 1))
    write(tmp_path / "rank-00001.stretto", header(1, 2))
    with pytest.raises(StrettoError, match="two runs"):
        read_directory(tmp_path)
