#!/usr/bin/env python3
"""What Stretto chooses between emulated nodes, by prediction, against all that the MPI library can be forced to.

`.venv/bin/python bench/experiments/between_nodes.py [--collectives LIST] [--sizes LIST] [--nodes N] [--ranks N]
[--placement KIND] [--rate RATE] [--arrival PATTERN] [--iterations N] [--json FILE]`, on a quiet machine. All algorithms
of a case in one interleaved run. Ratios of run times, of completion lags where ranks are uneven, are medians of paired
ones with 95 % bootstrap intervals: to the library's default, and to the best that it can be forced to, chosen by its
median after the fact, which favours it. A loss is an interval wholly above 1.05 of the default.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from emulated import compare_with_native, run_bench, samples_of, what_ran
from experiment import make_parser, read_options, write_measured
from rich.console import Console
from shared_nodes import PLACEMENTS
from tables import make_console, make_table, with_interval

from stretto.bench.report import format_size

COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "reduce_scatter_block")
SIZES = (8, 1024, 16 << 10, 64 << 10, 128 << 10, 1 << 20)
LOSS = 1.05
SETTINGS = ("nodes", "ranks", "placement", "rate", "arrival", "iterations")  # that a record tells


def measure(collective: str, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Medians in ms and ratios of the default and of all that is native."""
    a_node = -(-options.ranks // options.nodes)
    arguments = ["--ranks", str(options.ranks), "--arrival", options.arrival]
    arguments += ["--mpirun", PLACEMENTS[options.placement].format(a_node)]
    if collective in ("bcast", "reduce"):
        arguments += ["--root", "0"]
    result = run_bench(
        collective,
        ["native", "native:*", "default"],
        nodes=options.nodes,
        rate=options.rate,
        size=size,
        iterations=options.iterations,
        options=arguments,
    )
    metric = "run_time" if options.arrival == "balanced" else "lag"
    times = {name: own.metric(metric) for name, own in samples_of(result).items()}
    forced, figures = compare_with_native(times)
    about = {"collective": collective, "bytes": size, "metric": metric, "best_forced": forced}
    return about | {"ran": what_ran(result)["default"], "figures": figures}


def show(rows: list[dict[str, Any]], console: Console) -> None:
    """One table of a collective's rows."""
    headings = ("bytes", "runs", "median", "/ native", "/ best forced", "")
    table = make_table(f"{rows[0]['collective']}: {rows[0]['metric']}", headings, left=("runs", ""))
    for row in rows:
        own = row["figures"]["default"]
        ratios = [with_interval(**own[reference]) for reference in ("default", "best_forced")]
        best = row["best_forced"].removeprefix("native:")
        table.add_row(format_size(row["bytes"]), ", ".join(row["ran"]), f"{own['median_ms']:.2f} ms", *ratios, best)
    console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--collectives", default=",".join(COLLECTIVES), metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=8, help="(default: %(default)s)")
    parser.add_argument("--ranks", type=int, help="(default: one a node)")
    parser.add_argument("--placement", choices=PLACEMENTS, default="in turn", help="(default: %(default)s)")
    parser.add_argument("--rate", default="1gbit", help="of each node (default: %(default)s)")
    parser.add_argument("--arrival", default="balanced", help="as of stretto bench (default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=15, help="of each case (default: %(default)s)")
    options = read_options(parser)
    options.ranks = options.ranks or options.nodes
    console = make_console(120)
    all_rows: list[dict[str, Any]] = []
    for collective in options.collectives.split(","):
        rows = [measure(collective, int(size), options) for size in options.sizes.split(",")]
        all_rows += rows
        show(rows, console)
        settings = {key: getattr(options, key) for key in SETTINGS}
        write_measured(options.json, settings | {"rows": all_rows})  # after each, as a whole run takes long
    losses = [row for row in all_rows if row["figures"]["default"]["default"]["low"] > LOSS]
    named = ", ".join(f"{row['collective']} {format_size(row['bytes'])}" for row in losses)
    console.print(f"{len(losses)} of {len(all_rows)} cells are losses against native" + (f": {named}" if named else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
