"""A report as tables for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from stretto.profile.imbalance import FACTORS
from stretto.profile.summary import Share, Summary
from stretto.report.words import clock_words, conclusion, format_percent, format_seconds

_ROWS = 10


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
    if summary.savings:
        console.print(_savings_table(summary))
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


def _savings_table(summary: Summary) -> Table:
    headings = ["operation", "ranks came", "from bytes", "calls", "by Stretto", "native would take", "saved", "+-"]
    table = make_table("What Stretto has saved, from the last arrival to the last exit", headings, left=2)
    for saving in summary.savings[:_ROWS]:
        table.add_row(
            saving.operation,
            saving.mostly,
            f"{saving.from_bytes:,}",
            f"{saving.calls:,}",
            format_percent(saving.ours, saving.calls),
            format_seconds(saving.native),
            format_seconds(saving.saved),
            format_seconds(saving.unsure),
        )
    return table


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
