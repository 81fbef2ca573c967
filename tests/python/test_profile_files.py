"""Reading profiles, good and bad."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from profile_writer import FACTS_OFFSET, LAYOUT, RECORDS_OFFSET, Call, header, write_job, write_rank

from stretto.errors import StrettoError
from stretto.profile.files import HEADER, RECORD, RankFile, open_profile, read_rank


def arrivals(rank: RankFile, most: int = 1000) -> list[int]:
    return [int(call["arrival_ns"]) for block in rank.blocks(most) for call in block]


def test_layout_is_that_of_the_format() -> None:
    assert RECORD.itemsize == 64
    assert HEADER.itemsize == len(header(0, 1))


def test_every_field_is_read(tmp_path: Path) -> None:
    call = Call(1000, 2500, 7, "Reduce", 4096, 0, 2, "arrival_chain", 4, 0xABC, 1400)
    rank = read_rank(write_rank(tmp_path, 2, 5, [call], host="far"))
    assert (rank.world_rank, rank.world_size, rank.host, rank.unfinished, rank.run) == (2, 5, "far", False, 7)
    (block,) = rank.blocks(10)
    assert block.tolist() == [(1000, 2500, 1400, 4096, 0xABC, 7, 0, 2, 1, 0xFFFF, 0xFFFF, 2, 0xFFFF, 4)]


def test_fields_of_a_later_format_are_passed_over(tmp_path: Path) -> None:
    path = write_rank(tmp_path, 0, 1, [], layout=[*LAYOUT, ["more", "<u8"]], record_bytes=72, begun=1)
    path.write_bytes(path.read_bytes() + Call(5, 9).pack() + b"\1" * 8)
    assert arrivals(read_rank(path)) == [5]


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_ring_is_read_from_its_oldest_record(tmp_path: Path, most: int) -> None:
    calls = [Call(time, time + 1) for time in (40, 50, 20, 30)]  # places 0 to 3 of records number 4, 5, 2, 3
    rank = read_rank(write_rank(tmp_path, 0, 1, calls, capacity=4, begun=6))
    assert arrivals(rank, most) == [20, 30, 40, 50]
    assert rank.dropped == 2


def test_cut_off_records_are_left_out(tmp_path: Path) -> None:
    path = write_rank(tmp_path, 0, 1, [Call(1, 2), Call(3, 4)])
    path.write_bytes(path.read_bytes()[:-10])
    rank = read_rank(path)
    assert arrivals(rank) == [1]
    assert rank.dropped == 1


def test_record_that_was_being_written_is_left_out(tmp_path: Path) -> None:
    assert arrivals(read_rank(write_rank(tmp_path, 0, 1, [Call(1, 2), Call(0, 0), Call(5, 6)]))) == [1, 5]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ({"magic": b"GARBAGE!"}, "not a Stretto profile"),
        ({"version": 9}, "format 9"),
        ({"record_bytes": 72}, "damaged"),
        ({"layout": [["arrival_ns", "<i8"]], "record_bytes": 8}, "damaged"),
        ({"layout": "x"}, "not described"),
        ({"capacity": 0}, "damaged"),
        ({"facts_bytes": 0}, "died in MPI_Init"),
        ({"facts_bytes": 40}, "damaged"),
    ],
)
def test_bad_file_is_named_with_what_is_wrong(tmp_path: Path, head: dict[str, Any], words: str) -> None:
    path = write_rank(tmp_path, 0, 1, [Call(1, 2)], **head)
    with pytest.raises(StrettoError, match=words) as error:
        read_rank(path)
    assert str(path) in str(error.value)


def test_fact_that_lacks_something_is_named(tmp_path: Path) -> None:
    path = write_rank(tmp_path, 0, 1, [], [{"fact": "clock", "at_ns": 5}, {"fact": "of a later version"}])
    with pytest.raises(StrettoError, match="`clock` without error_ns, offset_ns"):
        read_rank(path)


@pytest.mark.parametrize("bytes_left", [0, 100, FACTS_OFFSET + 10, RECORDS_OFFSET - 4000])
def test_file_cut_off_anywhere_is_no_crash(tmp_path: Path, bytes_left: int) -> None:
    path = write_rank(tmp_path, 0, 1, [Call(1, 2)])
    path.write_bytes(path.read_bytes()[:bytes_left])
    with pytest.raises(StrettoError, match=r"cut off|damaged|too short"):
        read_rank(path)


def test_sound_files_are_used_and_the_rest_told(tmp_path: Path) -> None:
    write_job(tmp_path, [Call(1, 2)], [Call(1, 2)], [Call(1, 2)], [Call(1, 2)])
    write_rank(tmp_path, 1, 4, [], version=3)
    write_rank(tmp_path, 2, 4, [], run=8)
    write_rank(tmp_path, 3, 4, [Call(1, 2)], finished=0, facts_lost=2)
    profile = open_profile(tmp_path)
    assert [rank.world_rank for rank in profile.ranks] == [0, 3]
    text = "\n".join(profile.warnings)
    for words in ("format 3", "rank-00002.stretto of another run", "no sound file of ranks 1, 2 of 4",
                  "rank 3 did not reach MPI_Finalize", "rank 3 had no room for 2 facts"):  # fmt: skip
        assert words in text


def test_dropped_records_are_told(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, 1, [Call(1, 2), Call(3, 4)], capacity=2, begun=10)
    (warning,) = open_profile(tmp_path).warnings
    assert warning.startswith("8 of 10 records are gone")
    assert "STRETTO_PROFILE_MAX_MIB" in warning


def test_a_disk_that_filled_is_not_told_as_a_ring_that_was_too_small(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, 1, [Call(1, 2), Call(3, 4)], capacity=100, begun=10, lost=8)
    (warning,) = open_profile(tmp_path).warnings
    assert "no room on the disk for 8 records" in warning
    assert "MAX_MIB" not in warning


def test_names_of_any_bytes_are_read(tmp_path: Path) -> None:
    path = write_rank(tmp_path, 0, 1, [Call(1, 2)], [{"fact": "communicator_name", "index": 0, "name": "Qx"}])
    path.write_bytes(path.read_bytes().replace(b"Qx", b"Q\xe9"))
    (fact,) = open_profile(tmp_path).ranks[0].facts["communicator_name"]
    assert fact["name"] == "Q\N{REPLACEMENT CHARACTER}"


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(StrettoError, match="--profile"):
        open_profile(tmp_path)


def test_nothing_sound(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, 1, [], version=3)
    with pytest.raises(StrettoError, match=r"no file of the profile is sound.*format 3"):
        open_profile(tmp_path)


def test_blocks_are_bounded(tmp_path: Path) -> None:
    rank = read_rank(write_rank(tmp_path, 0, 1, [Call(time, time + 1) for time in range(1, 11)]))
    assert [len(block) for block in rank.blocks(4)] == [4, 4, 2]
    assert np.concatenate(list(rank.blocks(4)))["arrival_ns"].tolist() == list(range(1, 11))
