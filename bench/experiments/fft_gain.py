#!/usr/bin/env python3
"""apps/fft on 8 emulated nodes: its gathers and its total time under Stretto, against the MPI library alone.

`.venv/bin/python bench/experiments/fft_gain.py [--rounds N] [--iterations N] [--jitter-ms T] [--json FILE]`, on a quiet
machine. A round runs the program once in each way, in an order that rotates; ratios are of runs of one round. Targets
(Proficz 2020, section 6): run time of the gather 16.7 % shorter, total time 3.3 %, for the unmodified program and with
hints.
"""

from __future__ import annotations

import sys

import numpy as np
from emulated import run_program
from experiment import make_parser, read_options, require, write_measured
from rounds import compare_ways, run_in_rounds

from stretto.bench.launch import REPOSITORY

PROGRAM = REPOSITORY / "build/bin/stretto-fft-openmpi"
NODES, RATE = 8, "1gbit"
METRICS = ("gather_run_time_s", "gather_elapsed_s", "total_s")
THREAD = {"STRETTO_BACKGROUND": "thread"}
BACKGROUND_SORTED = {"STRETTO_GATHER": "background_sorted_linear_synchronised"}
# Name -> arguments of the program, STRETTO_* settings; None: without Stretto.
WAYS: dict[str, tuple[list[str], dict[str, str] | None]] = {
    "native": ([], None),
    "default": ([], {}),
    "default, background": ([], THREAD),
    "announced, background": ([], THREAD | {"STRETTO_GATHER": "background_announced_linear"}),
    "sorted, by history": ([], {"STRETTO_GATHER": "sorted_linear_synchronised"}),
    "sorted, by hints": (["--hints"], {"STRETTO_GATHER": "sorted_linear_synchronised"}),
    "sorted, background, by history": ([], THREAD | BACKGROUND_SORTED),
    "sorted, background, by hints": (["--hints"], THREAD | BACKGROUND_SORTED),
}


def run_once(way: str, iterations: int, jitter_ms: float) -> list[float]:
    """By metric: medians over the iterations, the total over all but the first, in seconds."""
    arguments, settings = WAYS[way]
    result = run_program(
        [str(PROGRAM), "--iterations", str(iterations), "--jitter-ms", str(jitter_ms), *arguments],
        nodes=NODES,
        rate=RATE,
        options=["--stretto"] if settings is not None else [],
        settings=settings or {},
    )
    run_time, elapsed, whole = (result[key][1:] for key in ("run_time_s", "elapsed_time_s", "iteration_s"))
    return [float(np.median(run_time)), float(np.median(elapsed)), float(np.sum(whole))]


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=200, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--jitter-ms", type=float, default=0.0, metavar="T", help="the paper has none (default: 0)")
    options = read_options(parser)
    require(PROGRAM)
    ways = list(WAYS)
    times = run_in_rounds(ways, options.rounds, lambda way: run_once(way, options.iterations, options.jitter_ms))
    ratios = compare_ways(ways, METRICS, times)
    settings = {"rounds": options.rounds, "iterations": options.iterations, "jitter_ms": options.jitter_ms}
    figures = {"ways": ways, "metrics": list(METRICS), "seconds": times.tolist(), "ratios_to_native": ratios}
    write_measured(options.json, settings | figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
