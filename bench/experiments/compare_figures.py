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
from compare_programs import NATIVE, Program, add_ways, command_of, preloads_of
from experiment import make_parser, read_options, write_measured
from rounds import in_turn
from tables import make_console, make_table, with_interval

from stretto.bench.stats import estimate_paired_ratio
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

_FIGURE = re.compile(r"^(\w+) (\d+(?:\.\d+)?)$", re.MULTILINE)


def measure(program: Program, binary: Path, options: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """By name, then by way, a figure a round."""
    preloads = preloads_of(options)
    figures: dict[str, dict[str, list[float]]] = {}
    for number in range(options.rounds):
        for way in in_turn(list(preloads), number):
            printed = run_limited(
                command_of(program, binary, preloads[way], options), rank_environment(), options.limit
            )
            for name, figure in _FIGURE.findall(printed):
                figures.setdefault(name, {}).setdefault(way, []).append(float(figure))
    return figures


def compare(program: Program, figures: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    """Prints the table of a program's figures and returns it."""
    ways = list(next(iter(figures.values())))
    ours = [way for way in ways if way != NATIVE]
    table = make_table(str(program), ["", NATIVE, *(head for way in ours for head in (way, "to native"))], left=("",))
    results: dict[str, Any] = {}
    for name, by_way in figures.items():
        medians = {way: float(np.median(by_way[way])) for way in ways}
        native = np.array(by_way[NATIVE])
        ratios = {way: vars(estimate_paired_ratio(np.array(by_way[way]), native)) for way in ours}
        cells = [text for way in ours for text in (f"{medians[way]:.0f}", with_interval(**ratios[way]))]
        table.add_row(name, f"{medians[NATIVE]:.0f}", *cells)
        results[name] = {"medians": medians, "ratios": ratios}
    make_console(140).print(table)
    return results


def main() -> int:
    parser = make_parser(__doc__)
    add_ways(parser)
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="(default: %(default)s)")
    options = read_options(parser)
    results = {}
    with tempfile.TemporaryDirectory(prefix="stretto-figures-") as scratch:
        for program in options.programs:
            binary = program.compiled(options.mpicc, Path(scratch))
            figures = measure(program, binary, options)
            if not figures:
                raise SystemExit(f"{program} prints no lines of a name and a number")
            results[str(program)] = compare(program, figures)
    write_measured(options.json, {"rounds": options.rounds, "mpirun": shlex.split(options.mpirun), "results": results})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
