"""`stretto tune import`: rules for the calls of one program, as it was profiled, under the arrivals that it had."""

from __future__ import annotations

import argparse
from pathlib import Path

from stretto.bench.arguments import run_command
from stretto.bench.request import Arrival
from stretto.tune.measure import Measurer
from stretto.tune.profiled import profiled_calls
from stretto.tune.session import FindCalls, add_options, split_at_dashes, split_launcher, tune_session
from stretto.tune.tuning import Calls

_HELP = """DIR is that of `stretto run --profile DIR -- mpirun -n 8 ./program`. Of each collective the lengths
on which most time was spent are measured, on as many ranks as took part, who come when the program's came."""


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stretto tune import", usage="%(prog)s DIR [options] [-- LAUNCHER ...]", description=__doc__, epilog=_HELP,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("profile", type=Path, metavar="DIR")
    add_options(parser)
    return parser


def _ask(arguments: argparse.Namespace, launcher: list[str]) -> tuple[list[str], FindCalls]:
    kinds = profiled_calls(arguments.profile)
    words, _ = split_launcher(launcher)

    def find_calls(measurer: Measurer) -> tuple[list[Calls], list[Arrival]]:
        calls = [
            Calls(collective, ranks, measurer.setup(ranks)["nodes"], sizes)
            for (collective, ranks), sizes in kinds.items()
        ]
        return calls, [Arrival("replay", profile=str(arguments.profile.absolute()))]

    return words, find_calls


def main(argv: list[str]) -> int:
    """Exit code: 0 measured, 1 the ranks failed, 2 usage."""
    own, launcher = split_at_dashes(argv)

    def run(arguments: argparse.Namespace) -> int:
        return tune_session(arguments, *_ask(arguments, launcher or ["mpirun"]))

    return run_command(_build_parser(), run, own)
