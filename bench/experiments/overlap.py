#!/usr/bin/env python3
"""How much of a non-blocking collective hides behind computation: the MPI library's own against Stretto's.

`.venv/bin/python bench/experiments/overlap.py iallreduce ibcast [--nodes N] [--json FILE]`, after `make build`, on a
quiet machine; on this node, or with --nodes on an emulated cluster with one rank a node. A round runs the program once
in each way, in an order that rotates; ratios are of runs of one round. Overlap is given as OSU's and IMB's benchmarks
define it, where the computation takes as long as the call alone, and against the same computation without a call
(python/stretto/bench/overlap.py). The last two columns compare the ways at equal work: as long as native's call takes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from experiment import make_parser, read_options, require, write_measured
from rounds import in_turn

from stretto.bench.launch import REPOSITORY
from stretto.bench.overlap import Overlapped
from stretto.bench.report import format_time
from stretto.bench.request import parse_sizes
from stretto.bench.stats import Estimate, Times, estimate_median, estimate_paired_ratio
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

PROGRAM = REPOSITORY / "build/bin/stretto-overlap-openmpi"
ALGORITHMS = {
    "iallreduce": ["ring", "ring+4"],
    "ireduce": ["reduce_scatter_gather", "event_binary"],
    "ibcast": ["scatter_allgather", "event_binary"],
    "iallgather": ["ring"],
    "ialltoall": ["pairwise", "linear"],
    "igather": ["binomial", "linear_nonblocking"],
    "iscatter": ["binomial", "linear_nonblocking"],
    "ibarrier": ["dissemination"],
}
# All ways leave the same barrier before they are measured.
COMMON = {"STRETTO_VERBOSE": "1", "STRETTO_BARRIER": "native"}
_LIMIT_S = 600
Sizes = dict[int, dict[str, Any]]  # by bytes, what the program has written


def ways_for(collective: str, options: argparse.Namespace) -> dict[str, dict[str, str] | None]:
    """Name -> STRETTO_* settings; None: without Stretto."""
    ways: dict[str, dict[str, str] | None] = {"native": None, "default": COMMON}
    for algorithm in options.algorithms or ALGORITHMS[collective]:
        forced = COMMON | {f"STRETTO_{collective.upper()}": algorithm}
        ways |= {f"{algorithm}, {driver}": forced | {"STRETTO_BACKGROUND": driver} for driver in options.background}
    return ways


def check_that_it_ran(collective: str, way: str, output: str) -> None:
    """Raises where anything else than what was asked for has served the calls."""
    ran = re.findall(rf"^stretto: {collective}: (\S+) ran \d+ times", output, re.MULTILINE)
    if way != "native" and ran != ["native" if way == "default" else way.partition(",")[0]]:
        sys.exit(f"{collective}, {way}: ran {ran or 'nothing'}\n{output[-2000:]}")


def run_once(collective: str, way: str, sizes: list[str], options: argparse.Namespace) -> Sizes:
    settings = ways_for(collective, options)[way]
    stretto = [sys.executable, "-m", "stretto"]
    if options.nodes > 0:
        launch = [*stretto, "cluster", "run", "--nodes", str(options.nodes), "--rate", options.rate]
        launch += ["--stretto"] if settings is not None else []
    else:
        launch = [*stretto, "run"] if settings is not None else []
        launch += ["--"] if launch else []
        launch += ["mpirun", "-n", str(options.ranks)]
    with tempfile.TemporaryDirectory(prefix="stretto-overlap-") as folder:
        file = Path(folder) / "overlap.json"
        program = [str(PROGRAM), str(file), collective, str(options.iterations), str(options.tests), *sizes]
        command = [*launch, *(["--"] if options.nodes > 0 else []), *program]
        output = run_limited(command, rank_environment() | (settings or {}), _LIMIT_S)
        check_that_it_ran(collective, way, output)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {int(line["bytes"]): line for line in lines}


def measure(collective: str, options: argparse.Namespace) -> dict[str, list[Sizes]]:
    """Way -> what it has measured in each round. The first run says how much work native's call takes."""
    plain = ["0"] if collective == "ibarrier" else [str(size) for size in options.sizes]
    first = run_once(collective, "native", plain, options)
    sizes = [f"{size}:{found['units']}" for size, found in first.items()]
    ways = list(ways_for(collective, options))
    rounds: dict[str, list[Sizes]] = {way: [] for way in ways}
    for number in range(options.rounds):
        for way in in_turn(ways, number):
            rounds[way].append(run_once(collective, way, sizes, options))
    return rounds


def times_of(runs: list[dict[str, Any]], mode: str, name: str = "total_s") -> Times:
    """One row a round, one column a rank."""
    return np.array([run["modes"][mode][name] for run in runs])


def estimates_for(runs: list[dict[str, Any]], native: list[dict[str, Any]], tests: str) -> dict[str, Estimate]:
    """All figures of one way at one size; `tests` is tested or untested."""

    def seconds(of: list[dict[str, Any]], mode: str) -> Times:
        means: Times = times_of(of, mode).mean(axis=1)
        return means

    rows = zip(
        times_of(runs, "pure"),
        times_of(runs, tests),
        times_of(runs, tests, "compute_s"),
        times_of(runs, "alone"),
        strict=True,
    )
    calls = [Overlapped(*row) for row in rows]
    common = f"common_{tests}"
    return {
        "pure_s": estimate_median(seconds(runs, "pure")),
        "pure_ratio": estimate_paired_ratio(seconds(runs, "pure"), seconds(native, "pure")),
        "total_s": estimate_median(seconds(runs, tests)),
        "osu": estimate_median(np.array([call.osu() for call in calls])),
        "imb": estimate_median(np.array([call.imb() for call in calls])),
        "net": estimate_median(np.array([call.net() for call in calls])),
        "common_total_s": estimate_median(seconds(runs, common)),
        "common_ratio": estimate_paired_ratio(seconds(runs, common), seconds(native, common)),
    }


def format_cell(name: str, estimate: Estimate) -> str:
    if name.endswith("_s"):
        return format_time(1e9 * estimate.value)
    digits = 2 if name.endswith("_ratio") else 0
    return f"{estimate.value:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def print_size(collective: str, size: int, figures: dict[str, dict[str, Estimate]]) -> None:
    rows = [["", "call alone", "to native", "overlapped", "OSU %", "IMB %", "net %", "equal work", "to native"]]
    for row, estimates in figures.items():
        rows.append([row, *(format_cell(name, estimate) for name, estimate in estimates.items())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"\n{collective}, {size} bytes")
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *cells]))


def parse_options() -> argparse.Namespace:
    parser = make_parser(__doc__)

    def words(text: str) -> list[str]:
        return text.split(",")

    parser.add_argument("collectives", nargs="+", choices=ALGORITHMS, metavar="COLLECTIVE", help=", ".join(ALGORITHMS))
    parser.add_argument("--sizes", type=parse_sizes, default="64K,1M,8M", metavar="LIST", help="(default: %(default)s)")
    parser.add_argument("--algorithms", type=words, metavar="LIST", help="to force; for one collective (default: some)")
    parser.add_argument("--background", type=words, default="thread,polled", metavar="LIST",
                        help="who drives Stretto's (default: %(default)s)")  # fmt: skip
    parser.add_argument("--tests", type=int, default=16, metavar="N",
                        help="calls of MPI_Test in the computation (default: %(default)s)")  # fmt: skip
    parser.add_argument("--nodes", type=int, default=0, metavar="N", help="emulated; 0: this node (default)")
    parser.add_argument("--rate", default="1gbit", help="of the emulated network (default: %(default)s)")
    parser.add_argument("--ranks", type=int, default=4, metavar="N", help="on this node (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=10, metavar="N", help="(default: %(default)s)")
    options = read_options(parser)
    if options.algorithms and len(options.collectives) > 1:
        parser.error("--algorithms goes with one collective")
    return options


def main() -> int:
    options = parse_options()
    require(PROGRAM)
    results: dict[str, Any] = {}
    for collective in options.collectives:
        rounds = measure(collective, options)
        results[collective] = {"rounds": rounds, "sizes": {}}
        for size in rounds["native"][0]:
            by_way = {way: [once[size] for once in every] for way, every in rounds.items()}
            figures = {
                f"{way}, {f'{options.tests} tests' if tests == 'tested' else 'no test'}": estimates_for(
                    runs, by_way["native"], tests
                )
                for way, runs in by_way.items()
                for tests in ("untested", "tested")
            }
            print_size(collective, size, figures)
            results[collective]["sizes"][size] = {
                row: {name: vars(estimate) for name, estimate in estimates.items()}
                for row, estimates in figures.items()
            }
    settings = {name: value for name, value in vars(options).items() if name != "json"}
    write_measured(options.json, settings | {"results": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
