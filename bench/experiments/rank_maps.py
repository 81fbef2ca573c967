#!/usr/bin/env python3
"""Kitor 2022's comparison, simulated: algorithms as they are, with the paper's heuristics, and placed by SCOTCH.

`.venv/bin/python bench/experiments/rank_maps.py [--ranks N] [--json FILE]`, after scripts/build_sim.sh, with
libscotch-dev. Nodes of a fat tree with 32 ranks each, which share the node's link, balanced. Three initial placements:
nodes filled one after another, their two sockets too (by-core) or in turn (by-socket), or one rank to each node in turn
(by-node). SCOTCH, and our greedy mapper for any traffic, place the ranks anew, whatever the placement was. Gains are in
per cent of the run time of the algorithm as it is.
"""

from __future__ import annotations

import sys
from typing import Any

from experiment import make_parser, read_options
from rich.console import Console
from simulated import simulate
from tables import make_table

from stretto.bench.report import write_json
from stretto.simulate.sim import MAPPERS, PLACEMENTS

PLATFORM = "fat-tree-128x32"
SIZES = [4 << 10, 64 << 10, 1 << 20]
# Of the six algorithms of the paper's section 4.3, the trees in segments.
ALGORITHMS = {
    "allreduce": ["ring", "rabenseifner", "recursive_doubling"],
    "bcast": ["event_binary", "event_knomial", "scatter_allgather"],
}


def measure(collective: str, ranks: int) -> list[dict[str, Any]]:
    """A row an algorithm, placement and size, with the times in ns of all ways to number its ranks."""
    names = ALGORITHMS[collective]
    every = ["native", *names, *(f"{name}@topology" for name in names)]
    options = ["--root", "0", "--iterations", "1"]
    placed = {
        placement: simulate(collective, every, SIZES, PLATFORM, ranks, [*options, "--placement", placement])
        for placement in PLACEMENTS
    }
    mapped = {
        mapper: {
            name: simulate(collective, [name], SIZES, PLATFORM, ranks, [*options, "--placement", mapper])[name]
            for name in names
        }
        for mapper in MAPPERS
    }
    return [
        {
            "collective": collective,
            "algorithm": name,
            "placement": placement,
            "bytes": size,
            "native": times["native"][size]["run_time"],
            "as it is": times[name][size]["run_time"],
            "heuristic": times[f"{name}@topology"][size]["run_time"],
            **{mapper: mapped[mapper][name][size]["run_time"] for mapper in MAPPERS},
        }
        for name in names
        for placement, times in placed.items()
        for size in SIZES
    ]


def show(collective: str, rows: list[dict[str, Any]], ranks: int, console: Console) -> None:
    title = f"{collective}, {ranks} ranks, 32 a node: us, and gain over the algorithm as it is"
    headings = ("algorithm", "placement", "KiB", "native", "as it is", "heuristic", "gain", *MAPPERS)
    table = make_table(title, headings, left=("algorithm", "placement"), title_justify="center")
    for row in rows:
        times = [f"{row[way] / 1e3:.0f}" for way in ("native", "as it is", "heuristic")]
        gains = [f"{100 * (1 - row[way] / row['as it is']):.0f} %" for way in ("heuristic", *MAPPERS)]
        table.add_row(row["algorithm"], row["placement"], f"{row['bytes'] >> 10}", *times, *gains)
    console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--ranks", type=int, default=256, help="(default: %(default)s)")
    options = read_options(parser)
    console = Console()
    rows: list[dict[str, Any]] = []
    for collective in ALGORITHMS:
        own = measure(collective, options.ranks)
        show(collective, own, options.ranks, console)
        rows += own
    if options.json:
        write_json(options.json, {"platform": PLATFORM, "ranks": options.ranks, "times_in": "ns", "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
