#!/usr/bin/env python3
"""Emulated nodes with several ranks each: Stretto's default against all that the MPI library can be forced to.

`.venv/bin/python bench/experiments/shared_nodes.py [--collectives LIST] [--arrival PATTERN] [--iterations N] [--json
FILE]`, on a quiet machine. 16 ranks on 8 and on 4 nodes at 1 gbit, in turn and side by side; all algorithms of a case
in one interleaved run. Ratios of run times, of completion lags where ranks are uneven, or of --metric, are medians of
paired ones with 95 % bootstrap intervals: to Open MPI's default, and to the best that it can be forced to, chosen by
its median after the fact, which favours it. Beside the default: what ignores places, and other ways to use them, the
thesis' hierarchy and those in the memory of each node among them.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from emulated import compare_with_native, run_bench, samples_of, what_ran
from experiment import make_parser, read_options, write_measured
from rich.console import Console
from tables import make_console, make_table, with_interval

KIB = 1 << 10
SIZES = (64 * KIB, 256 * KIB, 1024 * KIB, 4096 * KIB)
PLACES = ((8, 16), (4, 16))  # nodes, ranks
# As Open MPI is told: in turn is what `stretto cluster` does by itself.
PLACEMENTS = {"in turn": "mpirun", "side by side": "mpirun --map-by ppr:{}:node:oversubscribe"}
METRICS = ("run_time", "lag", "elapsed")  # the last: a rank's time in the call, on average
BESIDE = {
    "allreduce": [
        *("rabenseifner", "ring", "hierarchical(reduce_scatter_gather,rabenseifner)"),
        *("hierarchical(arrival_stripes,rabenseifner)", "hierarchical(arrival_stripes,ring+448K)"),
    ],
    "bcast": [
        "event_chain",
        "event_binary",
        "event_topology",
        "hierarchical(arrival_copy,event_chain)",
        "hierarchical(arrival_copy,arrival_ordered_nonblocking)",
    ],
    "reduce": ["event_chain", "reduce_scatter_gather", "event_topology", "hierarchical(arrival_stripes,event_chain)"],
}


def measure(
    collective: str, nodes: int, ranks: int, placement: str, size: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Medians in ms and ratios, by algorithm."""
    a_node = -(-ranks // nodes)
    arguments = ["--ranks", str(ranks), "--arrival", options.arrival, "--root", options.root]
    result = run_bench(
        collective,
        ["native", "native:*", "default", *BESIDE[collective]],
        nodes=nodes,
        size=size,
        iterations=options.iterations,
        options=[*arguments, "--mpirun", PLACEMENTS[placement].format(a_node)],
    )
    metric = options.metric or ("run_time" if options.arrival == "balanced" else "lag")
    times = {name: own.metric(metric) for name, own in samples_of(result).items()}
    forced, figures = compare_with_native(times)
    case = {"collective": collective, "nodes": nodes, "ranks": ranks, "placement": placement, "bytes": size}
    return case | {"metric": metric, "best_forced": forced, "ran": what_ran(result), "figures": figures}


def show(rows: list[dict[str, Any]], console: Console) -> None:
    """One table of the rows of a collective on so many nodes."""
    first = rows[0]
    beside = BESIDE[first["collective"]]
    title = f"{first['collective']}, {first['ranks']} ranks on {first['nodes']} nodes, {first['placement']}: "
    title += first["metric"]
    headings = ("KiB", "default runs", "median", "/ native", "/ best forced", "", *beside)
    table = make_table(title, headings, left=("default runs", ""), wrapped=headings)
    for row in rows:
        own = row["figures"]["default"]
        both = [(row["figures"][name]["default"], row["figures"][name]["best_forced"]) for name in beside]
        ratios = [f"{native['value']:.2f} / {forced['value']:.2f}" for native, forced in both]
        runs = ", ".join(row["ran"]["default"])
        table.add_row(
            f"{row['bytes'] // KIB}", runs, f"{own['median_ms']:.2f} ms", with_interval(**own["default"]),
            with_interval(**own["best_forced"]), row["best_forced"].removeprefix("native:"), *ratios,
        )  # fmt: skip
    console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--collectives", default=",".join(BESIDE), metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--placement", choices=PLACEMENTS, help="one only")
    parser.add_argument("--nodes", type=int, choices=[nodes for nodes, _ in PLACES], help="so many only")
    parser.add_argument("--arrival", default="balanced", help="as of stretto bench (default: %(default)s)")
    parser.add_argument("--root", default="rotate", help="a rank, or rotate (default)")
    parser.add_argument("--metric", choices=METRICS, help="(default: run_time if balanced, else lag)")
    parser.add_argument("--iterations", type=int, default=12, help="of each size (default: %(default)s)")
    options = read_options(parser)
    collectives = options.collectives.split(",")
    if unknown := set(collectives) - set(BESIDE):
        parser.error(f"no {', '.join(sorted(unknown))} here; choose from {', '.join(BESIDE)}")
    console = make_console(150)
    all_rows: list[dict[str, Any]] = []
    for collective in collectives:
        for nodes, ranks in (place for place in PLACES if options.nodes in (None, place[0])):
            for placement in [options.placement] if options.placement else PLACEMENTS:
                rows = [measure(collective, nodes, ranks, placement, size, options) for size in SIZES]
                all_rows += rows
                show(rows, console)
                settings = {"arrival": options.arrival, "iterations": options.iterations}
                write_measured(options.json, settings | {"rows": all_rows})  # after each, as a whole run takes long
    return 0


if __name__ == "__main__":
    sys.exit(main())
