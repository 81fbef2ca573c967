"""`stretto report`: what a profile says, in the terminal or as JSON."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stretto.errors import StrettoError
from stretto.profile.files import open_profile
from stretto.profile.imbalance import FACTORS
from stretto.profile.summary import Share, Summary, summarise
from stretto.progress import reading

_ROWS = 10
# More bars than these nobody reads; of large jobs the ranks that caused most are shown.
MOST_RANKS = 64


def read_summary(directory: Path) -> Summary:
    """Open and summarise a profile, with a progress bar on a terminal. Raises StrettoError where nothing is sound."""
    profile = open_profile(directory)
    with reading(profile, f"reading {directory}") as progress:
        return summarise(profile, progress)


def format_seconds(seconds: float) -> str:
    """Three digits and the unit that suits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= scale:
            return f"{seconds / scale:.3g} {unit}" if abs(seconds) < 1000 * scale else f"{seconds / scale:,.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def format_percent(part: float, whole: float) -> str:
    """`part` in percent of `whole`, both in the same unit."""
    return f"{100 * part / whole:.1f} %" if whole > 0 else "-"


def make_table(title: str, headings: list[str], left: int = 1) -> Table:
    """An empty table whose first `left` columns are text, the others numbers."""
    table = Table(title=title, title_justify="left")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index < left else "right", overflow="fold")
    return table


def _ran(share: Share) -> str:
    counts = sorted(share.algorithms.items(), key=lambda item: -item[1])
    return ", ".join(name if len(counts) == 1 else f"{name} {format_percent(n, share.calls)}" for name, n in counts)


def _share_cells(share: Share, total: float) -> list[str]:
    return [
        f"{share.calls:,}",
        format_seconds(share.inside),
        format_percent(share.inside, total),
        format_percent(share.waiting, share.inside),
        format_seconds(share.imbalance / share.calls),
        format_seconds(share.lag / share.calls),
    ]


def _factor_cells(share: Share) -> list[str]:
    factors = [share.factor(name) for name in FACTORS]
    return ["-" if factor is None else f"{factor:,.1f}" for factor in factors]


_SHARE_HEADINGS = ["calls", "time", "share", "of it waiting", "mean imbalance", "mean lag"]


def print_report(console: Console, summary: Summary) -> None:
    """The whole report, most important first."""
    profile = summary.profile
    job = profile.ranks[0].facts["job"][0]
    console.print(
        f"{' '.join(job['command'])}\n{summary.ranks} of {profile.world_size} ranks on {len(summary.hosts)} "
        f"node{'s' if len(summary.hosts) != 1 else ''}, {summary.calls:,} collective calls in "
        f"{format_seconds(summary.span)}; {clock_words(summary)}",
        highlight=False,
        markup=False,
    )
    for warning in summary.warnings:
        console.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
    if not summary.calls:
        console.print("No call was made by all ranks of a communicator: there is nothing to report.")
        return
    total = sum(share.inside for share in summary.by_operation.values())
    console.print(conclusion(summary, total), highlight=False, markup=False)
    table = make_table("Collectives, by time in MPI (all ranks together)", ["operation", *_SHARE_HEADINGS, "what ran"])
    for operation, share in summary.by_operation.items():
        table.add_row(operation, *_share_cells(share, total), _ran(share))
    console.print(table)
    factors = ["worst / alpha", "average / alpha", "in nodes", "average in nodes"]
    headings = ["operation", "size", *_SHARE_HEADINGS, *factors]
    table = make_table("By message size, with imbalance factors", headings, left=2)
    for (operation, size), share in list(summary.by_class.items())[:_ROWS]:
        table.add_row(operation, size, *_share_cells(share, total), *_factor_cells(share))
    console.print(table)
    table = make_table("By call site", ["operation", "called from", *_SHARE_HEADINGS], left=2)
    for (operation, site), share in list(summary.by_site.items())[:_ROWS]:
        table.add_row(operation, site, *_share_cells(share, total))
    console.print(table)
    console.print(_straggler_table(summary))
    headings = ["operation", "communicator", "call", "bytes", "called from", "for rank", "late by", "wait caused"]
    table = make_table("Calls with most waiting for one rank", headings, left=2)
    for call in summary.worst_calls[:_ROWS]:
        table.add_row(call.operation, call.communicator, f"{call.sequence:,}", f"{call.bytes:,}", call.site,
                      str(call.rank), format_seconds(call.lateness), format_seconds(call.caused))  # fmt: skip
    console.print(table)
    histories = summary.histories.items()
    phases = [(kind, history.phases) for kind, history in histories if len(history.phases) > 1]
    if phases:
        headings = ["operation", "called from", "from its call", "calls", "mean imbalance"]
        table = make_table("Phases: where the level of imbalance jumps", headings, left=2)
        for (operation, site), found in phases[:_ROWS]:
            for phase in found[:_ROWS]:
                cells = [f"{phase.first + 1:,}", f"{phase.calls:,}", format_seconds(phase.level)]
                table.add_row(operation, site, *cells)
            table.add_section()
        console.print(table)
    table = make_table("Wait states (as Scalasca defines them)", ["state", "time", "share"])
    for state, seconds in summary.wait_states.items():
        table.add_row(state, format_seconds(seconds), format_percent(seconds, total))
    console.print(table)


def _straggler_table(summary: Summary) -> Table:
    headings = [
        "rank",
        "node",
        "came last",
        "late by",
        "so many times",
        "wait it alone caused",
        "its own waiting",
        "most at",
    ]
    table = make_table("Who makes the others wait", headings, left=2)
    for straggler in summary.stragglers[:_ROWS]:
        sites = {site: s for (rank, site), s in summary.straggler_sites.items() if rank == straggler.rank}
        table.add_row(
            str(straggler.rank),
            straggler.host,
            f"{straggler.last:,} ({format_percent(straggler.last, straggler.calls)})",
            format_seconds(straggler.typical_lateness),
            f"{straggler.effective_times:,.0f}",
            format_seconds(straggler.caused),
            format_seconds(straggler.waited),
            max(sites, key=lambda site: sites[site]) if straggler.caused > 0 else "-",
        )
    return table


def clock_words(summary: Summary) -> str:
    """How far times of different nodes can be compared."""
    if summary.clock_error is None:
        return "the nodes' clocks were not compared: imbalance between nodes is not known"
    if summary.clock_error == 0:
        return "one clock"
    return f"clocks agree within {format_seconds(summary.clock_error)}"


def conclusion(summary: Summary, total: float) -> str:
    """Two sentences: where the time goes, and who is to blame; weaker where records are missing."""
    waiting = sum(share.waiting for share in summary.by_operation.values())
    after = sum(share.after_last for share in summary.by_operation.values())
    native = sum(
        share.after_last * share.algorithms.get("native", 0) / share.calls for share in summary.by_operation.values()
    )
    hedge = "As far as the records go, of" if summary.warnings else "Of"
    text = (
        f"{hedge} {format_seconds(total)} in blocking collectives (all ranks together) "
        f"{format_percent(waiting, total)} went by before the last rank came, which only a better balance can win "
        f"back, and {format_seconds(after)} after: {format_seconds(native)} of that in the MPI library's own "
        "algorithms, which is the most that Stretto could still win."
    )
    worst = summary.stragglers[0]
    caused = sum(straggler.caused for straggler in summary.stragglers)
    if caused > 0.01 * total:
        text += (
            f" Rank {worst.rank} on {worst.host} caused {format_percent(worst.caused, caused)} of the waiting for "
            f"single ranks ({format_seconds(worst.caused)}): it came {format_seconds(worst.typical_lateness)} late, "
            f"{worst.effective_times:,.0f} times in {worst.calls:,} calls."
        )
    return text


def as_json(summary: Summary) -> dict[str, Any]:
    """The report as plain data; times in seconds."""

    def rows(table: dict[Any, Share], names: tuple[str, ...]) -> list[dict[str, Any]]:
        keys = [key if isinstance(key, tuple) else (key,) for key in table]
        return [
            dict(zip(names, key, strict=True))
            | dataclasses.asdict(share)
            | {"factors": {name: share.factor(name) for name in FACTORS}}
            for key, share in zip(keys, table.values(), strict=True)
        ]

    return {
        "schema_version": 1,
        "command": summary.profile.ranks[0].facts["job"][0]["command"],
        "mpi": summary.profile.ranks[0].facts["job"][0]["mpi"],
        "warnings": summary.warnings,
        "world_size": summary.profile.world_size,
        "ranks": summary.ranks,
        "hosts": summary.hosts,
        "calls": summary.calls,
        "span": summary.span,
        "clock_error": summary.clock_error,
        "unmatched": dataclasses.asdict(summary.unmatched),
        "by_operation": rows(summary.by_operation, ("operation",)),
        "by_class": rows(summary.by_class, ("operation", "size")),
        "by_site": rows(summary.by_site, ("operation", "site")),
        "wait_states": summary.wait_states,
        "stragglers": [
            dataclasses.asdict(straggler)
            | {"typical_lateness": straggler.typical_lateness, "effective_times": straggler.effective_times}
            for straggler in summary.stragglers
        ],
        "phases": [
            {"operation": operation, "site": site} | dataclasses.asdict(phase)
            for (operation, site), history in summary.histories.items()
            for phase in history.phases
        ],
        "worst_calls": [dataclasses.asdict(call) for call in summary.worst_calls],
        "straggler_sites": [
            {"rank": rank, "site": site, "caused": caused}
            for (rank, site), caused in sorted(summary.straggler_sites.items(), key=lambda item: -item[1])
        ],
    }


def report(directory: Path, wants_json: bool, html: Path | None = None, plots: Path | None = None) -> None:
    """Print the report of a profile to standard output, and write it for a browser, to the file `html` if there is one.

    Without it and with tables, to `directory`/report.html, if that can be written. `plots`: a directory for the figures
    as files. Raises StrettoError.
    """
    summary = read_summary(directory)
    if wants_json:
        print(json.dumps(as_json(summary), indent=2))
    else:
        print_report(Console(width=None if sys.stdout.isatty() else 160), summary)
    if html is not None or not wants_json:
        _write_html(summary, html or directory / "report.html", wanted=html is not None)
    if plots is not None:
        from stretto.report.plots import write_plots

        print(f"stretto: wrote {len(write_plots(summary, plots))} files to {plots}", file=sys.stderr)


def _write_html(summary: Summary, path: Path, wanted: bool) -> None:
    from stretto.report.as_html import write_html  # what it imports is large and otherwise not needed

    try:
        write_html(summary, path)
    except StrettoError as error:
        if wanted:
            raise
        print(f"stretto: {error}", file=sys.stderr)
    else:
        print(f"stretto: wrote {path}, for a browser", file=sys.stderr)
