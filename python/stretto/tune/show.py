"""Rules as tables."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from stretto.bench.report import format_size, format_time
from stretto.bench.request import VARIANT_PREFIX, is_native
from stretto.tune.rules import Evidence, Rule, Rules


def format_interval(values: tuple[float, float, float]) -> str:
    low, middle, high = values
    return f"{middle:.2f} [dim]{low:.2f}..{high:.2f}[/dim]"


def best_forced(evidence: Evidence) -> str | None:
    """Of what the MPI library can be forced to, its default included, the best in terms of that."""
    own = [name for name in evidence.figures if is_native(name)]
    return min(own, key=lambda name: evidence.figures[name].to_native[1], default=None)


def _add_rows(table: Table, rule: Rule) -> None:
    for index, evidence in enumerate(rule.measured):
        figure = rule.figure(evidence)
        own = best_forced(evidence)
        table.add_row(
            f"{rule.collective}, {rule.ranks} ranks on {rule.nodes} nodes, {rule.arrivals}" if index == 0 else "",
            format_size(rule.from_bytes) if index == 0 else "",
            rule.algorithm if index == 0 else "",
            format_size(evidence.size),
            evidence.arrival,
            format_time(figure.ns) if figure else "not measured",
            format_interval(figure.to_native) if figure else "",
            format_interval(figure.to_best) if figure else "",
            f"{own.removeprefix(VARIANT_PREFIX)} {evidence.figures[own].to_native[1]:.2f}" if own else "",
        )


def show_rules(rules: Rules, console: Console) -> None:
    """A row for each size that was measured."""
    table = Table(title="what serves calls, and what it takes", title_justify="left")
    for heading in ("calls", "from", "algorithm", "bytes", "arrival", "takes", "/ native", "/ best", "best forced"):
        table.add_column(heading, no_wrap=True)
    for rule in rules.rules:
        table.add_section()
        _add_rows(table, rule)
    console.print(table)
