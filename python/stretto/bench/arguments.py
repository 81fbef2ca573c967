"""What `stretto bench`, `stretto model` and `stretto sim` ask of their user alike: options, and how a command ends."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from stretto.algorithms import COLLECTIVES
from stretto.bench.request import (
    DATATYPE_BYTES,
    DEFAULT_SIZES,
    OPERATIONS,
    TIMED_PATTERNS,
    Arrival,
    Request,
    UsageError,
    check_folder,
    parse_algorithms,
    parse_arrival,
    parse_sizes,
)
from stretto.errors import StrettoError

PATTERN_HELP = f"""arrival patterns:
  balanced          all ranks leave a barrier and call (as the OSU benchmarks do)
  PATTERN:TIME      PATTERN one of {", ".join(TIMED_PATTERNS[:3])},
                    {", ".join(TIMED_PATTERNS[3:])};
                    ranks sleep, but all except the first compute in compute-uniform;
                    TIME such as 50ms
                    (normal: T is the standard deviation; node-late: one of several nodes)
  mif:FACTOR        each rank computes for a random 0 to FACTOR point-to-point times of the message
  noise:HZ,TIME     balanced, but each rank computes something else for TIME, HZ times a second, all the time
  rank-late:RANK,TIME  always the same rank sleeps for TIME
  replay:DIR        as the profiler recorded it (stretto run --profile DIR), call by call
  replay:FILE       a line a call with each rank's delay in ns"""


def make_parser(command: str, description: str | None, epilog: str, algorithms: str) -> argparse.ArgumentParser:
    """A parser with everything that makes a Request, but the number of ranks. `algorithms` is the default."""
    parser = argparse.ArgumentParser(
        prog=f"stretto {command}",
        description=description,
        epilog=f"{PATTERN_HELP}\n\n{epilog}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("collective", nargs="?", choices=COLLECTIVES)
    parser.add_argument("--algorithms", default=algorithms, help="what to compare (default: %(default)s)")
    parser.add_argument("--sizes", help=f"8,64K,1M or 8:8M[:FACTOR] in bytes (default: {DEFAULT_SIZES})")
    parser.add_argument("--arrival", default="balanced", help="see below (default: %(default)s)")
    parser.add_argument("--iterations", type=int, help="calls of each algorithm at each size (default: by size)")
    parser.add_argument("--seed", type=int, default=1, help="of delays and order (default: %(default)s)")
    parser.add_argument("--root", default="rotate", help="a rank, or rotate (default)")
    parser.add_argument("--in-place", action="store_true", help="MPI_IN_PLACE")
    parser.add_argument("--hints", action="store_true", help="each rank tells Stretto when half of its delay is over")
    parser.add_argument("--datatype", choices=tuple(DATATYPE_BYTES), default="float")
    parser.add_argument("--op", choices=OPERATIONS, default="sum")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples; packed if FILE ends with .gz")
    parser.add_argument("--timeout", type=float, default=600, help="seconds (default: %(default)s)")
    return parser


def check_collective(arguments: argparse.Namespace) -> None:
    if arguments.collective is None:
        raise UsageError(f"which collective? Choose from {', '.join(COLLECTIVES)}")


def check_outputs(arguments: argparse.Namespace) -> None:
    if arguments.timeout <= 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: must lie above 0")
    if arguments.json is not None:
        check_folder(arguments.json, f"--json {arguments.json}")


def build_request(
    arguments: argparse.Namespace,
    ranks: int,
    warm_up: int,
    choose_iterations: Callable[[Arrival, int], int],
    algorithms: tuple[str, ...] | None = None,
) -> Request:
    """The request; `choose_iterations` (arrival, bytes) where the user has not. `algorithms`: what their names mean."""
    if arguments.root != "rotate" and not arguments.root.isdecimal():
        raise UsageError(f"--root {arguments.root}: give a rank, or rotate")
    arrival = parse_arrival(arguments.arrival)
    if arguments.sizes is not None:
        sizes = parse_sizes(arguments.sizes)
    else:
        sizes = (0,) if arguments.collective == "barrier" else parse_sizes(DEFAULT_SIZES)
    count = arguments.iterations
    return Request(
        collective=arguments.collective,
        algorithms=algorithms or parse_algorithms(arguments.algorithms),
        sizes=sizes,
        iterations=tuple(choose_iterations(arrival, size) if count is None else count for size in sizes),
        ranks=ranks,
        arrival=arrival,
        warm_up=warm_up,
        seed=arguments.seed,
        root=None if arguments.root == "rotate" else int(arguments.root),
        in_place=arguments.in_place,
        hints=arguments.hints,
        datatype=arguments.datatype,
        operation=arguments.op,
    )


def run_command(parser: argparse.ArgumentParser, action: Callable[[argparse.Namespace], int], argv: list[str]) -> int:
    """Exit code: that of the action, 1 for a failed run, 2 for usage."""
    try:
        return action(parser.parse_args(argv))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 2
    except StrettoError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
