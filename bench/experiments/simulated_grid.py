#!/usr/bin/env python3
"""What Stretto chooses by default on a simulated cluster, against an MPI library's own choice as SimGrid has it.

`.venv/bin/python bench/experiments/simulated_grid.py [--nodes N] [--collectives LIST] [--arrivals PATTERNS] [--selector
NAME] [--json FILE]`, after scripts/build_sim.sh: nodes of 32 ranks, which share memory, on a fat tree of 100 Gbit/s. A
call costs what `stretto tune` says (`cost_ns`). Simulated times are exact: no intervals. All collectives under one
pattern take 4 minutes with 512 ranks, one collective 8 to 12 with 2048.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from emulated import samples_of, what_ran
from experiment import make_parser, read_options, write_measured
from rich.console import Console
from simulated import IN_MEMORY, sizes_of
from tables import make_console, make_table

from stretto.bench.report import format_ran, format_size
from stretto.bench.request import parse_arrival
from stretto.tune.measure import Cell, cost_ns

PLATFORM, RANKS_A_NODE = "fat-tree-128x32", 32
KIB, MIB = 1 << 10, 1 << 20
LENGTHS = [8, 256, 4 * KIB, 64 * KIB, MIB]
# Collective -> message lengths. Where there is a block for each rank, the longest of 512 ranks takes 16 MiB in each.
SIZES = {
    "allreduce": LENGTHS,
    "bcast": LENGTHS,
    "reduce": LENGTHS,
    "barrier": [0],
    "scatter": LENGTHS[:4],
    "gather": LENGTHS[:4],
    "allgather": [8, 256, 4 * KIB],
    "reduce_scatter_block": [8, 256, 4 * KIB],
}
ARRIVALS = "balanced uniform:2ms one-late:2ms rank-late:1,2ms node-late:2ms mif:6"
BEHIND = 1.05


def measure(collective: str, arrival: str, ranks: int, selector: str) -> list[dict[str, Any]]:
    """A row a length: what ran by default, what it took in ns, and its ratio to the library's own choice."""
    sizes = SIZES[collective]
    options = ["--arrival", arrival, "--selector", selector, *IN_MEMORY]
    found = sizes_of(collective, ["native", "default"], sizes, PLATFORM, ranks, options)
    cell = Cell(collective, ranks, ranks // RANKS_A_NODE, parse_arrival(arrival))
    rows = []
    for size, measured in zip(sizes, found, strict=True):
        samples = samples_of(measured)
        native, default = (float(np.median(cost_ns(samples[name], cell))) for name in ("native", "default"))
        row = {"collective": collective, "arrival": arrival, "bytes": size, "ran": what_ran(measured)["default"]}
        rows.append(row | {"cost_ns": default, "native_ns": native, "to_native": default / native})
    return rows


def show(rows: list[dict[str, Any]], console: Console) -> None:
    """The ratios by collective and length, from the best pattern to the worst, and each cell that is behind."""
    by_cell: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        by_cell.setdefault((row["collective"], row["bytes"]), []).append(row["to_native"])
    table = make_table("default to native, from the best pattern to the worst", ("calls", "bytes", "ratios"))
    for (collective, size), ratios in by_cell.items():
        table.add_row(collective, format_size(size), f"{min(ratios):.2f}-{max(ratios):.2f}")
    console.print(table)
    behind = [row for row in rows if row["to_native"] > BEHIND]
    worse = make_table("behind", ("calls", "bytes", "arrival", "what ran", "us", "/ native"), left=("what ran",))
    for row in behind:
        worse.add_row(row["collective"], format_size(row["bytes"]), row["arrival"], format_ran(row["ran"]),
                      f"{row['cost_ns'] / 1e3:.1f}", f"{row['to_native']:.2f}")  # fmt: skip
    console.print(worse)
    console.print(f"of {len(rows)} cells {len(behind)} are more than {BEHIND - 1:.0%} behind the library's own choice")


def cells(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for collective in options.collectives.split(","):
        for arrival in options.arrivals.split():
            yield collective, arrival


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--nodes", type=int, default=16, help="of 32 ranks each (default: %(default)s)")
    parser.add_argument("--collectives", default=",".join(SIZES), metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--arrivals", default=ARRIVALS, metavar="PATTERNS", help="(default: %(default)s)")
    parser.add_argument("--selector", default="ompi", help="whose choice is native (default: %(default)s)")
    options = read_options(parser)
    ranks = options.nodes * RANKS_A_NODE
    wanted = list(cells(options))
    with ProcessPoolExecutor(max_workers=2) as pool:
        runs = [pool.submit(measure, collective, arrival, ranks, options.selector) for collective, arrival in wanted]
        rows: list[dict[str, Any]] = []
        for run in runs:
            rows += run.result()
            # With thousands of ranks all of them take hours: what there is, is kept.
            on = {"platform": PLATFORM, "ranks": ranks, "selector": options.selector}
            write_measured(options.json, on | {"cells": rows})
    show(rows, make_console(160))
    return 0


if __name__ == "__main__":
    sys.exit(main())
