"""Measuring candidates: all of them in a few calls, then those that may be the best in as many as it takes.

Each run of the benchmark's driver is remembered in a journal beside the output, so that what was measured before an
interruption, or before a budget was spent, is not measured again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stretto import __version__
from stretto.bench.launch import BenchError, RunResult, run_request
from stretto.bench.report import find_late
from stretto.bench.request import MOST_ITERATIONS, Arrival, Request, UsageError, is_native
from stretto.bench.stats import Samples, Times, estimate_paired_ratio
from stretto.cluster.namespaces import Nodes
from stretto.errors import StrettoError
from stretto.tune.candidates import find_candidates, without
from stretto.tune.rules import NATIVE, PASSED_ON, Evidence, Figure

_ROOTED = ("reduce", "bcast", "scatter", "gather", "scatterv", "gatherv")
_SCREENING_CALLS = 8
_PRECISION = 0.03
_PLAUSIBLE = 1.15  # of the best: what may take no more than that is measured again
_MOST_FINALISTS = 6
_TIMEOUT_S = 600.0


class OutOfBudgetError(StrettoError):
    """The time that the user has given is over."""


@dataclass(frozen=True)
class Cell:
    """Calls of one collective by so many ranks that arrive so."""

    collective: str
    ranks: int
    nodes: int
    arrival: Arrival

    @property
    def even(self) -> bool:
        return self.arrival.name == "balanced"


def cost_ns(samples: Samples, cell: Cell) -> Times:
    """What a call costs, in ns, shape (iterations,).

    Of ranks that come together the mean time in the call. Else what is left once the last has come; where a root tells
    the others apart, those who could leave earlier count as well: the geometric mean of both.
    """
    elapsed = np.maximum(samples.metric("elapsed"), 1.0)
    if cell.even:
        return elapsed
    lag = np.maximum(samples.metric("lag"), 1.0)
    return np.sqrt(lag * elapsed) if cell.collective in _ROOTED else lag


@dataclass(frozen=True)
class Observed:
    """The same calls by each algorithm at one size: costs in ns, and what ran in how many."""

    costs: dict[str, Times]
    ran: dict[str, dict[str, int]]

    @property
    def best(self) -> str:
        """Of what can be chosen."""
        return min(filter(is_choosable, self.costs), key=lambda name: float(np.median(self.costs[name])))

    def figures(self) -> dict[str, Figure]:
        best, native = self.costs[self.best], self.costs[NATIVE]

        def ratio(own: Times, other: Times) -> tuple[float, float, float]:
            estimate = estimate_paired_ratio(own, other)
            return estimate.low, estimate.value, estimate.high

        return {
            name: Figure(float(np.median(own)), ratio(own, native), ratio(own, best))
            for name, own in self.costs.items()
        }


def is_choosable(name: str) -> bool:
    """What a rule can have: of the MPI library's own only that calls are passed on to it."""
    return not is_native(name)


class Measurer:
    """Runs the driver, or remembers, in the file `journal`. `deadline`: of time.monotonic(), None for none."""

    def __init__(
        self, mpirun: str, journal: Path | None, seed: int, deadline: float | None, nodes: Nodes | None
    ) -> None:
        self._mpirun, self._journal, self._seed, self._nodes = mpirun, journal, seed, nodes
        where = mpirun if nodes is None else f"{mpirun} on {len(nodes.names)} nodes of {nodes.rate}"
        self._where = f"{__version__} {where}"
        self.deadline = deadline
        self.wrong: list[str] = []  # what algorithms gave wrong results, or failed
        self._known: dict[str, Any] = {}
        if journal is not None and journal.exists():
            for line in journal.read_text().splitlines():
                with contextlib.suppress(ValueError):  # cut off
                    entry = json.loads(line)
                    self._known[entry["asked"]] = entry["found"]

    @property
    def left_s(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def setup(self, ranks: int) -> dict[str, Any]:
        """What the driver says of its MPI library and nodes."""
        request = Request("barrier", ("native",), (0,), (1,), ranks=ranks, arrival=Arrival("balanced"))

        def run() -> dict[str, Any]:
            return run_request(request, self._mpirun, _TIMEOUT_S, nodes=self._nodes).setup

        return dict(self._remembered(request, run))

    def measure(self, cell: Cell, algorithms: tuple[str, ...], sizes: Sequence[int], budget_s: float | None) -> (
        dict[int, Observed]
    ):  # fmt: skip
        """Costs by size. `budget_s`: repeats until medians are known or it is spent; None: a few calls."""
        iterations = _SCREENING_CALLS if budget_s is None else MOST_ITERATIONS
        request = Request(
            cell.collective, algorithms, tuple(sizes), (iterations,) * len(sizes), ranks=cell.ranks,
            arrival=cell.arrival, warm_up=2, seed=self._seed, precision=0.0 if budget_s is None else _PRECISION,
            budget=1.0,
        )  # fmt: skip

        def run() -> dict[str, Any]:
            if self.left_s <= 0:
                raise OutOfBudgetError("the budget is spent")
            asked = dataclasses.replace(request, budget=budget_s or 1.0)
            return _observe(run_request(asked, self._mpirun, _TIMEOUT_S, nodes=self._nodes), cell)

        found = self._remembered(request, run)
        return {
            int(size): Observed({name: np.array(costs) for name, costs in seen["costs"].items()}, seen["ran"])
            for size, seen in found.items()
        }

    def _remembered(self, request: Request, run: Callable[[], Any]) -> Any:
        asked = f"{self._where}: {request!r}"
        if asked not in self._known:
            self._known[asked] = run()
            if self._journal is not None:
                with self._journal.open("a") as journal:
                    journal.write(json.dumps({"asked": asked, "found": self._known[asked]}) + "\n")
        return self._known[asked]


def _observe(result: RunResult, cell: Cell) -> dict[str, Any]:
    """By size, as the journal keeps it: the calls that nobody started late; without algorithms that could not serve."""
    by_size = {}
    for at_size in result.sizes:
        _, keep = find_late(at_size.samples, at_size.delays, result.request.late_threshold_ns)
        served = {
            name: samples
            for name, samples in at_size.samples.items()
            if is_native(name) or name in (PASSED_ON, "default") or set(samples.ran) == {name}
        }
        by_size[str(at_size.size)] = {
            "costs": {name: np.rint(cost_ns(own.where(keep), cell)).tolist() for name, own in served.items()},
            "ran": {name: dict(Counter(own.ran)) for name, own in served.items()},
        }
    return by_size


def screen(measurer: Measurer, cell: Cell, sizes: Sequence[int]) -> dict[int, Observed]:
    """All candidates in a few calls. What gives wrong results is left out, and said in `measurer.wrong`."""
    candidates: tuple[str, ...] = find_candidates(cell.collective, cell.ranks, cell.nodes, sizes)
    while True:
        try:
            return measurer.measure(cell, candidates, sizes, None)
        except (BenchError, UsageError) as error:
            left = without(candidates, str(error))
            if left is None or NATIVE not in left:
                raise
            measurer.wrong.append(str(error))
            candidates = left


def finalists(observed: Observed) -> tuple[str, ...]:
    """What may be the best, least first, behind the MPI library's own and Stretto's own choice; and the best that the
    library can be forced to."""
    costs = observed.costs
    best = costs[observed.best]
    plausible = [name for name, own in costs.items() if estimate_paired_ratio(own, best).low <= _PLAUSIBLE]
    plausible.sort(key=lambda name: float(np.median(costs[name])))
    forced = [name for name in plausible if not is_choosable(name)]
    ours = [name for name in plausible if is_choosable(name)]
    return tuple(dict.fromkeys([NATIVE, PASSED_ON, "default", *ours[:_MOST_FINALISTS], *forced[:1]]))


def measure_again(
    measurer: Measurer, cell: Cell, size: int, names: tuple[str, ...], budget_s: float, screened: Observed | None = None
) -> Evidence:
    """The evidence at one size: `names` in as many calls as it takes, others as they were screened."""
    final = measurer.measure(cell, names, [size], budget_s)[size]
    figures = final.figures()
    dropped = {name: figure for name, figure in (screened or final).figures().items() if name not in figures}
    return Evidence(size, cell.arrival.text, len(final.costs[NATIVE]), figures | dropped, tuple(sorted(dropped)))
