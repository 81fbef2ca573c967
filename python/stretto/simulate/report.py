"""Simulated collectives as a table: their times are exact, so one row an algorithm says it all."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from stretto.algorithms import load_registry
from stretto.bench.launch import RunResult
from stretto.bench.report import (
    AlgorithmSummary,
    SizeSummary,
    find_replacements,
    format_size,
    format_time,
    result_as_json,
    summarise,
    write_json,
)
from stretto.bench.request import Arrival, UsageError, parse_algorithms, split_algorithms
from stretto.bench.stats import METRICS

# Calls before the first that counts, so that `stretto sim` and `stretto model` see the same delays: in the former's the
# library makes its communicators.
WARM_UP = 1
_UNEVEN_ITERATIONS = 5


def choose_iterations(arrival: Arrival, size_bytes: int) -> int:
    """Nothing varies but the delays, and the root of a collective that has one: few calls tell, at any size."""
    return 1 if arrival.name == "balanced" else _UNEVEN_ITERATIONS


def choose_algorithms(collective: str, names: str, shared_memory: bool) -> tuple[str, ...]:
    """The algorithms in `names`, in which `all` stands for those of the registry that can run."""
    if "all" not in split_algorithms(names):
        return parse_algorithms(names)
    able = ",".join(
        entry.name
        for entry in load_registry()
        if entry.collective == collective and (shared_memory or not entry.needs_shared_memory)
    )
    wanted = [able if name == "all" else name for name in split_algorithms(names)]
    if not any(wanted):
        raise UsageError(f"--algorithms {names}: Stretto has none of {collective} that could run here")
    return parse_algorithms(",".join(filter(None, wanted)))


def show_simulation(arguments: argparse.Namespace, run: RunResult, machine: dict[str, object], title: str) -> None:
    """Prints the table and writes the JSON that was asked for. `machine`: the simulated one, in figures."""
    summaries = [summarise(result, run.request) for result in run.sizes]
    console = Console()
    request = run.request
    console.print(
        f"{request.collective}, {request.ranks} ranks, {title}, arrival {request.arrival.text}", highlight=False
    )
    console.print(_table(run, summaries))
    console.print(
        "Simulated time: medians over iterations, each under other delays. The shortest of a size is bold.",
        style="dim",
        highlight=False,
    )
    for note in (*run.warnings, *find_replacements(run, summaries)):
        console.print(f"note: {note}", style="yellow", highlight=False)
    if arguments.json is not None:
        write_json(arguments.json, result_as_json(run, summaries, machine))


def _table(run: RunResult, summaries: list[SizeSummary]) -> Table:
    table = Table()
    table.add_column("bytes", justify="right")
    table.add_column("algorithm", no_wrap=True)
    for heading in METRICS.values():
        table.add_column(heading.replace(", ", "\n"), justify="right", no_wrap=True)
    for summary in summaries:
        shortest = {m: min(a.times[m].value for a in summary.algorithms.values()) for m in METRICS}
        for index, name in enumerate(run.request.algorithms):
            cells = (_cell(summary.algorithms[name], metric, shortest[metric]) for metric in METRICS)
            table.add_row(format_size(summary.size) if index == 0 else "", name, *cells)
        table.add_section()
    return table


def _cell(figures: AlgorithmSummary, metric: str, shortest: float) -> str:
    value = figures.times[metric].value
    text = format_time(value)
    return f"[bold]{text}[/bold]" if value == shortest else text
