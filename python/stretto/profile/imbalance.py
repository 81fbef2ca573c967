"""Imbalance factors: how far apart ranks arrive in units of alpha, the one-way point-to-point time of the message.

Alizadeh 2021, 2.3: worst case Omega / alpha, average case Delta / alpha. Cluster-wide over all ranks of a call, with
alpha between nodes where they are on several; node-wide over the ranks of each node, averaged over the nodes that have
two or more, with alpha within a node.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from stretto.profile.calls import Block
from stretto.profile.files import Profile

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Alpha:
    """Measured one-way times: bytes and ns, both (points,), bytes ascending."""

    bytes: Floats
    ns: Floats

    def of(self, sizes: NDArray[np.uint64]) -> Floats:
        """alpha in ns of each message size, (n,): between the points by powers (a straight line where both axes are
        logarithmic), below the first point its time, above the last by the last's bandwidth."""
        wanted = np.maximum(sizes.astype(np.float64), self.bytes[0])
        within: Floats = np.exp(np.interp(np.log(wanted), np.log(self.bytes), np.log(self.ns)))
        beyond = self.ns[-1] * wanted / self.bytes[-1]
        return np.where(wanted > self.bytes[-1], beyond, within)


@dataclass(frozen=True)
class Factors:
    """Of each call, (n,); NaN where alpha was not measured, or no node has two of the call's ranks."""

    worst: Floats
    mean: Floats
    node_worst: Floats
    node_mean: Floats


FACTORS = tuple(factor.name for factor in fields(Factors))


def read_alpha(profile: Profile) -> dict[str, Alpha]:
    """What rank 0 measured, "node" and "network"; nothing where its file is missing."""
    facts = profile.ranks[0].facts.get("alpha", [])
    points = {fact["between"]: np.array(fact["points"], np.float64) for fact in facts}
    return {kind: Alpha(values[:, 0], values[:, 1]) for kind, values in points.items()}


class ImbalanceFactors:
    """Computes the factors of blocks of calls of one profile."""

    def __init__(self, profile: Profile) -> None:
        hosts = {host: index for index, host in enumerate(sorted({rank.host for rank in profile.ranks}))}
        self._node_of = np.zeros(profile.world_size, np.int64)
        for rank in profile.ranks:
            self._node_of[rank.world_rank] = hosts[rank.host]
        self._nodes = len(hosts)
        self._alpha = read_alpha(profile)

    def of(self, block: Block) -> Factors:
        calls = block.calls
        unknown = np.full(len(calls), np.nan)
        within = self._alpha["node"].of(calls["bytes"]) if "node" in self._alpha else unknown
        between = self._alpha["network"].of(calls["bytes"]) if "network" in self._alpha else unknown
        nodes = self._node_of[block.records["rank"]]
        spread = np.maximum.reduceat(nodes, block.starts) > np.minimum.reduceat(nodes, block.starts)
        alpha = np.where(spread, between, within)
        worst, mean = self._node_wide(block, nodes)
        return Factors(
            calls["imbalance"] * 1e9 / alpha, calls["mean_imbalance"] * 1e9 / alpha, worst / within, mean / within
        )

    def _node_wide(self, block: Block, nodes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Omega and Delta within nodes in ns, averaged over the nodes of each call."""
        counts = block.calls["size"].astype(np.int64)
        call = np.repeat(np.arange(len(counts)), counts)
        order = np.argsort(call * self._nodes + nodes, kind="stable")
        parts = (call * self._nodes + nodes)[order]
        starts = np.flatnonzero(np.concatenate([[True], parts[1:] != parts[:-1]]))
        sizes = np.diff(np.append(starts, len(parts)))
        since = (block.records["arrival_ns"] - np.repeat(block.calls["first_ns"], counts))[order].astype(np.float64)
        worst = np.maximum.reduceat(since, starts) - np.minimum.reduceat(since, starts)
        centre = np.repeat(np.add.reduceat(since, starts) / sizes, sizes)
        mean = np.add.reduceat(np.abs(since - centre), starts) / sizes
        several = sizes > 1
        owner = call[order][starts][several]
        nodes_of_call = np.bincount(owner, minlength=len(counts)).astype(np.float64)
        nodes_of_call[nodes_of_call == 0] = np.nan
        return (
            np.bincount(owner, worst[several], len(counts)) / nodes_of_call,
            np.bincount(owner, mean[several], len(counts)) / nodes_of_call,
        )
