"""Figures of every collective call, from what all its ranks recorded.

For one call let a_i and f_i be rank i's arrival and exit, A = max a and F = max f. Then

    imbalance         A - min a        Omega: how far apart the ranks arrived
    run time          F - min a
    elapsed           mean(f_i - a_i)  time that a rank spends in the call
    waiting           mean(max(0, min(f_i, A) - a_i))
                                       the part of `elapsed` before the last rank was there. An allreduce or a barrier
                                       cannot avoid it, whatever its algorithm; in a reduce or bcast a rank may leave
                                       early, and then waits less
    after last        mean(max(0, f_i - max(A, a_i))) = elapsed - waiting: what the algorithm costs a rank once all
                                       are there
    completion lag    F - A            the same for the slowest rank; negative where all had left before the last came
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stretto.errors import StrettoError
from stretto.records import RECORD, RankRecording

# One call of all its ranks. Durations in seconds; `arrival` is A in seconds of the host's clock; `algorithm` is what
# the lowest rank ran, `agreed` whether all ran the same.
CALL = np.dtype(
    [
        ("communicator", "u4"),
        ("sequence", "u4"),
        ("collective", "u2"),
        ("size", "u2"),
        ("bytes", "u8"),
        ("algorithm", "S24"),
        ("agreed", "?"),
        ("arrival", "f8"),
        ("imbalance", "f8"),
        ("run_time", "f8"),
        ("elapsed", "f8"),
        ("waiting", "f8"),
        ("after_last", "f8"),
        ("completion_lag", "f8"),
    ]
)


def match_calls(recordings: Sequence[RankRecording]) -> tuple[NDArray[np.void], int]:
    """Match the ranks' records by communicator and sequence number and compute each call's figures.

    Returns a 1-D array of CALL in the order of A, and the number of calls left out because not exactly one record a
    rank of their communicator was found (a rank that crashed, say). `bytes` is the greatest of the ranks'. Raises
    StrettoError for recordings of several hosts, whose clocks cannot be compared.
    """
    hosts = {recording.host for recording in recordings}
    if len(hosts) > 1:
        raise StrettoError(f"recording of several hosts ({', '.join(sorted(hosts))}): their clocks cannot be compared")
    records = np.concatenate([np.empty(0, RECORD), *(recording.calls for recording in recordings)])
    ranks = np.repeat([recording.world_rank for recording in recordings], [len(r.calls) for r in recordings])
    order = np.lexsort((ranks, records["sequence"], records["communicator"]))
    records, ranks = records[order], ranks[order]
    key = records["communicator"].astype(np.uint64) << np.uint64(32) | records["sequence"]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.empty(0, np.int64)
    counts = np.diff(np.append(starts, len(key)))
    whole = _whole_groups(records, ranks, starts, counts)
    left_out = int(len(starts) - whole.sum())
    records = records[np.repeat(whole, counts)]
    counts = counts[whole]
    calls = _figures(records, np.concatenate([[0], np.cumsum(counts)])[: len(counts)].astype(np.int64), counts)
    return calls[np.argsort(calls["arrival"], kind="stable")], left_out


def _whole_groups(
    records: NDArray[np.void], ranks: NDArray[np.int64], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which groups of sorted records are one call: one record of each rank, one collective, one communicator size."""
    whole: NDArray[np.bool_] = counts == records["communicator_size"][starts]
    for values in (records["communicator_size"], records["collective"]):
        if len(starts):
            whole &= np.maximum.reduceat(values, starts) == np.minimum.reduceat(values, starts)
    repeated = np.flatnonzero(np.concatenate([[False], ranks[1:] == ranks[:-1]])) if len(ranks) else starts
    groups = np.searchsorted(starts, repeated, side="right") - 1
    within = repeated[starts[groups] != repeated] if len(repeated) else repeated
    whole[np.searchsorted(starts, within, side="right") - 1] = False
    return whole


def _figures(records: NDArray[np.void], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.void]:
    """One CALL a group: `records` sorted by group, `starts` and `counts` in records, no group empty."""
    calls = np.zeros(len(starts), CALL)
    if not len(starts):
        return calls
    arrival, exits = records["arrival_ns"], records["exit_ns"]
    first, last = np.minimum.reduceat(arrival, starts), np.maximum.reduceat(arrival, starts)
    done = np.maximum.reduceat(exits, starts)
    waiting = np.maximum(0, np.minimum(exits, np.repeat(last, counts)) - arrival)
    for name in ("communicator", "sequence", "collective"):
        calls[name] = records[name][starts]
    calls["size"] = counts
    calls["bytes"] = np.maximum.reduceat(records["bytes"], starts)
    calls["algorithm"] = records["algorithm"][starts]
    same = records["algorithm"] == np.repeat(calls["algorithm"], counts)
    calls["agreed"] = np.logical_and.reduceat(same, starts)
    calls["arrival"] = last * 1e-9
    calls["imbalance"] = (last - first) * 1e-9
    calls["run_time"] = (done - first) * 1e-9
    calls["elapsed"] = np.add.reduceat(exits - arrival, starts) / counts * 1e-9
    calls["waiting"] = np.add.reduceat(waiting, starts) / counts * 1e-9
    calls["after_last"] = calls["elapsed"] - calls["waiting"]
    calls["completion_lag"] = (done - last) * 1e-9
    return calls
