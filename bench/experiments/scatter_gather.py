#!/usr/bin/env python3
"""Scatter and gather on emulated nodes that come late: every algorithm against the MPI library's own, in one run each.

`.venv/bin/python bench/experiments/scatter_gather.py [--nodes 8,16] [--delays 0,10,50,100] [--late 0,4] [--draws 40]
[--json FILE]`, on a quiet machine. 8 MB in all, one rank a node, 1 gbit, root 0. With `--delays` each rank is late by a
random time up to so many ms, and tells Stretto when half of it is over. With `--late` always the same rank comes 100 ms
late and nobody says so: Stretto has to learn it. Ratios are those of the mean over draws, as Proficz 2020 gives them,
with 95 % bootstrap intervals over the draws: where the root comes last, as it does in every eighth draw, there is
nothing to gain. `bound` is what no algorithm can beat, as every block has to cross the root's link. Targets, for
Stretto's default: never more than 3 % behind the MPI library's; at 50 ms a gather at least 15 % and a scatter at least
10 % shorter in run time. For background kinds: a completion lag below that of their foreground kinds.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from emulated import PAYLOAD_NS_PER_BYTE, run_bench, samples_of, what_ran
from experiment import make_parser, read_options, write_measured
from rich.console import Console
from tables import make_console, make_table, with_interval

from stretto.algorithms import load_registry
from stretto.bench.request import SLEEPING_LATE_NS
from stretto.bench.stats import Samples

TOTAL_BYTES = 8 << 20
LATE_MS = 100
METRICS = {"run_time": "run time", "elapsed": "elapsed time", "lag": "completion lag"}
BACKGROUND = "background_"


def measure(collective: str, nodes: int, arrival: str, options: argparse.Namespace) -> dict[str, Any]:
    """Times in ns and ratios to the MPI library's own, by algorithm."""
    ours = [e.name for e in load_registry() if e.collective == collective and not e.needs_shared_memory]
    names = ["native", *(options.algorithms.split(",") if options.algorithms else ["default", *ours])]
    size = run_bench(
        collective,
        names,
        nodes=nodes,
        size=TOTAL_BYTES // nodes,
        iterations=options.draws,
        options=["--root", "0", "--arrival", arrival, *([] if arrival.startswith("rank-late") else ["--hints"])],
        settings={"STRETTO_BACKGROUND": options.background},
    )
    kept, samples, planned = on_time(size)
    figures = {name: {m: compare(own.metric(m), samples["native"].metric(m)) for m in METRICS}
               for name, own in samples.items()}  # fmt: skip
    for name, own in samples.items():
        foreground = samples.get(name.removeprefix(BACKGROUND))
        if name.startswith(BACKGROUND) and foreground is not None:
            figures[name]["lag / foreground"] = compare(own.metric("lag"), foreground.metric("lag"))
    bound = least_run_times(collective, planned, TOTAL_BYTES // nodes)
    figures["bound"] = {"run_time": compare(bound, samples["native"].metric("run_time"))}
    return {
        "collective": collective,
        "nodes": nodes,
        "arrival": arrival,
        "draws": kept,
        "ran": what_ran(size),
        "figures": figures,
    }


def on_time(size: dict[str, Any]) -> tuple[int, dict[str, Samples], np.ndarray]:
    """The calls by algorithm, of those draws in which no rank came 5 ms later than planned to any of them.

    Where no delay is planned ranks leave a barrier, and come when they come.
    """
    planned = np.array(size["samples"]["delays"], dtype=float)
    calls = samples_of(size)
    late = np.any([(own.arrivals - planned >= SLEEPING_LATE_NS).any(axis=1) for own in calls.values()], axis=0)
    keep = ~late | (planned == 0).all(axis=1)
    if not keep.any():
        sys.exit("a rank came late in every draw: run it on a quiet machine")
    return int(keep.sum()), {name: own.where(keep) for name, own in calls.items()}, planned[keep]


def least_run_times(collective: str, delays_ns: np.ndarray, block_bytes: int) -> np.ndarray:
    """What no algorithm can beat under these delays (draws x ranks; root 0), in ns.

    A scatter's blocks leave the root once it is there. A gather's come in once their ranks are there: those of the
    k last cannot before the first of these has come. Nobody leaves before the last has come, nor counts as done.
    """
    block_ns = block_bytes * PAYLOAD_NS_PER_BYTE
    root, others = delays_ns[:, 0], np.sort(delays_ns[:, 1:], axis=1)
    if collective == "scatter":
        transferred = root + others.shape[1] * block_ns
    else:
        transferred = (others + block_ns * np.arange(others.shape[1], 0, -1)).max(axis=1)
    result: np.ndarray = np.maximum(transferred, delays_ns.max(axis=1)) - delays_ns.min(axis=1)
    return result


def compare(times: np.ndarray, reference: np.ndarray) -> dict[str, float]:
    """The mean over draws in ms, and its ratio to the reference's with a 95 % bootstrap interval."""
    drawn = np.random.default_rng(1).integers(len(times), size=(2000, len(times)))
    low, high = np.quantile(times[drawn].mean(axis=1) / reference[drawn].mean(axis=1), (0.025, 0.975))
    return {"mean_ms": times.mean() / 1e6, "ratio": times.mean() / reference.mean(), "low": low, "high": high}


def cell(figure: dict[str, float] | None, is_reference: bool) -> str:
    if figure is None:
        return ""
    if is_reference:
        return f"{figure['mean_ms']:.1f} ms"
    return with_interval(figure["ratio"], figure["low"], figure["high"])


def show(rows: list[dict[str, Any]], console: Console) -> None:
    """A table for each collective, number of nodes and metric: algorithms against arrivals."""
    keys = dict.fromkeys((row["collective"], row["nodes"]) for row in rows)
    for collective, nodes in keys:
        own = [row for row in rows if (row["collective"], row["nodes"]) == (collective, nodes)]
        for metric, title in {**METRICS, "lag / foreground": "completion lag / foreground kind's"}.items():
            reference = "" if "/" in title else " / native"
            headings = ("algorithm", *(row["arrival"] for row in own))
            table = make_table(f"{collective}, {nodes} nodes: {title}{reference}", headings)
            for name in own[0]["figures"]:
                if metric in own[0]["figures"][name]:
                    table.add_row(
                        name,
                        *(cell(row["figures"][name].get(metric), name == "native" and "/" not in title) for row in own),
                    )
            console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--nodes", default="8,16", help="(default: %(default)s)")
    parser.add_argument("--delays", default="0,10,50,100", help="ms (default: %(default)s)")
    parser.add_argument("--late", default="0,4", help="ranks, each always late in a run (default: %(default)s)")
    parser.add_argument("--collectives", default="scatter,gather", help="(default: %(default)s)")
    parser.add_argument("--draws", type=int, default=40, help="of delays (default: %(default)s)")
    parser.add_argument("--algorithms", metavar="LIST", help="against native (default: all, and Stretto's choice)")
    parser.add_argument("--background", default="thread", help="STRETTO_BACKGROUND (default: %(default)s)")
    options = read_options(parser)
    console = make_console(170)
    arrivals = [
        f"uniform:{delay}ms" if delay != "0" else "balanced" for delay in filter(None, options.delays.split(","))
    ]
    arrivals += [f"rank-late:{rank},{LATE_MS}ms" for rank in filter(None, options.late.split(","))]
    rows = []
    for collective in options.collectives.split(","):
        for nodes in map(int, options.nodes.split(",")):
            for arrival in arrivals:
                rows.append(measure(collective, nodes, arrival, options))
                settings = {"background": options.background, "total_bytes": TOTAL_BYTES}
                write_measured(options.json, settings | {"rows": rows})  # after each, as a whole run takes long
    show(rows, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
