"""`stretto diff`: two profiles side by side, by operation and message size, and their stragglers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stretto.profile.blame import Straggler
from stretto.profile.summary import Share, Summary
from stretto.report.as_json import as_json
from stretto.report.as_text import make_table
from stretto.report.read import read_summary
from stretto.report.words import format_seconds

_STRAGGLERS = 10
# What is compared: how many calls, and times of one on average, in seconds, all but the lag summed over its ranks.
_FIGURES: dict[str, tuple[str, Callable[[Share], float]]] = {
    "calls": ("calls", lambda share: share.calls),
    "inside": ("time", lambda share: share.inside / share.calls),
    "waiting": ("waiting", lambda share: share.waiting / share.calls),
    "after_last": ("after the last", lambda share: share.after_last / share.calls),
    "lag": ("lag", lambda share: share.lag / share.calls),
}


@dataclass(frozen=True)
class Comparison:
    """The calls of one operation and class of size in two profiles; None: there are none."""

    operation: str
    size: str
    a: Share | None
    b: Share | None

    def ratio(self, figure: str) -> float | None:
        """B's by A's of one of _FIGURES; None where either is missing or not above 0: so may a lag be, where all had
        left before the last came."""
        first, second = (0.0 if share is None else _FIGURES[figure][1](share) for share in (self.a, self.b))
        return second / first if first > 0 and second > 0 else None


def compare(a: Summary, b: Summary) -> list[Comparison]:
    """Everything that either profile has, what took most time in MPI first."""
    keys = dict.fromkeys([*a.by_class, *b.by_class])
    rows = [Comparison(*key, a.by_class.get(key), b.by_class.get(key)) for key in keys]
    return sorted(rows, key=lambda row: -sum(share.inside for share in (row.a, row.b) if share))


def _job(summary: Summary, name: str) -> Any:
    return summary.profile.ranks[0].facts["job"][0].get(name)


def differences(a: Summary, b: Summary) -> list[str]:
    """Why the figures of the two may differ for other reasons than the one that is looked for."""
    found = []
    sizes = a.profile.world_size, b.profile.world_size
    if sizes[0] != sizes[1]:
        found.append(f"A ran on {sizes[0]:,} ranks, B on {sizes[1]:,}: times summed over ranks do not compare")
    if len(a.hosts) != len(b.hosts):
        found.append(f"A ran on {_count(len(a.hosts), 'node')}, B on {_count(len(b.hosts), 'node')}")
    commands = [" ".join(_job(summary, "command")) for summary in (a, b)]
    if commands[0] != commands[1]:
        found.append(f"A ran `{commands[0]}`, B ran `{commands[1]}`")
    if _job(a, "mpi") != _job(b, "mpi"):
        found.append(f"the MPI library of A is {_job(a, 'mpi')}, that of B {_job(b, 'mpi')}")
    every = [_job(summary, "every") or 1 for summary in (a, b)]
    if every[0] != every[1]:
        first, second = ("every call" if each == 1 else f"one call in {each}" for each in every)
        found.append(f"A records {first}, B {second} (STRETTO_PROFILE_EVERY): numbers of calls do not compare")
    if a.calls != b.calls:
        found.append(f"A has {_count(a.calls, 'whole call')}, B {b.calls:,}: times are for one call on average")
    uneven = [row for row in compare(a, b) if row.a and row.b and row.a.calls != row.b.calls]
    if uneven:
        found.append("unequal numbers of calls of " + ", ".join(f"{row.operation} {row.size}" for row in uneven))
    for name, only in (("A", [row for row in compare(a, b) if not row.b]),
                       ("B", [row for row in compare(a, b) if not row.a])):  # fmt: skip
        if only:
            found.append(f"only {name} has {', '.join(f'{row.operation} {row.size}' for row in only)}")
    return found


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_diff(console: Console, a: Summary, b: Summary) -> None:
    """What differs in the runs, then the tables."""
    for name, summary in (("A", a), ("B", b)):
        shares = summary.by_operation.values()
        console.print(
            f"{name}: {summary.profile.directory}: {' '.join(_job(summary, 'command'))}, {summary.ranks} of "
            f"{_count(summary.profile.world_size, 'rank')} on {_count(len(summary.hosts), 'node')}, "
            f"{_count(summary.calls, 'call')} in {format_seconds(summary.span)}; in them, all ranks together, "
            f"{format_seconds(sum(share.inside for share in shares))}, of it waiting "
            f"{format_seconds(sum(share.waiting for share in shares))}",
            highlight=False,
            markup=False,
        )
    for name, summary in (("A", a), ("B", b)):
        for warning in summary.warnings:
            console.print(f"warning: {name}: {warning}", style="yellow", highlight=False, markup=False)
    for words in differences(a, b):
        console.print(f"not alike: {words}", style="yellow", highlight=False, markup=False)
    rows = compare(a, b)
    if not rows:
        console.print("Neither has a call that all ranks of a communicator made: there is nothing to compare.")
        return
    console.print(_figure_table(rows))
    console.print(_straggler_table(a, b))


def _figure_table(rows: list[Comparison]) -> Table:
    title = "For one call on average; all but the lag are summed over its ranks"
    table = make_table(title, ["operation", "size", "", "A", "B", "B / A"], left=3)
    for row in rows:
        for figure, (words, get) in _FIGURES.items():
            form = "{:,}".format if figure == "calls" else format_seconds
            cells = ["-" if share is None else form(get(share)) for share in (row.a, row.b)]
            names = (row.operation, row.size) if figure == "calls" else ("", "")
            table.add_row(*names, words, *cells, ratio_words(row.ratio(figure)))
        table.add_section()
    return table


def ratio_words(ratio: float | None) -> str:
    """Two digits at least, and - where there is none."""
    if ratio is None:
        return "-"
    return f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _straggler_table(a: Summary, b: Summary) -> Table:
    headings = ["rank", "", "node", "came last", "late by", "so many times", "wait it alone caused"]
    table = make_table("Who makes the others wait", headings, left=3)
    found = {name: {each.rank: each for each in summary.stragglers} for name, summary in (("A", a), ("B", b))}
    caused: dict[int, float] = {}
    for stragglers in found.values():
        for rank, straggler in stragglers.items():
            caused[rank] = max(caused.get(rank, 0.0), straggler.caused)
    for rank in sorted(caused, key=lambda rank: -caused[rank])[:_STRAGGLERS]:
        for name, stragglers in found.items():
            table.add_row(str(rank) if name == "A" else "", name, *_straggler_cells(stragglers.get(rank)))
        table.add_section()
    return table


def _straggler_cells(straggler: Straggler | None) -> list[str]:
    if straggler is None:
        return ["-"] * 5
    return [
        straggler.host,
        f"{straggler.last:,} of {straggler.calls:,}",
        format_seconds(straggler.typical_lateness),
        f"{straggler.effective_times:,.0f}",
        format_seconds(straggler.caused),
    ]


def diff_as_json(a: Summary, b: Summary) -> dict[str, Any]:
    """The comparison as plain data, with the whole reports of both; times in seconds, B's by A's as `ratio`."""

    def figures(share: Share | None) -> dict[str, float] | None:
        return None if share is None else {figure: get(share) for figure, (_, get) in _FIGURES.items()}

    rows = [
        {"operation": row.operation, "size": row.size, "a": figures(row.a), "b": figures(row.b)}
        | {"ratio": {figure: row.ratio(figure) for figure in _FIGURES}}
        for row in compare(a, b)
    ]
    reports = {
        name: {"directory": str(summary.profile.directory)} | as_json(summary) for name, summary in (("a", a), ("b", b))
    }
    return {"schema_version": 1, "differences": differences(a, b), "per_call": rows, **reports}


def diff(a: Path, b: Path, wants_json: bool) -> None:
    """Print the comparison of the profiles in two directories to standard output."""
    first, second = read_summary(a), read_summary(b)
    if wants_json:
        print(json.dumps(diff_as_json(first, second), indent=2))
        return
    print_diff(Console(width=None if sys.stdout.isatty() else 160), first, second)
