"""Tuning from the launcher to the file: what both ways to ask for it have in common."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import stretto
from stretto.algorithms import COLLECTIVES
from stretto.bench.launch import describe_machine
from stretto.bench.request import Arrival, UsageError, check_folder, parse_time_ns
from stretto.cluster import Nodes, cluster_if
from stretto.launch.launchers import understand
from stretto.tune.measure import Measurer, OutOfBudgetError
from stretto.tune.rules import Rule, Rules, write_rules
from stretto.tune.show import show_rules
from stretto.tune.tuning import Calls, Share, tune_calls

_COUNTS = ("n", "np", "c", "ntasks")  # of ranks, as launchers name it

FindCalls = Callable[[Measurer], tuple[list[Calls], list[Arrival]]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `tune_session` reads."""
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="(default: rules.toml, or machine.toml)")
    parser.add_argument("--budget", help="such as 5m: what is not measured by then is left to the default")
    parser.add_argument("--seed", type=int, default=1, help="of delays and order (default: %(default)s)")
    parser.add_argument("--nodes", type=int, metavar="N", help="on an emulated cluster of N nodes")
    parser.add_argument("--rate", default="1gbit", help="with --nodes: of each node's link (default: %(default)s)")


def split_at_dashes(argv: list[str]) -> tuple[list[str], list[str]]:
    """Our own words, and the launcher's behind `--`: argparse takes these for ours where options stand before them."""
    place = argv.index("--") if "--" in argv else len(argv)
    return argv[:place], argv[place + 1 :]


def parse_budget_s(text: str) -> float:
    """`5m`, `1h30m` or `90s` in seconds. Raises UsageError."""
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if not text or match is None:
        with contextlib.suppress(UsageError):
            return parse_time_ns(text) * 1e-9
        raise UsageError(f"--budget {text}: write hours, minutes and seconds, such as 5m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return 3600.0 * hours + 60.0 * minutes + seconds


def split_launcher(launcher: list[str]) -> tuple[list[str], int | None]:
    """The launcher without its number of ranks, and that number, where it has one. Raises StrettoError."""
    nobody = "no-program-behind-it"
    understood = understand([*launcher, nobody], os.environ)
    if understood.kind == "direct" or len(understood.contexts) != 1 or understood.contexts[0].program != nobody:
        what = "name a launcher, such as mpirun -n 8, with no option that Stretto does not know, and no program"
        raise UsageError(f"{shlex.join(launcher)}: {what}")
    context = understood.contexts[0]
    words, ranks = list(context.arguments[:-1]), None
    for option in reversed(context.options):
        if option.name in _COUNTS:
            if not option.values[0].isdecimal():
                raise UsageError(f"{shlex.join(launcher)}: {option.values[0]} is not a number of ranks")
            ranks = ranks or int(option.values[0])
            del words[option.position : option.position + (1 if "=" in words[option.position] else 2)]
    return [*understood.prefix, *words], ranks


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Progress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        progress.add_task("tuning", total=total)
        yield progress


def _measured_on(measurer: Measurer, ranks: int) -> dict[str, object]:
    """As the ranks name it (src/mpi/engine/measured_files.cpp)."""
    setup, machine = measurer.setup(ranks), describe_machine()
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "stretto": stretto.__version__,
        "mpi": setup["mpi_version"],
        "cpu": machine["cpu"] or "unknown",
        "cores": machine["cores"],
        "ranks": ranks,
        "nodes": setup["nodes"],
    }


def _tune(measurer: Measurer, calls: list[Calls], patterns: list[Arrival], output: Path) -> tuple[Rules, list[str]]:
    """The rules that there was time for, which are written after each collective, and what there was none for."""
    share = Share(measurer, sum(len(each.sizes) for each in calls) * len(patterns))
    rules = Rules(_measured_on(measurer, max(each.ranks for each in calls)), [])
    missing: list[str] = []
    with _progress(len(calls)) as progress:
        for each in calls:
            try:
                rules.rules.extend(_tune_one(measurer, each, patterns, share, progress))
            except OutOfBudgetError:
                missing.append(f"{each.collective} of {each.ranks} ranks")
            progress.advance(progress.task_ids[0])
            write_rules(rules, output)
    return rules, missing


def _tune_one(
    measurer: Measurer, calls: Calls, patterns: list[Arrival], share: Share, progress: Progress
) -> list[Rule]:
    def tell(what: str) -> None:
        progress.update(progress.task_ids[0], description=what)

    return tune_calls(measurer, calls, patterns, share, tell)


def _find_rules(
    launcher: list[str], find_calls: FindCalls, seed: int, budget_s: float | None, output: Path, nodes: Nodes | None
) -> int:
    journal = output.with_name(output.name + ".measured")
    deadline = None if budget_s is None else time.monotonic() + budget_s
    measurer = Measurer(shlex.join(launcher), journal, seed, deadline, nodes)
    rules, missing = _tune(measurer, *find_calls(measurer), output)
    console = Console(width=None if sys.stdout.isatty() else 160)
    show_rules(rules, console)
    for said in measurer.wrong:
        console.print(f"left out: {said}", style="red", highlight=False)
    if missing:
        console.print(f"no time was left for {', '.join(missing)}: the same command goes on from here", style="yellow")
    else:
        journal.unlink()
    console.print(f"written to {output}; STRETTO_RULES={output.absolute()} tells Stretto", highlight=False)
    return 0


def tune_session(arguments: argparse.Namespace, launcher: list[str], find_calls: FindCalls) -> int:
    """Measures what `find_calls` asks for, on the launcher's ranks or an emulated cluster's, and writes the rules."""
    output = arguments.output or Path("rules.toml")
    check_folder(output, f"--output {output}")
    os.environ.pop("STRETTO_RULES", None)  # what was found before is not to be measured as the default
    for variable in ("STRETTO_ADAPT", *(f"STRETTO_{collective.upper()}" for collective in COLLECTIVES)):
        if variable in os.environ:
            raise UsageError(f"{variable} is set, so the default is not what it is: unset it")
    os.environ["STRETTO_ADAPT"] = "listen"  # what is chosen by what calls take changes from call to call
    budget_s = None if arguments.budget is None else parse_budget_s(arguments.budget)
    with cluster_if(arguments.nodes, arguments.rate) as nodes:
        return _find_rules(launcher, find_calls, arguments.seed, budget_s, output, nodes)
