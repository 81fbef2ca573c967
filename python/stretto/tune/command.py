"""`stretto tune`: measures what choices are made by."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from pathlib import Path

from rich.console import Console

from stretto.algorithms import COLLECTIVES
from stretto.bench.arguments import run_command
from stretto.bench.launch import BenchError, job_environment
from stretto.bench.request import Arrival, UsageError, parse_arrival, parse_sizes
from stretto.cluster import Nodes, cluster_if
from stretto.errors import StrettoError
from stretto.launch.launchers import identify
from stretto.launch.processes import run_limited
from stretto.launch.run import build_command, collect_settings
from stretto.library import built_program
from stretto.tune import check, explain, export, imported
from stretto.tune.machine import read_machine, show_machine
from stretto.tune.measure import Measurer
from stretto.tune.session import FindCalls, add_options, split_at_dashes, split_launcher, tune_session
from stretto.tune.tuning import Calls

_LIMIT_S = 300
_TUNED = ("allreduce", "bcast", "reduce", "barrier", "allgather", "gather", "scatter", "reduce_scatter_block")
_HELP = """`stretto tune -- mpirun -n 8 --hostfile hosts` measures what serves calls best on these ranks and writes
rules.toml; STRETTO_RULES=FILE then tells Stretto. The same command goes on where it was interrupted.
`stretto tune import DIR -- mpirun -n 8` does so for the calls of a program (DIR of stretto run --profile DIR).
`stretto tune explain allreduce 1M --ranks 8 --rules FILE` tells what is chosen and why, `stretto tune check FILE`
whether a file can be used here, `stretto tune export FILE` makes Open MPI's or MPICH's own rules file of it.

With --machine messages are measured between one pair of ranks for each part of the machine in which any meet, so give
a rank for each core of a node, and nodes as far apart as those of later jobs. It takes about a minute, on a machine
that does nothing else. STRETTO_MACHINE=FILE then tells Stretto."""
_SUBCOMMANDS = {"explain": explain.main, "check": check.main, "import": imported.main, "export": export.main}


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stretto tune",
        usage="%(prog)s [options] [-- LAUNCHER ...]",
        description=__doc__,
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--machine", action="store_true", help="what messages, copies and sums take here")
    parser.add_argument("--collectives", default=",".join(_TUNED), help="(default: %(default)s)")
    parser.add_argument("--sizes", default="8,256,4K,64K,1M,8M", help="in bytes (default: %(default)s)")
    parser.add_argument("--ranks", help="such as 2,4,8 (default: as many as the launcher starts)")
    parser.add_argument("--arrivals", default="balanced uniform:2ms",
                        help="patterns of `stretto bench`, spaces between (default: %(default)s)")  # fmt: skip
    add_options(parser)
    return parser


def measure_machine(launcher: list[str], output: Path, nodes: Nodes | None) -> None:
    """Starts the ranks, which measure and write `output`. Raises StrettoError where that cannot be done."""
    _, family = identify(launcher[0], os.environ)
    if family is None:
        raise StrettoError(f"{launcher[0]}: starts ranks of any MPI: name the mpirun of the one to measure")
    program = [str(built_program(f"stretto-machine-{family}")), str(output.absolute())]
    # What the ranks are told now must not be what was measured before.
    if nodes is not None:
        mpirun, ranks = split_launcher(launcher)
        ended = nodes.run(program, ranks=ranks, mpirun=shlex.join(mpirun), nospin=False, stretto=True, capture=True,
                          environment={"STRETTO_MACHINE": ""}, timeout_s=_LIMIT_S)  # fmt: skip
        if ended.returncode != 0:
            raise BenchError(f"the ranks ended with exit code {ended.returncode}: {ended.stderr or ended.stdout}")
        return
    words = [*launcher, *program]
    settings = collect_settings({name: value for name, value in os.environ.items() if name != "STRETTO_MACHINE"}, {})
    command, environment = build_command(words, settings, job_environment(), family)
    run_limited(command, environment, _LIMIT_S)


def _parse_ranks(text: str | None, started: int | None) -> list[int]:
    if text is None:
        if started is None:
            raise UsageError("how many ranks? Give --ranks, or the launcher's -n")
        return [started]
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise UsageError(f"--ranks {text}: numbers with commas between them, such as 2,4,8")
    return [int(number) for number in text.split(",")]


def _parse_collectives(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in COLLECTIVES:
            raise UsageError(f"--collectives {name}: choose from {', '.join(COLLECTIVES)}")
    return names


def _ask(arguments: argparse.Namespace, launcher: list[str]) -> tuple[list[str], FindCalls]:
    """The launcher, and what is to be measured: checked before anything is started."""
    words, started = split_launcher(launcher)
    ranks, collectives = _parse_ranks(arguments.ranks, started), _parse_collectives(arguments.collectives)
    sizes = parse_sizes(arguments.sizes)
    patterns = [parse_arrival(text) for text in arguments.arrivals.split()]

    def find_calls(measurer: Measurer) -> tuple[list[Calls], list[Arrival]]:
        calls = [
            Calls(collective, count, measurer.setup(count)["nodes"], (0,) if collective == "barrier" else sizes)
            for count in ranks
            for collective in collectives
        ]
        return calls, patterns

    return words, find_calls


def _find_machine(arguments: argparse.Namespace, launcher: list[str]) -> int:
    output = arguments.output or Path("machine.toml")
    with cluster_if(arguments.nodes, arguments.rate) as nodes, Console(stderr=True).status("measuring the machine"):
        measure_machine(launcher, output, nodes)
    console = Console(width=None if sys.stdout.isatty() else 120)
    show_machine(read_machine(output), console)
    console.print(f"written to {output}; STRETTO_MACHINE={output.absolute()} tells Stretto", highlight=False)
    return 0


def _run(arguments: argparse.Namespace, launcher: list[str]) -> int:
    if arguments.machine:
        return _find_machine(arguments, launcher)
    return tune_session(arguments, *_ask(arguments, launcher))


def main(argv: list[str]) -> int:
    """Exit code: 0 measured, 1 the ranks failed, 2 usage."""
    if argv and argv[0] in _SUBCOMMANDS:
        return _SUBCOMMANDS[argv[0]](argv[1:])
    own, launcher = split_at_dashes(argv)

    def run(arguments: argparse.Namespace) -> int:
        return _run(arguments, launcher or ["mpirun", "-n", str(arguments.nodes or 2)])

    return run_command(_build_parser(), run, own)
