"""A network on the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from stretto.topology.names import collapse, ranges
from stretto.topology.tree import Network

_MOST_HOSTS_APART = 16  # hosts of one switch that have a line each where ranks are placed
_MOST_LIKE = 8  # names in the table of levels


def ranks_by_host(ranks: Sequence[str]) -> dict[str, list[int]]:
    """Of each host that has ranks, these, ascending."""
    found: dict[str, list[int]] = {}
    for rank, host in enumerate(ranks):
        found.setdefault(host, []).append(rank)
    return found


def counted(number: int, noun: str) -> str:
    """`1 host`, `2 hosts`, `3 switches`."""
    plural = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{plural}"


def print_network(console: Console, network: Network, form: str, ranks: Sequence[str]) -> None:
    """Print the tree, hosts in short lists, and what there is on each level."""
    tops = network.tops
    host, switch = network.words
    summary = [counted(len(network.hosts), host), counted(len(network.switches) - 1, switch)]
    if ranks:
        summary.append(f"{counted(len(ranks), 'rank')} on {counted(len(set(ranks)), host)}")
    console.print(f"{form}: {', '.join(summary)}", highlight=False, markup=False)
    placed = ranks_by_host(ranks)
    trees: dict[int, Tree] = {}
    for index, unit in enumerate(network.switches):
        if index == 0 and len(tops) == 1:
            continue  # the only top switch is the whole network
        below = f"  {counted(network.sizes[index], host)}" if unit.children else ""
        tree = Tree(f"{unit.name}{below}", highlight=False)
        if unit.parent in trees:
            trees[unit.parent].children.append(tree)
        trees[index] = tree
        for line in _host_lines(unit.hosts, placed, host):
            tree.add(line)
    console.print(trees[tops[0] if len(tops) == 1 else 0], markup=False, soft_wrap=True)
    console.print(_level_table(network))


def _host_lines(hosts: list[str], placed: dict[str, list[int]], word: str) -> list[str]:
    """The hosts of one switch, those with ranks apart."""
    empty = [host for host in hosts if host not in placed]
    used = [host for host in hosts if host in placed]
    lines = [f"{host}: {_rank_words(placed[host])}" for host in used]
    if len(used) > _MOST_HOSTS_APART:
        lines = [f"{collapse(used)}: {_rank_words(sorted(rank for host in used for rank in placed[host]))}"]
    if empty:
        lines.append(collapse(empty) + (f"  {counted(len(empty), word)}" if len(empty) > 1 else ""))
    return lines


def _rank_words(ranks: list[int]) -> str:
    return f"rank{'' if len(ranks) == 1 else 's'} {ranges(ranks)}"


def _level_table(network: Network) -> Table:
    host, _ = network.words
    table = Table("distance", "which meet in", "how many", f"{host}s in each")
    table.columns[0].justify = table.columns[2].justify = table.columns[3].justify = "right"
    deepest = network.deepest(network.hosts)
    table.add_row("0", f"a {host}", f"{len(network.hosts):,}", "1")
    for depth in range(deepest - 1, -1, -1):
        level = [index for index, switch in enumerate(network.switches) if switch.depth == depth]
        if depth == 0 and len(network.tops) == 1:
            continue
        sizes = [network.sizes[index] for index in level]
        each = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
        names = [network.switches[index].name for index in level]
        words = collapse(names) if len(collapse(names).split(",")) <= _MOST_LIKE else f"{names[0]} and others"
        table.add_row(str(deepest - depth), words if depth else "the whole network", f"{len(level):,}", each)
    return table


def as_json(network: Network, form: str, ranks: Sequence[str]) -> dict[str, Any]:
    """The tree as plain data: switches[0] is the whole network, `parent` and `switch` are indices into `switches`."""
    return {
        "schema_version": 1,
        "form": form,
        "switches": [
            {"name": switch.name, "parent": None if switch.parent < 0 else switch.parent, "depth": switch.depth}
            for switch in network.switches
        ],
        "hosts": [{"name": host, "switch": index} for host, index in network.switch_of.items()],
        "ranks": list(ranks),
    }
