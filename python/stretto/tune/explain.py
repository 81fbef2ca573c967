"""`stretto tune explain`: which algorithm serves a call, and why."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from stretto.algorithms import COLLECTIVES
from stretto.bench.arguments import run_command
from stretto.bench.report import format_size, format_time
from stretto.bench.request import UsageError, parse_size, parse_time_ns
from stretto.tune.choices import NONE, Answer, ask_choices
from stretto.tune.fabrics import fabrics, machine_file
from stretto.tune.rules import EVEN, UNEVEN, Evidence, Rule, Rules, read_rules


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stretto tune explain", description=__doc__, allow_abbrev=False)
    parser.add_argument("collective", choices=COLLECTIVES)
    parser.add_argument("size", help="of the message, or of a block, such as 64K; 0 for a barrier")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--nodes", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--imbalance", default="0",
                        help="how far apart ranks come: a time, such as 2ms, or times what the call takes")  # fmt: skip
    parser.add_argument("--rules", metavar="FILE", help="(default: STRETTO_RULES)")
    parser.add_argument("--machine", metavar="FILE",
                        help=f"or a usual network: {', '.join(fabrics())} (default: STRETTO_MACHINE)")  # fmt: skip
    return parser


def _named(given: str | None, variable: str) -> str | None:
    return given or os.environ.get(variable) or None


def _find_evidence(rules: Rules, collective: str, answer: Answer) -> tuple[Rule, Evidence] | None:
    """The rule that counts, and what was measured nearest to that size; None where nothing was."""
    arrivals = UNEVEN if answer.uneven else EVEN
    known = rules.of(collective, answer.rule_ranks, answer.rule_nodes, arrivals)
    counting = [rule for rule in known if rule.from_bytes <= answer.bytes and rule.measured]
    if not counting:
        return None
    nearest = min(counting[-1].measured, key=lambda each: abs(max(each.size, 1) / max(answer.bytes, 1) - 1))
    return counting[-1], nearest


def _skew_ns(text: str, ask: Callable[[int], Answer], rules: Rules | None, collective: str) -> int:
    """How far apart ranks arrive; in terms of what the call takes, where that was measured."""
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        return parse_time_ns(text)
    if float(text) == 0:
        return 0
    found = _find_evidence(rules, collective, ask(0)) if rules else None
    if found is None:
        raise UsageError(f"--imbalance {text}: nobody has measured what the call takes: write a time, such as 2ms")
    return round(float(text) * found[1].figures["native"].ns)


def _table(evidence: Evidence) -> Table:
    table = Table(title=f"measured at {format_size(evidence.size)}, {evidence.arrival}, {evidence.calls} calls each",
                  title_justify="left")  # fmt: skip
    for heading in ("algorithm", "takes", "/ native", "/ best", ""):
        table.add_column(heading)
    for name, figure in sorted(evidence.figures.items(), key=lambda item: item[1].ns):
        ratios = [f"{middle:.2f} ({low:.2f}-{high:.2f})" for low, middle, high in (figure.to_native, figure.to_best)]
        table.add_row(name, format_time(figure.ns), *ratios, "dropped early" if name in evidence.dropped else "")
    return table


def _predictions(answer: Answer) -> Table:
    how = "apart" if answer.apart else "together"
    table = Table(title=f"predicted, ranks come {how}", title_justify="left")
    for heading in ("algorithm", "takes"):
        table.add_column(heading)
    for name, ns in sorted(answer.predicted_ns.items(), key=lambda item: item[1])[:8]:
        table.add_row(name, format_time(ns))
    return table


def _run(arguments: argparse.Namespace) -> int:
    with machine_file(_named(arguments.machine, "STRETTO_MACHINE")) as machine:
        return _explain(arguments, machine)


def _explain(arguments: argparse.Namespace, machine: Path | None) -> int:
    if arguments.ranks < 2 or not 1 <= arguments.nodes <= arguments.ranks:
        raise UsageError("--ranks must be at least 2, and --nodes from 1 to as many")
    size = parse_size(arguments.size)
    rules_file = _named(arguments.rules, "STRETTO_RULES")
    rules = read_rules(Path(rules_file)) if rules_file else None

    def ask(skew_ns: int) -> Answer:
        files = str(rules_file or NONE), str(machine or NONE)
        return ask_choices(*files, arguments.collective, arguments.ranks, arguments.nodes, skew_ns, [size])[0]

    answer = ask(_skew_ns(arguments.imbalance, ask, rules, arguments.collective))
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(f"{arguments.collective} of {format_size(size)}, {arguments.ranks} ranks on {arguments.nodes} nodes, "
                  f"{'uneven' if answer.apart else 'even'}: {answer.chosen}")  # fmt: skip
    found = _find_evidence(rules, arguments.collective, answer) if rules else None
    if found:
        rule, evidence = found
        console.print(f"by the rule of {rules_file} for {rule.ranks} ranks on {rule.nodes} nodes, {rule.arrivals}, "
                      f"from {rule.from_bytes} bytes on: {rule.algorithm}; without it {answer.untuned}")  # fmt: skip
        console.print(_table(evidence))
    else:
        how = {"prediction": "predicted for the machine" if machine else "predicted for a usual cluster"}
        why = "no rule of the file is for such calls; " if rules else ""
        console.print(f"{why}{how.get(answer.by, 'by the default of ranks that share memory')}")
    if answer.predicted_ns:
        console.print(_predictions(answer))
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 told, 2 what is asked, or a file, cannot be read."""
    return run_command(_build_parser(), _run, argv)
