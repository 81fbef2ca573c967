"""The clocks of several nodes, brought to that of rank 0.

A rank's facts `clock` say by how much its CLOCK_MONOTONIC is ahead of rank 0's, `offset_ns`, within `error_ns`, as
measured at `at_ns` of its own clock: after MPI_Init and, where the program reached it, before MPI_Finalize. Between two
measurements the offset is taken to change linearly (drift); before, after and with one only, not at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stretto.profile.files import Profile, RankFile


def correct_times(rank: RankFile, records: NDArray[np.void]) -> None:
    """Bring arrivals and exits of a rank's records to the clock of rank 0, in place."""
    measured = rank.facts.get("clock", [])
    if not any(fact["offset_ns"] for fact in measured):
        return
    at = np.array([fact["at_ns"] for fact in measured], np.int64)
    offsets = np.array([fact["offset_ns"] for fact in measured], np.float64)
    for name in ("arrival_ns", "exit_ns"):
        times = records[name]
        # Differences first: a float has no room for ns since boot.
        offset = np.interp((times - at[0]).astype(np.float64), (at - at[0]).astype(np.float64), offsets)
        times[times != 0] -= np.rint(offset).astype(np.int64)[times != 0]


def clock_error_ns(profile: Profile) -> float | None:
    """The largest error bound of all ranks' clocks in ns; 0 on one node, None where a rank's was not measured."""
    if len({rank.host for rank in profile.ranks}) == 1:
        return 0.0
    errors = [[fact["error_ns"] for fact in rank.facts.get("clock", [])] for rank in profile.ranks]
    return None if not all(errors) else float(max(max(each) for each in errors))
