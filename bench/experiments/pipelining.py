#!/usr/bin/env python3
"""Pipelined algorithms and event-driven trees on 8 emulated nodes, against all that the MPI library can be forced to.

`.venv/bin/python bench/experiments/pipelining.py [--cases NAMES] [--iterations N] [--json FILE]`, on a quiet machine.
One rank a node, balanced; all algorithms of a case in one interleaved run. Ratios of run times are medians of paired
ones with 95 % bootstrap intervals: to Open MPI's default; to the best that it can be forced to, chosen by its median
after the fact, which favours it; and, of medians only, to what the links allow. In an allreduce 2(P-1)/P n bytes go in
and out of each rank at least, in a reduce or bcast n, in an allgather (P-1) n with a block of n bytes. Targets:
`ring+K` at most 0.80 of the default and 0.95 of the best forced at 500 mbit over 2 MB; bcast at most 1.05 of the best
forced; ring and chain at most 1.15 of the bound with 8 MB at 1 gbit.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from emulated import PAYLOAD_NS_PER_BYTE, compare_with_native, run_bench, samples_of, what_ran
from experiment import make_parser, read_options, write_measured
from rich.console import Console
from tables import make_console, make_table, with_interval

NODES = 8
MIB = 1 << 20
# Times the bytes of the message: what goes in and out of each rank at least.
SHARE = {"allreduce": 2 * (NODES - 1) / NODES, "bcast": 1.0, "reduce": 1.0, "allgather": NODES - 1.0}
ALGORITHMS = {
    "allreduce": "ring ring+2 ring+4 ring+8 ring+16 ring+448K rabenseifner rabenseifner+4 native+4",
    "bcast": "event_chain event_binary event_binomial waitall_chain waitall_binary scatter_allgather",
    "reduce": "event_chain event_binary event_binomial waitall_chain reduce_scatter_gather reduce_scatter_gather+4",
    "allgather": "ring ring+2 ring+4 ring+8 bruck recursive_doubling linear arrival_ordered",
}


@dataclass(frozen=True)
class Case:
    """A message of `size` bytes, over links of `mbit` Mbit/s."""

    collective: str
    mbit: int
    size: int

    @property
    def name(self) -> str:
        return f"{self.collective}-{self.mbit}mbit-{self.size // MIB}M"

    @property
    def bound_ns(self) -> float:
        """What no algorithm can beat over these links."""
        return SHARE[self.collective] * self.size * PAYLOAD_NS_PER_BYTE * 1000 / self.mbit


CASES = [Case("allreduce", 500, size * MIB) for size in (2, 4, 8, 16)]
CASES += [Case(collective, 1000, 8 * MIB) for collective in ("allreduce", "bcast", "reduce")]
CASES += [Case("allgather", 1000, MIB)]


def measure(case: Case, iterations: int) -> dict[str, Any]:
    """Medians in ms and ratios, by algorithm."""
    size = run_bench(
        case.collective,
        ["native", "native:*", "default", *ALGORITHMS[case.collective].split()],
        nodes=NODES,
        rate=f"{case.mbit}mbit",
        size=case.size,
        iterations=iterations,
        options=["--root", "0"],
    )
    times = {name: own.metric("run_time") for name, own in samples_of(size).items()}
    forced, figures = compare_with_native(times)
    for name, own in times.items():
        figures[name]["bound"] = float(np.median(own)) / case.bound_ns
    about = {"case": case.name, "iterations": iterations, "best_forced": forced, "ran": what_ran(size)}
    return about | {"figures": figures}


def show(row: dict[str, Any], console: Console) -> None:
    headings = ("algorithm", "run time", "/ default", "/ best forced", "/ bound")
    table = make_table(f"{row['case']}, best forced {row['best_forced']}", headings)
    for name, own in row["figures"].items():
        ratios = [with_interval(**own[reference]) for reference in ("default", "best_forced")]
        table.add_row(name, f"{own['median_ms']:.1f} ms", *ratios, f"{own['bound']:.2f}")
    console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--cases", default=",".join(case.name for case in CASES), help="(default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=15, help="of each case (default: %(default)s)")
    options = read_options(parser)
    wanted = set(options.cases.split(","))
    if unknown := wanted - {case.name for case in CASES}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(case.name for case in CASES)}")
    console = make_console(120)
    rows = []
    for case in CASES:
        if case.name not in wanted:
            continue
        rows.append(measure(case, options.iterations))
        show(rows[-1], console)
        write_measured(options.json, {"nodes": NODES, "rows": rows})  # after each, as a whole run takes long
    return 0


if __name__ == "__main__":
    sys.exit(main())
