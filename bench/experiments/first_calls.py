#!/usr/bin/env python3
"""What choosing by experience costs and brings between nodes: a program's first hundred calls, and those after them.

`.venv/bin/python bench/experiments/first_calls.py [--nodes N] [--ranks N] [--rate RATE] [--collectives LIST] [--sizes
LIST] [--arrivals PATTERNS] [--calls N] [--json FILE]`, on a quiet machine. Each case is a run of its own, in which
native and default calls take turns; so it is for each setting of STRETTO_ADAPT. Ratios are of the calls' costs (as
`stretto tune` has them), summed, to native's in the same calls, with 95 % bootstrap intervals; what took more than 20
times native's median counts as that: memory and connections that are made once, and cores lost to others.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np
from emulated import run_bench, samples_of
from experiment import make_parser, read_options, write_measured
from tables import make_console, make_table, with_interval

from stretto.bench.report import format_size
from stretto.bench.request import parse_arrival, parse_sizes
from stretto.bench.stats import Times
from stretto.tune.measure import Cell, cost_ns

COLLECTIVES = "allreduce,bcast,reduce,allgather,gather,scatter"
SETTINGS = ("auto", "listen")
FIRST = 100
MOST_OF_MEDIAN = 20
RESAMPLES = 2000


def ratio_of_sums(own: Times, native: Times, seed: int = 1) -> dict[str, float]:
    """Of the same calls, shape (calls,): the value and its 95 % interval."""
    most = MOST_OF_MEDIAN * float(np.median(native))
    own, native = np.minimum(own, most), np.minimum(native, most)
    picked = np.random.default_rng(seed).integers(len(own), size=(RESAMPLES, len(own)))
    low, high = np.quantile(own[picked].sum(axis=1) / native[picked].sum(axis=1), (0.025, 0.975))
    return {"value": float(own.sum() / native.sum()), "low": float(low), "high": float(high)}


def measure(cell: Cell, size: int, setting: str, rate: str, calls: int) -> dict[str, Any]:
    """Both ratios, how many calls were native, and what served most of the last ones."""
    launcher = f"mpirun --map-by ppr:{-(-cell.ranks // cell.nodes)}:node:oversubscribe"
    result = run_bench(
        cell.collective,
        ["native", "default"],
        nodes=cell.nodes,
        size=size,
        iterations=calls,
        options=["--ranks", str(cell.ranks), "--arrival", cell.arrival.text, "--mpirun", launcher],
        rate=rate,
        settings={"STRETTO_ADAPT": setting},
    )
    samples = samples_of(result)
    native, own = (cost_ns(samples[name], cell) for name in ("native", "default"))
    ran = samples["default"].ran
    return {
        "collective": cell.collective,
        "arrival": cell.arrival.text,
        "bytes": size,
        "setting": setting,
        "native_us": float(np.median(native)) / 1e3,
        "first": ratio_of_sums(own[:FIRST], native[:FIRST]),
        "after": ratio_of_sums(own[FIRST:], native[FIRST:]),
        "native_calls": ran.count("native"),
        "last": Counter(ran[-FIRST // 2 :]).most_common(1)[0][0],
    }


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--nodes", type=int, default=8, help="(default: %(default)s)")
    parser.add_argument("--ranks", type=int, default=16, help="(default: %(default)s)")
    parser.add_argument("--rate", default="1gbit", help="of each node's link (default: %(default)s)")
    parser.add_argument("--collectives", default=COLLECTIVES, metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--sizes", default="4K,64K,1M", metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--arrivals", default="balanced", metavar="PATTERNS", help="(default: %(default)s)")
    parser.add_argument("--calls", type=int, default=300, help="of each case (default: %(default)s)")
    options = read_options(parser)
    if options.calls < 2 * FIRST:
        parser.error(f"--calls must be {2 * FIRST} at least")
    console = make_console(150)
    rows: list[dict[str, Any]] = []
    headings = ("bytes", "arrival", "native", "STRETTO_ADAPT", f"first {FIRST}", "after", "native calls", "last")
    left = ("arrival", "STRETTO_ADAPT", "last")
    for collective in options.collectives.split(","):
        table = make_table(f"{collective}: costs to native's", headings, left=left, wrapped=("last",))
        for arrival in options.arrivals.split():
            cell = Cell(collective, options.ranks, options.nodes, parse_arrival(arrival))
            for size in parse_sizes(options.sizes):
                for setting in SETTINGS:
                    row = measure(cell, size, setting, options.rate, options.calls)
                    rows.append(row)
                    table.add_row(format_size(size), arrival, f"{row['native_us']:.0f} us", setting,
                                  with_interval(**row["first"]), with_interval(**row["after"]),
                                  str(row["native_calls"]), row["last"])  # fmt: skip
        console.print(table)
        asked = {name: getattr(options, name) for name in ("nodes", "ranks", "rate", "calls")}
        write_measured(options.json, asked | {"rows": rows})  # after each, as a whole run takes long
    return 0


if __name__ == "__main__":
    sys.exit(main())
