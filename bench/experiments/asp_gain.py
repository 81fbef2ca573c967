#!/usr/bin/env python3
"""apps/asp on 8 emulated nodes: its broadcasts and its total time over trees, balanced and under noise.

`.venv/bin/python bench/experiments/asp_gain.py [--rounds N] [--steps N] [--vertices N] [--json FILE]`, on a quiet
machine. A round runs the program once in each way, in an order that rotates; ratios are of runs of one round, to the
MPI library alone. Noise takes each rank out of what it does 10 times a second (Luo 2018). No target: it says what is.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

from emulated import run_program
from experiment import make_parser, read_options, require, write_measured
from rounds import compare_ways, run_in_rounds

from stretto.bench.launch import REPOSITORY

PROGRAM = REPOSITORY / "build/bin/stretto-asp-openmpi"
NOISE_LIBRARY = REPOSITORY / "build/lib/libstretto_noise.so"
NODES, RATE, NOISE_HZ = 8, "1gbit", 10
NOISES_MS = (0, 2.5, 5)
METRICS = ("communication_s", "total_s")
# Name -> the algorithm of MPI_Bcast; None: without Stretto.
WAYS: dict[str, str | None] = {
    "native": None,
    "default": "default",
    "waitall_binary": "waitall_binary",
    "event_binary": "event_binary",
    "waitall_binomial": "waitall_binomial",
    "event_binomial": "event_binomial",
}
# What the MPI library can be forced to that was the best at this size (bench/results/pipelining-*.json).
BEST_FORCED = {
    "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
    "OMPI_MCA_coll_tuned_bcast_algorithm": "8",
}


def run_once(options: argparse.Namespace, noise_ms: float, way: str) -> list[float]:
    """By metric, in seconds."""
    forced = way == "best forced"
    algorithm = None if forced else WAYS[way]
    preload = ["--preload", str(NOISE_LIBRARY)] if noise_ms else []
    settings = {"STRETTO_BCAST": algorithm} if algorithm else {}
    settings |= {"STRETTO_NOISE_HZ": str(NOISE_HZ), "STRETTO_NOISE_US": str(1e3 * noise_ms)} if noise_ms else {}
    result = run_program(
        [str(PROGRAM), "--vertices", str(options.vertices), "--steps", str(options.steps)],
        nodes=NODES,
        rate=RATE,
        options=[*(["--stretto"] if algorithm else []), *preload],
        settings=settings | (BEST_FORCED if forced else {}),
    )
    return [result[metric] for metric in METRICS]


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--vertices", type=int, default=16384, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=40, metavar="N", help="(default: %(default)s)")
    options = read_options(parser)
    require(PROGRAM, NOISE_LIBRARY)
    ways = ["native", "best forced", *list(WAYS)[1:]]
    rows = []
    for noise_ms in NOISES_MS:
        print(f"noise: {NOISE_HZ} Hz, {noise_ms} ms" if noise_ms else "balanced")
        times = run_in_rounds(ways, options.rounds, partial(run_once, options, noise_ms))
        ratios = compare_ways(ways, METRICS, times)
        rows.append({"noise_ms": noise_ms, "seconds": times.tolist(), "ratios_to_native": ratios})
    settings = {"rounds": options.rounds, "vertices": options.vertices, "steps": options.steps}
    figures = {"noise_hz": NOISE_HZ, "ways": ways, "metrics": list(METRICS), "rows": rows}
    write_measured(options.json, settings | figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
