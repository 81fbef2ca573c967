#!/usr/bin/env python3
"""Algorithms that let early ranks work while late ones are away, simulated: straggler_allreduce and rendezvous_tree.

`.venv/bin/python bench/late_ranks.py [--cases LIST] [--json FILE]`, after scripts/build_sim.sh. One rank a node,
1 Gbit Ethernet. `straggler`: rank 3 comes 300 ms late to every allreduce, so that history knows it. `rendezvous`: every
rank of a reduction is late by a random time, about which nobody knows. Completion lags, and by which factor ours is
shorter than the best of the others.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from simulated import simulate

from stretto.bench.report import format_size, write_json

PLATFORM = "ethernet-48"
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Case:
    collective: str
    arrivals: tuple[str, ...]
    sizes: tuple[int, ...]
    ranks: tuple[int, ...]
    ours: tuple[str, ...]
    others: tuple[str, ...]


CASES = {
    "straggler": Case(
        "allreduce", ("rank-late:3,300ms",), (MIB, 4 * MIB, 16 * MIB), (8, 16, 32),
        ("straggler_allreduce",), ("ring", "rabenseifner"),
    ),
    "rendezvous": Case(
        "reduce", ("uniform:200ms", "uniform:50ms"), (8 * KIB, 64 * KIB, MIB, 4 * MIB), (8, 32),
        ("rendezvous_tree", "rendezvous_tree+4"), ("binomial", "binomial+4"),
    ),
}  # fmt: skip


def measure(name: str, arrival: str, ranks: int) -> list[dict[str, Any]]:
    """A row a size: each algorithm's lag in ns, and the factor by which the best of ours is shorter."""
    case = CASES[name]
    algorithms = [*case.others, *case.ours]
    options = ["--arrival", arrival, "--iterations", "22"]
    times = simulate(case.collective, algorithms, list(case.sizes), PLATFORM, ranks, options)
    rows = []
    for size in case.sizes:
        lag = {each: times[each][size]["lag"] for each in algorithms}
        factor = min(lag[each] for each in case.others) / min(lag[each] for each in case.ours)
        elapsed = {each: times[each][size]["elapsed"] for each in algorithms}
        rows.append(
            {"case": name, "arrival": arrival, "ranks": ranks, "bytes": size, "lag": lag, "elapsed": elapsed}
            | {"factor": factor}
        )
    return rows


def show(name: str, rows: list[dict[str, Any]], console: Console) -> None:
    table = Table(title=f"{CASES[name].collective}: completion lag in ms")
    for heading in ("arrival", "ranks", "bytes", *rows[0]["lag"], "factor"):
        table.add_column(heading, justify="left" if heading == "arrival" else "right", no_wrap=True)
    for row in rows:
        lags = [f"{lag / 1e6:.3g}" for lag in row["lag"].values()]
        table.add_row(row["arrival"], str(row["ranks"]), format_size(row["bytes"]), *lags, f"{row['factor']:.2f}")
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", default=",".join(CASES), metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
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
        write_json(options.json, {"platform": PLATFORM, "times_in": "ns", "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
