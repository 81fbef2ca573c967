"""What Stretto promises, measured: its default choice against the MPI library, each figure beside its target."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stretto.bench.launch import REPOSITORY, describe_machine, mpi_name, run_request
from stretto.bench.report import (
    SizeSummary,
    format_ran,
    format_ratio,
    format_size,
    format_time,
    summarise,
    summary_bounds,
    write_json,
)
from stretto.bench.request import Request, choose_iterations, parse_arrival, parse_sizes
from stretto.bench.stats import Estimate

OURS = "default"
RESULTS = REPOSITORY / "bench" / "results"
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Experiment:
    """One row of promises. `targets`: (largest size in bytes, largest ratio to native), ascending."""

    collective: str
    ranks: int
    arrival: str
    sizes: str
    metric: str
    targets: tuple[tuple[int, float], ...]
    iterations: int | None = None

    def target(self, size_bytes: int) -> float:
        return next(ratio for limit, ratio in self.targets if size_bytes <= limit)

    def request(self) -> Request:
        arrival, sizes = parse_arrival(self.arrival), parse_sizes(self.sizes)
        return Request(
            collective=self.collective,
            algorithms=("native", OURS),
            sizes=sizes,
            iterations=tuple(self.iterations or choose_iterations(arrival, size) for size in sizes),
            ranks=self.ranks,
            arrival=arrival,
            warm_up=5,
        )


_ANY = 1 << 62
# Some six minutes in all on two cores. With more ranks than cores, lags scatter by the scheduler's whim: below about a
# hundred iterations even the same code differs from itself by a tenth.
EXPERIMENTS = (
    Experiment("allreduce", 8, "balanced", "8,256,4K,16K,64K,256K,1M,8M", "elapsed", ((_ANY, 1.05),)),
    Experiment("allreduce", 2, "balanced", "8", "elapsed", ((_ANY, 1.0),), 20_000),
    Experiment(
        "allreduce", 8, "uniform:50ms", "8,256,4K,16K,64K,256K,1M,8M", "lag", ((16 << 10, 1.0), (_ANY, 0.5)), 100
    ),
    Experiment("allreduce", 8, "compute-uniform:50ms", "8,4K,64K,1M,8M", "run_time", ((_ANY, 1.0),), 150),
    Experiment("reduce", 8, "uniform:50ms", "64K,256K,1M,8M", "elapsed", ((_ANY, 0.7),), 60),
)


@dataclass(frozen=True)
class Verdict:
    """One promise and what came of it. Times in ns."""

    collective: str
    ranks: int
    arrival: str
    metric: str
    size: int
    native: Estimate
    ours: Estimate
    ratio: Estimate
    target: float
    bounds: tuple[float, float] | None  # in cache, through memory
    ran: dict[str, int]
    discarded: int

    @property
    def met(self) -> bool:
        return self.ratio.value <= self.target

    @property
    def ratio_of_medians(self) -> float:
        """Departs from the paired ratio where times fall into several clusters."""
        return self.ours.value / self.native.value

    @property
    def certain(self) -> bool:
        """The interval of the ratio lies on one side of the target."""
        return self.ratio.high <= self.target or self.ratio.low > self.target


def judge(experiment: Experiment, summary: SizeSummary) -> Verdict:
    native, ours = summary.algorithms["native"], summary.algorithms[OURS]
    metric = experiment.metric
    return Verdict(
        experiment.collective,
        experiment.ranks,
        experiment.arrival,
        metric,
        summary.size,
        native.times[metric],
        ours.times[metric],
        ours.ratios[metric],
        experiment.target(summary.size),
        summary_bounds(summary) if metric == "lag" else None,
        ours.ran,
        summary.discarded,
    )


def verdict_table(verdicts: Sequence[Verdict], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("what", "bytes", "native", "Stretto", "ratio", "of medians", "target", "", "bounds", "ran"):
        table.add_column(heading, justify="left" if heading in ("what", "", "ran") else "right", overflow="fold")
    previous = ""
    for verdict in verdicts:
        what = f"{verdict.collective}, {verdict.ranks} ranks, {verdict.arrival}: {verdict.metric.replace('_', ' ')}"
        if what != previous:
            table.add_section()
        bounds = [f"{bound / verdict.native.value:.2f}" for bound in verdict.bounds or ()]
        table.add_row(
            what if what != previous else "",
            format_size(verdict.size),
            format_time(verdict.native.value),
            format_time(verdict.ours.value),
            format_ratio(verdict.ratio),
            f"{verdict.ratio_of_medians:.2f}",
            f"{verdict.target:.2f}",
            ("[green]pass[/green]" if verdict.met else "[red]MISS[/red]") + ("" if verdict.certain else " ~"),
            " / ".join(bounds),
            format_ran(verdict.ran),
        )
        previous = what
    return table


def show_must_show(console: Console, mpirun: str, timeout_seconds: float, output: Path | None) -> int:
    """Measures, prints and records the whole matrix. Exit code 0 when every target is met, else 1."""
    machine = describe_machine()
    verdicts: list[Verdict] = []
    setups: list[dict[str, Any]] = []
    for experiment in EXPERIMENTS:
        request = experiment.request()
        with Console(stderr=True).status(f"{request.collective}, {request.ranks} ranks, {experiment.arrival}"):
            run = run_request(request, mpirun, timeout_seconds)
        setups.append(run.setup)
        verdicts += [judge(experiment, summarise(result, request)) for result in run.sizes]
    mpi = mpi_name(setups[0])
    console.print(verdict_table(verdicts, f"{machine['cores']} cores ({machine['cpu']}), {mpi}"))
    console.print(
        "Medians with 95 % bootstrap intervals, ratios paired by iteration; ~ where the interval holds the target.\n"
        "Bounds, as parts of native's lag: writing the results' private copies alone, in cache where they fit, and "
        "through memory.",
        style="dim",
        highlight=False,
    )
    missed = sum(not verdict.met for verdict in verdicts)
    console.print(f"{len(verdicts) - missed} of {len(verdicts)} targets met", highlight=False)
    if output is None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        output = RESULTS / f"must-show-{machine['cores']}-cores-{platform.node()}.json"
    write_json(output, _as_json(machine, setups, verdicts))
    console.print(f"recorded in {output}", style="dim", highlight=False)
    return 1 if missed else 0


def _as_json(machine: dict[str, Any], setups: list[dict[str, Any]], verdicts: list[Verdict]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "machine": machine,
        "setups": setups,
        "verdicts": [
            dataclasses.asdict(v) | {"ratio_of_medians": v.ratio_of_medians, "met": v.met, "certain": v.certain}
            for v in verdicts
        ],
    }
