"""The tree of levels that every description of a network is read into. Memory is O(hosts), there is no matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from stretto.errors import StrettoError


@dataclass(frozen=True)
class Source:
    """A description: the name of its file, for messages, and its text."""

    path: str
    text: str

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The lines with their numbers, from 1."""
        return list(enumerate(self.text.split("\n"), 1))

    def error(self, what: str, line: int | None = None) -> StrettoError:
        """What is wrong and how to mend it, with the file and, where there is one, the line (from 1)."""
        return StrettoError(f"{self.path}: {'' if line is None else f'line {line}: '}{what}")


@dataclass(frozen=True)
class Described:
    """One switch as a file tells it: the names of the hosts and of the switches at it."""

    name: str
    hosts: Sequence[str] = ()
    switches: Sequence[str] = ()
    line: int | None = None


@dataclass
class Switch:
    """One switch of a network, or a group of switches that are taken for one. `parent` is an index, -1: none."""

    name: str
    parent: int
    depth: int
    hosts: list[str]
    children: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Network:
    """A tree of switches with hosts. switches[0] is the whole network; each other comes after its parent.

    `switch_of[host]` is the index of the host's switch. The library has the same tree (src/topology/network.hpp).
    """

    switches: list[Switch]
    switch_of: dict[str, int]
    words: tuple[str, str] = ("host", "switch")  # what these are

    @property
    def hosts(self) -> list[str]:
        """All hosts, in the order of the file."""
        return list(self.switch_of)

    def find(self, name: str) -> str | None:
        """The host that a machine calls itself, with or without its domain; None where there is none."""
        return next((each for each in (name, name.partition(".")[0]) if each in self.switch_of), None)

    @cached_property
    def sizes(self) -> list[int]:
        """Of each switch, how many hosts are below it."""
        counts = [len(switch.hosts) for switch in self.switches]
        for index in range(len(counts) - 1, 0, -1):
            counts[self.switches[index].parent] += counts[index]
        return counts

    def path(self, host: str) -> list[int]:
        """The switches that hold a host, from the whole network down."""
        found = [self.switch_of[host]]
        while found[-1] != 0:
            found.append(self.switches[found[-1]].parent)
        return found[::-1]

    def deepest(self, hosts: Iterable[str]) -> int:
        """How many units the deepest of these hosts lies within."""
        return max(self.switches[index].depth for index in {self.switch_of[host] for host in hosts}) + 1

    def distance(self, a: str, b: str, deepest: int) -> int:
        """0 on one host, and 1 more for each level up to the smallest switch that holds both.

        As the library counts (src/topology/topology.hpp), from the deepest hosts up: where others are less deep, even
        two ranks of one such host are 1 apart, or more.
        """
        if a == b:
            return deepest - len(self.path(a))
        return deepest + 1 - sum(x == y for x, y in zip(self.path(a), self.path(b), strict=False))

    @property
    def tops(self) -> list[int]:
        """The switches that none is above."""
        return self.switches[0].children


def build(source: Source, described: Sequence[Described]) -> Network:
    """The tree of switches that were described. Switches that none has are at the whole network.

    Raises StrettoError for what is no tree, with the messages of the library and how to mend it.
    """
    parents = _find_parents(source, described)
    depth_of = _find_depths(source, described, parents)
    order = sorted(range(len(described)), key=lambda index: depth_of[index])  # stable: the file's order else
    index_of = {index: place for place, index in enumerate(order, 1)}
    network = Network([Switch("all", -1, 0, [])], {})
    for place, index in enumerate(order, 1):
        parent = index_of.get(parents[index], 0)
        network.switches.append(Switch(described[index].name, parent, depth_of[index], list(described[index].hosts)))
        network.switches[parent].children.append(place)
    for index, each in enumerate(described):
        for host in each.hosts:
            if host in network.switch_of:
                raise source.error(f"node {host} is there twice: leave it at one switch", each.line)
            network.switch_of[host] = index_of[index]
    if not network.switch_of:
        raise source.error("it names no hosts: say which are at which switch")
    return network


def _find_parents(source: Source, described: Sequence[Described]) -> dict[int, int]:
    """By index the index of the switch above; -1: none."""
    index_of: dict[str, int] = {}
    for index, each in enumerate(described):
        if index_of.setdefault(each.name, index) != index:
            raise source.error(f"switch {each.name} is there twice: give each switch one line", each.line)
        if not each.hosts and not each.switches:
            raise source.error(f"switch {each.name} has neither nodes nor switches: name them or drop it", each.line)
    parents = dict.fromkeys(range(len(described)), -1)
    for index, each in enumerate(described):
        for name in each.switches:
            child = index_of.get(name)
            if child is None:
                raise source.error(f"switch {name} has no line of its own: add it", each.line)
            if parents[child] >= 0:
                raise source.error(
                    f"switch {name} is at two switches: a tree is expected, name one of those that are alike", each.line
                )
            parents[child] = index
    return parents


def _find_depths(source: Source, described: Sequence[Described], parents: dict[int, int]) -> dict[int, int]:
    """How many switches are above each, and 1. What no top leads down to is in a circle."""
    depths: dict[int, int] = {}
    below: dict[int, list[int]] = {}
    for index, parent in parents.items():
        below.setdefault(parent, []).append(index)
    level = below.get(-1, [])
    depth = 1
    while level:
        depths.update(dict.fromkeys(level, depth))
        level = [child for index in level for child in below.get(index, [])]
        depth += 1
    for index, each in enumerate(described):
        if index not in depths:
            raise source.error(f"switch {each.name} is below itself: remove it from one of the lists", each.line)
    return depths
