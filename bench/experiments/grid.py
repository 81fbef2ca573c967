#!/usr/bin/env python3
"""What Stretto chooses by default, against the best of all that it and the MPI library have, over the whole grid.

`.venv/bin/python bench/experiments/grid.py --journal FILE [--ranks N] [--mpirun LAUNCHER] [--nodes N] [--rate RATE]
[--collectives LIST] [--sizes LIST] [--arrivals PATTERNS] [--seconds S] [--native-only] [--json FILE]`, on a quiet
machine. The same command goes on where it was interrupted. All candidates of a cell in a few calls, then the default,
the MPI library's own and what may be the best, interleaved, for S seconds. A call costs what `stretto tune` says
(`cost_ns`): the mean time in it where ranks come together, else the completion lag; in rooted collectives the geometric
mean of both. The best is chosen by its median after the fact, which favours it. With --native-only nothing is measured
but the default and the MPI library's own choice.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from experiment import make_parser, read_options, write_measured
from rich.console import Console
from tables import make_console, make_table, with_interval

from stretto.bench.report import format_ran, format_size
from stretto.bench.request import VARIANT_PREFIX, is_native, parse_arrival, parse_sizes
from stretto.bench.stats import estimate_paired_ratio
from stretto.cluster import cluster_if
from stretto.tune.measure import Cell, Measurer, Observed, finalists, screen
from stretto.tune.rules import NATIVE

COLLECTIVES = "allreduce,bcast,reduce,barrier,allgather,gather,scatter,reduce_scatter_block"
ARRIVALS = "balanced uniform:2ms one-late:2ms rank-late:1,2ms mif:6"
NEAR_BEST, BEHIND = 1.10, 1.05  # wanted: of the best in nine cells of ten, and of the MPI library's own choice in all


@dataclass(frozen=True)
class Figure:
    """What the default takes in one cell: ratios are median, low and high end of a 95 % bootstrap interval."""

    collective: str
    bytes: int
    arrival: str
    ran: dict[str, int]
    median_us: float
    to_native: tuple[float, float, float]
    to_best: tuple[float, float, float]  # of what can be chosen
    best: str
    to_forced: tuple[float, float, float]  # the best of the MPI library's own
    forced: str

    @property
    def is_near_best(self) -> bool:
        return self.to_best[0] <= NEAR_BEST

    @property
    def is_unsure(self) -> bool:
        return not self.is_near_best and self.to_best[1] <= 1

    @property
    def is_behind(self) -> bool:
        return self.to_native[0] > BEHIND and self.to_native[1] > 1


def judge(cell: Cell, size: int, observed: Observed) -> Figure:
    costs = observed.costs
    own = costs["default"]

    def ratio(other: str) -> tuple[float, float, float]:
        estimate = estimate_paired_ratio(own, costs[other])
        return estimate.value, estimate.low, estimate.high

    forced = min(filter(is_native, costs), key=lambda name: float(np.median(costs[name])))
    best, ran, median_us = observed.best, observed.ran["default"], float(np.median(own)) / 1e3
    return Figure(cell.collective, size, cell.arrival.text, ran, median_us, ratio(NATIVE), ratio(best), best,
                  ratio(forced), forced)  # fmt: skip


def show(figures: Sequence[Figure], console: Console) -> None:
    """One table of the cells that miss a target, and the sums."""
    missed = [figure for figure in figures if figure.is_behind or not (figure.is_near_best or figure.is_unsure)]
    headings = ("calls", "bytes", "arrival", "what ran", "us", "/ native", "/ best", "best", "/ forced", "forced")
    table = make_table("beyond the targets", headings, left=("calls", "arrival", "what ran", "best", "forced"))
    for each in missed:
        table.add_row(each.collective, format_size(each.bytes), each.arrival, format_ran(each.ran),
                      f"{each.median_us:.1f}", with_interval(*each.to_native), with_interval(*each.to_best), each.best,
                      with_interval(*each.to_forced), each.forced.removeprefix(VARIANT_PREFIX))  # fmt: skip
    console.print(table)
    counts = [sum(getattr(each, what) for each in figures) for what in ("is_near_best", "is_unsure", "is_behind")]
    console.print(
        f"of {len(figures)} cells {counts[0]} are within {NEAR_BEST - 1:.0%} of the best, {counts[1]} more cannot be "
        f"told apart from it; {counts[2]} are more than {BEHIND - 1:.0%} behind the MPI library's own choice"
    )


def measure(options: argparse.Namespace, console: Console) -> list[Figure]:
    figures: list[Figure] = []
    with cluster_if(options.nodes, options.rate) as nodes:
        measurer = Measurer(options.mpirun, options.journal, options.seed, None, nodes)
        on = int(measurer.setup(options.ranks)["nodes"])
        for collective in options.collectives.split(","):
            for arrival in options.arrivals.split():
                cell = Cell(collective, options.ranks, on, parse_arrival(arrival))
                sizes = [0] if collective == "barrier" else list(parse_sizes(options.sizes))
                rivals = {} if options.native_only else screen(measurer, cell, sizes)
                for size in sizes:
                    names = finalists(rivals[size]) if size in rivals else (NATIVE, "default")
                    figures.append(judge(cell, size, measurer.measure(cell, names, [size], options.seconds)[size]))
        for said in measurer.wrong:
            console.print(f"left out: {said}", style="red", highlight=False)
    return figures


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--journal", type=Path, required=True, help="what was measured, so that it is not again")
    parser.add_argument("--collectives", default=COLLECTIVES, metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--sizes", default="8,256,4K,64K,1M,8M", metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--arrivals", default=ARRIVALS, metavar="PATTERNS", help="(default: %(default)s)")
    parser.add_argument("--ranks", type=int, default=4, help="(default: %(default)s)")
    parser.add_argument("--mpirun", default="mpirun", help="the launcher (default: %(default)s)")
    parser.add_argument("--nodes", type=int, metavar="N", help="on an emulated cluster of N nodes")
    parser.add_argument("--rate", default="1gbit", help="with --nodes: of each node's link (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.5, help="at one size (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of delays and order (default: %(default)s)")
    parser.add_argument("--native-only", action="store_true", help="no other rival")
    options = read_options(parser)
    console = make_console(200)
    figures = measure(options, console)
    show(figures, console)
    settings = {key: getattr(options, key) for key in ("ranks", "mpirun", "nodes", "rate", "seconds", "seed")}
    write_measured(options.json, settings | {"cells": [dataclasses.asdict(each) for each in figures]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
