"""`stretto model`: what the algorithms would take on ranks that share a simple network, in one process and seconds."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from stretto.bench.arguments import build_request, check_collective, check_outputs, make_parser, run_command
from stretto.bench.launch import run_driver
from stretto.bench.request import UsageError
from stretto.library import built_program
from stretto.simulate.report import WARM_UP, choose_algorithms, choose_iterations, show_simulation
from stretto.tune.fabrics import fabrics, machine_file

_PROGRAM = "stretto-model"
# Option -> (the program's key, default, what it is).
_COSTS = {
    "--alpha": ("alpha_ns", 2000.0, "latency between nodes in ns"),
    "--beta": ("beta_ns_per_byte", 0.1, "ns a byte between nodes: 0.1 is 10 GB/s"),
    "--gap": ("gap_ns", 0.0, "ns from the end of a message between nodes until its ports can carry the next"),
    "--node-alpha": ("node_alpha_ns", 500.0, "latency within a node in ns"),
    "--node-beta": ("node_beta_ns_per_byte", 0.1, "ns a byte within a node"),
    "--node-gap": ("node_gap_ns", 0.0, "the same within a node"),
    "--gamma": ("gamma_ns_per_byte", 0.1, "ns to reduce a byte"),
    "--delta": ("delta_ns_per_byte", 0.05, "ns to copy a byte"),
}
_EAGER = 4096
_HELP = """algorithms: those of `stretto algorithms`, or `all` that can run there: algorithms over shared memory need
all ranks on one node, --ranks-per-node as large as --ranks. A message of n bytes takes alpha + n beta; one of --eager
bytes or more leaves when its receiver is ready. A rank sends and receives one message a time. Algorithms that sort know
the order of arrival ahead (--prediction), and those of the background begin before the first rank arrives. More in
docs/simulation.md."""
# What the ranks believe of the order of arrival: the truth, its reverse, another order in every call, nothing.
_PREDICTIONS = ("right", "reversed", "random", "none")


def _build_parser() -> argparse.ArgumentParser:
    parser = make_parser("model", __doc__, _HELP, algorithms="all")
    parser.add_argument("--ranks", type=int, default=64, help="(default: %(default)s)")
    parser.add_argument("--ranks-per-node", type=int, default=1, help="(default: %(default)s)")
    for option, (key, default, meaning) in _COSTS.items():
        parser.add_argument(option, dest=key, type=float, help=f"{meaning} (default: {default})")
    parser.add_argument("--eager", type=int, dest="eager_bytes",
                        help=f"messages of as many bytes or more wait for their receiver ({_EAGER})")  # fmt: skip
    parser.add_argument("--machine", metavar="FILE",
                        help="in place of all these: what `stretto tune --machine` has measured, or a usual network: "
                             + ", ".join(fabrics()))  # fmt: skip
    parser.add_argument("--prediction", choices=_PREDICTIONS, default="right",
                        help="what algorithms that sort expect (default: %(default)s)")  # fmt: skip
    parser.add_argument("--in-a-row", type=int, default=1, metavar="N",
                        help="calls one after the other, with no barrier between; times are those of one")  # fmt: skip
    return parser


def _costs(arguments: argparse.Namespace, machine: Path | None) -> dict[str, object]:
    """The machine as the program takes it; `machine`: its file. Raises UsageError where it is told twice."""
    defaults = {key: default for key, default, _ in _COSTS.values()} | {"eager_bytes": _EAGER}
    told = {key: value for key in defaults if (value := getattr(arguments, key)) is not None}
    if machine is None:
        return defaults | told
    if told:
        raise UsageError(f"--machine {arguments.machine}: tells all costs: leave the others out")
    return {"machine": str(machine)}


def _run(arguments: argparse.Namespace) -> int:
    with machine_file(arguments.machine) as machine:
        return _model(arguments, machine)


def _model(arguments: argparse.Namespace, machine_at: Path | None) -> int:
    check_collective(arguments)
    check_outputs(arguments)
    if arguments.ranks_per_node < 1 or (arguments.eager_bytes or 0) < 0:
        raise UsageError("--ranks-per-node must be at least 1, and --eager not negative")
    one_node = arguments.ranks_per_node >= arguments.ranks
    algorithms = choose_algorithms(arguments.collective, arguments.algorithms, one_node)
    request = build_request(arguments, arguments.ranks, WARM_UP, choose_iterations, algorithms)
    machine = _costs(arguments, machine_at) | {"ranks_per_node": arguments.ranks_per_node}
    machine |= {"prediction": arguments.prediction, "in_a_row": arguments.in_a_row}
    program = built_program(_PROGRAM)

    def command(output: Path, replay_file: Path) -> list[str]:
        values = {"ranks": request.ranks} | machine
        return [
            str(program),
            *request.driver_arguments(output, replay_file),
            *(f"{key}={values[key]}" for key in values),
        ]

    with Console(stderr=True).status("modelling"):
        run = run_driver(request, command, dict(os.environ), arguments.timeout)
    show_simulation(arguments, run, machine, f"{arguments.ranks_per_node} a node, modelled")
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 predicted, 1 a wrong result or a failed run, 2 usage."""
    return run_command(_build_parser(), _run, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
