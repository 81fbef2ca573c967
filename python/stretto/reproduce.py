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

from stretto.bench.launch import RunResult, describe_machine, mpi_name, run_request
from stretto.bench.report import find_replacements, format_ratio, format_size, format_time, summarise, write_json
from stretto.bench.request import Request, UsageError, check_folder, parse_arrival, parse_sizes
from stretto.bench.stats import Estimate, estimate_paired_ratio
from stretto.progress import measuring
from stretto.simulate.report import WARM_UP
from stretto.simulate.sim import PLATFORMS, choose_settings, cost_of_work, simulate

OURS = "default"
SCHEMA_VERSION = 2
_ITERATIONS = ((64 << 10, 200), (1 << 20, 60), (1 << 62, 25))


@dataclass(frozen=True)
class Simulated:
    """A cluster of `stretto sim`. work: ns a byte to reduce and to copy; if given, nodes share memory and calls are in
    place. hints: ranks tell when half of their delay is over."""

    platform: str
    ranks: int | None = None
    placement: str = "by-core"
    work: tuple[float, float] | None = None
    iterations: int = 20  # where ranks are uneven
    hints: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure or table of a publication. `proposed`: the algorithm that it proposes, by Stretto's name; `others`: what
    it is compared with there, and the MPI library; `beside`: what else is shown; published: by pattern, in words.

    metric: of stretto.bench.stats. simulated: on what; none: measured.
    """

    number: str
    title: str
    collective: str
    proposed: str
    others: tuple[str, ...]
    sizes: str
    published: dict[str, str]
    beside: tuple[str, ...] = (OURS,)
    metric: str = "elapsed"  # the mean over ranks, as the OSU benchmarks that the thesis used
    simulated: Simulated | None = None

    @property
    def compared(self) -> tuple[str, ...]:
        return (self.proposed, *self.beside)


@dataclass(frozen=True)
class Point:
    """One size under one pattern. Times in ns; ratios of what is compared to the best of the others, by algorithm.
    latency: the unit of `mif` when it was measured."""

    figure: str
    arrival: str
    size: int
    latency: int
    best: str
    best_time: Estimate
    ratios: dict[str, Estimate]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _make_figure(entry: dict[str, Any]) -> Figure:
    if simulated := entry.get("simulated"):
        entry["simulated"] = Simulated(**{key: _frozen(value) for key, value in simulated.items()})
    return Figure(**entry)


def load_figures() -> dict[str, Figure]:
    text = (files("stretto") / "reproduce.json").read_text(encoding="utf-8")
    figures = [_make_figure({key: _frozen(value) for key, value in entry.items()}) for entry in json.loads(text)]
    return {figure.number: figure for figure in figures}


def choose_figures(name: str) -> list[Figure]:
    """Raises UsageError for one that is not there."""
    figures = load_figures()
    if name == "all":
        return list(figures.values())
    if name not in figures:
        raise UsageError(f"{name}: no such figure; choose from {', '.join(figures)}, all")
    return [figures[name]]


def run_figure(figure: Figure, arrival: str, ranks: int, mpirun: str, timeout_seconds: float) -> RunResult:
    """On this machine, or on the figure's simulated cluster."""
    sizes = parse_sizes(figure.sizes)
    iterations = tuple(next(count for limit, count in _ITERATIONS if size <= limit) for size in sizes)
    request = Request(
        figure.collective,
        (*figure.others, *figure.compared),
        sizes,
        iterations,
        ranks=ranks,
        arrival=parse_arrival(arrival),
        root=0,
    )
    if figure.simulated is None:
        with measuring(request.collective, request.iterations) as watcher:
            return run_request(request, mpirun, timeout_seconds, watcher)
    how = figure.simulated
    platform = dataclasses.replace(PLATFORMS[how.platform], placement=how.placement)
    count = 1 if arrival == "balanced" else how.iterations  # nothing varies but the delays
    request = dataclasses.replace(
        request,
        ranks=how.ranks or platform.ranks,
        iterations=(count,) * len(sizes),
        warm_up=WARM_UP,
        hints=how.hints,
        in_place=how.work is not None,
    )
    gamma, delta = how.work or (0.0, 0.0)
    work = cost_of_work(gamma, delta, how.work is not None, measured=False)
    return simulate(request, platform, choose_settings(figure.collective, "ompi"), work, timeout_seconds)


def measure(
    figure: Figure, arrival: str, ranks: int, mpirun: str, timeout_seconds: float
) -> tuple[list[Point], dict[str, Any], list[str]]:
    """The points of one pattern, what the driver says of its MPI, and what to mind: what ran in another's place."""
    run = run_figure(figure, arrival, ranks, mpirun, timeout_seconds)
    points = []
    for result in run.sizes:
        figures = summarise(result, run.request).algorithms
        best = min(figure.others, key=lambda name: figures[name].times[figure.metric].value)
        time = figures[best].times[figure.metric]
        reference = result.samples[best].metric(figure.metric)
        ratios = {
            name: estimate_paired_ratio(result.samples[name].metric(figure.metric), reference)
            for name in figure.compared
        }
        points.append(Point(figure.number, arrival, result.size, result.latency_ns, best, time, ratios))
    summaries = [summarise(result, run.request) for result in run.sizes]
    return points, run.setup, [*run.warnings, *find_replacements(run, summaries)]


def average_improvement(points: list[Point], what: str) -> str:
    """How much shorter `what` is than the best of the others: the mean over sizes and the most, in percent."""
    gains = [100 * (1 - point.ratios[what].value) for point in points]
    return f"{sum(gains) / len(gains):+.0f} %, at most {max(gains):+.0f} %"


def figure_table(figure: Figure, arrival: str, points: list[Point]) -> Table:
    table = Table(title=f"{figure.number}, {figure.title}: {arrival}", title_justify="left")
    for heading in ("bytes", "best of the others", "", *(f"{name} / it" for name in figure.compared)):
        table.add_column(heading, justify="left" if heading.startswith("best") else "right", no_wrap=True)
    for point in points:
        ratios = (format_ratio(point.ratios[name]) for name in figure.compared)
        table.add_row(format_size(point.size), point.best, format_time(point.best_time.value), *ratios)
    return table


def as_markdown(figures: list[Figure], points: list[Point], where: str) -> str:
    """Published and measured side by side."""
    lines = [
        "# What the papers report, measured again",
        "",
        "`stretto reproduce all --markdown docs/reproduction.md` wrote this page. Improvement: how much shorter the",
        "time (the mean over ranks in the call; for Table 6.1 the completion lag, for Proficz 2020 and Kitor 2022 the",
        "run time) is than with the best of the algorithms that the figure compares, mean over the sizes and the most;",
        "negative where it is longer. Another machine, fewer ranks, other sizes: compare the shape. Proficz 2020 is",
        "simulated on the paper's 48 nodes, Kitor 2022 on 8 nodes of 32 ranks in place of 64, Table 6.1 on 8 nodes of",
        "four ranks; more of these, SCOTCH and other numbers of ranks, are in [docs/topology.md](topology.md).",
        "",
        f"Measured: {where}. Latency is that of one message, measured before each pattern: the unit of `mif`. Where it",
        "differs between patterns the machine was not the same, and larger factors may stand for shorter delays.",
        "",
        "| figure | arrival | sizes | published | the paper's algorithm here | what else is compared |",
        "|---|---|---|---|---|---|",
    ]
    for figure in figures:
        for arrival, published in figure.published.items():
            own = [point for point in points if (point.figure, point.arrival) == (figure.number, arrival)]
            if own:
                beside = "; ".join(f"`{name}` {average_improvement(own, name)}" for name in figure.beside)
                gains = average_improvement(own, figure.proposed)
                cells = [f"{figure.number} {figure.title}", arrival, figure.sizes, published, gains, beside]
                lines.append(f"| {' | '.join(cells)} |")
    for figure in figures:
        lines += ["", f"## {figure.number}: {figure.title}", ""]
        lines += [f"`{figure.proposed}` against {', '.join(f'`{name}`' for name in figure.others)}.", ""]
        lines += [f"| arrival | bytes | latency | best of the others | | {' | '.join(figure.compared)} |"]
        lines += [f"|---|---:|---:|---|---:|{'---:|' * len(figure.compared)}"]
        for point in points:
            if point.figure == figure.number:
                shown = (point.ratios[name] for name in figure.compared)
                ratios = (f"{ratio.value:.2f} ({ratio.low:.2f}-{ratio.high:.2f})" for ratio in shown)
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
            own, where_it_ran, notes = measure(figure, arrival, ranks, mpirun, timeout_seconds)
            if figure.simulated is None or not setup:  # of the real machine, if there is any
                setup = where_it_ran
            points += own
            console.print(figure_table(figure, arrival, own))
            for note in notes:
                console.print(f"note: {note}", style="yellow", highlight=False)
            console.print(f"published: {published}", highlight=False)
            gains = "; ".join(f"{name} {average_improvement(own, name)}" for name in figure.compared)
            console.print(f"{'measured' if figure.simulated is None else 'simulated'}: {gains}", highlight=False)
    where = f"{ranks} ranks on {machine['cores']} cores ({machine['cpu']}), {mpi_name(setup)}, {machine['time'][:10]}"
    if output is not None:
        rows = [dataclasses.asdict(point) for point in points]
        write_json(output, {"schema_version": SCHEMA_VERSION, "machine": machine, "setup": setup, "points": rows})
    if markdown is not None:
        markdown.write_text(as_markdown(figures, points, where), encoding="utf-8")
