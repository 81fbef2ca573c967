"""What InfiniBand's `ibnetdiscover` prints (infiniband-diags, rdma-core), with or without `--grouping` and `--full`.

A block for each switch, adapter and router: its kind, number of ports and identity, then a line for each port with a
cable. The form is documented in ibnetdiscover(8), "topology file format".
"""

from __future__ import annotations

import re

from stretto.topology.fabric import Fabric, make_network
from stretto.topology.tree import Network, Source

_KIND = re.compile(r"(?:Switch|Ca|Rt)\s")
_NODE = re.compile(r'(?P<kind>Switch|Ca|Rt)\s+\d+\s+"(?P<identity>[SHR]-\w+)"\s*(?:#\s*"(?P<description>.*)".*)?')
_PORT = re.compile(
    r'\[(?P<port>\d+)\](?:\[ext \d+\])?(?:\(\w+\))?\s*"(?P<peer>[SHR]-\w+)"\[(?P<peer_port>\d+)\].*?(?P<comment>#.*)?'
)
# In each switch that can reduce by itself (SHARP) there is an adapter, which is no host's.
_IN_SWITCH = "Mellanox Technologies Aggregation Node"


def read(source: Source) -> Network:
    """The tree of levels of an `ibnetdiscover` dump. Raises StrettoError with the line."""
    fabric = Fabric(source)
    node = ""
    passed_over = {found[1] for found in re.finditer(rf'"([HR]-\w+)"[^"\n]*"{_IN_SWITCH}"', source.text)}
    for number, line in source.lines:
        if _KIND.match(line):
            node = _read_node(fabric, line, number, passed_over)
        elif line.startswith("["):
            found = _PORT.fullmatch(line.strip())
            if not found or not node:
                raise source.error("not a line of ibnetdiscover: write the file again, without options", number)
            # Routers lead to other subnets, which have a dump of their own.
            if node not in passed_over and found["peer"] not in passed_over and found["peer"][0] != "R":
                fabric.connect((node, int(found["port"])), (found["peer"], int(found["peer_port"])), number)
    return make_network(fabric)


def _read_node(fabric: Fabric, line: str, number: int, passed_over: set[str]) -> str:
    """The identity of the node whose block begins here."""
    found = _NODE.fullmatch(line.strip())
    if not found:
        raise fabric.source.error("not a line of ibnetdiscover: write the file again, without options", number)
    identity, description = found["identity"], found["description"] or ""
    if identity in fabric.switches or identity in fabric.adapters:
        raise fabric.source.error(f"{identity} is there twice: are these two dumps?", number)
    if found["kind"] == "Switch":
        fabric.switches[identity] = description
    elif found["kind"] == "Rt":
        passed_over.add(identity)
    elif identity not in passed_over:
        fabric.add_adapter(identity, description, number)
    return identity
