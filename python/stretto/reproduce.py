"""`stretto reproduce FIGURE`: a published figure measured again, with what was published beside it.

The machine is another one, so not the times but the shape is compared: who wins under which imbalance, at which sizes,
by how much.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stretto.bench.launch import describe_machine, mpi_name, run_request
from stretto.bench.report import find_replacements, format_ratio, format_size, format_time, summarise, write_json
from stretto.bench.request import Request, UsageError, check_folder, parse_arrival, parse_sizes
from stretto.bench.stats import Estimate, estimate_paired_ratio
from stretto.progress import measuring

OURS = "default"
METRIC = "elapsed"  # the mean over ranks, as the OSU benchmarks that the thesis used
SCHEMA_VERSION = 1
_ITERATIONS = ((64 << 10, 200), (1 << 20, 60), (1 << 62, 25))


@dataclass(frozen=True)
class Figure:
    """A figure of a publication. `proposed`: the algorithm that it proposes, by Stretto's name; `others`: what it is
    compared with there, and the MPI library; published: by arrival pattern, in words."""

    number: str
    title: str
    collective: str
    proposed: str
    others: tuple[str, ...]
    sizes: str
    published: dict[str, str]


@dataclass(frozen=True)
class Point:
    """One size under one pattern. Times in ns; ratios to the best of the others. latency: the unit of `mif` when it was
    measured."""

    figure: str
    arrival: str
    size: int
    latency: int
    best: str
    best_time: Estimate
    proposed: Estimate
    ours: Estimate


def load_figures() -> dict[str, Figure]:
    text = (files("stretto") / "reproduce.json").read_text(encoding="utf-8")
    figures = [Figure(**entry | {"others": tuple(entry["others"])}) for entry in json.loads(text)]
    return {figure.number: figure for figure in figures}


def choose_figures(name: str) -> list[Figure]:
    """Raises UsageError for one that is not there."""
    figures = load_figures()
    if name == "all":
        return list(figures.values())
    if name not in figures:
        raise UsageError(f"{name}: no such figure; choose from {', '.join(figures)}, all")
    return [figures[name]]


def measure(
    figure: Figure, arrival: str, ranks: int, mpirun: str, timeout_seconds: float
) -> tuple[list[Point], dict[str, Any], list[str]]:
    """The points of one pattern, what the driver says of its MPI, and what to mind: what ran in another's place."""
    sizes = parse_sizes(figure.sizes)
    request = Request(
        figure.collective,
        (*figure.others, figure.proposed, OURS),
        sizes,
        tuple(next(count for limit, count in _ITERATIONS if size <= limit) for size in sizes),
        ranks=ranks,
        arrival=parse_arrival(arrival),
        root=0,
    )
    with measuring(request) as watcher:
        run = run_request(request, mpirun, timeout_seconds, watcher)
    points = []
    for result in run.sizes:
        figures = summarise(result, run.request).algorithms
        best = min(figure.others, key=lambda name: figures[name].times[METRIC].value)
        reference = result.samples[best].metric(METRIC)
        ratios = [
            estimate_paired_ratio(result.samples[name].metric(METRIC), reference) for name in (figure.proposed, OURS)
        ]
        points.append(
            Point(figure.number, arrival, result.size, result.latency_ns, best, figures[best].times[METRIC], *ratios)
        )
    summaries = [summarise(result, run.request) for result in run.sizes]
    return points, run.setup, [*run.warnings, *find_replacements(run, summaries)]


def average_improvement(points: list[Point], what: str) -> str:
    """How much shorter than the best of the others: the mean over sizes and the most, in percent."""
    gains = [100 * (1 - getattr(point, what).value) for point in points]
    return f"{sum(gains) / len(gains):+.0f} %, at most {max(gains):+.0f} %"


def figure_table(figure: Figure, arrival: str, points: list[Point]) -> Table:
    table = Table(title=f"Figure {figure.number}, {figure.title}: {arrival}", title_justify="left")
    for heading in ("bytes", "best of the others", "", f"{figure.proposed} / it", "Stretto's default / it"):
        table.add_column(heading, justify="left" if heading.startswith("best") else "right", no_wrap=True)
    for point in points:
        cells = point.best, format_time(point.best_time.value), format_ratio(point.proposed), format_ratio(point.ours)
        table.add_row(format_size(point.size), *cells)
    return table


def as_markdown(figures: list[Figure], points: list[Point], where: str) -> str:
    """Published and measured side by side."""
    lines = [
        "# What the papers report, measured again",
        "",
        "`stretto reproduce all --markdown docs/reproduction.md` wrote this page. Improvement: how much shorter the",
        "mean time in the call is than with the best of the algorithms that the figure compares, mean over the sizes",
        "and the most; negative where it is longer. Another machine, fewer ranks, other sizes: compare the shape.",
        "",
        f"Measured: {where}. Latency is that of one message, measured before each pattern: the unit of `mif`. Where it",
        "differs between patterns the machine was not the same, and larger factors may stand for shorter delays.",
        "",
        "| figure | arrival | sizes | published | measured: the paper's algorithm | measured: Stretto's default |",
        "|---|---|---|---|---|---|",
    ]
    for figure in figures:
        for arrival, published in figure.published.items():
            own = [point for point in points if (point.figure, point.arrival) == (figure.number, arrival)]
            if own:
                gains = (average_improvement(own, what) for what in ("proposed", "ours"))
                cells = [f"{figure.number} {figure.title}", arrival, figure.sizes, published, *gains]
                lines.append(f"| {' | '.join(cells)} |")
    for figure in figures:
        lines += ["", f"## Figure {figure.number}: {figure.title}", ""]
        lines += [f"`{figure.proposed}` against {', '.join(f'`{name}`' for name in figure.others)}.", ""]
        lines += ["| arrival | bytes | latency | best of the others | | the paper's / it | Stretto's default / it |"]
        lines += ["|---|---:|---:|---|---:|---:|---:|"]
        for point in points:
            if point.figure == figure.number:
                ratios = (f"{own.value:.2f} ({own.low:.2f}-{own.high:.2f})" for own in (point.proposed, point.ours))
                cells = [point.arrival, format_size(point.size), format_time(point.latency), f"`{point.best}`"]
                cells.append(format_time(point.best_time.value))
                lines.append(f"| {' | '.join([*cells, *ratios])} |")
    return "\n".join(lines) + "\n"


def reproduce(
    name: str, ranks: int, mpirun: str, timeout_seconds: float, output: Path | None, markdown: Path | None
) -> None:
    """Measures and prints the figures. Raises StrettoError or BenchError."""
    console = Console(width=None if Console().is_terminal else 140)
    for path in (output, markdown):
        if path is not None:
            check_folder(path, str(path))
    machine = describe_machine()
    setup: dict[str, Any] = {}
    figures = choose_figures(name)
    points: list[Point] = []
    for figure in figures:
        for arrival, published in figure.published.items():
            own, setup, notes = measure(figure, arrival, ranks, mpirun, timeout_seconds)
            points += own
            console.print(figure_table(figure, arrival, own))
            for note in notes:
                console.print(f"note: {note}", style="yellow", highlight=False)
            console.print(f"published: {published}", highlight=False)
            console.print(f"measured: {average_improvement(own, 'proposed')}; Stretto's default "
                          f"{average_improvement(own, 'ours')}", highlight=False)  # fmt: skip
    where = f"{ranks} ranks on {machine['cores']} cores ({machine['cpu']}), {mpi_name(setup)}, {machine['time'][:10]}"
    if output is not None:
        rows = [dataclasses.asdict(point) for point in points]
        write_json(output, {"schema_version": SCHEMA_VERSION, "machine": machine, "setup": setup, "points": rows})
    if markdown is not None:
        markdown.write_text(as_markdown(figures, points, where), encoding="utf-8")
