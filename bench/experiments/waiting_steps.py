#!/usr/bin/env python3
"""Steps that a late rank needs of a rank that waits in a collective call: natively and under Stretto.

`.venv/bin/python bench/experiments/waiting_steps.py [--ranks N...] [--rounds N]`, after `make build`, on a
quiet machine. A round runs the program once in each way, in an order that rotates. Of each kind of step: the median and
the 99th percentile of all rounds' steps, what the latter is above native's, with its 95 % interval over the rounds, and
CPU time of the waiting rank by second. Target: at most 0.1 ms above native's at the 99th percentile.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from experiment import make_parser, read_options, require, write_measured
from numpy.typing import NDArray
from rounds import in_turn
from tables import make_console, make_table

from stretto.bench.launch import REPOSITORY
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

PROGRAM = REPOSITORY / "build/bin/stretto-waiting-steps-openmpi"
WAYS = ("native", "stretto")
_LIMIT_S = 300
Kinds = dict[str, dict[str, Any]]  # by name, what the program has written


def run_once(way: str, ranks: int, options: argparse.Namespace) -> Kinds:
    with tempfile.TemporaryDirectory(prefix="stretto-waiting-") as folder:
        file = Path(folder) / "steps.json"
        launch = [sys.executable, "-m", "stretto", "run", "--"] if way == "stretto" else []
        launch += ["mpirun", "-n", str(ranks), str(PROGRAM), str(file), str(options.steps), str(options.spacing)]
        run_limited(launch, rank_environment(), _LIMIT_S)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {line["kind"]: line for line in lines}


def interval_of_excess(rounds: dict[str, list[NDArray[np.float64]]]) -> tuple[float, float, float]:
    """What 99 % of our steps stay within less what 99 % of native's do, in s, and a bootstrap interval over rounds."""
    generator = np.random.default_rng(1)
    ours, native = (np.array(rounds[way]) for way in ("stretto", "native"))

    def excess(chosen: NDArray[np.intp]) -> float:
        return float(np.quantile(ours[chosen], 0.99) - np.quantile(native[chosen], 0.99))

    count = len(ours)
    drawn = [excess(generator.integers(count, size=count)) for _ in range(2000)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return excess(np.arange(count)), float(low), float(high)


def figures_of(runs: dict[str, list[Kinds]], kind: str) -> dict[str, Any]:
    steps = {way: [np.array(run[kind]["steps_s"]) for run in runs[way]] for way in WAYS}
    ways = {
        way: {
            "median_s": float(np.median(steps[way])),
            "p99_s": float(np.quantile(steps[way], 0.99)),
            "cpu_of_wait": float(np.median([run[kind]["cpu_s"] / run[kind]["wait_s"] for run in runs[way]])),
        }
        for way in WAYS
    }
    return {"ways": ways, "excess_s": interval_of_excess(steps)}


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], metavar="N", help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="(default: %(default)s)")
    parser.add_argument(
        "--steps", type=int, default=200, metavar="N", help="of a kind in a round (default: %(default)s)"
    )
    parser.add_argument("--spacing", type=float, default=5, metavar="MS",
                        help="of computation before each step (default: %(default)s)")  # fmt: skip
    options = read_options(parser)
    require(PROGRAM)
    results: dict[int, Any] = {}
    console = make_console(120)
    for ranks in options.ranks:
        runs: dict[str, list[Kinds]] = {way: [] for way in WAYS}
        for number in range(options.rounds):
            for way in in_turn(WAYS, number):
                runs[way].append(run_once(way, ranks, options))
        results[ranks] = {kind: figures_of(runs, kind) for kind in runs["native"][0]}
        columns = ("step", "median", "stretto", "99 %", "stretto", "above native's", "CPU of the wait", "stretto")
        table = make_table(f"{ranks} ranks, us a step", columns)
        for kind, figures in results[ranks].items():
            native, ours = (figures["ways"][way] for way in WAYS)
            cells = [f"{1e6 * of[name]:.0f}" for name in ("median_s", "p99_s") for of in (native, ours)]
            value, low, high = (1e6 * bound for bound in figures["excess_s"])
            shares = [f"{100 * of['cpu_of_wait']:.0f} %" for of in (native, ours)]
            table.add_row(kind, *cells, f"{value:.0f} ({low:.0f} to {high:.0f})", *shares)
        console.print(table)
    settings = {name: value for name, value in vars(options).items() if name != "json"}
    write_measured(options.json, settings | {"results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
