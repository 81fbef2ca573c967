"""machine.toml: what messages, copies and sums take on a machine (docs/machine.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stretto.bench.report import format_size
from stretto.errors import StrettoError
from stretto.tune.toml_file import read_toml

SCHEMA = 1


@dataclass(frozen=True)
class Link:
    """Messages between two ranks, by `Machine.lengths`: from the call until the receiver has it, and from one to the
    next of many, in ns; the longest, in bytes, that leaves before its receiver is ready."""

    message_ns: list[int]
    gap_ns: list[int]
    eager_bytes: int


@dataclass(frozen=True)
class Work:
    """What a core does in memory where `cores` do the same at once, by `Machine.lengths`, in ns."""

    cores: int
    copy_ns: list[int]
    reduce_ns: list[int]


@dataclass(frozen=True)
class Machine:
    """What was measured, and on what. `links`: by the smallest part of the machine that both ranks are in."""

    measured: dict[str, Any]
    lengths: list[int]  # bytes
    links: dict[str, Link]
    works: list[Work]
    times: dict[str, int]  # ns
    crowded: dict[str, int] | None  # of several nodes, where all send at once: message_ns, byte_ps, near_*


def read_machine(path: Path) -> Machine:
    """Raises StrettoError where the file cannot be read or is none of this schema."""
    content = read_toml(path)
    if content.get("schema") != SCHEMA:
        raise StrettoError(f"{path}: schema {content.get('schema')}, not {SCHEMA}: run `stretto tune --machine` again")
    try:
        return Machine(
            content["measured"],
            content["lengths"],
            {level: Link(**link) for level, link in content["link"].items()},
            [Work(**work) for work in content["work"]],
            content["times"],
            content.get("crowded"),
        )
    except (KeyError, TypeError) as error:
        raise StrettoError(f"{path}: not a machine of schema {SCHEMA}: {error}") from error


def _table(title: str, first: str, lengths: list[int]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for length in lengths:
        table.add_column(format_size(length), justify="right")
    return table


def _microseconds(times_ns: list[int]) -> list[str]:
    return [f"{ns / 1000:.3g}" for ns in times_ns]


def _rates(lengths: list[int], times_ns: list[int]) -> list[str]:
    return [f"{length / ns:.3g}" if ns else "" for length, ns in zip(lengths, times_ns, strict=True)]


def show_machine(machine: Machine, console: Console) -> None:
    """Prints what was measured, as tables."""
    on, lengths = machine.measured, machine.lengths
    console.print(f"{on['mpi']}, {on['ranks']} ranks on {on['nodes']} nodes, {on['cores']} cores of {on['cpu']}, "
                  f"{on['date']}", highlight=False)  # fmt: skip
    links = _table("messages, us, by bytes", "ranks that share", lengths)
    for level, link in machine.links.items():
        links.add_row(f"{level}, eager to {link.eager_bytes}", *_microseconds(link.message_ns))
        links.add_row("  one after the other", *_microseconds(link.gap_ns))
    console.print(links)
    if machine.crowded:
        console.print(f"all ranks to other nodes at once: {machine.crowded['message_ns'] / 1000:.3g} us "
                      f"and {machine.crowded['byte_ps'] / 1000:.3g} ns a byte, within nodes "
                      f"{machine.crowded.get('near_message_ns', 0) / 1000:.3g} us and "
                      f"{machine.crowded.get('near_byte_ps', 0) / 1000:.3g} ns a byte", highlight=False)  # fmt: skip
    works = _table("memory, GB/s, by bytes", "cores at once", lengths)
    for work in machine.works:
        works.add_row(f"{work.cores}: copy", *_rates(lengths, work.copy_ns))
        works.add_row("    reduce", *_rates(lengths, work.reduce_ns))
    console.print(works)
    times = machine.times
    console.print(
        f"cache line from core to core {times['line_ns']} ns, wake-up {times['wake_ns'] / 1000:.1f} us, "
        f"a native call that does nothing {times['call_ns']} ns (0: not measured)",
        highlight=False,
    )
