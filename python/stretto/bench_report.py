"""A benchmark's result as tables and as JSON."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from stretto.bench_launch import RunResult, SizeResult
from stretto.bench_request import Request
from stretto.bench_stats import (
    METRICS,
    Estimate,
    Samples,
    estimate_mean,
    estimate_median,
    estimate_paired_ratio,
    late_starts,
)

SCHEMA_VERSION = 1
LATE_THRESHOLD_NS = 5_000_000
_METRIC_TITLES = METRICS | {"osu_latency": "OSU average latency (mean, not median, of elapsed time)"}


@dataclass(frozen=True)
class AlgorithmSummary:
    """One algorithm at one size. Times in ns; `ratios` to the reference, empty for the reference itself."""

    ran: dict[str, int]  # what ran -> in how many calls
    late_starts: int
    times: dict[str, Estimate]
    ratios: dict[str, Estimate]  # by metric


@dataclass(frozen=True)
class SizeSummary:
    """One size: how many iterations count, and each algorithm's figures."""

    size: int
    iterations: int
    discarded: int
    latency_ns: int
    copy_bound_ns: int
    memory_bound_ns: float
    algorithms: dict[str, AlgorithmSummary]


def summarise(result: SizeResult, request: Request, late_threshold_ns: float = LATE_THRESHOLD_NS) -> SizeSummary:
    """Medians and paired ratios; an iteration that started late for one algorithm is dropped for all of them."""
    late = {
        name: late_starts(samples.arrivals, result.delays, late_threshold_ns)
        if request.arrival.sleeps
        else np.zeros(len(samples.arrivals), dtype=np.bool_)
        for name, samples in result.samples.items()
    }
    keep = ~np.logical_or.reduce(list(late.values()))
    if not keep.any():
        keep = np.ones_like(keep)  # nothing would be left: show it all; the count of late starts tells
    reference = result.samples[request.reference].where(keep)
    algorithms = {}
    for name, samples in result.samples.items():
        kept = samples.where(keep)
        algorithms[name] = AlgorithmSummary(
            dict(Counter(samples.ran)),
            int(late[name].sum()),
            _times(kept),
            {} if name == request.reference else _ratios(kept, reference),
        )
    return SizeSummary(
        result.size,
        int(keep.sum()),
        int((~keep).sum()),
        result.latency_ns,
        result.copy_bound_ns,
        result.memory_bound_ns,
        algorithms,
    )


def _times(samples: Samples) -> dict[str, Estimate]:
    times = {metric: estimate_median(samples.metric(metric)) for metric in METRICS}
    return times | {"osu_latency": estimate_mean(samples.metric("elapsed"))}


def _ratios(samples: Samples, reference: Samples) -> dict[str, Estimate]:
    """None of a metric that is 0 in a call of the reference, as a simulated lag can be."""
    return {
        m: estimate_paired_ratio(samples.metric(m), reference.metric(m)) for m in METRICS if reference.metric(m).all()
    }


def format_time(time_ns: float) -> str:
    """Three digits and the unit that suits."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(time_ns) >= scale:
            return f"{_three_digits(time_ns / scale)} {unit}"
    return f"{time_ns:.0f} ns"


def _three_digits(value: float) -> str:
    return f"{value:.{max(0, 2 - len(str(int(abs(value)))) + 1)}f}"


def format_size(size_bytes: int) -> str:
    for unit, scale in (("M", 1 << 20), ("K", 1 << 10)):
        if size_bytes >= scale and size_bytes % scale == 0:
            return f"{size_bytes // scale}{unit}"
    return str(size_bytes)


def format_ran(ran: dict[str, int]) -> str:
    """What ran, most frequent first; with its share where it was not always the same."""
    total = sum(ran.values())
    shares = sorted(ran.items(), key=lambda item: -item[1])
    return ", ".join(name if count == total else f"{name} {count / total:.0%}" for name, count in shares)


def _time_cell(estimate: Estimate) -> str:
    return f"{format_time(estimate.value)} [dim]{format_time(estimate.low)}..{format_time(estimate.high)}[/dim]"


def format_ratio(ratio: Estimate) -> str:
    """The ratio and its interval, marked < or > where the interval leaves 1 out."""
    mark = "" if not ratio.excludes_one else " [green]<[/green]" if ratio.high < 1 else " [red]>[/red]"
    digits = 3 if 0.9 < ratio.value < 1.1 else 2
    return f"{ratio.value:.{digits}f} [dim]{ratio.low:.{digits}f}..{ratio.high:.{digits}f}[/dim]{mark}"


def summary_bounds(summary: SizeSummary) -> tuple[float, float]:
    """The time in ns of writing the results' private copies: in cache where they fit, and through memory."""
    return summary.copy_bound_ns, summary.memory_bound_ns


def _metric_table(metric: str, run: RunResult, summaries: list[SizeSummary]) -> Table:
    request = run.request
    table = Table(title=_METRIC_TITLES[metric], title_justify="left")
    table.add_column("bytes", justify="right")
    for name in request.algorithms:
        table.add_column(name, justify="right")
        if name != request.reference and metric in METRICS:
            table.add_column(f"/ {request.reference}", justify="right")
    with_bound = metric == "lag" and any(summary.copy_bound_ns for summary in summaries)
    if with_bound:
        table.add_column("bound: cached", justify="right")
        table.add_column("through memory", justify="right")
    for summary in summaries:
        cells = [format_size(summary.size)]
        for name in request.algorithms:
            figures = summary.algorithms[name]
            cells.append(_time_cell(figures.times[metric]))
            if name != request.reference and metric in METRICS:
                cells.append(format_ratio(figures.ratios[metric]))
        table.add_row(*cells, *(map(format_time, summary_bounds(summary)) if with_bound else ()))
    return table


def _ran_table(run: RunResult, summaries: list[SizeSummary]) -> Table:
    table = Table(title="what ran", title_justify="left")
    table.add_column("bytes", justify="right")
    for name in run.request.algorithms:
        table.add_column(name, overflow="fold")
    table.add_column("iterations", justify="right")
    table.add_column("late starts", justify="right")
    for summary in summaries:
        figures = summary.algorithms
        table.add_row(
            format_size(summary.size),
            *(format_ran(figures[name].ran) for name in run.request.algorithms),
            f"{summary.iterations} of {summary.iterations + summary.discarded}",
            ", ".join(str(figures[name].late_starts) for name in run.request.algorithms),
        )
    return table


def find_replacements(run: RunResult, summaries: list[SizeSummary]) -> list[str]:
    """Where something else ran than was asked for by name."""
    notes = []
    for summary in summaries:
        for name in run.request.algorithms:
            expected = "native" if name == "passthrough" else name
            others = {ran: count for ran, count in summary.algorithms[name].ran.items() if ran != expected}
            if name != "default" and others:
                notes.append(f"{name} at {format_size(summary.size)}: {format_ran(others)} ran in its place")
    return notes


def print_report(console: Console, run: RunResult, summaries: list[SizeSummary], machine: dict[str, Any]) -> None:
    """One table a metric, then what ran and what to mind."""
    request, setup = run.request, run.setup
    console.print(
        f"{request.collective}, {request.ranks} ranks on {machine['cores']} cores ({machine['cpu']}), "
        f"arrival {request.arrival.text}, {setup['mpi'].split(',')[0]}",
        highlight=False,
    )
    for metric in _METRIC_TITLES:
        console.print(_metric_table(metric, run, summaries))
    console.print(_ran_table(run, summaries))
    console.print(
        "Medians over iterations with 95 % bootstrap intervals; a ratio is the median of the ratios within each "
        "iteration,\nin which all ran under the same delays; < and > mark intervals that leave 1 out. `native` is the "
        "MPI library called\npast Stretto. Bound: what it takes to write the results' private copies and nothing else, "
        f"by all cores, where they fit in cache and\nthrough memory ({setup['copy_bytes_per_ns']:.1f} GB/s of copying "
        "measured here).",
        style="dim",
        highlight=False,
    )
    for note in (*run.warnings, *find_replacements(run, summaries), *_late_notes(summaries)):
        console.print(f"note: {note}", style="yellow", highlight=False)


def _late_notes(summaries: list[SizeSummary]) -> list[str]:
    return [
        f"{format_size(s.size)}: {s.discarded} of {s.iterations + s.discarded} iterations started late and were dropped"
        for s in summaries
        if s.discarded * 5 > s.iterations + s.discarded
    ]


def result_as_json(run: RunResult, summaries: list[SizeSummary], machine: dict[str, Any]) -> dict[str, Any]:
    """Everything that was asked, found and measured; raw samples in ns, shape (iterations, ranks)."""
    return {
        "schema_version": SCHEMA_VERSION,
        "request": dataclasses.asdict(run.request) | {"reference": run.request.reference},
        "machine": machine,
        "setup": run.setup,
        "late_threshold_ns": LATE_THRESHOLD_NS,
        "warnings": list(run.warnings),
        "sizes": [
            {"summary": dataclasses.asdict(summary), "samples": _raw_samples(result)}
            for result, summary in zip(run.sizes, summaries, strict=True)
        ],
    }


def _raw_samples(result: SizeResult) -> dict[str, Any]:
    return {
        "delays": result.delays.astype(int).tolist(),
        "algorithms": {
            name: {
                "ran": samples.ran,
                "arrivals": samples.arrivals.astype(int).tolist(),
                "exits": samples.exits.astype(int).tolist(),
            }
            for name, samples in result.samples.items()
        },
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Compact JSON; packed where the name ends with .gz."""
    text = json.dumps(content, separators=(",", ":"))
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text + "\n")
