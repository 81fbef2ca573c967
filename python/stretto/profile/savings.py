"""What Stretto has saved against the MPI library's own algorithms, where the job measured it (STRETTO_ADAPT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stretto.profile.files import Profile

ARRIVALS = ("together", "uneven", "far apart")


@dataclass(frozen=True)
class Saving:
    """Calls of one collective and about one length, from `from_bytes` to less than twice as much.

    `ours`: of `calls`, those that Stretto's algorithm served. Times in seconds, from the last arrival to the last exit,
    of all calls: what the MPI library's own algorithms would have taken, by how much less they took, and by how much
    that may be wrong to either side. `arrivals`: how many calls found ranks so far apart, by the names of ARRIVALS.
    """

    operation: str
    from_bytes: int
    calls: int
    ours: int
    native: float
    saved: float
    unsure: float
    arrivals: dict[str, int]

    @property
    def mostly(self) -> str:
        """How ranks came in most calls."""
        return max(self.arrivals, key=lambda name: self.arrivals[name])


def read_savings(profile: Profile) -> list[Saving]:
    """Those of most time first; empty where nothing was measured, or the first rank's file is missing."""
    names = {name.lower(): name for name in profile.operations}
    savings = [
        Saving(
            names.get(fact["collective"], fact["collective"]),
            int(fact["from_bytes"]),
            int(fact["calls"]),
            int(fact["ours"]),
            fact["native_ns"] * 1e-9,
            fact["saved_ns"] * 1e-9,
            fact["unsure_ns"] * 1e-9,
            dict(zip(ARRIVALS, fact["arrivals"], strict=True)),
        )
        for rank in profile.ranks
        for fact in rank.facts.get("saved", [])
    ]
    return sorted(savings, key=lambda saving: -saving.native)


def total(savings: Sequence[Saving]) -> tuple[float, float, float]:
    """Native, saved and unsure seconds, of all together."""
    native, saved, unsure = (sum(getattr(saving, name) for saving in savings) for name in ("native", "saved", "unsure"))
    return native, saved, unsure
