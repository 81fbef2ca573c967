#!/usr/bin/env python3
"""Table 6.1 of Alizadeh 2021, simulated: flat and hierarchical allreduces of long messages, four ranks a node.

`.venv/bin/python bench/experiments/hierarchies.py [--gpus] [--ranks N,...] [--json FILE]`, after scripts/build_sim.sh.
In place, balanced and with delays of up to 6 times a message's time, as Horovod's long messages have; nodes whose ranks
share memory; reducing takes 0.08 ns a byte and copying 0.125, in messages as in memory. Prints how much shorter than
flat the others' completion lag is: on average over the sizes, at most, at least. Then the default choice against the
MPI library's, as SimGrid has it of MVAPICH2, balanced and with free work, as its collectives reduce at no cost. With
--gpus the links, reductions and copies of a node are those of four V100 with NVLink, which share no memory.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from experiment import make_parser, read_options
from rich.console import Console
from simulated import IN_MEMORY, simulate
from tables import make_table

from stretto.bench.report import format_size, write_json

SIZES = [(64 << 10) << shift for shift in range(0, 11, 2)]
MOST_BYTES = 2 << 30  # of all ranks' messages, which lie in the memory of one machine
FLAT = "rabenseifner"
THESIS = "hierarchical(reduce_scatter_gather,rabenseifner)"
OURS = ["hierarchical(arrival_stripes,rabenseifner)", "hierarchical(arrival_stripes,rabenseifner+2)"]
ARRIVALS = {"balanced": 1, "mif:6": 10}  # and how many calls

Times = dict[int, dict[str, float]]


@dataclass(frozen=True)
class Machine:
    platform: str
    work: tuple[str, ...]
    algorithms: tuple[str, ...]
    free_work: tuple[str, ...]  # what is compared without


CPUS = Machine(
    "cluster-32x4",
    ("--in-place", *IN_MEMORY),
    (FLAT, THESIS, f"{THESIS}+4", *OURS),
    ("native", "default"),
)
GPUS = Machine("gpus-32x4", ("--in-place", "--gamma", "0.004", "--delta", "0.004"), (FLAT, THESIS, f"{THESIS}+4"), ())


def sizes_for(ranks: int) -> list[int]:
    return [size for size in SIZES if size * ranks <= MOST_BYTES]


def measure(machine: Machine, ranks: int, arrival: str, algorithm: str) -> Times:
    """Bytes -> metric -> ns. A run of its own for each algorithm: SimGrid is slow where many rings meet."""
    options = ["--selector", "mvapich2", "--arrival", arrival, "--iterations", str(ARRIVALS.get(arrival, 1))]
    work = () if algorithm in machine.free_work else machine.work
    return simulate("allreduce", [algorithm], sizes_for(ranks), machine.platform, ranks, [*options, *work])[algorithm]


def row(ranks: int, arrival: str, algorithm: str, times: Times, base: Times) -> dict[str, Any]:
    gains = {size: 1 - times[size]["lag"] / base[size]["lag"] for size in times}
    return {
        "ranks": ranks,
        "arrival": arrival,
        "algorithm": algorithm,
        "lag": {str(size): times[size]["lag"] for size in times},
        "elapsed": {str(size): times[size]["elapsed"] for size in times},
        "average": sum(gains.values()) / len(gains),
        "most": max(gains.values()),
        "most_at": max(gains, key=lambda size: gains[size]),
        "least": min(gains.values()),
        "least_at": min(gains, key=lambda size: gains[size]),
    }


def show(rows: list[dict[str, Any]], console: Console) -> None:
    title = "allreduce, four ranks a node: lag, and how much shorter than flat (default: than native)"
    headings = ("ranks", "arrival", "algorithm", "1M", "average", "most", "least")
    table = make_table(title, headings, left=("arrival", "algorithm"), title_justify="center")
    for one in rows:
        table.add_row(
            *(str(one["ranks"]), one["arrival"], one["algorithm"], f"{one['lag'][str(1 << 20)] / 1e3:.0f} us"),
            f"{100 * one['average']:.0f} %",
            *(f"{100 * one[end]:.0f} % at {format_size(one[f'{end}_at'])}" for end in ("most", "least")),
        )
    console.print(table)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--gpus", action="store_true", help="nodes of four GPUs in place of CPUs")
    parser.add_argument("--ranks", default="8,16,32,64,128", help="(default: %(default)s)")
    options = read_options(parser)
    rows: list[dict[str, Any]] = []
    machine = GPUS if options.gpus else CPUS
    cases = [(arrival, name) for arrival in ARRIVALS for name in machine.algorithms]
    cases += [("balanced", name) for name in machine.free_work]
    for ranks in map(int, options.ranks.split(",")):
        with ProcessPoolExecutor(max_workers=2) as pool:
            measuring = {case: pool.submit(measure, machine, ranks, *case) for case in cases}
            times = {case: future.result() for case, future in measuring.items()}
        for arrival, name in cases:
            base = (arrival, "native" if name in machine.free_work else FLAT)
            rows.append(row(ranks, arrival, name, times[arrival, name], times[base]))
        if options.json:
            about = {"platform": machine.platform, "work": machine.work, "times_in": "ns"}
            write_json(options.json, about | {"rows": rows})
    show(rows, Console())
    return 0


if __name__ == "__main__":
    sys.exit(main())
