"""How the experiments in this folder print their figures."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.console import Console, JustifyMethod
from rich.table import Table


def make_console(columns: int) -> Console:
    """As wide as the terminal; where the output goes elsewhere, `columns` wide."""
    return Console(width=None if Console().is_terminal else columns)


def make_table(
    title: str,
    headings: Iterable[str],
    *,
    left: Collection[str] = ("algorithm",),
    wrapped: Collection[str] = (),
    title_justify: JustifyMethod = "left",
) -> Table:
    """An empty table with a column a heading: those in `left` hold text, the others numbers.

    Only cells of those in `wrapped` may be broken into lines.
    """
    table = Table(title=title, title_justify=title_justify)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right", no_wrap=heading not in wrapped)
    return table


def with_interval(value: float, low: float, high: float, digits: int = 2) -> str:
    """A ratio and its interval, with so many digits behind the point."""
    return f"{value:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"
