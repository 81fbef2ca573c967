"""`stretto bench`: collectives under uneven arrival, Stretto's and the MPI library's in one interleaved run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from stretto import bench_compare
from stretto.algorithms import load_registry
from stretto.bench_launch import describe_machine, run_request
from stretto.bench_must_show import show_must_show
from stretto.bench_plot import check_plot, write_plot
from stretto.bench_quick import show_quick
from stretto.bench_report import print_report, result_as_json, summarise, write_json
from stretto.bench_request import (
    COLLECTIVES,
    DATATYPE_BYTES,
    DEFAULT_SIZES,
    MOST_ITERATIONS,
    OPERATIONS,
    TIMED_PATTERNS,
    Request,
    UsageError,
    choose_iterations,
    parse_algorithms,
    parse_arrival,
    parse_precision,
    parse_sizes,
    parse_time_ns,
)
from stretto.cluster import cluster
from stretto.cluster.namespaces import Nodes
from stretto.errors import StrettoError
from stretto.progress import measuring

_PATTERN_HELP = f"""arrival patterns:
  balanced          all ranks leave a barrier and call (as the OSU benchmarks do)
  PATTERN:TIME      PATTERN one of {", ".join(TIMED_PATTERNS[:3])},
                    {", ".join(TIMED_PATTERNS[3:])};
                    (normal: T is the standard deviation; node-late: one of several nodes)
                    ranks sleep, but all except the first compute in compute-uniform;
                    TIME such as 50ms
  mif:FACTOR        each rank computes for a random 0 to FACTOR point-to-point times of the message
  noise:HZ,TIME     balanced, but each rank computes something else for TIME, HZ times a second, all the time
  replay:DIR        as the profiler recorded it (stretto run --profile DIR), call by call

`stretto bench compare A.json B.json` compares two results.

algorithms: those of `stretto algorithms`; `default` (Stretto's choice); `native` (the MPI library called past Stretto);
`native:NAME` (the same forced to one of its own algorithms) and `native:*` (each that it can be forced to);
`passthrough` (the MPI library through Stretto's entry point); `all`: native, native:*, default and all of Stretto's.
Ratios are to `native` where it is among them; with native:* also to the best of the MPI library's own."""


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stretto bench",
        description=__doc__,
        epilog=_PATTERN_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("collective", nargs="?", choices=COLLECTIVES)
    parser.add_argument("--algorithms", default="native,default", help="what to compare (default: %(default)s)")
    parser.add_argument("--sizes", help=f"8,64K,1M or 8:8M[:FACTOR] in bytes (default: {DEFAULT_SIZES})")
    parser.add_argument("--ranks", type=int, default=4, help="(default: %(default)s)")
    parser.add_argument("--arrival", default="balanced", help="see below (default: %(default)s)")
    parser.add_argument("--iterations", type=int, help="calls of each algorithm at each size (default: by size)")
    parser.add_argument(
        "--precision", help="repeat until medians are known to within, such as 2%%, or the budget is spent"
    )
    parser.add_argument("--budget", default="60s", help="for --precision, all sizes together (default: %(default)s)")
    parser.add_argument("--warm-up", type=int, default=3, help="calls before them (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of delays and order (default: %(default)s)")
    parser.add_argument("--root", default="rotate", help="a rank, or rotate (default)")
    parser.add_argument("--in-place", action="store_true", help="MPI_IN_PLACE")
    parser.add_argument("--cold-cache", action="store_true", help="buffers are not in any cache when a call begins")
    parser.add_argument("--sync", choices=("barrier", "window"), default="barrier",
                        help="ranks that call together do so behind a barrier, or at an agreed moment")  # fmt: skip
    parser.add_argument("--datatype", choices=tuple(DATATYPE_BYTES), default="float")
    parser.add_argument("--op", choices=OPERATIONS, default="sum")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples; packed if FILE ends with .gz")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them: FILE.png, FILE.svg or FILE.pdf")
    parser.add_argument(
        "--nodes", type=int, metavar="N", help="on an emulated cluster of N nodes (see stretto cluster)"
    )
    parser.add_argument("--rate", help="with --nodes: of each node's link (default: 1gbit)")
    parser.add_argument("--mpirun", default="mpirun", help="the launcher and options of its own (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="where Stretto wins and loses, in some minutes")
    parser.add_argument("--must-show", action="store_true", help="measure what Stretto promises, against its targets")
    return parser


def _choose_algorithms(text: str, collective: str) -> tuple[str, ...]:
    if text != "all":
        return parse_algorithms(text)
    ours = [entry.name for entry in load_registry() if entry.collective == collective]
    return ("native", "native:*", "default", *ours)


def _build_request(arguments: argparse.Namespace) -> Request:
    if arguments.root != "rotate" and not arguments.root.isdecimal():
        raise UsageError(f"--root {arguments.root}: give a rank, or rotate")
    arrival = parse_arrival(arguments.arrival)
    if arguments.sizes is not None:
        sizes = parse_sizes(arguments.sizes)
    else:
        sizes = (0,) if arguments.collective == "barrier" else parse_sizes(DEFAULT_SIZES)
    precision = parse_precision(arguments.precision) if arguments.precision else 0.0
    count = MOST_ITERATIONS if precision and arguments.iterations is None else arguments.iterations
    return Request(
        collective=arguments.collective,
        algorithms=_choose_algorithms(arguments.algorithms, arguments.collective),
        sizes=sizes,
        iterations=tuple(choose_iterations(arrival, size) if count is None else count for size in sizes),
        ranks=arguments.ranks,
        arrival=arrival,
        warm_up=arguments.warm_up,
        seed=arguments.seed,
        root=None if arguments.root == "rotate" else int(arguments.root),
        in_place=arguments.in_place,
        cold_cache=arguments.cold_cache,
        window=arguments.sync == "window",
        precision=precision,
        budget=parse_time_ns(arguments.budget) * 1e-9,
        datatype=arguments.datatype,
        operation=arguments.op,
    )


def _run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.timeout <= 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: must lie above 0")
    if arguments.json is not None and not arguments.json.absolute().parent.is_dir():
        raise UsageError(f"--json {arguments.json}: there is no folder {arguments.json.parent}")
    if arguments.plot is not None:
        check_plot(arguments.plot)
    if arguments.must_show:
        return show_must_show(console, arguments.mpirun, arguments.timeout, arguments.json)
    if arguments.rate is not None and arguments.nodes is None:
        raise UsageError("--rate needs --nodes")
    if arguments.nodes is None:
        return _measure(arguments, console, None)
    with cluster(arguments.nodes, arguments.rate or "1gbit") as nodes:
        return _measure(arguments, console, nodes)


def _measure(arguments: argparse.Namespace, console: Console, nodes: Nodes | None) -> int:
    if arguments.quick:
        return show_quick(console, arguments.mpirun, arguments.timeout, arguments.json, nodes)
    if arguments.collective is None:
        raise UsageError(f"which collective? Choose from {', '.join(COLLECTIVES)}")
    request = _build_request(arguments)
    machine = describe_machine()
    with measuring(request) as progress:
        run = run_request(request, arguments.mpirun, arguments.timeout, progress, nodes)
    summaries = [summarise(result, run.request) for result in run.sizes]
    print_report(console, run, summaries, machine)
    if arguments.plot is not None:
        write_plot(run, summaries, arguments.plot)
    if arguments.json is not None:
        write_json(arguments.json, result_as_json(run, summaries, machine))
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 measured (or all targets met), 1 a wrong result, a failed run or a missed target, 2 usage."""
    try:
        if argv[:1] == ["compare"]:
            return bench_compare.main(argv[1:])
        return _run(_build_parser().parse_args(argv), Console(width=None if sys.stdout.isatty() else 160))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 2
    except StrettoError as error:
        print(f"stretto bench: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
