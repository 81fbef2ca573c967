"""`stretto sim`: library and benchmark on a cluster that SimGrid simulates, contention of the network included."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from stretto.algorithms import load_registry
from stretto.bench.arguments import build_request, check_collective, check_outputs, make_parser, run_command
from stretto.bench.launch import REPOSITORY, RunResult, run_driver
from stretto.bench.request import Request, UsageError
from stretto.errors import ProgramFailedError, StrettoError
from stretto.launch.processes import run_limited
from stretto.library import built_program
from stretto.simulate.report import WARM_UP, choose_algorithms, choose_iterations, show_simulation

_DRIVER = "stretto-bench-smpi"
_MAPPER = "stretto-map"
_MAPPER_LIMIT_S = 600
_SELECTORS = ("ompi", "mpich", "mvapich2", "impi", "default")
# docs/simulation.md has the reason of each.
_RECIPE = {
    "smpi/simulate-computation": "no",
    "smpi/grow-injected-times": "no",
    "smpi/test": "0",
    "smpi/iprobe": "0",
    "smpi/wtime": "0",
    "smpi/async-small-thresh": "65536",
    "smpi/lat-factor": "0:1",
    "smpi/bw-factor": "0:0.965",
    "contexts/stack-size": "256",
    "network/crosstraffic": "0",
}
# For the communicators that are made and the harness around the calls: selectors name algorithms there that take 10^6
# messages on 1024 ranks. The collective that is measured stays as it was asked for.
_AROUND = {"bcast": "binomial_tree", "barrier": "ompi_recursivedoubling", "allreduce": "rdb", "allgather": "bruck"}
_HELP = """algorithms: those of `stretto algorithms` that work by messages alone, `all` for all of them, and `native`:
the collectives of the MPI library that --selector names, as SimGrid has them, or the one of --native-algorithm. Works
after scripts/build_sim.sh. What the figures can tell: docs/simulation.md."""


@dataclass(frozen=True)
class Platform:
    """A simulated cluster; its nodes are named node-0, node-1, ..., and ranks placed on them by one of PLACEMENTS.

    Where nodes have several sockets, a host of SimGrid is a socket: node-0-0, node-0-1, ...
    """

    file: str
    nodes: int
    ranks_per_node: int
    sockets: int = 1
    placement: str = "by-core"

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node


# Kitor 2022, section 4.4.2: a node is filled before the next, its sockets one after the other or in turn, or each node
# gets one rank in turn.
PLACEMENTS = ("by-core", "by-socket", "by-node")
# Its section 4.4.2, too: where a mapper puts ranks that exchange much. SCOTCH is its reference.
MAPPERS = ("greedy", "scotch")
PLATFORMS = {
    "ethernet-48": Platform("ethernet-48.xml", 48, 1),
    "cluster-32x4": Platform("cluster-32x4.xml", 32, 4),
    "gpus-32x4": Platform("gpus-32x4.xml", 32, 4),
    "fat-tree-128x32": Platform("fat-tree-128x32.so", 128, 32, sockets=2),
}


def _build_parser() -> argparse.ArgumentParser:
    parser = make_parser("sim", __doc__, _HELP, algorithms="native,all")
    parser.add_argument("--platform", choices=tuple(PLATFORMS), default="ethernet-48", help="(default: %(default)s)")
    parser.add_argument("--ranks", type=int, help="on as few nodes as hold them (default: all there are)")
    parser.add_argument(
        "--placement", choices=PLACEMENTS + MAPPERS, default="by-core",
        help="nodes are filled one after another, their sockets too or in turn, or get one rank each in turn, or ranks "
        "are where a mapper puts them for the traffic of the one algorithm that is measured (default: %(default)s)"
    )  # fmt: skip
    parser.add_argument(
        "--selector", choices=_SELECTORS, default="ompi", help="whose choice `native` is (default: %(default)s)"
    )
    parser.add_argument("--native-algorithm", metavar="NAME", help="one of SimGrid's, such as rab1 or lr, for `native`")
    parser.add_argument("--gamma", type=float, default=0.0, help="ns to reduce a byte (default: %(default)s)")
    parser.add_argument("--delta", type=float, default=0.0, help="ns to copy a byte (default: %(default)s)")
    parser.add_argument(
        "--shared-memory",
        action="store_true",
        help="the ranks of a node share memory; what they do there takes --gamma and --delta, so give both",
    )
    return parser


def locate_simulation() -> Path:
    """The folder that scripts/build_sim.sh has built. Raises UsageError where something is missing."""
    folder = Path(os.environ.get("STRETTO_SIM_DIR", REPOSITORY / "build-sim")).resolve()
    if not (folder / "bin" / _DRIVER).is_file():
        raise UsageError(
            f"{folder / 'bin' / _DRIVER} is missing: run scripts/build_sim.sh, which installs SimGrid, too"
        )
    if shutil.which("smpirun") is None:
        raise UsageError("smpirun is not on PATH: run scripts/build_sim.sh, which installs SimGrid")
    return folder


def node_of_rank(rank: int, ranks: int, ranks_per_node: int, placement: str) -> int:
    """The number of a rank's node. All placements use as few nodes as hold all ranks."""
    return rank % -(-ranks // ranks_per_node) if placement == "by-node" else rank // ranks_per_node


def nodes_of_ranks(request: Request, platform: Platform) -> list[int]:
    """The node of each rank under the platform's placement. Raises UsageError where a mapper cannot say."""
    if platform.placement in MAPPERS:
        return nodes_by_mapper(request, platform)
    ranks = range(request.ranks)
    return [node_of_rank(rank, request.ranks, platform.ranks_per_node, platform.placement) for rank in ranks]


def hosts_of_ranks(request: Request, platform: Platform) -> list[str]:
    """The SimGrid host of each rank: its node, or the socket there."""
    nodes = nodes_of_ranks(request, platform)
    if platform.sockets == 1:
        return [f"node-{node}" for node in nodes]
    seen: Counter[int] = Counter()
    hosts = []
    for node in nodes:
        in_turn = platform.placement == "by-socket"
        socket = seen[node] % platform.sockets if in_turn else seen[node] * platform.sockets // platform.ranks_per_node
        hosts.append(f"node-{node}-{socket}")
        seen[node] += 1
    return hosts


def nodes_by_mapper(request: Request, platform: Platform) -> list[int]:
    """The node of each rank, as a mapper chooses for the longest message. Raises UsageError where it cannot."""
    if len(request.algorithms) != 1:
        raise UsageError(
            f"--placement {platform.placement}: ranks are placed for one algorithm: name one by --algorithms"
        )
    try:
        program = built_program(_MAPPER)
    except StrettoError as missing:
        raise UsageError(f"{missing}, after installing SCOTCH (apt: libscotch-dev)") from missing
    words = [request.collective, *request.algorithms, request.ranks, platform.ranks_per_node, max(request.sizes)]
    try:
        output = run_limited([str(program), *map(str, words), platform.placement], os.environ, _MAPPER_LIMIT_S)
    except ProgramFailedError as failed:
        raise UsageError(f"--placement {platform.placement}: {failed}") from failed
    return [int(line) for line in output.splitlines()]


def build_command(
    request: Request, platform: Platform, folder: Path, settings: dict[str, str], output: Path, replay_file: Path
) -> list[str]:
    """The smpirun command. Its copies of the executable, one a rank, go where `output` does."""
    hosts = output.with_name("hosts")
    hosts.write_text("".join(f"{host}\n" for host in hosts_of_ranks(request, platform)))
    environment = [f"TMPDIR={output.parent}"]
    if platform.sockets > 1:  # a host being a socket, the library takes the node for a switch
        topology = output.with_name("topology.conf")
        sockets = f"[0-{platform.sockets - 1}]"
        topology.write_text("".join(f"SwitchName=node-{n} Nodes=node-{n}-{sockets}\n" for n in range(platform.nodes)))
        environment.append(f"STRETTO_TOPOLOGY={topology}")
    return [
        *("env", *environment),
        *("smpirun", "-np", str(request.ranks), "-hostfile", str(hosts)),
        *("-platform", str(folder / "platforms" / platform.file)),
        *(f"--cfg={key}:{value}" for key, value in settings.items()),
        str(folder / "bin" / _DRIVER),
        *request.driver_arguments(output, replay_file),
    ]


def _check(arguments: argparse.Namespace, algorithms: tuple[str, ...], platform: Platform, ranks: int) -> None:
    if ranks > platform.ranks:
        raise UsageError(f"--ranks {ranks}: {arguments.platform} has room for {platform.ranks}")
    for option in ("gamma", "delta"):
        if not 0 <= getattr(arguments, option) < float("inf"):
            raise UsageError(f"--{option} {getattr(arguments, option):g}: must be 0 or more")
    if platform.placement == "by-socket" and platform.sockets == 1:
        raise UsageError(f"--placement by-socket: nodes of {arguments.platform} have one socket; take by-core")
    if arguments.shared_memory and (arguments.gamma == 0 or arguments.delta == 0):
        raise UsageError(
            "--shared-memory: reducing and copying there would cost nothing; give --gamma and --delta, such as 0.08 "
            "and 0.125 for a core that reduces 12 and copies 8 GB/s"
        )
    refused = {
        entry.name
        for entry in load_registry()
        if entry.collective == arguments.collective and entry.needs_shared_memory and entry.name in algorithms
    }
    if refused and not arguments.shared_memory:
        raise UsageError(
            f"--algorithms {', '.join(sorted(refused))}: these need memory that ranks share; add --shared-memory"
        )
    if refused and ranks > platform.ranks_per_node:
        raise UsageError(
            f"--algorithms {', '.join(sorted(refused))}: {ranks} ranks share no memory; give at most "
            f"--ranks {platform.ranks_per_node}, or a hierarchy such as hierarchical({min(refused)},ring)"
        )


def choose_settings(collective: str, selector: str, native_algorithm: str | None = None) -> dict[str, str]:
    """SimGrid's, for a run that measures `collective`."""
    settings = _RECIPE | {"smpi/coll-selector": selector}
    settings |= {f"smpi/{name}": choice for name, choice in _AROUND.items() if name != collective}
    if native_algorithm is not None:
        settings[f"smpi/{collective}"] = native_algorithm
    return settings


def cost_of_work(gamma: float, delta: float, shared_memory: bool, measured: bool) -> dict[str, str]:
    """The environment that says what ranks pay to reduce and to copy, in ns a byte, whether nodes share memory, and
    whether ranks find out in MPI_Init what messages take."""
    environment = {"STRETTO_SIM_GAMMA": repr(gamma), "STRETTO_SIM_DELTA": repr(delta)}
    environment["STRETTO_HWLOC"] = "off"  # it would look at this machine
    environment |= {"STRETTO_SIM_SHARED_MEMORY": "1"} if shared_memory else {}
    return environment | ({"STRETTO_SIM_MEASURED": "1"} if measured else {})


def simulate(
    request: Request, platform: Platform, settings: dict[str, str], environment: dict[str, str], timeout_seconds: float
) -> RunResult:
    """The request on a simulated cluster. Raises UsageError where something is missing, BenchError for a failed run."""
    folder = locate_simulation()

    def command(output: Path, replay_file: Path) -> list[str]:
        return build_command(request, platform, folder, settings, output, replay_file)

    with Console(stderr=True).status("simulating"):
        return run_driver(request, command, dict(os.environ) | environment, timeout_seconds)


def _run(arguments: argparse.Namespace) -> int:
    check_collective(arguments)
    check_outputs(arguments)
    platform = dataclasses.replace(PLATFORMS[arguments.platform], placement=arguments.placement)
    ranks = platform.ranks if arguments.ranks is None else arguments.ranks
    one_node = arguments.shared_memory and ranks <= platform.ranks_per_node
    algorithms = choose_algorithms(arguments.collective, arguments.algorithms, shared_memory=one_node)
    _check(arguments, algorithms, platform, ranks)
    request = build_request(arguments, ranks, WARM_UP, choose_iterations, algorithms)
    settings = choose_settings(request.collective, arguments.selector, arguments.native_algorithm)
    work = cost_of_work(arguments.gamma, arguments.delta, arguments.shared_memory, "default" in algorithms)
    run = simulate(request, platform, settings, work, arguments.timeout)
    machine: dict[str, object] = {
        "platform": arguments.platform,
        "ranks_per_node": platform.ranks_per_node,
        "placement": platform.placement,
        "gamma_ns_per_byte": arguments.gamma,
        "delta_ns_per_byte": arguments.delta,
        "shared_memory": arguments.shared_memory,
        "settings": settings,
    }
    native = arguments.native_algorithm or arguments.selector
    show_simulation(arguments, run, machine, f"{arguments.platform}, native: {native}")
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 simulated, 1 a wrong result or a failed run, 2 usage."""
    return run_command(_build_parser(), _run, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
