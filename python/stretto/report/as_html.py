"""`stretto report --html`: the report as one file that a browser opens from disk, without network."""

from __future__ import annotations

import dataclasses
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from plotly.offline import get_plotlyjs

from stretto import __version__
from stretto.errors import StrettoError
from stretto.profile.sample import SAMPLE_LIMIT
from stretto.profile.summary import SIZE_CLASSES, Share, Summary
from stretto.report import MOST_RANKS
from stretto.report.words import clock_words, conclusion, format_percent, format_seconds

# Kinds of calls whose imbalance is drawn over the calls, a panel each: those with most imbalance.
_MOST_HISTORIES = 12


def write_html(summary: Summary, path: Path) -> None:
    """Write the report of a profile. Raises StrettoError where the file cannot be written."""
    try:
        path.write_text(render_html(summary), encoding="utf-8")
    except OSError as error:
        raise StrettoError(f"{path}: cannot be written: {error.strerror}: give another file to --html") from error


def render_html(summary: Summary) -> str:
    """The report as HTML. Everything of the profile is escaped: in text by Jinja, in data by its filter `tojson`."""
    environment = Environment(
        loader=PackageLoader("stretto.report", "html"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    parts = files("stretto.report") / "html"
    total = sum(share.inside for share in summary.by_operation.values())
    nodes = f"{len(summary.hosts)} node{'s' if len(summary.hosts) != 1 else ''}"
    return environment.get_template("report.html.jinja").render(
        command=" ".join(summary.profile.ranks[0].facts["job"][0]["command"]),
        mpi=summary.profile.ranks[0].facts["job"][0].get("mpi", ""),
        facts=f"{summary.ranks} of {summary.profile.world_size} ranks on {nodes}; {_typeset(clock_words(summary))}",
        warnings=summary.warnings,
        calls=summary.calls,
        conclusion=_typeset(conclusion(summary, total)) if summary.calls else "",
        key_numbers=_key_numbers(summary, total) if summary.calls else [],
        shown_ranks=min(MOST_RANKS, summary.ranks),
        ranks=summary.ranks,
        sampled=len(summary.sample),
        sample_limit=SAMPLE_LIMIT,
        histories=len(summary.histories),
        shown_histories=min(_MOST_HISTORIES, len(summary.histories)),
        worst=len(summary.worst_calls),
        savings=bool(summary.savings),
        data=_data(summary),
        version=__version__,
        style=(parts / "report.css").read_text(encoding="utf-8"),
        scripts=[
            get_plotlyjs(),
            *((parts / name).read_text(encoding="utf-8") for name in ("figures.js", "tables.js", "report.js")),
        ],
    )


def _key_numbers(summary: Summary, total: float) -> list[tuple[str, str, str]]:
    """What to see at first sight: number, what it is, and what it means. `total`: rank-seconds in collectives."""
    shares = list(summary.by_operation.values())
    waiting = sum(share.waiting for share in shares)
    after = sum(share.after_last for share in shares)
    lag = sum(share.lag for share in shares) / summary.calls
    imbalance = sum(share.imbalance for share in shares) / summary.calls
    return [
        (_typeset(format_seconds(summary.span)), "run time", "from the first arrival to the last exit"),
        (f"{summary.calls:,}", "collective calls", "of all ranks together, one each"),
        (format_percent(total, summary.span * summary.ranks), "of run time in collectives", "all ranks together"),
        (format_percent(waiting, total), "of that waiting", "before the last rank had come"),
        (format_percent(after, total), "after the last", "once all ranks were there"),
        (_typeset(format_seconds(imbalance)), "mean imbalance", "from the first to the last arrival"),
        (_typeset(format_seconds(lag)), "mean completion lag", "from the last arrival to the last exit"),
    ]


def _typeset(text: str) -> str:
    """Units as in print, and never on another line than their number."""
    return re.sub(r"(?<=\d) (%|s|ms|us|ns)(?!\w)", lambda unit: "\u00a0" + unit[1].replace("us", "\u00b5s"), text)


def _data(summary: Summary) -> dict[str, Any]:
    """What figures and tables are made of, in parts so small that a filter can choose among them. Times in seconds."""
    shown = {straggler.rank for straggler in summary.stragglers[:MOST_RANKS]}
    return {
        "collectives": list(summary.by_operation),
        "sizes": [name for _, name in SIZE_CLASSES],
        "run_time": summary.span * summary.ranks,
        "kinds": [
            {"operation": operation, "size": size, "site": site} | _share(share)
            for (operation, size, site), share in summary.by_kind.items()
        ],
        "blame": [
            {"operation": operation, "site": site} | dataclasses.asdict(straggler)
            for (operation, site), stragglers in summary.blame.items()
            for straggler in stragglers
            if straggler.rank in shown
        ],
        "histories": _histories(summary),
        "states": [
            {"operation": operation, "state": state, "seconds": seconds}
            for (operation, state), seconds in summary.states_by_operation.items()
        ],
        "sample": [dataclasses.asdict(call) for call in summary.sample],
        "savings": [dataclasses.asdict(saving) | {"mostly": saving.mostly} for saving in summary.savings],
        "worst": [dataclasses.asdict(call) for call in summary.worst_calls],
    }


def _share(share: Share) -> dict[str, Any]:
    names = ("calls", "inside", "waiting", "after_last", "lag", "imbalance", "algorithms", "factors")
    return {name: getattr(share, name) for name in names}


def _histories(summary: Summary) -> list[dict[str, Any]]:
    """Those of the kinds with most imbalance, most first; means in seconds with four digits, as more cannot be seen."""
    by_imbalance = sorted(summary.histories.items(), key=lambda item: -summary.by_site[item[0]].imbalance)
    return [
        {"operation": operation, "site": site, "width": history.width}
        | {"means": [float(f"{mean:.4g}") for mean in history.means]}
        | {"phases": [dataclasses.asdict(phase) for phase in history.phases]}
        for (operation, site), history in by_imbalance[:_MOST_HISTORIES]
    ]
