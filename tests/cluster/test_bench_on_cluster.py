"""The benchmark on an emulated cluster, and what measures machines."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import LIMIT_S
from mpi_jobs import open_mpi_only, processes_with
from test_cluster_command import all_end

from stretto.bench.command import main
from stretto.tune.command import main as tune
from stretto.tune.toml_file import read_toml

pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")


@open_mpi_only("the driver is built for the MPI on PATH")
@pytest.mark.parametrize("arrival", ("uniform:2ms", "node-late:3ms", "balanced"))
def test_ranks_are_measured_on_all_nodes_by_one_clock(runtime: Path, tmp_path: Path, arrival: str) -> None:
    output = tmp_path / "out.json"
    words = ["gather", "--nodes", "2", "--rate", "0", "--ranks", "4", "--sizes", "8", "--iterations", "10"]
    assert main([*words, "--algorithms", "native", "--arrival", arrival, "--json", str(output)]) == 0
    content = json.loads(output.read_text())
    assert content["setup"]["nodes"] == 2
    assert 0 < content["setup"]["clock_error_ns"] < 5_000_000
    delays = content["sizes"][0]["samples"]["delays"]
    if arrival.startswith("node-late"):
        # Ranks are on the nodes in turn.
        assert {tuple(row) for row in delays} <= {(3_000_000, 0) * 2, (0, 3_000_000) * 2}


@open_mpi_only("the driver is built for the MPI on PATH")
def test_stretto_runs_between_nodes(runtime: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    words = ["allreduce", "--nodes", "3", "--rate", "0", "--ranks", "3", "--sizes", "64K", "--iterations", "5"]
    assert main([*words, "--algorithms", "native,ring,rabenseifner", "--json", str(output)]) == 0
    algorithms = json.loads(output.read_text())["sizes"][0]["samples"]["algorithms"]
    assert {name: own["ran"] for name, own in algorithms.items()} == {
        name: [name] * 5 for name in ("native", "ring", "rabenseifner")
    }


@open_mpi_only("the driver is built for the MPI on PATH")
@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGKILL))
def test_an_interrupted_benchmark_leaves_nothing(runtime: Path, number: signal.Signals) -> None:
    """What `runtime` then looks for. The signal comes while ranks run, which their shared files tell."""
    command = [sys.executable, "-m", "stretto", "bench", "--quick", "--nodes", "3"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + LIMIT_S
            while not _driver_runs(str(runtime)):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)  # lest looking takes a core from those who are looked for
            process.send_signal(number)
            assert process.wait(LIMIT_S) != 0
        finally:
            process.kill()
    assert all_end(processes_with(str(runtime)))


def _driver_runs(runtime: str) -> bool:
    """Whether a rank of the benchmark runs whose environment names our runtime directory."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and b"stretto-bench" in (entry / "cmdline").read_bytes().split(b"\0")[0]:
                return os.fsencode(runtime) in (entry / "environ").read_bytes()
        except OSError:
            continue
    return False


@open_mpi_only("the program that measures is built for the MPI on PATH")
def test_the_machine_of_emulated_nodes_is_measured(runtime: Path, tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    assert tune(["--machine", "--nodes", "2", "--rate", "1gbit", "-o", str(file), "--", "mpirun", "-n", "4"]) == 0
    machine = read_toml(file)
    assert (machine["measured"]["ranks"], machine["measured"]["nodes"]) == (4, 2)
    longest = {level: machine["link"][level]["message_ns"][-1] for level in ("machine", "node")}
    assert longest["machine"] > (16 << 20) * 8 > longest["node"], "1 gbit is 8 ns a byte"
