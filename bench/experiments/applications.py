#!/usr/bin/env python3
"""The programs of apps/ and LAMMPS as they are, with Stretto's defaults and adapting, against the MPI library alone.

`.venv/bin/python bench/experiments/applications.py [--rounds N] [--only PLACE] [--json FILE]`, on a quiet machine, with
Debian's package lammps. A round runs each program once in each way, in an order that rotates; ratios are of runs of one
round. Time in collectives is the mean of the ranks' times in them, the total what the slowest rank takes for all steps.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from emulated import run_program
from experiment import make_parser, read_options, require, write_measured
from rounds import compare_ways, run_in_rounds

from stretto.bench.launch import REPOSITORY, job_environment
from stretto.launch.processes import run_limited

LIMIT_S = 300
WAYS: dict[str, dict[str, str] | None] = {"native": None, "default": {}, "adapting": {"STRETTO_ADAPT": "on"}}
PLACES = {"node": (4, 0), "cluster": (8, 8)}  # ranks, emulated nodes


@dataclass(frozen=True)
class Application:
    """`times` finds in what the program writes to a file what `metrics` names, in seconds."""

    name: str
    words: tuple[str, ...]
    file_option: str
    metrics: tuple[str, ...]
    times: Callable[[str], list[float]]


def loop_time(log: str) -> list[float]:
    """Of LAMMPS's log."""
    found = re.search(r"^Loop time of (\S+) on", log, re.MULTILINE)
    if found is None:
        raise SystemExit(f"LAMMPS has not ended well; its log ends with\n{log[-500:]}")
    return [float(found.group(1))]


def fft_times(text: str) -> list[float]:
    result = json.loads(text)
    return [float(np.sum(result[key][1:])) for key in ("elapsed_time_s", "iteration_s")]


def asp_times(text: str) -> list[float]:
    result = json.loads(text)
    return [result["communication_s"], result["total_s"]]


BINARIES = REPOSITORY / "build/bin"
LAMMPS = shutil.which("lmp") or "lmp"
APPLICATIONS = (
    Application(
        "FFT (apps/fft)",
        (str(BINARIES / "stretto-fft-openmpi"), "--iterations", "100"),
        "--json",
        ("in gathers", "in all"),
        fft_times,
    ),
    Application(
        "all shortest paths (apps/asp)",
        (str(BINARIES / "stretto-asp-openmpi"), "--vertices", "4096", "--steps", "200"),
        "--json",
        ("in broadcasts", "in all"),
        asp_times,
    ),
    Application(
        "training (apps/training)",
        (sys.executable, str(REPOSITORY / "apps/training/train.py"), "--steps", "60"),
        "--out",
        ("in all",),
        lambda text: [float(np.sum(json.loads(text)["step_seconds"][1:]))],
    ),
    Application(
        "LAMMPS",
        (LAMMPS, "-in", str(Path(__file__).with_name("lennard_jones.lammps"))),
        "-log",
        ("in all",),
        loop_time,
    ),
)


def run_here(application: Application, ranks: int, settings: dict[str, str] | None) -> list[float]:
    """By metric, in seconds, on this node; `settings` of STRETTO_*, None: without Stretto."""
    with tempfile.TemporaryDirectory(prefix="stretto-applications-") as folder:
        file = Path(folder) / "result.json"
        stretto = [] if settings is None else [sys.executable, "-m", "stretto", "run", "--"]
        launch = [*stretto, "mpirun", "--oversubscribe", "-n", str(ranks)]
        run_limited(
            [*launch, *application.words, application.file_option, str(file)],
            job_environment() | {"OPENBLAS_NUM_THREADS": "1"} | (settings or {}),
            LIMIT_S,
        )
        return application.times(file.read_text())


def run_once(application: Application, place: str, way: str) -> list[float]:
    """By metric, in seconds."""
    ranks, nodes = PLACES[place]
    settings = WAYS[way]
    if nodes == 0:
        return run_here(application, ranks, settings)
    times: list[float] = run_program(
        list(application.words),
        nodes=nodes,
        rate="1gbit",
        options=["--stretto"] if settings is not None else [],
        settings={"OPENBLAS_NUM_THREADS": "1"} | (settings or {}),
        file_option=application.file_option,
        read=application.times,
    )
    return times


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--only", choices=list(PLACES), help="leave the other place out")
    options = read_options(parser)
    require(BINARIES / "stretto-fft-openmpi", BINARIES / "stretto-asp-openmpi")
    require(Path(LAMMPS), made_by="apt-get install lammps")
    ways = list(WAYS)
    rows = []
    for place in [options.only] if options.only else list(PLACES):
        for application in APPLICATIONS:
            print(f"{application.name}, {PLACES[place][0]} ranks, {place}")

            def once(way: str, application: Application = application, place: str = place) -> list[float]:
                return run_once(application, place, way)

            times = run_in_rounds(ways, options.rounds, once)
            ratios = compare_ways(ways, application.metrics, times)
            about = {"application": application.name, "place": place, "metrics": list(application.metrics)}
            rows.append(about | {"seconds": times.tolist(), "ratios_to_native": ratios})
            write_measured(options.json, {"rounds": options.rounds, "ways": ways, "rows": rows})
    return 0


if __name__ == "__main__":
    os.environ.pop("STRETTO_ADAPT", None)
    sys.exit(main())
