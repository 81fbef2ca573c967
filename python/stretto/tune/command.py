"""`stretto tune`: measures what choices are made by."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from stretto.bench.arguments import run_command
from stretto.bench.launch import job_environment
from stretto.errors import StrettoError
from stretto.launch.launchers import identify
from stretto.launch.processes import run_limited
from stretto.launch.run import build_command, collect_settings
from stretto.library import built_program
from stretto.tune.machine import read_machine, show_machine

_LIMIT_S = 300
_HELP = """Messages are measured between one pair of ranks for each part of the machine in which any meet, so give a
rank for each core of a node, and nodes as far apart as those of later jobs:
`stretto tune --machine -- mpirun -n 8 --hostfile hosts`. It takes about a minute, on a machine that does nothing else.
STRETTO_MACHINE=FILE then tells Stretto."""


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stretto tune", description=__doc__, epilog=_HELP, formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "--machine", action="store_true", required=True, help="what messages, copies and sums take here"
    )
    parser.add_argument(
        "--output", "-o", type=Path, default=Path("machine.toml"), metavar="FILE", help="(default: %(default)s)"
    )
    parser.add_argument(
        "launcher", nargs="*", help="the launcher and its options, but no program (default: mpirun -n 2)"
    )
    return parser


def measure_machine(launcher: list[str], output: Path) -> None:
    """Starts the ranks, which measure and write `output`. Raises StrettoError where that cannot be done."""
    _, family = identify(launcher[0], os.environ)
    if family is None:
        raise StrettoError(f"{launcher[0]}: starts ranks of any MPI: name the mpirun of the one to measure")
    words = [*launcher, str(built_program(f"stretto-machine-{family}")), str(output.absolute())]
    # What the ranks are told now must not be what was measured before.
    settings = collect_settings({name: value for name, value in os.environ.items() if name != "STRETTO_MACHINE"}, {})
    command, environment = build_command(words, settings, job_environment(), family)
    run_limited(command, environment, _LIMIT_S)


def _run(arguments: argparse.Namespace) -> int:
    launcher: list[str] = arguments.launcher or ["mpirun", "-n", "2"]
    with Console(stderr=True).status("measuring the machine"):
        measure_machine(launcher, arguments.output)
    console = Console(width=None if sys.stdout.isatty() else 120)
    show_machine(read_machine(arguments.output), console)
    console.print(f"written to {arguments.output}; STRETTO_MACHINE={arguments.output.absolute()} tells Stretto",
                  highlight=False)  # fmt: skip
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 measured, 1 the ranks failed, 2 usage."""
    return run_command(_build_parser(), _run, argv)
