"""Algorithms that depend on who shares a node, on nodes with several ranks each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from mpi_jobs import (
    LIBRARY,
    MPIRUN,
    PROGRAMS,
    TIME_LIMIT_S,
    each_env,
    needs_hwloc,
    night,
    open_mpi_only,
    stretto_env,
)

from stretto.cluster import cluster
from stretto.topology import simple, slurm
from stretto.topology.tree import Source

# Each test fills the cores four times over. Where two do, Linux shares the cores between nodes, which are sessions, and
# a rank that others wait for may starve for a minute behind ranks that yield in vain.
pytestmark = pytest.mark.alone

# Ranks on the nodes in turn, as a cluster does by itself; or side by side. By the command line, as a cluster's own
# settings are stronger than the environment.
MAPPINGS = {"in turn": "node:oversubscribe", "side by side": "ppr:3:node:oversubscribe"}
RANKS = 8
NODE_OF_RANK = {"in turn": [0, 1, 2, 0, 1, 2, 0, 1], "side by side": [0, 0, 0, 1, 1, 1, 2, 2]}


# Those with one message a node, those that renumber the ranks, and hierarchies.
FORCED = [
    *(("scatter", "two_level"), ("gather", "two_level")),
    *(("allreduce", "ring@topology"), ("allreduce", "rabenseifner@topology+4"), ("reduce", "binomial@topology")),
    *(("bcast", "event_binary@topology"), ("bcast", "scatter_allgather@recursive_doubling")),
    ("allreduce", "hierarchical(reduce_scatter_gather,rabenseifner)"),
    # In the memory of each node.
    *(("allreduce", "hierarchical(arrival_stripes,ring+3)"), ("reduce", "hierarchical(slot_gather,event_chain)")),
    *(("reduce", "hierarchical(arrival_stripes,binomial)"), ("bcast", "hierarchical(arrival_copy,event_binary)")),
    ("allreduce", "hierarchical(arrival_leader,recursive_doubling)"),
    *(("bcast", f"hierarchical(arrival_copy,arrival_ordered{kind})") for kind in ("", "_nonblocking")),
    *(("reduce", "hierarchical(binomial,event_chain)"), ("bcast", "hierarchical(binomial,binomial)+3")),
    *(("scatter", "hierarchical(binomial,linear)"), ("gather", "hierarchical(arrival_copy,linear_nonblocking)")),
    *(("allgather", "hierarchical(binomial,ring)+2"), ("allgather", "hierarchical(arrival_copy,bruck)")),
    *(("allgatherv", f"hierarchical(arrival_copy,{between})") for between in ("ring", "bruck")),
    ("reduce_scatter", "hierarchical(arrival_stripes,ring)"),
    *(
        ("reduce_scatter_block", f"hierarchical(arrival_stripes,{between})")
        for between in ("recursive_halving", "ring")
    ),
    *(("alltoall", f"hierarchical(arrival_copy,{between})") for between in ("linear", "bruck")),
    ("barrier", "hierarchical(arrival_count,dissemination)"),
]


def run(
    program: Path,
    nodes: int,
    settings: dict[str, str],
    *,
    arguments: Sequence[str] = (),
    mpirun: str = MPIRUN,
    starter: Sequence[str] = (),
    behind: Sequence[Path] = (),
) -> str:
    """What the program said; `starter` are words before it, `behind` libraries behind Stretto's."""
    del settings["LD_PRELOAD"]
    with cluster(nodes=nodes, rate="0") as made:
        result = made.run(
            [*starter, program, *arguments],
            ranks=RANKS,
            preload=[LIBRARY, *behind],
            mpirun=mpirun,
            environment=settings,
            capture=True,
            timeout_s=TIME_LIMIT_S,
        )
    assert result.returncode == 0, result.stdout
    assert f"ok on {RANKS} ranks" in result.stdout
    return str(result.stdout)


def run_counts(
    compiled: Callable[..., Path], collective: str, nodes: int, settings: dict[str, str], mpirun: str = MPIRUN
) -> str:
    """The program asserts which algorithm ran."""
    return run(compiled(PROGRAMS[collective]), nodes, settings, mpirun=mpirun)


@open_mpi_only("placement is asked for as Open MPI 4 does")
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("collective", dict.fromkeys(collective for collective, _ in FORCED))
def test_every_count_and_root(compiled: Callable[..., Path], collective: str, mapping: str) -> None:
    """One of the three nodes has fewer ranks than the others."""
    names = [algorithm for each, algorithm in FORCED if each == collective]
    run_counts(compiled, collective, 3, each_env(collective, names), f"{MPIRUN} --map-by {MAPPINGS[mapping]}")


@open_mpi_only("placement is asked for as Open MPI 4 does")
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_ranks_are_where_these_tests_say(tmp_path: Path, mapping: str) -> None:
    """By files: what processes print that end at once, the launcher may lose or join on a busy machine."""
    with cluster(nodes=3, rate="0") as made:
        result = made.run(
            ["sh", "-c", f"hostname >{tmp_path}/$OMPI_COMM_WORLD_RANK"],
            ranks=RANKS,
            mpirun=f"{MPIRUN} --map-by {MAPPINGS[mapping]}",
            capture=True,
            timeout_s=TIME_LIMIT_S,
        )
    assert result.returncode == 0, result.stdout
    said = [[file.name, file.read_text().strip()] for file in sorted(tmp_path.iterdir())]
    assert said == [[str(rank), f"node{node}"] for rank, node in enumerate(NODE_OF_RANK[mapping])]


@open_mpi_only("placement is asked for as Open MPI 4 does")
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("adapt", ("auto", "listen", "off"))
def test_broadcasts_follow_who_comes_late(compiled: Callable[..., Path], adapt: str) -> None:
    """The third node's first rank, whom others wait for in a tree, is late by much more than a broadcast takes."""
    output = run(
        compiled("mpi/late_leader.c"),
        4,
        stretto_env(verbose=1, adapt=adapt),
        arguments=("100", "4", "30"),
        mpirun=f"{MPIRUN} --map-by ppr:2:node:oversubscribe",
    )
    ran = {name: int(calls) for name, calls in re.findall(r"stretto: bcast: (\S+) ran (\d+)", output)}
    assert sum(ran.values()) == 100
    # Of these nobody waits for a rank that is not the root.
    without_it = sum(calls for name, calls in ran.items() if name == "event_linear" or "arrival_ordered" in name)
    assert without_it >= {"auto": 30, "listen": 60, "off": 0}[adapt], ran
    assert adapt != "off" or without_it == 0, ran
    # By default what the MPI library's own take is found out, too.
    assert 4 <= ran.get("native", 0) <= 40 if adapt == "auto" else "native" not in ran, ran


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize(("limit_mib", "check"), [(0, "CHECK_NOT_FORCED"), (1, "CHECK_ANY")])
def test_little_or_no_memory_on_the_nodes(compiled: Callable[..., Path], limit_mib: int, check: str) -> None:
    """Without boards the default rule serves all calls, on all ranks alike; a small pool takes windows of a message."""
    settings = stretto_env(allreduce="hierarchical(arrival_stripes,ring)", shm_max_mib=limit_mib) | {check: "1"}
    output = run_counts(compiled, "allreduce", 3, settings)
    said = [line for line in output.splitlines() if "STRETTO_SHM_MAX_MIB" in line]
    assert len(said) == (1 if limit_mib == 0 else 0), output


@open_mpi_only("one-sided communication is chosen as Open MPI 4 does")
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("component", ("pt2pt", None))
@pytest.mark.parametrize("collective", ("reduce", "allreduce"))
def test_meetings_need_one_sided_atomics(compiled: Callable[..., Path], collective: str, component: str | None) -> None:
    """Open MPI has none over TCP unless told which: then the default rule serves all calls, and that is said once."""
    settings = stretto_env(**{collective: "rendezvous_tree"}) | ({} if component else {"CHECK_NOT_FORCED": "1"})
    mpirun = f"{MPIRUN} --mca osc {component}" if component else MPIRUN
    output = run_counts(compiled, collective, 3, settings, mpirun)
    assert output.count("rendezvous_tree gives way to others") == (0 if component else 1), output


LEAVES = "SwitchName=leaf0 Nodes=node[0-1]\nSwitchName=leaf1 Nodes=node[2-3]\nSwitchName=top Switches=leaf[0-1]\n"
# With names as `stretto topo` gives them to switches that ibnetdiscover found.
FABRIC = "S-0002c903f00100 = node[0-1]\nS-0002c903f00200 = node[2-3]\ngroup1.0 = S-0002c903f00[1-2]00\n"
# What is in the file, and what is said of it.
FILES = {
    "right": (LEAVES, None),
    "by stretto topo": (slurm.write(simple.read(Source("net", FABRIC)), "net"), None),
    "a node is missing": ("SwitchName=a Nodes=node[0-2]\n", "it does not have node node3"),
}


@needs_hwloc
@open_mpi_only("the rank on the node is asked for as Open MPI 4 does")
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("nested", ("ring", "hierarchical(binomial,ring)"))
def test_switches_nodes_and_packages(compiled: Callable[..., Path], tmp_path: Path, nested: str) -> None:
    """hwloc is told of two packages, and ranks of a node are bound to them in turn. Only if several are on a node."""
    path = tmp_path / "topology.conf"
    path.write_text(LEAVES)
    settings = stretto_env(allreduce=f"hierarchical(event_topology,{nested})", topology=path, verbose=1)
    settings |= {"HWLOC_SYNTHETIC": "pack:2 core:1 pu:1", "HWLOC_THISSYSTEM": "1"}
    bound = 'exec taskset -c $((OMPI_COMM_WORLD_LOCAL_RANK % 2)) "$0"'
    output = run(compiled("mpi/allreduce_counts.c"), 4, settings, starter=["sh", "-c", bound])
    assert output.count(" ranks on 3 x switch, 4 x node, 8 x package\n") == 1, output


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("algorithm", ("ring@topology", "hierarchical(binomial,hierarchical(binomial,ring))"))
def test_switches(compiled: Callable[..., Path], tmp_path: Path, algorithm: str, file: str) -> None:
    text, complaint = FILES[file]
    path = tmp_path / "topology.conf"
    path.write_text(text)
    output = run_counts(compiled, "allreduce", 4, stretto_env(allreduce=algorithm, topology=path))
    complaints = [line for line in output.splitlines() if "STRETTO_TOPOLOGY" in line]
    if complaint is None:
        assert not complaints
    else:
        assert len(complaints) == 1, "of rank 0, once"
        assert f"STRETTO_TOPOLOGY={path}: {complaint}; who shares a node is all" in complaints[0]


@pytest.mark.alone
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize(
    ("program", "far"),
    [("allreduce_counts", 1), night("allreduce_counts", 2), night("communicators", 1), ("communicators", 2)],
)
def test_switches_by_measurement(compiled: Callable[..., Path], program: str, far: int) -> None:
    """Measured once a job, as all communicators have the same nodes, or fewer of them."""
    shim = compiled("cluster/far_nodes.c", "-shared", "-fPIC")
    algorithm = "hierarchical(binomial,hierarchical(binomial,ring))"
    settings = stretto_env(allreduce=algorithm, topology="measure", verbose=1) | {"FAR_NODES": str(far)}
    output = run(compiled(f"mpi/{program}.c"), 4, settings, behind=[shim])
    assert output.count("stretto: measured") == 1, output
    groups = re.findall(r"^SwitchName=\S+ Nodes=(.*)$", output, re.MULTILINE)
    nodes = [f"node{number}" for number in range(4)]
    assert groups == [",".join(nodes[:far]), ",".join(nodes[far:])]
