"""Wait states of collectives, under the names and by the definitions of Scalasca (its patterns in the Score-P metrics).

Times are sums over ranks. With a_i, f_i arrival and exit, A the last arrival, E the first exit of a call, r its root:

    Wait at Barrier, Wait at NxN       sum(A - a_i)             until all ranks were there
    Barrier Completion, NxN Completion sum(f_i - max(E, a_i))   from when the first rank could leave
    Late Broadcast                     sum(a_r - a_i), i before r   waiting for the root of a bcast, scatter(v)
    Early Reduce                       min over i of a_i - a_r  the root waiting for the first sender of a reduce
    Early Gather                       the same of a gather(v); Scalasca counts it as Early Reduce
    Early Scan                         sum over i of max over j <= i of a_j - a_i

No time counts that a rank spent after its exit. Non-blocking calls count nowhere: what they wait for is not known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stretto.profile.calls import Block, is_blocking
from stretto.profile.files import Profile

_NXN = {"Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Reduce_scatter",
        "Reduce_scatter_block"}  # fmt: skip
_ONE_TO_ALL = {"Bcast", "Scatter", "Scatterv"}
_ALL_TO_ONE = {"Reduce": "Early Reduce", "Gather": "Early Gather", "Gatherv": "Early Gather"}
_SCANS = {"Scan", "Exscan"}


def wait_states(profile: Profile, block: Block) -> dict[tuple[str, str], float]:
    """Seconds of each (operation, wait state) in a block of calls, summed over ranks."""
    states: dict[tuple[str, str], float] = {}
    names = profile.operations
    blocking = is_blocking(block.calls)
    for code in np.unique(block.calls["operation"][blocking]):
        name = names[code]
        rows = np.flatnonzero(blocking & (block.calls["operation"] == code))
        records, starts, counts = _of_calls(block, rows)
        if name in _NXN or name == "Barrier":
            kind = "Barrier" if name == "Barrier" else "NxN"
            states[name, f"Wait at {kind}"] = _until_all(records, starts, counts) * 1e-9
            states[name, f"{kind} Completion"] = _completion(records, starts, counts) * 1e-9
        elif name in _ONE_TO_ALL:
            states[name, "Late Broadcast"] = _late_root(records, starts, counts) * 1e-9
        elif name in _ALL_TO_ONE:
            states[name, _ALL_TO_ONE[name]] = _early_root(records, starts, counts) * 1e-9
        elif name in _SCANS:
            states[name, "Early Scan"] = _early_scan(records, starts) * 1e-9
    return states


def _of_calls(block: Block, rows: NDArray[np.int64]) -> tuple[NDArray[np.void], NDArray[np.int64], NDArray[np.int64]]:
    """The records of some of a block's calls, where each call's begin, and how many it has."""
    wanted = np.zeros(len(block.calls), bool)
    wanted[rows] = True
    counts = block.calls["size"].astype(np.int64)
    records = block.records[np.repeat(wanted, counts)]
    counts = counts[wanted]
    return records, np.cumsum(counts) - counts, counts


def _until_all(records: NDArray[np.void], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    last = np.repeat(np.maximum.reduceat(records["arrival_ns"], starts), counts)
    return float(np.maximum(0, np.minimum(last, records["exit_ns"]) - records["arrival_ns"]).sum())


def _completion(records: NDArray[np.void], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    first_exit = np.repeat(np.minimum.reduceat(records["exit_ns"], starts), counts)
    return float((records["exit_ns"] - np.maximum(first_exit, records["arrival_ns"])).sum())


def _root_arrival(
    records: NDArray[np.void], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which records are the root's, and the root's arrival for every record."""
    is_root = records["member"] == records["root"]
    arrival = np.add.reduceat(np.where(is_root, records["arrival_ns"], 0), starts)
    return is_root, np.repeat(arrival, counts)


def _late_root(records: NDArray[np.void], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    _, root = _root_arrival(records, starts, counts)
    return float(np.maximum(0, np.minimum(root, records["exit_ns"]) - records["arrival_ns"]).sum())


def _early_root(records: NDArray[np.void], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    is_root, root = _root_arrival(records, starts, counts)
    others = np.where(is_root, np.iinfo(np.int64).max, records["arrival_ns"])
    return float(np.maximum(0, np.minimum.reduceat(others, starts) - root[starts]).sum())


def _early_scan(records: NDArray[np.void], starts: NDArray[np.int64]) -> float:
    total = 0.0
    for arrivals, exits in zip(
        np.split(records["arrival_ns"], starts[1:]), np.split(records["exit_ns"], starts[1:]), strict=True
    ):
        total += float(np.maximum(0, np.minimum(np.maximum.accumulate(arrivals), exits) - arrivals).sum())
    return total
