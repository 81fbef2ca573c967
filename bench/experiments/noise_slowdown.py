#!/usr/bin/env python3
"""How much noise slows a broadcast and a reduce down: algorithms against themselves without noise, on emulated nodes.

`.venv/bin/python bench/experiments/noise_slowdown.py [--rounds N] [--iterations N] [--json FILE]`, on a quiet machine.
8 nodes of one rank, 4 MB, 1 gbit. Noise takes each rank out of what it does 10 times a second for 2.5 and for 5 ms (Luo
2018). A round measures balanced and with each noise, all algorithms interleaved; slow-downs are ratios of means over
all calls with 95 % bootstrap intervals. Target: an event-driven tree slows down to at most 1.15 where the MPI library's
own lose 1.3 or more. `stretto model` has the same for 1024 ranks (docs/event-trees.md).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from emulated import run_bench, samples_of
from experiment import make_parser, read_options, write_measured
from numpy.typing import NDArray
from rich.console import Console
from tables import make_console, make_table, with_interval

NODES, SIZE = 8, 4 << 20
ARRIVALS = ("balanced", "noise:10,2.5ms", "noise:10,5ms")
TREES = ["event_chain", "event_binary", "event_binomial", "waitall_chain", "waitall_binary", "waitall_binomial"]
ALGORITHMS = {
    "bcast": ["native", "native:scatter_allgather_ring", "native:adapt", "default", *TREES],
    "reduce": ["native", "native:rabenseifner", "native:adapt", "default", *TREES],
}


def measure(collective: str, arrival: str, iterations: int) -> dict[str, NDArray[np.float64]]:
    """Completion lags in ns by algorithm: nobody comes late but by noise."""
    size = run_bench(
        collective,
        ALGORITHMS[collective],
        nodes=NODES,
        size=SIZE,
        iterations=iterations,
        options=["--root", "0", "--arrival", arrival],
    )
    return {name: own.metric("lag") for name, own in samples_of(size).items()}


def slow_down(noisy: NDArray[np.float64], quiet: NDArray[np.float64]) -> dict[str, float]:
    """Of the mean, with a 95 % bootstrap interval; measured apart, so each is resampled by itself."""
    generator = np.random.default_rng(1)
    means = [own[generator.integers(len(own), size=(2000, len(own)))].mean(axis=1) for own in (noisy, quiet)]
    low, high = np.quantile(means[0] / means[1], (0.025, 0.975))
    return {"quiet_ms": quiet.mean() / 1e6, "ratio": noisy.mean() / quiet.mean(), "low": low, "high": high}


def show(collective: str, figures: dict[str, dict[str, dict[str, float]]], console: Console) -> None:
    table = make_table(f"{collective}: mean time under noise / without", ("algorithm", "without", *ARRIVALS[1:]))
    for name, own in figures.items():
        ratios = [with_interval(one["ratio"], one["low"], one["high"]) for one in own.values()]
        table.add_row(name, f"{own[ARRIVALS[1]]['quiet_ms']:.1f} ms", *ratios)
    console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=10, help="a round (default: %(default)s)")
    options = read_options(parser)
    console = make_console(120)
    rows: dict[str, Any] = {}
    for collective in ALGORITHMS:
        measured = [
            {arrival: measure(collective, arrival, options.iterations) for arrival in ARRIVALS}
            for _ in range(options.rounds)
        ]
        lags = {
            arrival: {name: np.concatenate([one[arrival][name] for one in measured]) for name in measured[0][arrival]}
            for arrival in ARRIVALS
        }
        rows[collective] = {
            name: {noise: slow_down(lags[noise][name], lags["balanced"][name]) for noise in ARRIVALS[1:]}
            for name in ALGORITHMS[collective]
        }
        show(collective, rows[collective], console)
        settings = {"nodes": NODES, "bytes": SIZE, "calls": options.rounds * options.iterations}
        write_measured(options.json, settings | {"slow_downs": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
