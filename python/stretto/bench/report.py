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
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from stretto.bench.launch import RunResult, SizeResult, mpi_name
from stretto.bench.request import VARIANT_PREFIX, Request, is_native
from stretto.bench.stats import (
    METRICS,
    Estimate,
    Samples,
    Times,
    estimate_mean,
    estimate_median,
    estimate_paired_ratio,
    late_starts,
)
from stretto.cluster.namespaces import Nodes

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class AlgorithmSummary:
    """One algorithm at one size. Times in ns, by metric; osu_latency: mean elapsed time, as the OSU benchmarks have it.

    percentiles: the 10th and the 90th. bytes_per_ns: message size by median run time. ratios: to the reference, empty
    for the reference itself; best_ratios: to the best of the MPI library's own algorithms at this size, empty for them.
    """

    ran: dict[str, int]  # what ran -> in how many calls
    late_starts: int
    times: dict[str, Estimate]
    percentiles: dict[str, tuple[float, float]]
    bytes_per_ns: float
    ratios: dict[str, Estimate]
    best_ratios: dict[str, Estimate]


@dataclass(frozen=True)
class SizeSummary:
    """One size: how many iterations count, and each algorithm's figures.

    best_native: by metric, the one of the MPI library's own algorithms whose median is least; empty unless it was
    forced to any. It is chosen by the same calls that it is then compared on, which favours it.
    """

    size: int
    iterations: int
    discarded: int
    latency_ns: int
    copy_bound_ns: int
    memory_bound_ns: float
    best_native: dict[str, str]
    algorithms: dict[str, AlgorithmSummary]


def summarise(result: SizeResult, request: Request) -> SizeSummary:
    """Medians and paired ratios; an iteration that started late for one algorithm is dropped for all of them."""
    late, keep = find_late(result.samples, result.delays, request.late_threshold_ns)
    kept = {name: samples.where(keep) for name, samples in result.samples.items()}
    best_native = _best_native(kept) if request.forces_native else {}
    algorithms = {
        name: AlgorithmSummary(
            dict(Counter(result.samples[name].ran)),
            int(late[name].sum()),
            _times(samples),
            {metric: _percentiles(samples.metric(metric)) for metric in METRICS},
            result.size / float(np.median(samples.metric("run_time"))),
            {} if name == request.reference else _ratios(samples, dict.fromkeys(METRICS, kept[request.reference])),
            {} if is_native(name) else _ratios(samples, {metric: kept[best] for metric, best in best_native.items()}),
        )
        for name, samples in kept.items()
    }
    return SizeSummary(
        result.size,
        int(keep.sum()),
        int((~keep).sum()),
        result.latency_ns,
        result.copy_bound_ns,
        result.memory_bound_ns,
        best_native,
        algorithms,
    )


def find_late(
    samples: dict[str, Samples], delays: Times, threshold_ns: float | None
) -> tuple[dict[str, NDArray[np.bool_]], NDArray[np.bool_]]:
    """The late starts of each algorithm, and the iterations that count, both (iterations,).

    These started late for no algorithm; all count if nothing would be left. No threshold: nobody is late.
    """
    late = {
        name: np.zeros(len(own.arrivals), dtype=np.bool_)
        if threshold_ns is None
        else late_starts(own.arrivals, delays, threshold_ns)
        for name, own in samples.items()
    }
    keep = ~np.logical_or.reduce(list(late.values()))
    return late, keep if keep.any() else np.ones_like(keep)


def _times(samples: Samples) -> dict[str, Estimate]:
    times = {metric: estimate_median(samples.metric(metric)) for metric in METRICS}
    return times | {"osu_latency": estimate_mean(samples.metric("elapsed"))}


def _percentiles(values: Times) -> tuple[float, float]:
    low, high = np.percentile(values, [10, 90])
    return float(low), float(high)


def _best_native(samples: dict[str, Samples]) -> dict[str, str]:
    medians = {
        metric: {name: float(np.median(own.metric(metric))) for name, own in samples.items() if is_native(name)}
        for metric in METRICS
    }
    return {metric: min(own, key=lambda name: own[name]) for metric, own in medians.items()}


def _ratios(samples: Samples, references: dict[str, Samples]) -> dict[str, Estimate]:
    """By metric, to the samples that are its reference; none where that is 0 in a call, as a simulated lag can be."""
    return {
        metric: estimate_paired_ratio(samples.metric(metric), reference.metric(metric))
        for metric, reference in references.items()
        if reference.metric(metric).all()
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


def metric_table(metric: str, run: RunResult, summaries: list[SizeSummary]) -> Table:
    """A row an algorithm, a section a size."""
    request = run.request
    with_best = any(summary.best_native for summary in summaries)
    # Of one node's memory: on several it tells nothing.
    with_bound = metric == "lag" and run.setup["nodes"] == 1 and any(summary.copy_bound_ns for summary in summaries)
    table = Table(title=METRICS[metric], title_justify="left")
    headings = ["bytes", "algorithm", "median", "p10..p90", *_extra_headings(metric, with_bound)]
    headings += [f"/ {request.reference}", *(["/ best native"] if with_best else [])]
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "algorithm" else "right", no_wrap=True)
    for summary in summaries:
        table.add_section()
        for index, name in enumerate(request.algorithms):
            figures = summary.algorithms[name]
            spread = "..".join(map(format_time, figures.percentiles[metric]))
            cells = [format_size(summary.size) if index == 0 else "", name, _time_cell(figures.times[metric]), spread]
            cells += _extra_cells(metric, with_bound, summary, figures)
            cells.append(format_ratio(figures.ratios[metric]) if metric in figures.ratios else "")
            if with_best:
                best = f" [dim]{summary.best_native[metric].removeprefix(VARIANT_PREFIX)}[/dim]"
                ratio = figures.best_ratios.get(metric)
                cells.append("" if ratio is None else format_ratio(ratio) + best)
            table.add_row(*cells)
    return table


def _extra_headings(metric: str, with_bound: bool) -> list[str]:
    if metric == "lag":
        return ["bound: cached", "through memory"] if with_bound else []
    return ["throughput"] if metric == "run_time" else ["mean (OSU)"]


def _extra_cells(metric: str, with_bound: bool, summary: SizeSummary, figures: AlgorithmSummary) -> list[str]:
    if metric == "lag":
        return [format_time(bound) for bound in summary_bounds(summary)] if with_bound else []
    if metric == "run_time":
        return [_format_rate(figures.bytes_per_ns)]
    return [format_time(figures.times["osu_latency"].value)]


def _format_rate(bytes_per_ns: float) -> str:
    for unit, scale in (("GB/s", 1.0), ("MB/s", 1e-3)):
        if bytes_per_ns >= scale:
            return f"{_three_digits(bytes_per_ns / scale)} {unit}"
    return f"{bytes_per_ns * 1e6:.0f} KB/s" if bytes_per_ns else ""


def _ran_table(run: RunResult, summaries: list[SizeSummary]) -> Table:
    table = Table(title="what ran", title_justify="left")
    for heading in ("bytes", "algorithm", "ran", "iterations", "late starts"):
        table.add_column(heading, justify="left" if heading in ("algorithm", "ran") else "right", overflow="fold")
    for summary in summaries:
        table.add_section()
        for index, name in enumerate(run.request.algorithms):
            figures = summary.algorithms[name]
            counts = f"{summary.iterations} of {summary.iterations + summary.discarded}"
            size = format_size(summary.size) if index == 0 else ""
            table.add_row(size, name, format_ran(figures.ran), counts, str(figures.late_starts))
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
        f"arrival {request.arrival.text}, {mpi_name(setup)}",
        highlight=False,
    )
    for metric in METRICS:
        console.print(metric_table(metric, run, summaries))
    console.print(_ran_table(run, summaries))
    console.print(
        "Medians over iterations with 95 % bootstrap intervals; a ratio is the median of the ratios within each "
        "iteration, in which all ran under the same delays; < and > mark intervals that leave 1 out. `native` is the "
        "MPI library called past Stretto; best native: of its own algorithms that with the least median here, chosen "
        "after the fact, which favours it. Throughput: message size by median run time. Bound: what it takes to write "
        "the results' private copies and nothing else, by all cores, where they fit in cache and through memory "
        f"({setup['copy_bytes_per_ns']:.1f} GB/s of copying measured here).",
        style="dim",
        highlight=False,
    )
    for note in (*run.warnings, *find_replacements(run, summaries), *late_notes(summaries), *_precision_notes(run)):
        console.print(f"note: {note}", style="yellow", highlight=False)


def late_notes(summaries: list[SizeSummary]) -> list[str]:
    return [
        f"{format_size(s.size)}: {s.discarded} of {s.iterations + s.discarded} iterations started late and were dropped"
        for s in summaries
        if s.discarded * 5 > s.iterations + s.discarded
    ]


def _precision_notes(run: RunResult) -> list[str]:
    wanted = run.request.precision
    return [
        f"{format_size(result.size)}: medians are known to {100 * result.half_interval:.2g} %, not {100 * wanted:g} %: "
        "raise --budget"
        for result in run.sizes
        if wanted and result.half_interval > wanted
    ]


def result_as_json(
    run: RunResult, summaries: list[SizeSummary], machine: dict[str, Any], nodes: Nodes | None = None
) -> dict[str, Any]:
    """Everything that was asked, found and measured; raw samples in ns, shape (iterations, ranks).

    `nodes`: the emulated cluster on which it was.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "request": dataclasses.asdict(run.request) | {"reference": run.request.reference},
        "machine": machine,
        "cluster": None if nodes is None else {"nodes": len(nodes.names), "rate": nodes.rate},
        "setup": run.setup,
        "late_threshold_ns": run.request.late_threshold_ns,
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
