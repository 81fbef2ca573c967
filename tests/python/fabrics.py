"""Networks of cables for the tests, as `ibnetdiscover` would dump them."""

from __future__ import annotations

from collections.abc import Sequence

Cables = Sequence[tuple[str, str]]


def ibnetdiscover(cables: Cables) -> str:
    """A dump of cables between switches and hosts, whose names begin with h. Ports are in the order of the cables."""
    ports: dict[str, list[tuple[str, int]]] = {}
    for a, b in cables:
        ports.setdefault(a, [])
        ports.setdefault(b, [])
        ports[a].append((b, len(ports[b]) + 1))
        ports[b].append((a, len(ports[a])))
    blocks = ["#\n# Topology file: generated on Mon Dec 18 12:34:08 2023\n#\n"]
    for name in sorted(ports):
        kind = "Ca" if name.startswith("h") else "Switch"
        lines = [f'{kind}\t{len(ports[name])} "{identity(name)}"\t\t# "{name}"']
        for number, (peer, peer_port) in enumerate(ports[name], 1):
            lines.append(f'[{number}]\t"{identity(peer)}"[{peer_port}]\t\t# "{peer}" lid 1 4xEDR')
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def identity(name: str) -> str:
    return f"{'H' if name.startswith('h') else 'S'}-{name}"


def pods(servers_at: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Two pods of two leaf switches with four hosts, two upper switches each, two cores; hosts at `servers_at`, too."""
    cables = [(f"leaf{leaf}", f"h{4 * leaf + host:02d}") for leaf in range(4) for host in range(4)]
    cables += [(f"leaf{leaf}", f"upper{2 * (leaf // 2) + k}") for leaf in range(4) for k in range(2) for _ in range(3)]
    cables += [(f"upper{upper}", f"core{k}") for upper in range(4) for k in range(2) for _ in range(3)]
    return cables + [(switch, f"hserver{number}") for number, switch in enumerate(servers_at)]
