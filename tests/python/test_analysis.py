"""Figures of calls against values worked out by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from stretto.analysis import match_calls
from stretto.errors import StrettoError
from stretto.records import RECORD, RankRecording

Row = tuple[int, int, int, int, int, int, int, int, bytes]


def row(arrival: int, leave: int, sequence: int = 0, communicator: int = 0, collective: int = 0, ranks: int = 2,
        size: int = 8, algorithm: bytes = b"ring") -> Row:  # fmt: skip
    return (arrival, leave, size, sequence, communicator, collective, ranks, -1, algorithm)


def recordings(*ranks: list[Row], hosts: tuple[str, ...] = ()) -> list[RankRecording]:
    return [
        RankRecording(rank, len(ranks), hosts[rank] if hosts else "node", np.array(rows, RECORD), True)
        for rank, rows in enumerate(ranks)
    ]


def only(calls: NDArray[np.void]) -> dict[str, float]:
    assert len(calls) == 1
    return {name: float(calls[name][0]) for name in ("imbalance", "run_time", "elapsed", "waiting", "after_last",
                                                     "completion_lag")}  # fmt: skip


def test_allreduce_where_all_leave_after_the_last() -> None:
    ms = 1_000_000
    calls, left_out = match_calls(
        recordings([row(0, 12 * ms, ranks=3)], [row(4 * ms, 11 * ms, ranks=3)], [row(10 * ms, 13 * ms, ranks=3)])
    )
    assert left_out == 0
    assert only(calls) == pytest.approx(
        {
            "imbalance": 0.010,
            "run_time": 0.013,
            "elapsed": (12 + 7 + 3) / 3000,
            "waiting": (10 + 6 + 0) / 3000,
            "after_last": (2 + 1 + 3) / 3000,
            "completion_lag": 0.003,
        }
    )
    assert calls["arrival"][0] == pytest.approx(0.010)
    assert calls["size"][0] == 3


def test_reduce_where_one_leaves_early() -> None:
    calls, _ = match_calls(recordings([row(0, 1_000, collective=1)], [row(5_000, 7_000, collective=1)]))
    figures = only(calls)
    assert figures["waiting"] == pytest.approx(0.5e-6)
    assert figures["after_last"] == pytest.approx(1e-6)
    assert figures["completion_lag"] == pytest.approx(2e-6)


def test_lag_is_negative_where_all_left_before_the_last_came() -> None:
    calls, _ = match_calls(recordings([row(0, 1_000, collective=2)], [row(5_000, 5_000, collective=2)]))
    assert only(calls)["completion_lag"] == 0.0
    assert only(calls)["waiting"] == pytest.approx(0.5e-6)


def test_calls_are_matched_by_communicator_and_sequence_not_by_order() -> None:
    first = [row(0, 10, 0), row(20, 30, 0, communicator=5, size=64), row(40, 50, 1)]
    second = [row(22, 31, 0, communicator=5, size=64), row(1, 11, 0), row(45, 51, 1)]
    calls, left_out = match_calls(recordings(first, second))
    assert left_out == 0
    assert calls[["communicator", "sequence", "bytes"]].tolist() == [(0, 0, 8), (5, 0, 64), (0, 1, 8)]
    assert calls["imbalance"].tolist() == pytest.approx([1e-9, 2e-9, 5e-9])


def test_call_that_a_rank_did_not_record_is_left_out_and_counted() -> None:
    calls, left_out = match_calls(recordings([row(0, 10, 0), row(20, 30, 1)], [row(1, 11, 0)]))
    assert (len(calls), left_out) == (1, 1)


def test_repeated_record_of_one_rank_does_not_make_up_for_a_missing_one() -> None:
    calls, left_out = match_calls(recordings([row(0, 10), row(20, 30)], []))
    assert (len(calls), left_out) == (0, 1)


def test_different_collectives_under_one_number_are_left_out() -> None:
    calls, left_out = match_calls(recordings([row(0, 10, collective=0)], [row(1, 11, collective=2)]))
    assert (len(calls), left_out) == (0, 1)


def test_sub_communicators_of_different_sizes() -> None:
    ranks = [
        [row(0, 10, communicator=1)],
        [row(3, 10, communicator=1)],
        [row(2, 9, communicator=2, ranks=1)],
    ]
    calls, left_out = match_calls(recordings(*ranks))
    assert left_out == 0
    assert sorted(calls[["communicator", "size"]].tolist()) == [(1, 2), (2, 1)]


def test_disagreeing_algorithms_are_flagged() -> None:
    calls, _ = match_calls(recordings([row(0, 10)], [row(0, 10, algorithm=b"native")]))
    assert not calls["agreed"][0]
    calls, _ = match_calls(recordings([row(0, 10)], [row(0, 10)]))
    assert calls["agreed"][0]


def test_nothing_recorded() -> None:
    calls, left_out = match_calls(recordings([], []))
    assert (len(calls), left_out) == (0, 0)


def test_clocks_of_several_hosts_are_refused() -> None:
    with pytest.raises(StrettoError, match="several hosts"):
        match_calls(recordings([row(0, 10)], [row(0, 10)], hosts=("a", "b")))


def test_many_random_calls_agree_with_a_plain_loop() -> None:
    random = np.random.default_rng(3)
    arrivals = random.integers(0, 10**9, (200, 5))
    exits = arrivals + random.integers(0, 10**9, (200, 5))
    ranks = [[row(arrivals[c, r], exits[c, r], c, ranks=5) for c in random.permutation(200)] for r in range(5)]
    calls, left_out = match_calls(recordings(*ranks))
    assert left_out == 0
    for call in calls:
        a, f = arrivals[call["sequence"]], exits[call["sequence"]]
        last = max(a)
        assert call["completion_lag"] == pytest.approx((max(f) - last) * 1e-9)
        assert call["elapsed"] == pytest.approx(np.mean(f - a) * 1e-9)
        waiting = [max(0, min(f[i], last) - a[i]) for i in range(5)]
        assert call["waiting"] == pytest.approx(np.mean(waiting) * 1e-9)
        assert call["after_last"] == pytest.approx(np.mean([max(0, f[i] - last) for i in range(5)]) * 1e-9, abs=1e-12)
