"""`stretto report --plots DIR`: the figures of a report as PNG and SVG, for papers and slides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from stretto.errors import StrettoError
from stretto.profile.summary import SIZE_CLASSES, Share, Summary
from stretto.report import MOST_RANKS

# Okabe and Ito's colours, which the colour-blind tell apart.
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")
_GREY = "#b8c2cf"
_MS = 1e3


def write_plots(summary: Summary, directory: Path) -> list[Path]:
    """Write every figure twice, NAME.png and NAME.svg; returns the paths.

    Raises StrettoError where Matplotlib is missing or the directory cannot be written.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise StrettoError("--plots needs Matplotlib: pip install 'stretto[plots]'") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    style: Any = {
        "svg.fonttype": "none",  # text stays text
        "figure.figsize": (7, 4),
        "figure.constrained_layout.use": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "savefig.dpi": 150,
    }
    written: list[Path] = []
    unwritable = f"{directory}: cannot be written: give another directory to --plots"
    with pyplot.rc_context(style):
        for name, draw in _FIGURES.items():
            figure, axes = pyplot.subplots()
            draw(axes, summary)
            try:
                directory.mkdir(parents=True, exist_ok=True)
                for suffix in ("png", "svg"):
                    path = directory / f"{name}.{suffix}"
                    figure.savefig(path)
                    written.append(path)
            except OSError as error:
                raise StrettoError(f"{unwritable} ({error.strerror})") from error
            finally:
                pyplot.close(figure)
    return written


def _legend(axes: Any) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))  # beside: bars fill the axes


def _calls(axes: Any, summary: Summary) -> None:
    shares = sorted(summary.by_operation.items(), key=lambda item: item[1].calls)
    bars = axes.barh([name for name, _ in shares], [share.calls for _, share in shares], color=_COLOURS[0])
    total = sum(share.calls for _, share in shares)
    axes.bar_label(bars, [f" {100 * share.calls / total:.1f} %" for _, share in shares])
    axes.set(xlabel="calls", title="Calls by collective")


def _time(axes: Any, summary: Summary) -> None:
    shares = sorted(summary.by_operation.items(), key=lambda item: item[1].inside)
    names = [name for name, _ in shares]
    waiting = [share.waiting for _, share in shares]
    axes.barh(names, waiting, color=_GREY, label="waiting for the last rank")
    rest = [share.inside - share.waiting for _, share in shares]
    axes.barh(names, rest, left=waiting, color=_COLOURS[0], label="after its arrival")
    axes.set(xlabel="time in MPI, all ranks together (s)", title="Time by collective")
    axes.legend(frameon=False)


def _by_class(title: str, label: str, amount: Callable[[Share], float]) -> Callable[[Any, Summary], None]:
    def draw(axes: Any, summary: Summary) -> None:
        classes = [name for _, name in SIZE_CLASSES if any(size == name for _, size in summary.by_class)]
        floor = [0.0] * len(classes)
        for index, operation in enumerate(summary.by_operation):
            shares = [summary.by_class.get((operation, size), Share()) for size in classes]
            heights = [amount(share) for share in shares]
            axes.bar(classes, heights, 0.6, floor, color=_COLOURS[index % len(_COLOURS)], label=operation)
            floor = [below + height for below, height in zip(floor, heights, strict=True)]
        axes.set(ylabel=label, title=title)
        _legend(axes)

    return draw


def _imbalance(axes: Any, summary: Summary) -> None:
    for index, operation in enumerate(summary.by_operation):
        calls = [call for call in summary.sample if call.operation == operation and call.imbalance > 0]
        axes.scatter(
            [call.at for call in calls], [call.imbalance * _MS for call in calls], s=6,
            color=_COLOURS[index % len(_COLOURS)], label=operation, rasterized=len(calls) > 1000,
        )  # fmt: skip
    axes.set(xlabel="time of the last arrival (s)", ylabel="imbalance (ms)", title="Imbalance over the run")
    axes.set_yscale("log", nonpositive="mask")
    _legend(axes)


def _phases(axes: Any, summary: Summary) -> None:
    """Of the kind of calls with most imbalance."""
    axes.set(xlabel="number of the call", ylabel="mean imbalance (ms)", title="Imbalance over the calls")
    axes.set_yscale("log", nonpositive="mask")
    if not summary.histories:
        return
    kind = max(summary.histories, key=lambda kind: summary.by_site[kind].imbalance)
    history = summary.histories[kind]
    numbers = [bin_ * history.width + (history.width + 1) / 2 for bin_ in range(len(history.means))]
    name = ", ".join(kind).replace("$", r"\$")  # which begins a formula
    axes.scatter(numbers, history.means * _MS, s=4, color=_COLOURS[4], label=name)
    edges = [edge for phase in history.phases for edge in (phase.first + 1, phase.first + phase.calls)]
    axes.plot(edges, [phase.level * _MS for phase in history.phases for _ in range(2)], color="black", label="phases")
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)  # call sites are long


def _stragglers(axes: Any, summary: Summary) -> None:
    worst = sorted(summary.stragglers[:MOST_RANKS], key=lambda straggler: straggler.rank)
    places = range(len(worst))
    axes.bar([place - 0.2 for place in places], [s.caused for s in worst], 0.4, color=_COLOURS[5],
             label="wait it alone caused")  # fmt: skip
    axes.bar([place + 0.2 for place in places], [s.waited for s in worst], 0.4, color=_GREY, label="its own waiting")
    axes.set_xticks(list(places), [str(straggler.rank) for straggler in worst])
    axes.set(xlabel="rank", ylabel="time (s)", title="Who makes the others wait")
    axes.legend(frameon=False)


def _wait_states(axes: Any, summary: Summary) -> None:
    states = sorted(summary.wait_states.items(), key=lambda item: item[1])
    axes.barh([name for name, _ in states], [seconds for _, seconds in states], color=_COLOURS[0])
    axes.set(xlabel="time, all ranks together (s)", title="Wait states")


_FIGURES: dict[str, Callable[[Any, Summary], None]] = {
    "calls-by-collective": _calls,
    "time-by-collective": _time,
    "calls-by-size": _by_class("Calls by message size", "calls", lambda share: share.calls),
    "time-by-size": _by_class("Time by message size", "time in MPI, all ranks (s)", lambda share: share.inside),
    "imbalance": _imbalance,
    "phases": _phases,
    "stragglers": _stragglers,
    "wait-states": _wait_states,
}
