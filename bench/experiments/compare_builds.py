#!/usr/bin/env python3
"""Whether a build of Stretto is slower than another, in what it promises and in `make bench`.

    bench/experiments/compare_builds.py --build before=/tmp/before/build --build now=build
    bench/experiments/compare_builds.py --build by-rule=build --build adapting=build,STRETTO_ADAPT=on

Each round measures every cell of `stretto bench --must-show` and `--quick` (without what the MPI library can be forced
to) once with each build, in an order that rotates. Runs of different builds are apart in time, so what is compared is
the ratio to native, paired within each iteration; the interval of the change resamples rounds and then iterations: what
differs from run to run of one build is in it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from experiment import make_parser, read_options, require, write_measured
from numpy.typing import NDArray
from rounds import in_turn
from tables import make_console, make_table, with_interval

from stretto.bench import must_show, quick
from stretto.bench.launch import run_request
from stretto.bench.report import find_late, format_size
from stretto.bench.request import Request
from stretto.bench.stats import Estimate

RESAMPLES = 1000
TIMEOUT_S = 300
Ratios = NDArray[np.float64]  # ours to native's, one an iteration


@dataclass(frozen=True)
class Cell:
    """What is compared. `metric`: a name of stretto.bench.stats.METRICS; size in bytes."""

    collective: str
    ranks: int
    arrival: str
    metric: str
    size: int

    def __str__(self) -> str:
        return f"{self.collective} {format_size(self.size)} @{self.ranks}, {self.arrival}: {self.metric}"


def requests(collective: str | None, ranks: int | None) -> list[tuple[Request, str]]:
    """What is run, of all collectives or of one, and on how many ranks, and the metric by which it is judged."""
    promised = [(experiment.request(), experiment.metric) for experiment in must_show.EXPERIMENTS]
    quickly = [(replace(request, algorithms=("native", quick.OURS)), metric) for request, metric in quick.requests()]
    return [
        (request, metric)
        for request, metric in promised + quickly
        if collective in (None, request.collective) and ranks in (None, request.ranks)
    ]


@dataclass(frozen=True)
class Build:
    """A folder that CMake built in, and the environment that its jobs have beside ours."""

    folder: Path
    settings: tuple[tuple[str, str], ...]

    @staticmethod
    def parse(text: str) -> Build:
        folder, *settings = text.split(",")
        return Build(Path(folder), tuple((name, value) for name, _, value in (s.partition("=") for s in settings)))

    def environment(self) -> dict[str, str]:
        folders = {"STRETTO_LIB_DIR": str(self.folder / "lib"), "STRETTO_BIN_DIR": str(self.folder / "bin")}
        return folders | dict(self.settings)


def measure(build: Build, request: Request, metric: str) -> dict[Cell, Ratios]:
    """The ratios of one run with the libraries and the driver of `build`."""
    with patch.dict(os.environ, build.environment()):
        results = run_request(request, timeout_seconds=TIMEOUT_S).sizes
    found = {}
    for result in results:
        _, keep = find_late(result.samples, result.delays, request.late_threshold_ns)
        native, ours = (result.samples[name].metric(metric)[keep] for name in ("native", quick.OURS))
        cell = Cell(request.collective, request.ranks, request.arrival.text, metric, result.size)
        found[cell] = ours / native
    return found


def change(before: list[Ratios], now: list[Ratios]) -> Estimate:
    """The median ratio now by that before, with its 95 % interval; both hold the ratios of each round."""
    generator = np.random.default_rng(0)

    def resampled(rounds: list[Ratios]) -> float:
        drawn = [rounds[i] for i in generator.integers(0, len(rounds), len(rounds))]
        return float(np.median(np.concatenate([of[generator.integers(0, len(of), len(of))] for of in drawn])))

    changes = [resampled(now) / resampled(before) for _ in range(RESAMPLES)]
    low, high = np.quantile(changes, [0.025, 0.975])
    value = np.median(np.concatenate(now)) / np.median(np.concatenate(before))
    return Estimate(float(value), float(low), float(high))


def cells_of(median: float, changed: Estimate) -> tuple[str, str, str]:
    """Of one build in one row: its median, the change, and in a word what that is."""
    word = "worse" if changed.low > 1 else "better" if changed.high < 1 else ""
    return f"{median:.3f}", with_interval(**vars(changed)), word


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument(
        "--build", action="append", required=True, metavar="NAME=DIR[,VARIABLE=VALUE]...", help="others to the first"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="(default: %(default)s, some 5 min a build)")
    parser.add_argument("--collective", metavar="NAME", help="(default: all that are measured there)")
    parser.add_argument("--ranks", type=int, metavar="N", help="(default: all numbers that are measured there)")
    options = read_options(parser)
    builds = {name: Build.parse(text) for name, _, text in (each.partition("=") for each in options.build)}
    require(*(build.folder / "bin" / "stretto-bench-openmpi" for build in builds.values()))
    measured: dict[Cell, dict[str, list[Ratios]]] = defaultdict(lambda: defaultdict(list))
    for number in range(options.rounds):
        for request, metric in requests(options.collective, options.ranks):
            for name in in_turn(list(builds), number):
                for cell, ratios in measure(builds[name], replace(request, seed=request.seed + number), metric).items():
                    measured[cell][name].append(ratios)
    first, *others = builds
    what = "ours to native, medians"
    table = make_table(
        "", [what, first, *(head for name in others for head in (name, f"/ {first}", ""))], left=(what, "")
    )
    results = []
    for cell, rounds in measured.items():
        medians = {name: float(np.median(np.concatenate(rounds[name]))) for name in builds}
        changes = {name: change(rounds[first], rounds[name]) for name in others}
        cells = [text for name, changed in changes.items() for text in cells_of(medians[name], changed)]
        table.add_row(str(cell), f"{medians[first]:.3f}", *cells)
        results.append({"cell": str(cell), "medians": medians, "changes": {n: vars(c) for n, c in changes.items()}})
    make_console(160).print(table)
    write_measured(options.json, {"rounds": options.rounds, "builds": list(builds), "results": results})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
