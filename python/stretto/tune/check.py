"""`stretto tune check`: whether a rules file can be used here, and whether its choices are still the best."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from stretto.bench.arguments import run_command
from stretto.bench.launch import describe_machine
from stretto.bench.report import format_ran, format_size, write_json
from stretto.bench.request import check_folder, parse_arrival
from stretto.cluster import Nodes, cluster_if
from stretto.errors import StrettoError
from stretto.tune.measure import Cell, Measurer, Observed, is_choosable
from stretto.tune.rules import NATIVE, PASSED_ON, Evidence, Rule, Rules, read_rules
from stretto.tune.session import split_at_dashes, split_launcher
from stretto.tune.show import format_interval, show_rules

_HELP = """With a launcher, such as `stretto tune check rules.toml -- mpirun -n 8`, all is measured again with another
seed: what the file chooses, the MPI library's own choice, and what came near the best when the file was written."""
_SECONDS = 4.0  # at one size
_NEAR = 1.3  # of the best, when the file was written
_MOST = 6
NEAR_BEST, BEHIND = 1.05, 1.03  # wanted: of the best in most cells, and of the MPI library's own choice in all


@dataclass(frozen=True)
class Checked:
    """What the file's choice takes at one size, in terms of the MPI library's own choice and of the best that was
    measured beside it: low end, median and high end."""

    rule: Rule
    evidence: Evidence
    ran: dict[str, int]
    to_native: tuple[float, float, float]
    to_best: tuple[float, float, float]
    best: str

    @property
    def is_near_best(self) -> bool:
        return self.to_best[0] <= 1 or self.to_best[1] <= NEAR_BEST

    @property
    def is_behind(self) -> bool:
        return self.to_native[0] > 1 and self.to_native[1] > BEHIND


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stretto tune check",
        usage="%(prog)s FILE [options] [-- LAUNCHER ...]",
        description=__doc__,
        epilog=_HELP,
        allow_abbrev=False,
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=2, help="of delays and order (default: %(default)s)")
    parser.add_argument("--nodes", type=int, metavar="N", help="on an emulated cluster of N nodes")
    parser.add_argument("--rate", default="1gbit", help="with --nodes: of each node's link (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured again")
    return parser


def _rivals(evidence: Evidence) -> list[str]:
    near = [name for name, figure in evidence.figures.items()
            if is_choosable(name) and name not in evidence.dropped and figure.to_best[1] <= _NEAR]  # fmt: skip
    near.sort(key=lambda name: evidence.figures[name].to_best[1])
    return [name for name in near if name not in (PASSED_ON, "default")][:_MOST]


def measure_rules(rules: Rules, measurer: Measurer) -> Iterator[Checked]:
    """Each size of each rule, under STRETTO_RULES, which is set."""
    for rule in rules.rules:
        for evidence in rule.measured:
            cell = Cell(rule.collective, rule.ranks, rule.nodes, parse_arrival(evidence.arrival))
            names = (NATIVE, PASSED_ON, "default", *_rivals(evidence))
            observed = measurer.measure(cell, names, [evidence.size], _SECONDS)[evidence.size]
            yield _judge(rule, evidence, observed)


def _judge(rule: Rule, evidence: Evidence, observed: Observed) -> Checked:
    figures = observed.figures()
    ours = figures["default"]
    return Checked(rule, evidence, observed.ran["default"], ours.to_native, ours.to_best, observed.best)


def _as_json(each: Checked) -> dict[str, Any]:
    rule = each.rule
    return {"collective": rule.collective, "ranks": rule.ranks, "nodes": rule.nodes, "bytes": each.evidence.size,
            "arrival": each.evidence.arrival, "rule": rule.algorithm, "ran": each.ran, "to_native": each.to_native,
            "to_best": each.to_best, "best": each.best}  # fmt: skip


def _table(checked: Sequence[Checked]) -> Table:
    table = Table(title="measured again", title_justify="left")
    for heading in ("calls", "bytes", "arrival", "what ran", "/ native", "/ best", "best"):
        table.add_column(heading, no_wrap=True)
    for each in checked:
        rule, native, best = each.rule, format_interval(each.to_native), format_interval(each.to_best)
        table.add_row(
            f"{rule.collective}, {rule.ranks} ranks on {rule.nodes} nodes",
            format_size(each.evidence.size),
            each.evidence.arrival,
            format_ran(each.ran),
            f"[red]{native}[/red]" if each.is_behind else native,
            best if each.is_near_best else f"[yellow]{best}[/yellow]",
            each.best,
        )
    return table


def _check_here(
    rules: Rules, launcher: list[str], arguments: argparse.Namespace, console: Console, nodes: Nodes | None
) -> int:
    os.environ["STRETTO_RULES"] = str(arguments.file.absolute())
    measurer = Measurer(shlex.join(launcher), None, arguments.seed, None, nodes)
    with Console(stderr=True).status("measuring again"):
        checked = list(measure_rules(rules, measurer))
    console.print(_table(checked))
    if arguments.json is not None:
        write_json(arguments.json, {"machine": describe_machine(), "cells": [_as_json(each) for each in checked]})
    near = sum(each.to_best[1] <= NEAR_BEST for each in checked)
    unsure = sum(each.to_best[1] > NEAR_BEST and each.to_best[0] <= 1 for each in checked)
    behind = sum(each.is_behind for each in checked)
    console.print(
        f"of {len(checked)} cells {near} are within {NEAR_BEST - 1:.0%} of the best, {unsure} more cannot be told "
        f"apart from it; {behind} are more than {BEHIND - 1:.0%} behind the MPI library's own choice"
    )
    return 1 if behind else 0


def _run(arguments: argparse.Namespace, launcher: list[str]) -> int:
    rules = read_rules(arguments.file)
    if arguments.json is not None:
        check_folder(arguments.json, f"--json {arguments.json}")
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    on, cpu = rules.measured, describe_machine()["cpu"] or "unknown"
    if launcher or arguments.nodes:
        words, _ = split_launcher(launcher or ["mpirun"])
        with cluster_if(arguments.nodes, arguments.rate) as nodes:
            return _check_here(rules, words, arguments, console, nodes)
    show_rules(rules, console)
    console.print(f"{len(rules.rules)} rules, measured with {on['mpi']} on {on['cores']} cores of {on['cpu']}, "
                  f"{on['date']}")  # fmt: skip
    if on["cpu"] != cpu:
        raise StrettoError(f"{arguments.file}: this machine has {cpu}: Stretto leaves the file out here, and says so")
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 it can be used, 1 it is behind the MPI library's own choice, 2 it cannot be used."""
    own, launcher = split_at_dashes(argv)
    return run_command(_build_parser(), lambda arguments: _run(arguments, launcher), own)
