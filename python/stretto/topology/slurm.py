"""Slurm's topology.conf(5), which STRETTO_TOPOLOGY reads: `SwitchName=leaf0 Nodes=n[00-15]`. Read and written."""

from __future__ import annotations

from stretto.topology.names import collapse, expand
from stretto.topology.tree import Described, Network, Source, build

_LISTS = ("nodes", "switches")


def read(source: Source) -> Network:
    """The network of a topology.conf. Raises StrettoError with the line.

    As Slurm and the library, it takes words in any case, comments behind #, and passes over LinkSpeed.
    """
    described = []
    for number, line in source.lines:
        words = line.partition("#")[0].split()
        if words:
            described.append(_read_line(source, number, words))
    return build(source, described)


def _read_line(source: Source, number: int, words: list[str]) -> Described:
    found: dict[str, str] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key.lower() not in ("switchname", *_LISTS, "linkspeed"):
            raise source.error(f"'{key}' is none of SwitchName, Nodes, Switches, LinkSpeed: correct or drop it", number)
        found[key.lower()] = value
    if not found.get("switchname"):
        raise source.error("a line begins with SwitchName=NAME", number)
    try:
        hosts, switches = (expand(found[key]) if key in found else [] for key in _LISTS)
    except ValueError as error:
        raise source.error(str(error), number) from None
    return Described(found["switchname"], hosts, switches, number)


def write(network: Network, origin: str) -> str:
    """The text of a topology.conf that is read as the same tree. `origin` is told in a comment."""
    lines = [f"# By `stretto topo` from {origin}"]
    for switch in network.switches[1:]:
        words = [f"SwitchName={switch.name}"]
        if switch.hosts:
            words.append(f"Nodes={collapse(switch.hosts)}")
        if switch.children:
            words.append(f"Switches={collapse(network.switches[child].name for child in switch.children)}")
        lines.append(" ".join(words))
    # Hosts of the whole network cannot be told: all forms put each host at a switch.
    return "\n".join(lines) + "\n"
