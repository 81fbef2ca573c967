"""`stretto bench --plot FILE`: the figures of a benchmark over the message size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stretto.bench.launch import RunResult, mpi_name
from stretto.bench.report import SizeSummary, format_size
from stretto.bench.request import UsageError, check_folder, is_native
from stretto.bench.stats import METRICS

KINDS = (".png", ".svg", ".pdf")
_US = 1e-3  # of ns


def write_plot(run: RunResult, summaries: list[SizeSummary], path: Path) -> None:
    """A panel a metric: medians as lines, 10th to 90th percentile as bands. Raises UsageError where it cannot."""
    check_plot(path)
    from matplotlib.figure import Figure

    request = run.request
    figure = Figure(figsize=(15, 5), layout="constrained")
    for metric, axes in zip(METRICS, figure.subplots(1, len(METRICS)), strict=True):
        _panel(axes, metric, request.algorithms, summaries)
    axes.legend(fontsize="small", frameon=False)
    where = f"{request.ranks} ranks, arrival {request.arrival.text}, {mpi_name(run.setup)}"
    figure.suptitle(f"{request.collective}, {where}")
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise UsageError(f"--plot {path}: cannot be written: {error.strerror}") from error


def check_plot(path: Path) -> None:
    """Raises UsageError if a plot cannot be written there, before anything is measured."""
    if path.suffix not in KINDS:
        raise UsageError(f"--plot {path}: give it a name that ends with {', '.join(KINDS)}")
    check_folder(path, f"--plot {path}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise UsageError("--plot needs Matplotlib: pip install 'stretto[plots]'") from error


def _panel(axes: Any, metric: str, algorithms: tuple[str, ...], summaries: list[SizeSummary]) -> None:
    places = range(len(summaries))
    for name in algorithms:
        figures = [summary.algorithms[name] for summary in summaries]
        style = {"linestyle": "--" if is_native(name) else "-", "marker": "o", "markersize": 3}
        (line,) = axes.plot(places, [own.times[metric].value * _US for own in figures], label=name, **style)
        low, high = zip(*(own.percentiles[metric] for own in figures), strict=True)
        axes.fill_between(places, [x * _US for x in low], [x * _US for x in high], color=line.get_color(), alpha=0.12)
    axes.set_xticks(list(places), [format_size(summary.size) for summary in summaries])
    axes.set(xlabel="bytes", ylabel="us", title=METRICS[metric], yscale="log")
    axes.grid(alpha=0.3)
