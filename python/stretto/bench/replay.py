"""Arrival patterns call by call, for `stretto bench --arrival replay:PATH`: of a profile, or of a file of delays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stretto.bench.request import UsageError
from stretto.errors import StrettoError
from stretto.profile.calls import Matcher, is_blocking
from stretto.profile.files import open_profile

MOST_CALLS = 10_000


def recorded_delays(directory: Path, collective: str, ranks: int) -> NDArray[np.int64]:
    """How long after the first each rank came, in ns, (calls, ranks), in the order of the calls.

    Of all blocking calls of the collective on communicators of `ranks` ranks; of more than MOST_CALLS some at equal
    distances. Raises UsageError if there are none.
    """
    try:
        profile = open_profile(directory)
    except StrettoError as error:
        raise UsageError(f"--arrival replay: {error}") from error
    wanted = collective.capitalize()
    operation = profile.operations.index(wanted) if wanted in profile.operations else -1
    found: list[NDArray[np.int64]] = []
    sizes: set[int] = set()
    for block in Matcher(profile).blocks():
        counts = block.calls["size"].astype(np.int64)
        of_collective = (block.calls["operation"] == operation) & is_blocking(block.calls)
        sizes |= set(counts[of_collective].tolist())
        chosen = np.repeat(of_collective & (counts == ranks), counts)
        since_first = block.records["arrival_ns"] - np.repeat(block.calls["first_ns"], counts)
        found.append(since_first[chosen].reshape(-1, ranks))
    delays = np.concatenate([np.empty((0, ranks), np.int64), *found])
    if not len(delays):
        there = f"those recorded have {', '.join(map(str, sorted(sizes)))}" if sizes else "none is recorded"
        raise UsageError(f"--arrival replay:{directory}: no {collective} of {ranks} ranks ({there}): see --ranks")
    step = -(-len(delays) // MOST_CALLS)
    return delays[::step]


def delays_of(path: Path, collective: str, ranks: int) -> NDArray[np.int64]:
    """The delays in ns, (calls, ranks): of a directory those that the profiler recorded, of a file its own.

    Raises UsageError if there are none of so many ranks.
    """
    return read_delays(path, ranks) if path.is_file() else recorded_delays(path, collective, ranks)


def read_delays(path: Path, ranks: int) -> NDArray[np.int64]:
    """Of a file with a line a call: how long after the first each rank comes, in ns. Raises UsageError."""
    try:
        delays = np.loadtxt(path, dtype=np.int64, ndmin=2)
    except ValueError as error:
        raise UsageError(f"--arrival replay:{path}: {error}") from error
    if delays.size == 0 or delays.shape[1] != ranks or delays.min() < 0:
        raise UsageError(f"--arrival replay:{path}: write a line a call with the delays of {ranks} ranks in ns")
    return delays


def write_delays(delays: NDArray[np.int64], path: Path) -> None:
    """A line a call, as the driver reads it."""
    np.savetxt(path, delays, fmt="%d")
