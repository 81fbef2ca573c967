"""`stretto bench`: collectives under uneven arrival, Stretto's and the MPI library's in one interleaved run."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from rich.console import Console

from stretto.algorithms import load_registry
from stretto.bench import compare
from stretto.bench.arguments import build_request, check_collective, check_outputs, make_parser, run_command
from stretto.bench.launch import describe_machine, run_request
from stretto.bench.must_show import show_must_show
from stretto.bench.plot import check_plot, write_plot
from stretto.bench.quick import show_quick
from stretto.bench.report import print_report, result_as_json, summarise, write_json
from stretto.bench.request import (
    MOST_ITERATIONS,
    Arrival,
    Request,
    UsageError,
    choose_iterations,
    parse_algorithms,
    parse_precision,
    parse_time_ns,
)
from stretto.cluster import cluster_if
from stretto.cluster.namespaces import Nodes
from stretto.progress import measuring

_ALGORITHM_HELP = """algorithms: those of `stretto algorithms`; `default` (Stretto's choice); `native` (the MPI library
called past Stretto); `native:NAME` (the same forced to one of its own algorithms) and `native:*` (each that it can be
forced to); `passthrough` (the MPI library through Stretto's entry point); `all`: native, native:*, default and all of
Stretto's. Ratios are to `native` where it is among them; with native:* also to the best of the MPI library's own.

`stretto bench compare A.json B.json` compares two results."""


def _build_parser() -> argparse.ArgumentParser:
    parser = make_parser("bench", __doc__, _ALGORITHM_HELP, algorithms="native,default")
    parser.add_argument("--ranks", type=int, help="(default: 4, or one a node with --nodes)")
    parser.add_argument("--warm-up", type=int, default=3, help="calls before them (default: %(default)s)")
    parser.add_argument(
        "--precision", help="repeat until medians are known to within, such as 2%%, or the budget is spent"
    )
    parser.add_argument("--budget", default="60s", help="for --precision, all sizes together (default: %(default)s)")
    parser.add_argument("--cold-cache", action="store_true", help="buffers are not in any cache when a call begins")
    parser.add_argument("--sync", choices=("barrier", "window"), default="barrier",
                        help="ranks that call together do so behind a barrier, or at an agreed moment")  # fmt: skip
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them: FILE.png, FILE.svg or FILE.pdf")
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="on an emulated cluster of N nodes (see stretto cluster)"
    )
    parser.add_argument("--rate", help="with --nodes: of each node's link (default: 1gbit)")
    parser.add_argument("--mpirun", default="mpirun", help="the launcher and options of its own (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="where Stretto wins and loses, in some minutes")
    parser.add_argument("--must-show", action="store_true", help="measure what Stretto promises, against its targets")
    return parser


def _choose_algorithms(text: str, collective: str) -> tuple[str, ...]:
    if text != "all":
        return parse_algorithms(text)
    ours = [entry.name for entry in load_registry() if entry.collective == collective]
    return ("native", "native:*", "default", *ours)


def _build_request(arguments: argparse.Namespace) -> Request:
    precision = parse_precision(arguments.precision) if arguments.precision else 0.0

    def iterations(arrival: Arrival, size_bytes: int) -> int:
        return MOST_ITERATIONS if precision else choose_iterations(arrival, size_bytes)

    algorithms = _choose_algorithms(arguments.algorithms, arguments.collective)
    ranks = arguments.ranks if arguments.ranks is not None else arguments.nodes or 4
    request = build_request(arguments, ranks, arguments.warm_up, iterations, algorithms)
    return dataclasses.replace(
        request,
        cold_cache=arguments.cold_cache,
        window=arguments.sync == "window",
        precision=precision,
        budget=parse_time_ns(arguments.budget) * 1e-9,
    )


def _run(arguments: argparse.Namespace) -> int:
    console = Console(width=None if sys.stdout.isatty() else 160)
    check_outputs(arguments)
    if arguments.plot is not None:
        check_plot(arguments.plot)
    if (arguments.must_show or arguments.quick) and arguments.collective is not None:
        raise UsageError(f"{arguments.collective}: --must-show and --quick choose for themselves what they measure")
    if arguments.must_show and arguments.nodes is not None:
        raise UsageError("--must-show is about one node: leave --nodes out")
    if arguments.precision and parse_time_ns(arguments.budget) * 1e-9 >= arguments.timeout:
        raise UsageError(f"--budget {arguments.budget}: must be less than --timeout, {arguments.timeout:g} s")
    if arguments.must_show:
        return show_must_show(console, arguments.mpirun, arguments.timeout, arguments.json)
    if arguments.rate is not None and arguments.nodes is None:
        raise UsageError("--rate needs --nodes")
    with cluster_if(arguments.nodes, arguments.rate or "1gbit") as nodes:
        return _measure(arguments, console, nodes)


def _measure(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    if arguments.quick:
        return show_quick(console, arguments.mpirun, arguments.timeout, arguments.json, nodes)
    check_collective(arguments)
    request = _build_request(arguments)
    machine = describe_machine()
    with measuring(request.collective, request.iterations) as progress:
        run = run_request(request, arguments.mpirun, arguments.timeout, progress, nodes)
    summaries = [summarise(result, run.request) for result in run.sizes]
    print_report(console, run, summaries, machine)
    if arguments.plot is not None:
        write_plot(run, summaries, arguments.plot)
    if arguments.json is not None:
        write_json(arguments.json, result_as_json(run, summaries, machine, nodes))
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 measured (or all targets met), 1 a wrong result, a failed run or a missed target, 2 usage."""
    if argv[:1] == ["compare"]:
        return compare.main(argv[1:])
    return run_command(_build_parser(), _run, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
