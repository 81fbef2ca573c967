"""`stretto cluster` as a command: clusters that stay, and every way in which its front end can end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, MPIRUN, clean_environment, processes_with

from stretto.cluster import namespaces, network, registry
from stretto.errors import StrettoError

LIMIT_S = 60
Stretto = Callable[..., "subprocess.CompletedProcess[str]"]
WAITING = ["--", "sh", "-c", "echo here; exec sleep 1000"]


@pytest.fixture
def stretto(stretto_command: list[str]) -> Stretto:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*stretto_command, "cluster", *arguments]
        return subprocess.run(
            command, env=environment(), capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL
        )

    return run


def environment() -> dict[str, str]:
    return {**clean_environment(), "COLUMNS": "120"}


def start_waiting(options: list[str]) -> subprocess.Popen[str]:
    """A run whose two ranks wait for ever, once both are there."""
    command = [sys.executable, "-m", "stretto", "cluster", "run", "--mpirun", MPIRUN, "--no-nospin", *options, *WAITING]
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, start_new_session=True
    )
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["here\n"] * 2
    return process


def all_end(pids: list[int]) -> bool:
    """Wait for the end of processes that have been told to end, or will be by the end of others."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            if not registry.Process.of(pid).ended_within(LIMIT_S):
                return False
    return True


def test_a_cluster_stays_until_it_is_taken_down(stretto: Stretto, runtime: Path) -> None:
    assert stretto("status").stdout == "no cluster is up\n"
    up = stretto("up", "2", "--rate", "0")
    assert (up.returncode, up.stdout) == (0, "cluster default: node0 to node1, no limit\n")
    again = stretto("up", "2")
    assert again.returncode == 2
    assert "stretto cluster down --name default" in again.stderr
    assert stretto("up", "1", "--name", "other").returncode == 0
    assert stretto("rate", "200mbit").returncode == 0
    shown = stretto("status").stdout
    assert all(word in shown for word in ("default", "200mbit", "other", "1gbit"))
    assert stretto("exec", "1", "hostname").stdout == "node1\n"
    failed = stretto("exec", "node0", "sh", "-c", "exit 9")
    assert failed.returncode == 9
    options = ["--mpirun", MPIRUN, "--no-nospin", "-x", "GIVEN=here"]
    ran = stretto("run", *options, "--", "sh", "-c", "echo $GIVEN $(hostname)")
    assert sorted(ran.stdout.splitlines()) == ["here node0", "here node1"]
    assert stretto("down").returncode == 0
    assert stretto("down", "--name", "other").returncode == 0
    assert processes_with(str(runtime)) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("whole_group", [False, True])
def test_a_run_that_is_interrupted_leaves_nothing(runtime: Path, number: signal.Signals, whole_group: bool) -> None:
    process = start_waiting(["--nodes", "2", "--rate", "0"])
    if whole_group:  # as a terminal does for Ctrl-C
        os.killpg(process.pid, number)
    else:
        os.kill(process.pid, number)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode != 0
    assert processes_with(str(runtime)) == []
    assert list(runtime.iterdir()) == []


def test_a_run_that_is_killed_takes_its_cluster_along(runtime: Path) -> None:
    process = start_waiting(["--nodes", "2", "--rate", "0"])
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=LIMIT_S)
    assert all_end(processes_with(str(runtime)))
    assert list(runtime.iterdir()) == []


def test_down_removes_what_a_killed_front_end_left(stretto: Stretto, runtime: Path) -> None:
    assert stretto("up", "2", "--rate", "0").returncode == 0
    process = start_waiting([])
    os.kill(process.pid, signal.SIGKILL)
    assert stretto("down").returncode == 0
    process.communicate(timeout=LIMIT_S)
    assert processes_with(str(runtime)) == []
    assert list(runtime.iterdir()) == []


def test_down_removes_what_a_killed_cluster_left(stretto: Stretto, runtime: Path) -> None:
    assert stretto("up", "2", "--rate", "0").returncode == 0
    for pid in processes_with(str(runtime)):
        os.kill(pid, signal.SIGKILL)
    assert all_end(processes_with(str(runtime)))
    assert stretto("exec", "0", "true").returncode == 2
    assert stretto("down").returncode == 0
    assert stretto("down").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["up", "0"], "choose 1 to"),
        (["up", "2", "--rate", "1mbps"], "not a rate"),
        (["up", "2", "--name", "../x"], "letters"),
        (["exec", "0", "true"], "stretto cluster up"),
        (["rate", "1gbit"], "stretto cluster up"),
        (["down"], "no cluster default is up"),
        (["run", "--", "true"], "stretto cluster up"),
        (["run", "--rate", "1gbit", "--", "true"], "--rate needs --nodes"),
        (["run", "--nodes", "1", "-x", "NO_SUCH_VARIABLE", "--", "true"], "-x NAME=VALUE"),
        (["run", "--nodes", "1", "--ranks", "0", "--", "true"], "choose 1 or more"),
        (["run", "--nodes", "1", "--preload", "none.so", "--", "true"], "no such file"),
        (["run", "--nodes", "1", "--mpirun", "no-such-mpirun", "--", "true"], "launcher not found"),
        (["run", "--nodes", "1", "--mpirun", " ", "--", "true"], "--mpirun is empty: name a launcher"),
    ],
)
def test_bad_arguments_are_told(stretto: Stretto, runtime: Path, arguments: list[str], message: str) -> None:
    result = stretto(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert list(runtime.iterdir()) == []


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert namespaces.why_impossible() == "ip, tc, unshare, nsenter: not found: install iproute2 and util-linux"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "root" in str(namespaces.why_impossible())


def test_a_machine_that_forbids_namespaces_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for tool in ("ip", "tc", "unshare", "nsenter"):
        (tmp_path / tool).write_text("#!/bin/sh\necho Operation not permitted >&2; exit 1\n")
        (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "SYS_ADMIN" in str(namespaces.why_impossible())


def test_a_runtime_directory_that_launchers_cannot_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "with blank"))
    with pytest.raises(StrettoError, match="set XDG_RUNTIME_DIR"):
        registry.claim("name")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    with pytest.raises(StrettoError, match="set XDG_RUNTIME_DIR"):
        registry.claim("name")


@pytest.mark.parametrize(("rate", "bits"), [("0", 0), ("10kbit", 1e4), ("200mbit", 2e8), ("2.5gbit", 2.5e9)])
def test_rates(rate: str, bits: float) -> None:
    assert network.bits_per_s(rate) == bits


@pytest.mark.parametrize("rate", ["", "1", "-1mbit", "1mbps", "1 gbit", "0mbit", "1bit", "nanbit"])
def test_what_is_no_rate(rate: str) -> None:
    with pytest.raises(StrettoError, match="write 200mbit"):
        network.bits_per_s(rate)


@pytest.mark.skipif(FAMILY != "openmpi", reason="`mpirun` is Open MPI's")
def test_slurm_knows_no_nodes(runtime: Path, stretto: Stretto, tmp_path: Path) -> None:
    (tmp_path / "srun").write_text("#!/bin/sh\necho slurm 23.11\n")
    (tmp_path / "srun").chmod(0o755)
    result = stretto("run", "--nodes", "1", "--mpirun", str(tmp_path / "srun"), "--", "true")
    assert result.returncode == 2
    assert "--mpirun" in result.stderr
