"""Arrival patterns that the profiler recorded, for `stretto bench --arrival replay:DIR`."""

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


def write_delays(delays: NDArray[np.int64], path: Path) -> None:
    """A line a call, as the driver reads it."""
    np.savetxt(path, delays, fmt="%d")
