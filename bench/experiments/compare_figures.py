#!/usr/bin/env python3
"""What small C programs measure of themselves, natively and under builds of Stretto, in rounds.

    bench/experiments/compare_figures.py --library now=build/lib/libstretto_openmpi.so 'tight_loops.c 8 @2' ...

Each program is a file, its arguments and @ranks, and prints lines of a name and a number. A round runs the program once
in each way, in an order that rotates. Of each name: the median of each way, and the ratio to native with its interval,
of the runs of one round.
"""

from __future__ import annotations

import argparse
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from compare_programs import Program, add_ways, command_of, preloads_of
from experiment import make_parser, read_options, write_measured
from numpy.typing import NDArray
from rounds import run_in_rounds
from tables import make_console, make_table, with_interval

from stretto.bench.stats import estimate_paired_ratio
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

_FIGURE = re.compile(r"^(\w+) (\d+(?:\.\d+)?)$", re.MULTILINE)


def measure(
    program: Program, binary: Path, preloads: dict[str, str], options: argparse.Namespace
) -> tuple[list[str], NDArray[np.float64]]:
    """The names of the figures, and these; shape (rounds, ways, names)."""
    names: list[str] = []

    def run_once(way: str) -> list[float]:
        command = command_of(program, binary, preloads[way], options)
        found = _FIGURE.findall(run_limited(command, rank_environment(), options.limit))
        names[:] = [name for name, _ in found]
        return [float(figure) for _, figure in found]

    return names, run_in_rounds(list(preloads), options.rounds, run_once)


def compare(title: str, ways: list[str], names: list[str], figures: NDArray[np.float64]) -> dict[str, Any]:
    """Prints medians and ratios to the first way, of runs of one round, and returns them by name."""
    table = make_table(title, ["", ways[0], *(head for way in ways[1:] for head in (way, f"to {ways[0]}"))], left=("",))
    results: dict[str, Any] = {}
    for index, name in enumerate(names):
        of_name = figures[:, :, index]
        medians = np.median(of_name, axis=0)
        ratios = [vars(estimate_paired_ratio(of_way, of_name[:, 0])) for of_way in of_name.T[1:]]
        cells = [text for median, ratio in zip(medians[1:], ratios, strict=True)
                 for text in (f"{median:.0f}", with_interval(**ratio))]  # fmt: skip
        table.add_row(name, f"{medians[0]:.0f}", *cells)
        results[name] = {
            "medians": dict(zip(ways, medians, strict=True)),
            "ratios": dict(zip(ways[1:], ratios, strict=True)),
        }
    make_console(140).print(table)
    return results


def main() -> int:
    parser = make_parser(__doc__)
    add_ways(parser)
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="(default: %(default)s)")
    options = read_options(parser)
    preloads = preloads_of(options)
    results = {}
    with tempfile.TemporaryDirectory(prefix="stretto-figures-") as scratch:
        for program in options.programs:
            binary = program.compiled(options.mpicc, Path(scratch))
            names, figures = measure(program, binary, preloads, options)
            if not names:
                raise SystemExit(f"{program} prints no lines of a name and a number")
            results[str(program)] = compare(str(program), list(preloads), names, figures)
    write_measured(options.json, {"rounds": options.rounds, "mpirun": shlex.split(options.mpirun), "results": results})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
