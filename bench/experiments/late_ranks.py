#!/usr/bin/env python3
"""Algorithms that let early ranks go on while late ones are away, simulated.

`.venv/bin/python bench/experiments/late_ranks.py [--cases LIST] [--json FILE]`, after scripts/build_sim.sh. Completion
lags or mean times in the call, and by which factor ours is shorter than the best of the others. - `straggler`, one rank
a node, 1 Gbit Ethernet: rank 3 comes 300 ms late to every allreduce, so that history knows it. - `rendezvous`, on the
same: every rank of a reduction is late by a random time, about which nobody knows. - `first-comers`, four ranks a node
with memory of their own: to every broadcast the rank of the second node comes late that would lead it, or all ranks by
random times, the root among them.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from experiment import make_parser, read_options
from rich.console import Console
from simulated import IN_MEMORY, simulate
from tables import make_table

from stretto.bench.report import format_size, write_json

METRICS = {"lag": "completion lag", "elapsed": "mean time in the call"}
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Case:
    collective: str
    arrivals: tuple[str, ...]
    sizes: tuple[int, ...]
    ranks: tuple[int, ...]
    ours: tuple[str, ...]
    others: tuple[str, ...]
    platform: str = "ethernet-48"
    options: tuple[str, ...] = ()
    metric: str = "lag"


CASES = {
    "straggler": Case(
        "allreduce", ("rank-late:3,300ms",), (MIB, 4 * MIB, 16 * MIB), (8, 16, 32),
        ("straggler_allreduce",), ("ring", "rabenseifner"),
    ),
    "rendezvous": Case(
        "reduce", ("uniform:200ms", "uniform:50ms"), (8 * KIB, 64 * KIB, MIB, 4 * MIB), (8, 32),
        ("rendezvous_tree", "rendezvous_tree+4"), ("binomial", "binomial+4"),
    ),
    "first-comers": Case(
        "bcast", ("balanced", "rank-late:4,20ms", "uniform:2ms", "uniform:20ms"), (8 * KIB, 64 * KIB, MIB, 8 * MIB),
        (32,), ("hierarchical(arrival_copy,arrival_ordered)", "hierarchical(arrival_copy,arrival_ordered_nonblocking)"),
        ("event_binary", "event_chain", "arrival_ordered_nonblocking", "hierarchical(arrival_copy,event_binary)",
         "hierarchical(arrival_copy,event_chain)"),
        "cluster-32x4", (*IN_MEMORY, "--root", "0"), "elapsed",
    ),
}  # fmt: skip


def measure(name: str, arrival: str, ranks: int) -> list[dict[str, Any]]:
    """A row a size: each algorithm's times in ns, and the factor by which the best of ours is shorter."""
    case = CASES[name]
    algorithms = [*case.others, *case.ours]
    options = ["--arrival", arrival, "--iterations", "22", *case.options]
    times = simulate(case.collective, algorithms, list(case.sizes), case.platform, ranks, options)
    rows = []
    for size in case.sizes:
        by_metric = {metric: {each: times[each][size][metric] for each in algorithms} for metric in METRICS}
        judged = by_metric[case.metric]
        factor = min(judged[each] for each in case.others) / min(judged[each] for each in case.ours)
        row = {"case": name, "platform": case.platform, "arrival": arrival, "ranks": ranks, "bytes": size}
        rows.append(row | by_metric | {"metric": case.metric, "factor": factor})
    return rows


def show(name: str, rows: list[dict[str, Any]], console: Console) -> None:
    metric = CASES[name].metric
    hierarchies = [algorithm for algorithm in rows[0][metric] if "(" in algorithm]  # whose names are long
    table = make_table(
        f"{CASES[name].collective}: {METRICS[metric]} in ms",
        ("arrival", "ranks", "bytes", *rows[0][metric], "factor"),
        left=("arrival",),
        wrapped=hierarchies,
        title_justify="center",
    )
    for row in rows:
        times = [f"{time / 1e6:.3g}" for time in row[metric].values()]
        table.add_row(row["arrival"], str(row["ranks"]), format_size(row["bytes"]), *times, f"{row['factor']:.2f}")
    console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--cases", default=",".join(CASES), metavar="LIST", help="(default: %(default)s)")
    options = read_options(parser)
    names = options.cases.split(",")
    if unknown := set(names) - set(CASES):
        parser.error(f"--cases: {', '.join(sorted(unknown))}: want some of {', '.join(CASES)}")
    console = Console()
    rows: list[dict[str, Any]] = []
    for name in names:
        runs = [(name, arrival, ranks) for arrival in CASES[name].arrivals for ranks in CASES[name].ranks]
        with ProcessPoolExecutor(max_workers=2) as pool:
            own = [row for found in pool.map(measure, *zip(*runs, strict=True)) for row in found]
        show(name, own, console)
        rows += own
    if options.json:
        write_json(options.json, {"times_in": "ns", "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
