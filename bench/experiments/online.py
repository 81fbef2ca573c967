#!/usr/bin/env python3
"""What STRETTO_ADAPT=on makes of arrivals that change: against native, the rule, and an oracle that knows the pattern.

`.venv/bin/python bench/experiments/online.py [--cells LIST] [--calls N] [--runs N] [--nodes N] [--json FILE]`, on a
quiet machine. A cell is COLLECTIVE:BYTES:RANKS. Every 500 calls the pattern is drawn anew: all ranks together, uniform,
one late at random, always the same one late. Each call is made with native, with each fixed algorithm, and as Stretto
chooses, in one run, under the same delays. The cost of a call is what its last arrival has to wait for; what a core
loses to others is cut off at eight times the median of the pattern, for all alike. The oracle is the best fixed one
under each pattern, known from its first call on. `worst` is the highest sum of costs so far to that of native, counted
as the promise is (docs/decisions/0027): less what the first 100 calls under each pattern cost more.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from experiment import make_parser, read_options, write_measured
from numpy.typing import NDArray
from tables import make_console, make_table

from stretto.bench.launch import run_request
from stretto.bench.replay import write_delays
from stretto.bench.report import format_size
from stretto.bench.request import Arrival, Request
from stretto.bench.stats import Samples, Times
from stretto.cluster.namespaces import Nodes, cluster_if

ADAPTING = "default"
SAME = 500  # calls under one pattern
UNCOUNTED = 100  # calls under each pattern, until it is learnt what they cost
MOST_OF_MEDIAN = 8
PATTERNS = ("together", "uniform", "one late", "same late")
ROOTED = ("bcast", "reduce", "scatter", "gather")
FEW = 40
TIMEOUT_S = 1800
CELLS = "allreduce:8:4,allreduce:65536:4,reduce:1024:4,bcast:16384:4"


@dataclass(frozen=True)
class Cell:
    collective: str
    size: int  # bytes
    ranks: int

    @staticmethod
    def parse(text: str) -> Cell:
        collective, size, ranks = text.split(":")
        return Cell(collective, int(size), int(ranks))

    def __str__(self) -> str:
        return f"{self.collective} {format_size(self.size)} @{self.ranks}"


@dataclass(frozen=True)
class Outcome:
    """Totals to that of the oracle, and the worst moment against native; `ours`: the part that Stretto served."""

    totals: dict[str, float]
    worst: float
    ours: float
    oracle: dict[str, str]  # by pattern


def draw_delays(calls: int, ranks: int, late_ns: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each call the number of its pattern, and the delays of its ranks in ns, shape (calls, ranks)."""
    generator = np.random.default_rng(seed)
    patterns = np.repeat(generator.integers(0, len(PATTERNS), -(-calls // SAME)), SAME)[:calls]
    uniform = generator.random((calls, ranks)) * late_ns
    late = np.eye(ranks)[generator.integers(0, ranks, calls)] * late_ns
    same = np.eye(ranks)[np.full(calls, ranks - 1)] * late_ns
    chosen = np.stack([np.zeros((calls, ranks)), uniform, late, same])[patterns, np.arange(calls)]
    return patterns, chosen.astype(np.int64)


def cut(costs: Times, patterns: NDArray[np.int64]) -> Times:
    """The costs, but for what the scheduler took of a core."""
    limits = np.zeros(len(PATTERNS))
    for each in np.unique(patterns):
        limits[each] = MOST_OF_MEDIAN * np.median(costs[patterns == each])
    return np.minimum(costs, limits[patterns])


def judge(costs: dict[str, Times], ran: tuple[str, ...], patterns: NDArray[np.int64]) -> Outcome:
    """What came of one run; `costs` in ns, by algorithm, of the same calls."""
    drawn = np.unique(patterns)
    fixed = [name for name in costs if name != ADAPTING]
    best = {each: min(fixed, key=lambda name: costs[name][patterns == each].sum()) for each in drawn}
    oracle = sum(costs[best[each]][patterns == each].sum() for each in drawn)
    more = costs[ADAPTING] - costs["native"]
    for each in drawn:
        first = np.flatnonzero(patterns == each)[:UNCOUNTED]
        more[first] = np.minimum(more[first], 0)
    so_far = 1 + np.cumsum(more) / np.cumsum(costs["native"])
    return Outcome(
        {name: float(own.sum() / oracle) for name, own in costs.items()},
        float(so_far[UNCOUNTED:].max()),
        float(np.mean([name != "native" for name in ran])),
        {PATTERNS[each]: name for each, name in best.items()},
    )


def run_calls(
    cell: Cell, algorithms: list[str], delays: NDArray[np.int64], adapt: bool, seed: int, nodes: Nodes | None
) -> dict[str, Samples]:
    """The samples of each algorithm, call by call under `delays`."""
    with tempfile.NamedTemporaryFile(prefix="stretto-online-") as file:
        write_delays(delays, Path(file.name))
        request = Request(
            cell.collective,
            tuple(algorithms),
            (cell.size,),
            (len(delays),),
            cell.ranks,
            Arrival("replay", profile=file.name),
            warm_up=0,
            seed=seed,
            root=0 if cell.collective in ROOTED else None,
        )
        with patch.dict(os.environ, {"STRETTO_ADAPT": "on" if adapt else "off"}):
            return run_request(request, timeout_seconds=TIMEOUT_S, nodes=nodes).sizes[0].samples


def measure(cell: Cell, seed: int, options: argparse.Namespace, nodes: Nodes | None) -> Outcome:
    patterns, delays = draw_delays(options.calls, cell.ranks, options.late_us * 1000, seed)
    # Some calls of each pattern, for the names of what the rule has for them.
    few = np.concatenate([np.flatnonzero(patterns == each)[:FEW] for each in np.unique(patterns)])
    named = run_calls(cell, [ADAPTING], delays[few], False, seed, nodes)[ADAPTING].ran
    fixed = sorted({"native", *named, *options.algorithms})
    samples = run_calls(cell, [ADAPTING, *fixed], delays, True, seed, nodes)
    costs = {name: cut(own.metric("lag"), patterns) for name, own in samples.items()}
    return judge(costs, samples[ADAPTING].ran, patterns)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--cells", default=CELLS, metavar="LIST", help="COLLECTIVE:BYTES:RANKS (default: %(default)s)")
    parser.add_argument("--algorithms", default="", metavar="LIST", help="fixed ones beside native and the rule's")
    parser.add_argument("--calls", type=int, default=10_000, metavar="N", help="(default: %(default)s)")
    parser.add_argument(
        "--late-us", type=float, default=2000, metavar="N", help="by which ranks come late (%(default)s)"
    )
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="of other seeds, of each cell (default: 1)")
    parser.add_argument("--nodes", type=int, metavar="N", help="emulated ones (default: this machine)")
    parser.add_argument("--rate", default="1gbit", help="of each node (default: %(default)s)")
    options = read_options(parser)
    options.algorithms = [name for name in options.algorithms.split(",") if name]
    headings = ("cell", "run", "adapting / oracle", "native / oracle", "best fixed", "/ oracle", "worst", "ours")
    table = make_table("completion lags, in all", headings, left=("cell", "best fixed"))
    rows = []
    with cluster_if(options.nodes, options.rate) as nodes:
        for cell in map(Cell.parse, options.cells.split(",")):
            for seed in range(1, options.runs + 1):
                found = measure(cell, seed, options, nodes)
                fixed = min((name for name in found.totals if name != ADAPTING), key=lambda name: found.totals[name])
                adapting, native, best = (f"{found.totals[name]:.3f}" for name in (ADAPTING, "native", fixed))
                figures = (adapting, native, fixed, best, f"{found.worst:.4f}", f"{found.ours:.2f}")
                table.add_row(str(cell), str(seed), *figures)
                rows.append({"cell": str(cell), "seed": seed, **asdict(found)})
                write_measured(options.json, {"calls": options.calls, "late_us": options.late_us, "rows": rows})
    make_console(120).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
