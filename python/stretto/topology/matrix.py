"""Distances as a matrix, for tools that want one. Nothing of Stretto's own reads it."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from stretto.errors import StrettoError
from stretto.topology.tree import Network

MOST_NAMES = 4096  # about 32 MiB of text


def matrix_csv(network: Network, ranks: Sequence[str]) -> str:
    """Distances between all hosts, or between all ranks where `ranks` (host of each) is not empty, as CSV.

    A line and a column of names, then integers: Network.distance. Raises StrettoError above MOST_NAMES.
    """
    hosts = list(ranks) or network.hosts
    names = [str(rank) for rank in range(len(ranks))] or hosts
    if len(hosts) > MOST_NAMES:
        raise StrettoError(
            f"--matrix: {len(hosts):,} names would make {len(hosts) ** 2:,} distances; at most {MOST_NAMES:,} names "
            "are written, since a matrix grows with the square: use --json or --output, which hold the same as a tree"
        )
    deepest = network.deepest(hosts)
    place = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
    column = np.array([place[host] for host in hosts])
    inside: list[list[int]] = [[] for _ in network.switches]  # the places of hosts in each switch
    for host in place:
        for switch in network.path(host):
            inside[switch].append(place[host])
    text = io.StringIO()
    text.write(",".join(["", *names]) + "\n")
    for name, host in zip(names, hosts, strict=True):
        row = np.zeros(len(place), np.int64)
        for switch in network.path(host):
            row[inside[switch]] = deepest - network.switches[switch].depth
        row[place[host]] = network.distance(host, host, deepest)
        text.write(",".join([name, *map(str, row[column].tolist())]) + "\n")
    return text.getvalue()
