"""`stretto tune export`: what was measured of an MPI library's own algorithms, as its rules file, for jobs without
Stretto.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from stretto.bench.arguments import run_command
from stretto.bench.request import check_folder
from stretto.errors import StrettoError
from stretto.tune import as_mpich, as_ompi
from stretto.tune.rules import Rules, read_rules

_LIBRARIES: dict[str, tuple[str, Callable[[Rules, Path], str]]] = {
    "ompi": ("Open MPI", as_ompi.write),
    "mpich": ("MPICH", as_mpich.write),
}


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stretto tune export", description=__doc__, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("file", type=Path, help="the rules file, with its evidence")
    parser.add_argument("--format", choices=tuple(_LIBRARIES), help="whose (default: that was measured)")
    parser.add_argument("--output", "-o", type=Path, help="(default: rules.conf, for MPICH rules.json)")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    rules = read_rules(arguments.file)
    measured = str(rules.measured["mpi"])
    whose = [key for key, (name, _) in _LIBRARIES.items() if measured.startswith(name)]
    wanted = arguments.format or (whose[0] if whose else None)
    if wanted is None:
        raise StrettoError(
            f"{arguments.file}: was measured with {measured}, which has no rules file that is known here"
        )
    if wanted not in whose:
        raise StrettoError(f"{arguments.file}: was measured with {measured}, not with {_LIBRARIES[wanted][0]}")
    output = arguments.output or Path("rules.json" if wanted == "mpich" else "rules.conf")
    check_folder(output, f"--output {output}")
    told = _LIBRARIES[wanted][1](rules, output)
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(told)
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 written, 2 a file cannot be read, or is of another MPI library."""
    return run_command(_build_parser(), _run, argv)
