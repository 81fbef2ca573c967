"""Who makes the others wait: for each rank, and each operation at each call site, how late it came and who waited."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stretto.profile.calls import Block, is_blocking, waiting_ns
from stretto.profile.files import Profile


@dataclass
class Straggler:
    """A rank, as a cause of waiting. Times in seconds.

    last: calls at which it came last, of `calls`; lateness: summed over those, how long after the last but one;
    squared_lateness: their squares; caused: rank-seconds that others waited for it alone; waited: its own waiting for
    others.
    """

    rank: int
    host: str
    calls: int = 0
    last: int = 0
    lateness: float = 0.0
    squared_lateness: float = 0.0
    caused: float = 0.0
    waited: float = 0.0

    @property
    def typical_lateness(self) -> float:
        """The mean of its latenesses, weighed by themselves: calls at which it came last by a hair do not dilute it."""
        return self.squared_lateness / self.lateness if self.lateness > 0 else 0.0

    @property
    def effective_times(self) -> float:
        """How often it came `typical_lateness` late, if it was late by no other time."""
        return self.lateness / self.typical_lateness if self.lateness > 0 else 0.0

    def add(self, other: Straggler) -> None:
        """Count what `other`, the same rank, did elsewhere."""
        for name in _FIGURES:
            setattr(self, name, getattr(self, name) + getattr(other, name))


_FIGURES = tuple(figure.name for figure in dataclasses.fields(Straggler) if figure.name not in ("rank", "host"))
# Of what a call is: its operation's code, its call site's number.
Kind = tuple[int, int]


class Blame:
    """Sums over calls, by kind of call and rank."""

    def __init__(self, profile: Profile) -> None:
        self._world = profile.world_size
        self._hosts = {rank.world_rank: rank.host for rank in profile.ranks}
        self._sums: dict[Kind, NDArray[np.float64]] = {}  # (len(_FIGURES), world size)

    def add(self, block: Block, operations: NDArray[np.int64], sites: NDArray[np.int64]) -> NDArray[np.float64]:
        """Count a block's calls, of these operations and sites, both (n,). Returns the wait in rank-seconds that each
        call's last rank alone caused, (n,)."""
        calls, records = block.calls, block.records
        counts = calls["size"].astype(np.int64)
        waited = waiting_ns(records, calls["last_ns"], counts) * 1e-9
        # Ranks that had left before the last but one came did not wait for the last.
        alone_from = np.repeat(calls["last_ns"] - np.rint(calls["alone"] * 1e9).astype(np.int64), counts)
        for_last = np.maximum(
            0, np.minimum(records["exit_ns"], np.repeat(calls["last_ns"], counts))
            - np.maximum(records["arrival_ns"], alone_from)
        )  # fmt: skip
        blocking = is_blocking(calls)
        lateness = calls["alone"] * blocking
        caused: NDArray[np.float64] = np.add.reduceat(for_last, block.starts) * 1e-9 * blocking
        kinds, kind = np.unique(np.stack([operations, sites], axis=1), axis=0, return_inverse=True)
        kind = kind.reshape(-1)
        by_record = np.repeat(kind, counts) * self._world + records["rank"]
        by_last = kind * self._world + calls["last_rank"]
        columns: dict[str, tuple[NDArray[np.int64], NDArray[np.floating] | None]] = {
            "calls": (by_record, None),
            "last": (by_last, None),
            "lateness": (by_last, lateness),
            "squared_lateness": (by_last, lateness**2),
            "caused": (by_last, caused),
            "waited": (by_record, waited * np.repeat(blocking, counts)),
        }
        shape = (len(kinds), self._world)
        sums = np.stack([np.bincount(*columns[name], shape[0] * shape[1]).reshape(shape) for name in _FIGURES], axis=1)
        for (operation, site), figures in zip(kinds.tolist(), sums, strict=True):
            known = self._sums.setdefault((operation, site), np.zeros(figures.shape))
            known += figures
        return caused

    def by_kind(self) -> dict[Kind, list[Straggler]]:
        """Of each kind of call the ranks that took part."""
        return {kind: list(self._stragglers(sums)) for kind, sums in self._sums.items()}

    def by_rank(self) -> list[Straggler]:
        """Every rank whose file is there, who caused most waiting first."""
        nothing = np.zeros((len(_FIGURES), self._world))
        ranks = {rank: Straggler(rank, host) for rank, host in self._hosts.items()}
        for straggler in self._stragglers(sum(self._sums.values(), nothing)):
            ranks[straggler.rank] = straggler
        return sorted(ranks.values(), key=lambda straggler: -straggler.caused)

    def _stragglers(self, sums: NDArray[np.float64]) -> Iterable[Straggler]:
        for rank in np.flatnonzero(sums[_FIGURES.index("calls")]).tolist():
            calls, last, *seconds = sums[:, rank].tolist()
            yield Straggler(rank, self._hosts[rank], int(calls), int(last), *seconds)
