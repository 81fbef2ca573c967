"""`stretto cluster`: the command line of emulated clusters."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from stretto.cluster.namespaces import Nodes, all_up, bring_down, bring_up, cluster, find
from stretto.errors import StrettoError
from stretto.launch.processes import leave_when_ended

app = typer.Typer(
    help="An emulated cluster on this machine: nodes of namespaces, a network of a given rate.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_DEFAULT_RATE = "1gbit"
_RATE_HELP = "of each node, in each direction: 200mbit, 1gbit and the like; 0 for no limit"

Name = Annotated[str, typer.Option(help="which cluster, where there are several", metavar="NAME")]


@app.callback()
def prepare() -> None:
    """An emulated cluster on this machine: nodes of namespaces, a network of a given rate."""
    leave_when_ended()


@app.command()
def up(
    nodes: Annotated[int, typer.Argument(help="how many nodes: node0, node1 ...", metavar="NODES")],
    rate: Annotated[str, typer.Option(help=_RATE_HELP, metavar="RATE")] = _DEFAULT_RATE,
    name: Name = "default",
) -> None:
    """Make a cluster that stays until `stretto cluster down`."""
    made = bring_up(name, nodes, rate)
    print(f"cluster {name}: {made.names[0]} to {made.names[-1]}, {_said(rate)}")


@app.command()
def down(name: Name = "default") -> None:
    """End a cluster, with everything that runs on it; also what was left of one."""
    bring_down(name)


@app.command()
def status(
    name: Annotated[str | None, typer.Option(help="only this cluster; all if left out", metavar="NAME")] = None,
) -> None:
    """List the clusters that are up."""
    found = all_up() if name is None else [find(name)]
    if not found:
        print("no cluster is up")
        return
    table = Table("cluster", "nodes", "rate", "packets dropped")
    for nodes in found:
        table.add_row(nodes.name, f"{nodes.names[0]} to {nodes.names[-1]}", _said(nodes.rate), str(nodes.drops()))
    Console().print(table)


@app.command()
def rate(
    value: Annotated[str, typer.Argument(help=_RATE_HELP, metavar="RATE")],
    name: Name = "default",
) -> None:
    """Give the network of a cluster another rate."""
    find(name).set_rate(value)


@app.command("exec", context_settings={"allow_interspersed_args": False})
def execute(
    node: Annotated[str, typer.Argument(help="the node: node3 or 3", metavar="NODE")],
    command: Annotated[list[str], typer.Argument(help="what to run there", metavar="COMMAND")],
    name: Name = "default",
) -> None:
    """Run a command in one node. What it leaves running ends with it."""
    result = find(name).execute(f"node{node}" if node.isdigit() else node, command)
    raise typer.Exit(result.returncode)


@app.command(context_settings={"allow_interspersed_args": False})
def run(
    program: Annotated[list[str], typer.Argument(help="an MPI program and its arguments", metavar="PROGRAM")],
    ranks: Annotated[int | None, typer.Option(help="on the nodes in turn (default: one a node)", metavar="N")] = None,
    nospin: Annotated[
        bool | None,
        typer.Option("--nospin/--no-nospin", help="idle ranks sleep (default: where no two ranks share a node)"),
    ] = None,
    stretto: Annotated[bool, typer.Option("--stretto", help="under Stretto, with the STRETTO_* that are set")] = False,
    preload: Annotated[list[Path] | None, typer.Option(help="preload this library, too", metavar="LIBRARY")] = None,
    x: Annotated[
        list[str] | None, typer.Option("-x", help="set a variable for the ranks", metavar="VARIABLE=VALUE")
    ] = None,
    mpirun: Annotated[str, typer.Option(help="the launcher and options of its own", metavar="MPIRUN")] = "mpirun",
    nodes: Annotated[
        int | None, typer.Option(help="make a cluster of so many nodes for this run alone", metavar="NODES")
    ] = None,
    rate: Annotated[str | None, typer.Option(help=f"with --nodes: {_RATE_HELP}", metavar="RATE")] = None,
    name: Name = "default",
) -> None:
    """Run an MPI program on a cluster: stretto cluster run --nodes 8 --rate 1gbit -- ./program."""
    if rate is not None and nodes is None:
        raise StrettoError("--rate needs --nodes; for a cluster that is up use `stretto cluster rate`")
    environment = _variables(x or [])

    def start(made: Nodes) -> int:
        return made.run(
            program,
            ranks=ranks,
            nospin=nospin,
            stretto=stretto,
            preload=preload or [],
            mpirun=mpirun,
            environment=environment,
        ).returncode

    if nodes is None:
        raise typer.Exit(start(find(name)))
    with cluster(nodes, _DEFAULT_RATE if rate is None else rate) as made:
        code = start(made)
    raise typer.Exit(code)


def _variables(words: list[str]) -> dict[str, str]:
    """NAME=VALUE, or NAME for the value that it has: every variable of ours reaches the ranks anyway."""
    found = {}
    for word in words:
        variable, equals, value = word.partition("=")
        if not variable or not (equals or variable in os.environ):
            raise StrettoError(f"-x {word}: write -x NAME=VALUE, or -x NAME where NAME is set")
        found[variable] = value if equals else os.environ[variable]
    return found


def _said(rate: str) -> str:
    return "no limit" if rate == "0" else rate
