"""`stretto bench`: collectives under uneven arrival, Stretto's and the MPI library's in one interleaved run."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from stretto.bench_arguments import build_request, check_collective, check_outputs, make_parser, run_command
from stretto.bench_launch import describe_machine, run_request
from stretto.bench_must_show import show_must_show
from stretto.bench_report import print_report, result_as_json, summarise, write_json
from stretto.bench_request import choose_iterations

_ALGORITHM_HELP = """algorithms: those of `stretto algorithms`, `native` (the MPI library called past Stretto),
`passthrough` (the same through Stretto's entry point) and `default` (Stretto's choice). Ratios are to `native` where it
is among them."""


def _build_parser() -> argparse.ArgumentParser:
    parser = make_parser("bench", __doc__, _ALGORITHM_HELP, algorithms="native,default")
    parser.add_argument("--ranks", type=int, default=4, help="(default: %(default)s)")
    parser.add_argument("--warm-up", type=int, default=3, help="calls before them (default: %(default)s)")
    parser.add_argument("--mpirun", default="mpirun", help="the launcher and options of its own (default: %(default)s)")
    parser.add_argument("--must-show", action="store_true", help="measure what Stretto promises, against its targets")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    console = Console()
    check_outputs(arguments)
    if arguments.must_show:
        return show_must_show(console, arguments.mpirun, arguments.timeout, arguments.json)
    check_collective(arguments)
    request = build_request(arguments, arguments.ranks, arguments.warm_up, choose_iterations)
    machine = describe_machine()
    with Console(stderr=True).status("measuring"):
        run = run_request(request, arguments.mpirun, arguments.timeout)
    summaries = [summarise(result, request) for result in run.sizes]
    print_report(console, run, summaries, machine)
    if arguments.json is not None:
        write_json(arguments.json, result_as_json(run, summaries, machine))
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 measured (or all targets met), 1 a wrong result, a failed run or a missed target, 2 usage."""
    return run_command(_build_parser(), _run, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
