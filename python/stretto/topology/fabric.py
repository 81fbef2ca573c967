"""A network of cables, as InfiniBand and Omni-Path tools report it, and the tree of levels made of it.

Such a network is no tree: a leaf switch has cables to several spines. What the maps and hierarchies ask for is who is
near whom, so switches are grouped by how high a message must climb:

1. Leaf switches, those with hosts, are of level 0. Every other switch is 1 above the lowest that it has a cable to.
2. For each level, from 0 up: switches that have a path through switches of no higher level are one group. Groups lie
   within the groups of the next level, so this is a tree.

Of a fat tree the groups are its pods. What is lost: how many spines and cables there are, and their rates; between leaf
switches with cables to each other (a torus, a dragonfly) everything but that: they are one group. A switch that has
hosts on less than a tenth of its cables is not taken for a leaf switch: a login node or a file server at a spine would
make one group of all pods.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from stretto.topology.names import natural
from stretto.topology.tree import Described, Network, Source, build

_FEWEST_HOSTS = 0.1  # of the cables of a leaf switch

_HOST = re.compile(r"[\w.-]+")

Port = tuple[str, int]  # of a switch or adapter, by its identity; from 1


@dataclass(frozen=True)
class Adapter:
    """A host's connection to the network. `description` is the whole of what it says of itself."""

    host: str
    description: str
    line: int


@dataclass
class Fabric:
    """Switches, by identity what they say of themselves; adapters; and cables, both ways, with the line of each."""

    source: Source
    switches: dict[str, str] = field(default_factory=dict)
    adapters: dict[str, Adapter] = field(default_factory=dict)
    peers: dict[Port, tuple[Port, int]] = field(default_factory=dict)

    def add_adapter(self, identity: str, description: str, line: int) -> None:
        """The first word of a description is the host's name: `n01 HCA-1`, `n01 mlx5_0`, `n01 hfi1_0`."""
        self.adapters[identity] = Adapter((description.split() or [identity])[0], description, line)

    def connect(self, port: Port, peer: Port, line: int) -> None:
        """One end of a cable. Raises StrettoError where the port has one already."""
        if port in self.peers:
            raise self.source.error(f"port {port[1]} of {port[0]} is there twice: are these two dumps?", line)
        self.peers[port] = (peer, line)


def make_network(fabric: Fabric) -> Network:
    """The tree of levels, the same whatever the order of the file. Raises StrettoError for what has none."""
    _check(fabric)
    homes = _find_homes(fabric)
    neighbours = _neighbours(fabric)
    levels = _find_levels(fabric, neighbours)
    names = _name_switches(fabric.switches)
    hosts_at: dict[str, list[str]] = {}
    for host, switch in sorted(homes.items(), key=lambda item: natural(item[0])):
        hosts_at.setdefault(switch, []).append(host)
    return build(fabric.source, _group(neighbours, levels, names, hosts_at))


def _check(fabric: Fabric) -> None:
    if not fabric.switches or not fabric.adapters:
        what = "switches" if not fabric.switches else "hosts"
        raise fabric.source.error(f"it has no {what}: is the dump whole?")
    described: dict[str, Adapter] = {}
    for adapter in fabric.adapters.values():
        if not _HOST.fullmatch(adapter.host):
            raise fabric.source.error(
                f'"{adapter.description}" does not begin with the name of a host: let the adapter say it (rdma-ndd)',
                adapter.line,
            )
        first = described.setdefault(adapter.description, adapter)
        if first is not adapter:
            raise fabric.source.error(
                f'two adapters are "{adapter.description}", also in line {first.line}: '
                "let each say its host's name (rdma-ndd), and dump again",
                adapter.line,
            )
    for (identity, number), (peer, line) in fabric.peers.items():
        words = f"port {number} of {identity} leads to port {peer[1]} of {peer[0]}"
        if peer[0] not in fabric.switches and peer[0] not in fabric.adapters:
            raise fabric.source.error(f"{words}, which is not in the file: dump the whole network again", line)
        if fabric.peers.get(peer, (None, 0))[0] != (identity, number):
            raise fabric.source.error(f"{words}, which does not lead back: dump the network again", line)


def _neighbours(fabric: Fabric) -> dict[str, list[str]]:
    """Of each switch the switches that it has cables to, as often as it has."""
    found: dict[str, list[str]] = {identity: [] for identity in fabric.switches}
    for (identity, _), ((peer, _), _) in sorted(fabric.peers.items()):
        if identity in found and peer in found:
            found[identity].append(peer)
    return found


def _find_homes(fabric: Fabric) -> dict[str, str]:
    """The switch of each host: where the first port of its first adapter leads. The others add no place to a tree."""
    homes: dict[str, str] = {}
    ports = sorted(
        (port for port in fabric.peers if port[0] in fabric.adapters),
        key=lambda port: (natural(fabric.adapters[port[0]].description), port[1]),
    )
    for port in ports:
        (peer, _), _ = fabric.peers[port]
        if peer in fabric.switches:
            homes.setdefault(fabric.adapters[port[0]].host, peer)
    for adapter in fabric.adapters.values():
        if adapter.host not in homes:
            raise fabric.source.error(f"{adapter.description} is at no switch: connect it or drop it", adapter.line)
    return homes


def _find_levels(fabric: Fabric, neighbours: dict[str, list[str]]) -> dict[str, int]:
    """Of each switch how many steps it is above the nearest leaf switch. Raises StrettoError where one has no path."""
    cables = Counter(identity for identity, _ in fabric.peers)
    to_hosts = Counter(
        identity
        for (identity, _), ((peer, _), _) in sorted(fabric.peers.items())
        if identity in fabric.switches and peer in fabric.adapters
    )
    leaves = [each for each in to_hosts if to_hosts[each] >= _FEWEST_HOSTS * cables[each]] or list(to_hosts)
    lost = min(fabric.switches.keys() - _steps(neighbours, leaves[:1]).keys(), default=None)
    if lost is not None:
        raise fabric.source.error(
            f"there is no path between switches {leaves[0]} and {lost}: give each network a file of its own"
        )
    return _steps(neighbours, leaves)


def _steps(neighbours: dict[str, list[str]], start: list[str]) -> dict[str, int]:
    """How far each switch that has a path to one of `start` is from the nearest of them."""
    found = dict.fromkeys(start, 0)
    reached = list(start)
    for identity in reached:  # grows on the way
        for peer in neighbours[identity]:
            if peer not in found:
                found[peer] = found[identity] + 1
                reached.append(peer)
    return found


def _name_switches(descriptions: dict[str, str]) -> dict[str, str]:
    """What a switch says of itself, where no other says the same, else its identity; without what Slurm cannot read."""
    short = {
        identity: "".join(each if each.isalnum() or each in "._-" else "-" for each in words.removeprefix("MF0;"))
        for identity, words in descriptions.items()
    }
    times = Counter(short.values())
    return {identity: words if words and times[words] == 1 else identity for identity, words in short.items()}


class _Groups:
    """Groups of switches that grow together. `units[root]`: the largest units of the tree in it."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}  # a forest: switches of one group have one root
        self.units: dict[str, list[str]] = {}

    def add(self, identity: str, units: list[str]) -> None:
        self._above[identity] = identity
        self.units[identity] = units

    def root(self, identity: str) -> str:
        while self._above[identity] != identity:
            self._above[identity] = identity = self._above[self._above[identity]]
        return identity

    def join(self, a: str, b: str) -> None:
        kept, gone = self.root(a), self.root(b)
        if kept != gone:
            self._above[gone] = kept
            self.units[kept] += self.units.pop(gone)


def _group(
    neighbours: dict[str, list[str]], levels: dict[str, int], names: dict[str, str], hosts_at: dict[str, list[str]]
) -> list[Described]:
    """The units of the tree, each after those in it: switches with hosts, and the groups of each level."""
    described: list[Described] = []
    groups = _Groups()
    for level in range(max(levels.values()) + 1):
        switches = sorted((each for each in levels if levels[each] == level), key=lambda each: natural(names[each]))
        for identity in switches:
            groups.add(identity, [names[identity]] if identity in hosts_at else [])
            if identity in hosts_at:
                described.append(Described(names[identity], hosts_at[identity]))
        for identity in switches:
            for peer in neighbours[identity]:
                if levels[peer] <= level:
                    groups.join(identity, peer)
        newest: dict[str, list[str]] = {}  # of each group the switches of this level
        for identity in switches:
            newest.setdefault(groups.root(identity), []).append(identity)
        found = [(sorted(units, key=natural), each) for each, units in groups.units.items() if len(units) > 1]
        for number, (units, each) in enumerate(sorted(found, key=lambda item: natural(item[0][0]))):
            alone = len(newest[each]) == 1 and newest[each][0] not in hosts_at
            name = names[newest[each][0]] if alone else f"group{level}.{number}"
            described.append(Described(name, switches=units))
            groups.units[each] = [name]
    return described
