#!/usr/bin/env python3
"""What the first calls with long messages cost on this node, where memory is made and mapped that later ones find.

`.venv/bin/python bench/experiments/first_long_calls.py [--ranks N] [--collectives LIST] [--sizes LIST] [--calls N]
[--runs N] [--json FILE]`, on a quiet machine. In each of so many fresh jobs native and default calls take turns,
without warm-up; the root of rooted calls goes around. A figure is what the default's call took, from the last arrival
to the last exit, to the median of the native calls of its job but the first: the median of the jobs, and the worst.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from emulated import run_bench, samples_of, what_ran
from experiment import make_parser, read_options, write_measured
from tables import make_console, make_table

from stretto.bench.report import format_ran, format_size
from stretto.bench.request import parse_sizes

COLLECTIVES = "allreduce,bcast,reduce,allgather,gather,scatter,alltoall"


def first_calls(collective: str, size: int, ranks: int, calls: int) -> tuple[list[float], dict[str, int]]:
    """Of one job: the ratio of each of the default's calls, in order, and what has served them."""
    options = ["--ranks", str(ranks), "--warm-up", "0"]
    result = run_bench(collective, ["native", "default"], size=size, iterations=calls, options=options)
    lags = {name: samples.metric("lag") for name, samples in samples_of(result).items()}
    return list(lags["default"] / np.median(lags["native"][1:])), what_ran(result)["default"]


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--ranks", type=int, default=8, help="(default: %(default)s)")
    parser.add_argument("--collectives", default=COLLECTIVES, metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--sizes", default="256K,1M,4M", metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--calls", type=int, default=24, help="of each job (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="jobs of each case (default: %(default)s)")
    options = read_options(parser)
    shown = [0, 1, 2, 3, options.calls // 2]
    console = make_console(150)
    rows: list[dict[str, Any]] = []
    headings = ("bytes", *(f"call {call + 1}" for call in shown), "all", "what ran")
    for collective in options.collectives.split(","):
        table = make_table(f"{collective}: to native's median", headings, left=("what ran",), wrapped=("what ran",))
        for size in parse_sizes(options.sizes):
            jobs = [first_calls(collective, size, options.ranks, options.calls) for _ in range(options.runs)]
            ratios = np.array([job for job, _ in jobs])
            ran = jobs[0][1]
            rows.append({"collective": collective, "bytes": size, "to_native": ratios.tolist(), "ran": ran})
            cells = [f"{np.median(ratios[:, call]):.2f} ({ratios[:, call].max():.2f})" for call in shown]
            table.add_row(format_size(size), *cells, f"{np.median(ratios.mean(axis=1)):.2f}", format_ran(ran))
        console.print(table)
        write_measured(options.json, {"ranks": options.ranks, "calls": options.calls, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
