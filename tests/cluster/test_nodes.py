"""What nodes are, and what a network of a given rate does to them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, LIBRARY, MPIRUN, processes_with, stretto_env
from test_cluster_command import all_end

from stretto.cluster import Nodes, cluster, network
from stretto.errors import ProgramFailedError, StrettoError

Compiled = Callable[..., Path]
LIMIT_S = 60

pytestmark = pytest.mark.usefixtures("runtime")

# The first node sends for the second one by the launchers' agent, and counts what it is sent.
TRANSFER = """
import os, socket, subprocess, sys, time
agent, size = os.environ["OMPI_MCA_plm_rsh_agent"], sys.argv[1]
listener = socket.create_server(("", 0))
listener.settimeout(30)
port = listener.getsockname()[1]
sender = f"import socket; socket.create_connection((\\"node0\\", {port})).sendall(bytes({size}))"
child = subprocess.Popen([agent, "-x", "node1", sys.executable, "-c", f"'{sender}'"])
connection, (address, _) = listener.accept()
connection.settimeout(30)
start, count = time.monotonic(), 0
while chunk := connection.recv(1 << 16):
    count += len(chunk)
print(address, count, time.monotonic() - start)
sys.exit(child.wait(timeout=30))
"""


def printed(nodes: Nodes, node: str, script: str) -> str:
    result = nodes.execute(node, ["sh", "-c", script], capture=True, timeout_s=LIMIT_S)
    assert result.returncode == 0, result.stdout
    return result.stdout.strip()


def transfer(nodes: Nodes, size: int) -> tuple[str, int, float]:
    result = nodes.execute("node0", [sys.executable, "-c", TRANSFER, str(size)], capture=True, timeout_s=LIMIT_S)
    assert result.returncode == 0, result.stdout
    address, count, seconds = result.stdout.split()
    return address, int(count), float(seconds)


def test_nodes_have_names_addresses_and_memory_of_their_own() -> None:
    with cluster(nodes=3, rate="0") as nodes:
        assert nodes.names == ["node0", "node1", "node2"]
        for index, name in enumerate(nodes.names):
            assert printed(nodes, name, "hostname") == name
            assert f"10.77.0.{index + 1}/24" in printed(nodes, name, "ip -brief address show eth0")
            assert printed(nodes, name, "find /dev/shm $TMPDIR -mindepth 1") == ""
            printed(nodes, name, "touch /dev/shm/$(hostname) $TMPDIR/$(hostname)")
        for name in nodes.names:
            assert printed(nodes, name, "ls /dev/shm; ls $TMPDIR").split() == [name, name]
            assert printed(nodes, name, "getent hosts node2 | cut -d ' ' -f 1") == "10.77.0.3"
        assert not any((Path("/dev/shm") / name).exists() for name in nodes.names)


def test_a_command_runs_in_our_directory_with_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OURS", "seen")
    with cluster(nodes=1, rate="0") as nodes:
        result = nodes.execute(
            "node0", ["sh", "-c", "pwd; echo $OURS $GIVEN; exit 7"], environment={"GIVEN": "too"}, capture=True
        )
        assert (result.returncode, result.stdout.split()) == (7, [str(tmp_path), "seen", "too"])
        with pytest.raises(StrettoError, match="choose from node0"):
            nodes.execute("node1", ["true"])


def test_nodes_reach_each_other_at_the_rate() -> None:
    with cluster(nodes=2, rate="0") as nodes:
        assert transfer(nodes, 4_000_000)[:2] == ("10.77.0.2", 4_000_000)
        nodes.set_rate("50mbit")
        address, count, seconds = transfer(nodes, 4_000_000)
        assert (address, count) == ("10.77.0.2", 4_000_000)
        assert seconds >= 0.5, "4 MB at 50 Mbit/s take 0.64 s"
        assert nodes.drops() == 0
        with pytest.raises(StrettoError, match="not a rate"):
            nodes.set_rate("fast")
        assert nodes.rate == "50mbit"


def test_two_clusters_at_once() -> None:
    with cluster(nodes=2, rate="0") as first, cluster(nodes=3, rate="100mbit") as second:
        printed(first, "node1", "touch /dev/shm/first")
        assert printed(second, "node1", "ls /dev/shm") == ""
        assert transfer(second, 1000)[:2] == ("10.77.0.2", 1000)
        assert transfer(first, 1000)[:2] == ("10.77.0.2", 1000)


def test_what_a_command_leaves_running_ends_with_it(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cluster(nodes=1, rate="0") as nodes:
        ours = f"commands of {runtime}"  # the cluster's own first process has no such variable, whatever it is doing
        monkeypatch.setenv("OURS", ours)
        printed(nodes, "node0", "setsid sleep 1000 >/dev/null 2>&1 & exit 0")
        assert all_end(list(set(processes_with(ours)) - {os.getpid()}))
        with pytest.raises(ProgramFailedError, match="took longer than 5 s\nhere"):  # to say so on a busy machine
            nodes.execute("node0", ["sh", "-c", "echo here; sleep 1000"], capture=True, timeout_s=5)
        assert all_end(list(set(processes_with(ours)) - {os.getpid()}))


def test_an_exception_in_the_block_takes_the_cluster_down(runtime: Path) -> None:
    with pytest.raises(ZeroDivisionError), cluster(nodes=2, rate="0"):
        assert list(runtime.iterdir())
        raise ZeroDivisionError
    assert list(runtime.iterdir()) == []


def test_a_failure_half_way_leaves_nothing(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(network.TCP_SETTINGS, "no_such_setting", "1")
    with pytest.raises(StrettoError, match="no_such_setting"), cluster(nodes=2, rate="0"):
        pass
    assert processes_with(str(runtime)) == []


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("nospin", [True, False])
def test_a_program_runs_on_all_nodes(compiled: Compiled, ranks: int, nospin: bool) -> None:
    with cluster(nodes=2, rate="0") as nodes:
        result = nodes.run(
            [compiled("cluster/hosts.c")],
            ranks=ranks,
            nospin=nospin,
            mpirun=MPIRUN,
            environment={"GIVEN": "value"},
            capture=True,
            timeout_s=LIMIT_S,
        )
    assert result.returncode == 0, result.stdout
    found = sorted(line.split() for line in result.stdout.splitlines() if line.startswith("rank "))
    total = sum(range(ranks))
    assert [words[1:6] for words in found] == [
        [f"{rank}/{ranks}", f"node{rank % 2}", str(len(range(rank % 2, ranks, 2))), str(total), "given=value"]
        for rank in range(ranks)
    ]
    assert all(words[6].endswith("libstretto_nospin.so") == nospin for words in found)


@pytest.mark.skipif(FAMILY != "openmpi", reason="`mpirun` is Open MPI's")
def test_a_bare_launcher_finds_the_nodes_and_libraries_are_chained(compiled: Compiled) -> None:
    settings = {**stretto_env(verbose=1), "STRETTO_LIB_DIR": str(LIBRARY.parent)}
    del settings["LD_PRELOAD"]
    with cluster(nodes=2, rate="0") as nodes:
        command = [MPIRUN, "-n", "2", str(compiled("cluster/hosts.c"))]
        result = nodes.execute("node0", command, capture=True, timeout_s=LIMIT_S)
        assert "rank 1/2 node1" in result.stdout
        line = [sys.executable, "-m", "stretto", "cluster", "run", "--nodes", "2", "--stretto", "--nospin", "--"]
        shown = subprocess.run(
            [*line, compiled("cluster/hosts.c")],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    assert shown.returncode == 0, shown.stderr
    for name in ("libstretto_nospin.so", "libstretto_openmpi.so"):
        assert shown.stdout.count(name) == 2
    assert "allreduce" in shown.stderr


def test_a_crash_of_the_program_is_told_and_the_cluster_goes_on() -> None:
    with cluster(nodes=2, rate="0") as nodes:
        result = nodes.run(["sh", "-c", "kill -SEGV $$"], mpirun=MPIRUN, nospin=False, capture=True, timeout_s=LIMIT_S)
        assert result.returncode != 0
        assert printed(nodes, "node1", "hostname") == "node1"
