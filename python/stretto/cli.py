"""The `stretto` command."""

import dataclasses
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stretto import __version__
from stretto.algorithms import COLLECTIVES, Algorithm, load_registry
from stretto.cluster.command import app as cluster_app
from stretto.errors import StrettoError
from stretto.launch.processes import leave_when_ended
from stretto.launch.run import build_command, collect_settings, execute, prepare_profile
from stretto.library import FAMILIES
from stretto.tune.choices import check_rules

app = typer.Typer(
    help="MPI collectives that do not wait for latecomers, for unmodified programs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

app.add_typer(cluster_app, name="cluster")
# Commands whose modules read their options themselves.
_WITH_OWN_OPTIONS = {
    "bench": "stretto.bench.command",
    "model": "stretto.simulate.model",
    "sim": "stretto.simulate.sim",
    "tune": "stretto.tune.command",
}
_OWN_OPTIONS: dict[str, Any] = {
    "context_settings": {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    "add_help_option": False,
}
_ALGORITHM_HELP = "an algorithm's name, `native`, or `default` (see `stretto algorithms`)"


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"stretto {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """MPI collectives that do not wait for latecomers, for unmodified programs."""


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    command: Annotated[list[str], typer.Argument(help="a launcher and its arguments, or a program", metavar="COMMAND")],
    allreduce: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    reduce: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    bcast: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    barrier: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    scatter: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    gather: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    scatterv: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    gatherv: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    allgather: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    allgatherv: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    reduce_scatter_block: Annotated[
        str | None, typer.Option("--reduce_scatter_block", help=_ALGORITHM_HELP, metavar="NAME")
    ] = None,
    reduce_scatter: Annotated[
        str | None, typer.Option("--reduce_scatter", help=_ALGORITHM_HELP, metavar="NAME")
    ] = None,
    alltoall: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    alltoallv: Annotated[str | None, typer.Option(help=_ALGORITHM_HELP, metavar="NAME")] = None,
    profile: Annotated[
        str | None, typer.Option(help="record every collective there, for `stretto report`", metavar="DIR")
    ] = None,
    rules: Annotated[
        str | None, typer.Option(help="choose by what `stretto tune` has measured", metavar="FILE")
    ] = None,
    native: Annotated[
        bool, typer.Option("--native", help="leave collectives not named here to the MPI; with --profile: only watch")
    ] = False,
    deterministic: Annotated[bool, typer.Option("--deterministic", help="same bits in every run")] = False,
    adapt: Annotated[bool, typer.Option("--adapt", help="choose native or ours by what calls have taken")] = False,
    memory: Annotated[
        str | None, typer.Option(help="with --adapt or --watch: keep what they learn for later runs", metavar="DIR")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="say at the end what Stretto has saved")] = False,
    check: Annotated[bool, typer.Option("--check", help="compare the ranks' calls before each is made")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="say at the end which algorithms ran")] = False,
    mpi: Annotated[str | None, typer.Option(help=f"the program's MPI: {', '.join(FAMILIES)}", metavar="MPI")] = None,
) -> None:
    """Run an MPI program under Stretto: stretto run -- mpirun -n 4 ./program."""
    if mpi is not None and mpi not in FAMILIES:
        raise StrettoError(f"--mpi={mpi}: no such MPI; choose from {', '.join(FAMILIES)}")
    named = {
        "allreduce": allreduce,
        "reduce": reduce,
        "bcast": bcast,
        "barrier": barrier,
        "scatter": scatter,
        "gather": gather,
        "scatterv": scatterv,
        "gatherv": gatherv,
        "allgather": allgather,
        "allgatherv": allgatherv,
        "reduce_scatter_block": reduce_scatter_block,
        "reduce_scatter": reduce_scatter,
        "alltoall": alltoall,
        "alltoallv": alltoallv,
    }
    given = {
        f"STRETTO_{collective.upper()}": "native" if native and choice is None else choice
        for collective, choice in named.items()
    } | {
        "STRETTO_DETERMINISTIC": "1" if deterministic else None,
        "STRETTO_ADAPT": "on" if adapt else "watch" if watch else None,
        "STRETTO_MEMORY": None if memory is None else str(Path(memory).absolute()),
        "STRETTO_CHECK": "1" if check else None,
        "STRETTO_VERBOSE": "1" if verbose else None,
        "STRETTO_RULES": None if rules is None else str(Path(rules).absolute()),
        "STRETTO_PROFILE": None if profile is None else str(Path(profile).absolute()),
    }
    if rules is not None:
        check_rules(rules)
    final, environment = build_command(command, collect_settings(os.environ, given), os.environ, mpi)
    if profile is not None:
        prepare_profile(profile)
    execute(final, environment)


@app.command()
def algorithms(
    collective: Annotated[str | None, typer.Argument(help=f"one of {', '.join(COLLECTIVES)}; all if left out")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of tables")] = False,
) -> None:
    """List the algorithms of a collective, or of all."""
    if collective is not None and collective not in COLLECTIVES:
        raise StrettoError(f"{collective}: no such collective; choose from {', '.join(COLLECTIVES)}")
    chosen = [entry for entry in load_registry() if collective in (None, entry.collective)]
    if as_json:
        print(json.dumps([dataclasses.asdict(entry) for entry in chosen], indent=2))
        return
    console = Console()
    for name in dict.fromkeys(entry.collective for entry in chosen):
        console.print(_algorithm_table(name, [entry for entry in chosen if entry.collective == name]))
    console.print("Every collective also takes `native` (the MPI library's own) and `default` (Stretto's choice).")


def _algorithm_table(title: str, entries: list[Algorithm]) -> Table:
    """One collective's algorithms. Limits and source stand below the summary, to fit 80 columns."""
    table = Table(title=title, title_justify="left", show_lines=True)
    table.add_column("algorithm", no_wrap=True)
    table.add_column("what it does", ratio=3)
    table.add_column("cost, balanced", ratio=2)
    table.add_column("after the last came", ratio=2)
    for entry in entries:
        limits = [
            text
            for holds, text in (
                (entry.needs_shared_memory, "ranks of one node"),
                (entry.needs_atomics, "one-sided atomics"),
                (entry.commutative_only, "commutative operations"),
                (not entry.deterministic, "order of summation varies"),
            )
            if holds
        ]
        details = "; ".join([*limits, entry.source])
        table.add_row(
            entry.name,
            f"{escape(entry.summary)}\n[dim]{escape(details)}[/dim]",
            entry.cost_balanced,
            entry.cost_after_last,
        )
    return table


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="what `stretto run --profile` wrote", metavar="DIR")],
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of tables")] = False,
    html: Annotated[
        Path | None, typer.Option(help="for a browser (default: DIR/report.html, none with --json)", metavar="FILE")
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="write the figures there as PNG and SVG", metavar="DIR")] = None,
) -> None:
    """Show which collectives cost the time, and who waits for whom."""
    from stretto.report.command import report as show

    show(directory, as_json, html, plots)


@app.command()
def export(
    directory: Annotated[Path, typer.Argument(help="what `stretto run --profile` wrote", metavar="DIR")],
    format_name: Annotated[str, typer.Option("--format", help="csv, parquet or perfetto", metavar="FORMAT")],
    output: Annotated[Path, typer.Option(help="the file to write", metavar="FILE")],
) -> None:
    """Write a profile as a table, one row a record, or as a trace for ui.perfetto.dev."""
    from stretto.export.command import export as write

    write(directory, format_name, output)


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(help="a profile", metavar="A")],
    b: Annotated[Path, typer.Argument(help="another one", metavar="B")],
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of tables")] = False,
) -> None:
    """Compare two profiles: what each collective costs in them, and who waits for whom."""
    from stretto.report.diff import diff as show

    show(a, b, as_json)


@app.command()
def topo(
    file: Annotated[Path | None, typer.Argument(help="what describes the network", metavar="FILE")] = None,
    here: Annotated[bool, typer.Option("--here", help="the inside of this machine, by hwloc")] = False,
    form: Annotated[
        str | None,
        typer.Option(help="ibnetdiscover, opareport, slurm, simple or hwloc (default: seen)", metavar="FORM"),
    ] = None,
    hosts: Annotated[
        Path | None, typer.Option(help="place ranks as mpirun does with this hostfile", metavar="HOSTFILE")
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(help="place ranks: the host of each, n0,n1,n0, or a file of lines", metavar="HOSTS")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="write a topology.conf, as STRETTO_TOPOLOGY takes it", metavar="FILE")
    ] = None,
    draw: Annotated[Path | None, typer.Option(help="draw the network as SVG", metavar="FILE")] = None,
    matrix: Annotated[Path | None, typer.Option(help="write distances as CSV", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON instead of a tree")] = False,
) -> None:
    """Show the switches between nodes, from a file of the network's own tools, and where ranks are."""
    from stretto.topology.command import topo as show

    show(file, here, form, hosts, ranks, output, draw, matrix, as_json)


@app.command(**_OWN_OPTIONS)
def bench(context: typer.Context) -> None:
    """Measure algorithms against the MPI library's own, interleaved in one run (see stretto bench --help)."""
    _hand_over("bench", context.args)


@app.command(**_OWN_OPTIONS)
def model(context: typer.Context) -> None:
    """Predict algorithms on thousands of ranks by a simple model, in seconds (see stretto model --help)."""
    _hand_over("model", context.args)


@app.command(**_OWN_OPTIONS)
def sim(context: typer.Context) -> None:
    """Run algorithms, and MPI libraries' own, on a simulated cluster: SimGrid (see stretto sim --help)."""
    _hand_over("sim", context.args)


@app.command(**_OWN_OPTIONS)
def tune(context: typer.Context) -> None:
    """Measure what messages, copies and sums take on this machine (see stretto tune --help)."""
    _hand_over("tune", context.args)


def _hand_over(command: str, arguments: list[str]) -> None:
    """Leave the rest to the command's module, imported only now since nothing else needs it."""
    sys.exit(importlib.import_module(_WITH_OWN_OPTIONS[command]).main(arguments))


@app.command()
def reproduce(
    figure: Annotated[str, typer.Argument(help="a figure of the thesis, such as 5.4, or `all`", metavar="FIGURE")],
    ranks: Annotated[int, typer.Option(help="MPI ranks", min=2)] = 4,
    mpirun: Annotated[str, typer.Option(help="the launcher and options of its own")] = "mpirun",
    timeout: Annotated[float, typer.Option(help="seconds for each pattern of a figure")] = 600,
    as_json: Annotated[Path | None, typer.Option("--json", help="write the measurements", metavar="FILE")] = None,
    markdown: Annotated[Path | None, typer.Option(help="write published and measured there", metavar="FILE")] = None,
) -> None:
    """Measure a published figure again, and show it beside what was published."""
    from stretto.reproduce import reproduce as run

    run(figure, ranks, mpirun, timeout, as_json, markdown)


@app.command()
def demo(
    rounds: Annotated[int, typer.Option(help="runs of each kind, in alternation", min=1)] = 4,
    steps: Annotated[int, typer.Option(help="training steps a run", min=10)] = 100,
    ranks: Annotated[int, typer.Option(help="MPI ranks", min=2)] = 4,
) -> None:
    """Train a small network natively and under Stretto in turn, and show who waited how long."""
    from stretto.demo import run_demo

    sys.exit(run_demo(rounds=rounds, steps=steps, ranks=ranks))


def main() -> None:
    """Entry point: errors for the user become a message on stderr and exit code 2, or 1 where a program failed."""
    leave_when_ended()  # `stretto run` becomes another program, which begins with the defaults
    try:
        if sys.argv[1:2] and sys.argv[1] in _WITH_OWN_OPTIONS:  # past the option parser, which would eat a `--`
            _hand_over(sys.argv[1], sys.argv[2:])
        app(standalone_mode=True)
    except StrettoError as error:
        print(f"stretto: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
