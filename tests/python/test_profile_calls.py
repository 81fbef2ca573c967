"""Matching and figures of calls against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from profile_writer import Call, communicator, write_job, write_rank

from stretto.profile.calls import Matcher, Unmatched, load_calls
from stretto.profile.clocks import clock_error_ns
from stretto.profile.files import NON_BLOCKING, PERSISTENT, open_profile

MS = 1_000_000


def load(directory: Path) -> tuple[NDArray[np.void], Unmatched]:
    return load_calls(open_profile(directory))


def test_allreduce_where_all_leave_after_the_last(tmp_path: Path) -> None:
    calls, unmatched = load(
        write_job(tmp_path, [Call(1 * MS, 13 * MS)], [Call(5 * MS, 12 * MS)], [Call(11 * MS, 14 * MS)])
    )
    assert unmatched == Unmatched()
    (call,) = calls
    expected = {
        "imbalance": 0.010,
        "mean_imbalance": (14 / 3 + 2 / 3 + 16 / 3) / 3000,  # around the mean arrival, 17 / 3 ms
        "run_time": 0.013,
        "elapsed": (12 + 7 + 3) / 3000,
        "waiting": (10 + 6 + 0) / 3000,
        "after_last": (2 + 1 + 3) / 3000,
        "completion_lag": 0.003,
        "alone": 0.006,
    }
    assert {name: float(call[name]) for name in expected} == pytest.approx(expected)
    assert (call["size"], call["last_rank"], call["first_ns"], call["last_ns"]) == (3, 2, MS, 11 * MS)


def test_reduce_where_one_leaves_early(tmp_path: Path) -> None:
    calls, _ = load(write_job(tmp_path, [Call(1, 1_001, operation="Reduce")], [Call(5_001, 7_001, operation="Reduce")]))
    assert calls["waiting"] == pytest.approx(0.5e-6)
    assert calls["after_last"] == pytest.approx(1e-6)
    assert calls["completion_lag"] == pytest.approx(2e-6)


def test_calls_are_matched_by_communicator_and_number_not_by_order(tmp_path: Path) -> None:
    other = [communicator(1, 5, 2, 0)]
    write_rank(tmp_path, 0, 2, [Call(1, 10, 1), Call(21, 30, 1, communicator=1, bytes=64), Call(40, 50, 2)], other)
    other = [communicator(3, 5, 2, 1)]  # under another index here
    write_rank(tmp_path, 1, 2, [Call(23, 31, 1, communicator=3, bytes=64), Call(2, 11, 1), Call(45, 51, 2)], other)
    calls, unmatched = load(tmp_path)
    assert unmatched == Unmatched()
    assert calls[["sequence", "bytes"]].tolist() == [(1, 8), (1, 64), (2, 8)]
    assert calls["imbalance"].tolist() == pytest.approx([1e-9, 2e-9, 5e-9])


def test_ranks_of_a_communicator_in_another_order_than_in_the_world(tmp_path: Path) -> None:
    for rank in (0, 1):
        facts = [communicator(1, 5, 2, 1 - rank)]
        write_rank(tmp_path, rank, 2, [Call(1 + rank, 10, communicator=1, root=0)], facts)
    records = np.concatenate([block.records for block in Matcher(open_profile(tmp_path)).blocks()])
    assert records[["rank", "member"]].tolist() == [(1, 0), (0, 1)]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ([], Unmatched(calls=1)),
        ([Call(1, 11, 2)], Unmatched(calls=2)),
        ([Call(1, 11, operation="Bcast")], Unmatched(calls=1)),
        ([Call(1, 0)], Unmatched(in_progress=1)),
    ],
)
def test_call_that_is_not_whole_is_counted(tmp_path: Path, second: list[Call], expected: Unmatched) -> None:
    calls, unmatched = load(write_job(tmp_path, [Call(1, 10)], second))
    assert (len(calls), unmatched) == (0, expected)


def test_where_a_file_is_missing_records_do_not_wait_for_it(tmp_path: Path) -> None:
    """Ranks 0 and 1 of 3, four calls, two records at a time: handed out as read, and each call counted once."""
    for rank in (0, 1):
        write_rank(tmp_path, rank, 3, [Call(10 * n + 7 * rank, 10 * n + 9, n) for n in range(1, 5)])
    matcher = Matcher(open_profile(tmp_path), records_at_once=2)
    lengths = [(len(block.calls), len(block.rest)) for block in matcher.blocks()]
    assert matcher.unmatched == Unmatched(calls=4)
    assert sum(rest for _, rest in lengths) == 8
    assert all(calls == 0 and rest <= 4 for calls, rest in lengths)


def test_repeated_record_of_one_rank_does_not_make_up_for_a_missing_one(tmp_path: Path) -> None:
    calls, unmatched = load(write_job(tmp_path, [Call(1, 10), Call(20, 30)], []))
    assert (len(calls), unmatched.calls) == (0, 1)


def test_communicators_of_one_rank_and_unmatched_ones(tmp_path: Path) -> None:
    for rank in (0, 1):
        facts = [communicator(1, 100 + rank, 1, 0), communicator(2, 7, 2, rank, matched=False)]
        write_rank(tmp_path, rank, 2, [Call(1, 2, communicator=1), Call(3, 4, communicator=2)], facts)
    calls, unmatched = load(tmp_path)
    assert (len(calls), unmatched) == (0, Unmatched(single=2, alone=2))


def test_communicators_of_which_no_fact_tells(tmp_path: Path) -> None:
    """Whether their index lies beyond those that are known or between them; every record is handed out all the same."""
    for rank in (0, 1):
        records = [Call(1, 2, communicator=1), Call(3, 4, communicator=2), Call(5, 6, communicator=9)]
        write_rank(tmp_path, rank, 2, records, [communicator(2, 7, 2, rank)])
    matcher = Matcher(open_profile(tmp_path))
    blocks = list(matcher.blocks())
    assert matcher.unmatched == Unmatched(untold=4)
    assert np.concatenate([block.records for block in blocks])["arrival_ns"].tolist() == [3, 3]
    rest = np.concatenate([block.rest for block in blocks])
    assert sorted(rest[["arrival_ns", "group"]].tolist()) == [(1, -1), (1, -1), (5, -1), (5, -1)]


def test_persistent_collectives_are_matched_by_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    for rank, indices in ((0, (1, 2)), (1, (2, 1))):
        facts = [{"fact": "persistent", "index": index, "communicator": 0, "number": n + 1}
                 for n, index in enumerate(indices)]  # fmt: skip
        records = [Call(10 * index + rank, 10 * index + 5, communicator=index, flags=PERSISTENT) for index in (1, 2)]
        write_rank(tmp_path, rank, 2, records, facts)
    calls, unmatched = load(tmp_path)
    assert unmatched == Unmatched()
    assert calls["imbalance"].tolist() == pytest.approx([9e-9, 11e-9])


def test_waiting_in_a_non_blocking_call_is_not_known(tmp_path: Path) -> None:
    calls, _ = load(write_job(tmp_path, [Call(1, 100, flags=NON_BLOCKING)], [Call(50, 90, flags=NON_BLOCKING)]))
    assert calls[["imbalance", "waiting", "after_last"]].tolist() == [(pytest.approx(49e-9), 0, 0)]


def test_disagreeing_algorithms_are_flagged(tmp_path: Path) -> None:
    one, other = Call(1, 10), Call(1, 10, algorithm="native")
    assert load(write_job(tmp_path / "a", [one], [one]))[0]["agreed"].all()
    assert not load(write_job(tmp_path / "b", [one], [other]))[0]["agreed"].any()


def test_nothing_recorded(tmp_path: Path) -> None:
    calls, unmatched = load(write_job(tmp_path, [], []))
    assert (len(calls), unmatched) == (0, Unmatched())


def test_clocks_are_corrected_by_offset_and_drift(tmp_path: Path) -> None:
    ahead = [{"fact": "clock", "at_ns": 10_000 * MS, "offset_ns": 5_000 * MS, "error_ns": 900},
             {"fact": "clock", "at_ns": 20_000 * MS, "offset_ns": 5_001 * MS, "error_ns": 700}]  # fmt: skip
    here = [{"fact": "clock", "at_ns": 1, "offset_ns": 0, "error_ns": 0}]
    write_rank(tmp_path, 0, 2, [Call(10_000 * MS, 10_010 * MS)], here, host="a")
    # Half way between the measurements its clock is ahead by 5000.5 ms.
    write_rank(tmp_path, 1, 2, [Call(15_000 * MS + MS, 15_010 * MS)], ahead, host="b")
    profile = open_profile(tmp_path)
    calls, _ = load_calls(profile)
    assert calls["imbalance"][0] == pytest.approx(0.0005 - 0.0000001, rel=1e-3)
    assert clock_error_ns(profile) == 900


def test_records_do_not_wait_for_others_that_were_overwritten(tmp_path: Path) -> None:
    """Rank 1 has the last tenth only: what the others keep of the rest must not stay in memory to the end."""
    kept, count = 100, 1000
    for rank in range(3):
        calls = [Call(1000 * n + rank, 1000 * n + 500, n) for n in range(1, count + 1)]
        if rank == 1:
            write_rank(tmp_path, rank, 3, calls[-kept:], capacity=kept, begun=count)
        else:
            write_rank(tmp_path, rank, 3, calls, capacity=count)
    matcher = Matcher(open_profile(tmp_path), records_at_once=64)
    blocks = list(matcher.blocks())
    assert sum(len(block.calls) for block in blocks) == kept
    assert matcher.unmatched == Unmatched(calls=count - kept)
    assert max(len(block.rest) for block in blocks) < 3 * 64


def test_records_do_not_wait_for_others_that_were_never_made(tmp_path: Path) -> None:
    """Rank 1 did not record half of the calls, as MPI_Pcontrol may say on one rank alone."""
    for rank in range(2):
        calls = [Call(1000 * n + rank, 1000 * n + 500, n) for n in range(1, 1001) if rank == 0 or n % 2]
        write_rank(tmp_path, rank, 2, calls, capacity=1000)
    matcher = Matcher(open_profile(tmp_path), records_at_once=64)
    blocks = list(matcher.blocks())
    assert sum(len(block.calls) for block in blocks) == 500
    assert matcher.unmatched == Unmatched(calls=500)
    assert max(len(block.rest) for block in blocks) < 2 * 64


def test_many_random_calls_agree_with_a_plain_loop(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    ranks, count = 5, 400
    begin = np.cumsum(random.integers(1, 2_000, count)) * 1000
    arrivals = np.sort(begin + random.integers(1, 1_000_000, (ranks, count)), axis=1)
    exits = arrivals + random.integers(1, 1_000_000, (ranks, count))
    write_job(tmp_path, *([Call(int(arrivals[rank, i]), int(exits[rank, i]), i + 1) for i in range(count)]
                          for rank in range(ranks)), capacity=1000)  # fmt: skip
    matcher = Matcher(open_profile(tmp_path), records_at_once=37)
    calls = np.concatenate([block.calls for block in matcher.blocks()])
    assert matcher.unmatched == Unmatched()
    assert sorted(calls["sequence"]) == list(range(1, count + 1))
    for call in calls:
        i = call["sequence"] - 1
        a, f = arrivals[:, i], exits[:, i]
        waiting = np.mean([max(0, min(f[r], a.max()) - a[r]) for r in range(ranks)])
        assert call["imbalance"] * 1e9 == pytest.approx(a.max() - a.min())
        assert call["mean_imbalance"] * 1e9 == pytest.approx(np.abs(a - a.mean()).mean())
        assert call["waiting"] * 1e9 == pytest.approx(waiting)
        assert call["completion_lag"] * 1e9 == pytest.approx(f.max() - a.max())
        assert call["alone"] * 1e9 == pytest.approx(np.sort(a)[-1] - np.sort(a)[-2])
        assert call["last_rank"] == a.argmax() or a[call["last_rank"]] == a.max()
