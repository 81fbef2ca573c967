"""`stretto bench --quick`: where Stretto wins and loses against the best that the MPI library can be forced to."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from stretto.bench.launch import describe_machine, mpi_name, run_request
from stretto.bench.report import (
    SizeSummary,
    format_ratio,
    format_size,
    format_time,
    late_notes,
    metric_table,
    result_as_json,
    summarise,
    write_json,
)
from stretto.bench.request import VARIANT_PREFIX, Request, parse_arrival, parse_sizes
from stretto.bench.stats import METRICS, Estimate
from stretto.cluster.namespaces import Nodes
from stretto.launch.launchers import identify
from stretto.progress import measuring

OURS = "default"
SCHEMA_VERSION = 1
FEWEST_ITERATIONS = 10  # below, a bootstrap interval is no interval
RANKS = 4
SIZES = "8,4K,64K,1M"
# Even arrivals are judged by what a rank spends in the call, uneven ones by what is left once the last has come.
PATTERNS = (("balanced", "elapsed", 60), ("uniform:2ms", "lag", 40))
COLLECTIVES = ("allreduce", "reduce", "bcast", "barrier")
CLUSTER_PATTERNS = ("uniform:20ms", "one-late:20ms")
CLUSTER_DRAWS = 40


@dataclass(frozen=True)
class Contest:
    """One collective at one size under one pattern. Times in ns; ratio: ours to the best of the MPI library's own."""

    collective: str
    arrival: str
    metric: str
    size: int
    best: str
    best_time: Estimate
    ours_time: Estimate
    ratio: Estimate
    ran: dict[str, int]
    iterations: int  # that counted
    discarded: int  # that started late

    @property
    def outcome(self) -> str:
        """By the 95 % interval of the ratio: it must leave 1 out. Of very few calls it tells nothing."""
        if self.iterations < FEWEST_ITERATIONS:
            return "unknown"
        if not self.ratio.excludes_one:
            return "even"
        return "win" if self.ratio.high < 1 else "loss"


def requests() -> list[tuple[Request, str]]:
    """What is measured, and by which metric it is judged."""
    found = []
    for arrival, metric, iterations in PATTERNS:
        for collective in COLLECTIVES:
            sizes = (0,) if collective == "barrier" else parse_sizes(SIZES)
            request = Request(
                collective,
                ("native", f"{VARIANT_PREFIX}*", OURS),
                sizes,
                (iterations,) * len(sizes),
                ranks=RANKS,
                arrival=parse_arrival(arrival),
            )
            found.append((request, metric))
    return found


def judge(request: Request, metric: str, summary: SizeSummary) -> Contest:
    ours = summary.algorithms[OURS]
    best = summary.best_native.get(metric, "native")  # where the MPI library can be forced to nothing
    return Contest(
        request.collective,
        request.arrival.text,
        metric,
        summary.size,
        best,
        summary.algorithms[best].times[metric],
        ours.times[metric],
        ours.best_ratios.get(metric, ours.ratios[metric]),
        ours.ran,
        summary.iterations,
        summary.discarded,
    )


def contest_table(contests: Sequence[Contest], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in ("what", "bytes", "best native", "", "Stretto", "ratio", "outcome"):
        table.add_column(
            heading, justify="left" if heading in ("what", "best native", "outcome") else "right", no_wrap=True
        )
    previous = ""
    colours = {"win": "green", "loss": "red", "even": "dim", "unknown": "yellow"}
    for contest in contests:
        what = f"{contest.collective}, {contest.arrival}: {METRICS[contest.metric].partition(',')[0]}"
        if what != previous:
            table.add_section()
        colour = colours[contest.outcome]
        table.add_row(
            what if what != previous else "",
            format_size(contest.size),
            contest.best.removeprefix(VARIANT_PREFIX),
            format_time(contest.best_time.value),
            format_time(contest.ours_time.value),
            format_ratio(contest.ratio),
            f"[{colour}]{contest.outcome}[/{colour}]",
        )
        previous = what
    return table


# Of what the MPI library can be forced to at 1 MB, what could win; the rest would take most of the time.
_NATIVE_ALLREDUCE = {
    "openmpi": ("native:ring", "native:rabenseifner", "native:recursive_doubling"),
    "mpich": ("native:reduce_scatter_allgather", "native:recursive_doubling"),
}


def cluster_requests(ranks: int, family: str) -> list[Request]:
    """What is measured on an emulated cluster: bound by its network, with draws enough that they do not matter."""
    contenders = {
        "gather": ("native:*",),
        "scatter": ("native:*",),
        "allreduce": (*_NATIVE_ALLREDUCE.get(family, ()), "recursive_doubling", "rabenseifner", "ring"),
    }
    return [
        Request(
            collective,
            ("native", *algorithms),
            (1 << 20 if collective == "allreduce" else 1 << 18,),
            (CLUSTER_DRAWS,),
            ranks=ranks,
            arrival=parse_arrival(arrival),
            warm_up=1,
            root=0,
        )
        for collective, algorithms in contenders.items()
        for arrival in CLUSTER_PATTERNS
    ]


def show_on_cluster(console: Console, mpirun: str, timeout_seconds: float, output: Path | None, nodes: Nodes) -> int:
    """Measures and prints the completion lag of gather, scatter and allreduce, one rank a node."""
    machine = describe_machine()
    results = []
    _, family = identify(shlex.split(mpirun)[0], os.environ)
    for request in cluster_requests(len(nodes.names), family or ""):
        run = run_request(request, mpirun, timeout_seconds, nodes=nodes)
        summaries = [summarise(result, run.request) for result in run.sizes]
        console.print(f"{request.collective}, {len(nodes.names)} nodes, {nodes.rate}, {request.arrival.text}, "
                      f"{mpi_name(run.setup)}", highlight=False)  # fmt: skip
        console.print(metric_table("lag", run, summaries))
        results.append(result_as_json(run, summaries, machine, nodes))
    console.print(f"{nodes.drops()} packets were dropped", highlight=False)
    if output is not None:
        write_json(output, {"schema_version": SCHEMA_VERSION, "nodes": len(nodes.names), "rate": nodes.rate,
                            "results": results})  # fmt: skip
    return 0


def show_quick(
    console: Console, mpirun: str, timeout_seconds: float, output: Path | None, nodes: Nodes | None = None
) -> int:
    """Measures and prints all contests. Exit code 0 whatever the outcomes."""
    if nodes is not None:
        return show_on_cluster(console, mpirun, timeout_seconds, output, nodes)
    machine = describe_machine()
    contests: list[Contest] = []
    setup = {}
    for request, metric in requests():
        with measuring(request.collective, request.iterations) as watcher:
            run = run_request(request, mpirun, timeout_seconds, watcher)
        setup = run.setup
        summaries = [summarise(result, run.request) for result in run.sizes]
        contests += [judge(run.request, metric, summary) for summary in summaries]
        for note in (*run.warnings, *late_notes(summaries)):
            what = f"{request.collective}, {request.arrival.text}"
            console.print(f"note: {what}: {note}", style="yellow", highlight=False)
    where = f"{RANKS} ranks on {machine['cores']} cores ({machine['cpu']}), {mpi_name(setup)}"
    console.print(contest_table(contests, where))
    counts = ", ".join(
        f"{sum(contest.outcome == outcome for contest in contests)} {words}"
        for outcome, words in (("win", "wins"), ("even", "even"), ("loss", "losses"), ("unknown", "unknown"))
        if outcome != "unknown" or any(contest.outcome == outcome for contest in contests)
    )
    console.print(
        f"{counts}. Best native: of all that the MPI library can be forced to that with the least median here, which "
        "favours it. A win or a loss: the 95 % interval of the paired ratio leaves 1 out.",
        highlight=False,
    )
    if output is not None:
        rows = [dataclasses.asdict(contest) | {"outcome": contest.outcome} for contest in contests]
        write_json(output, {"schema_version": SCHEMA_VERSION, "machine": machine, "setup": setup, "contests": rows})
    return 0
