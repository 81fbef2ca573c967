"""`stretto tune export`: what was measured of Open MPI's own algorithms, as its rules file, for jobs without Stretto.

The classic format of coll_tuned_dynamic_rules_filename (ompi/mca/coll/tuned/coll_tuned_dynamic_file.c): numbers alone.
For each collective, number of ranks from which on, and length from which on: algorithm, fan-out, segment.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from rich.console import Console

from stretto.bench.arguments import run_command
from stretto.bench.request import VARIANT_PREFIX, check_folder
from stretto.errors import StrettoError
from stretto.tune.decide import threshold
from stretto.tune.rules import Evidence, Rules, read_rules

# Of those whose lengths Open MPI looks up as they are measured here: the number that it has for each
# (ompi/mca/coll/base/coll_base_functions.h). It looks up an allgather by what it brings all together.
_COLLECTIVES = {"allgather": 0, "allreduce": 2, "barrier": 6, "bcast": 7, "reduce": 11}
_ITS_OWN = 0
_FAN_OUT, _SEGMENT = 4, 0  # as it is forced without naming them, which is what was measured
_SURELY_BETTER = 0.97  # of its own choice
_HELP = """Then: mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE ..."""

Steps = list[tuple[int, int]]  # from so many bytes on, by that algorithm


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stretto tune export", description=__doc__, epilog=_HELP, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("file", type=Path, help="the rules file, with its evidence")
    parser.add_argument("--format", choices=("ompi",), default="ompi", help="whose (default: %(default)s)")
    parser.add_argument("--output", "-o", type=Path, default=Path("rules.conf"), help="(default: %(default)s)")
    return parser


def algorithm_numbers() -> dict[str, dict[str, int]]:
    """By collective and name, as this Open MPI has them. Raises StrettoError where there is none."""
    program = shutil.which("ompi_info")
    if program is None:
        raise StrettoError("ompi_info: not found: it tells the numbers of Open MPI's algorithms: check PATH")
    words = [program, "--param", "coll", "tuned", "--level", "9", "--parsable"]
    text = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout
    numbers: dict[str, dict[str, int]] = defaultdict(dict)
    for collective, number, name in re.findall(r"coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(\w+)", text):
        numbers[collective][name] = int(number)
    return numbers


def _best(measured: list[Evidence], numbers: dict[str, int]) -> int:
    """At one size: the algorithm that is surely better than the library's own choice, under all patterns."""
    best, least = _ITS_OWN, _SURELY_BETTER
    for name, number in numbers.items():
        figures = [evidence.figures.get(VARIANT_PREFIX + name) for evidence in measured]
        highs = [figure.to_native[2] for figure in figures if figure is not None]
        if len(highs) == len(measured) and max(highs) < least:
            best, least = number, max(highs)
    return best


def _steps(rules: Rules, collective: str, ranks: int, numbers: dict[str, int]) -> Steps:
    by_size: dict[int, list[Evidence]] = defaultdict(list)
    for rule in rules.rules:
        if (rule.collective, rule.ranks) == (collective, ranks):
            for evidence in rule.measured:
                by_size[evidence.size].append(evidence)
    brings = ranks if collective == "allgather" else 1
    steps: Steps = []
    below = 0
    for size in sorted(by_size):
        best = _best(by_size[size], numbers)
        if not steps or steps[-1][1] != best:
            steps.append((brings * threshold(below, size) if steps else 0, best))
        below = size
    return steps


def format_ompi(rules: Rules, numbers: dict[str, dict[str, int]]) -> str:
    """The file's text. What is for so many ranks is for no more: from the next number on the library's own counts."""
    tables: dict[str, dict[int, Steps]] = {}
    for collective in _COLLECTIVES:
        measured = sorted({rule.ranks for rule in rules.rules if rule.collective == collective})
        by_ranks: dict[int, Steps] = {}
        for ranks in measured:
            by_ranks[ranks] = _steps(rules, collective, ranks, numbers[collective])
            by_ranks.setdefault(ranks + 1, [(0, _ITS_OWN)])
        if any(algorithm != _ITS_OWN for steps in by_ranks.values() for _, algorithm in steps):
            tables[collective] = dict(sorted(by_ranks.items()))
    lines = [str(len(tables))]
    for collective, by_ranks in tables.items():
        lines += [str(_COLLECTIVES[collective]), str(len(by_ranks))]
        for ranks, steps in by_ranks.items():
            lines += [str(ranks), str(len(steps))]
            lines += [f"{from_bytes} {algorithm} {_FAN_OUT} {_SEGMENT}" for from_bytes, algorithm in steps]
    return "\n".join(lines) + "\n"


def _run(arguments: argparse.Namespace) -> int:
    check_folder(arguments.output, f"--output {arguments.output}")
    rules = read_rules(arguments.file)
    if not str(rules.measured["mpi"]).startswith("Open MPI"):
        raise StrettoError(f"{arguments.file}: was measured with {rules.measured['mpi']}, not with Open MPI")
    text = format_ompi(rules, algorithm_numbers())
    arguments.output.write_text(text)
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    console.print(f"rules for {text.split()[0]} collectives written to {arguments.output}. {_HELP}")
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 written, 2 a file cannot be read, or is of another MPI library."""
    return run_command(_build_parser(), _run, argv)
