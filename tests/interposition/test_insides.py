"""What ranks are bound to, as hwloc tells: found, not wanted, or not to be found."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import PROGRAMS, Outcome, Part, at_most, mpirun_command, needs_hwloc, run_job, run_mpi, stretto_env

Compiled = Callable[..., Path]
pytestmark = needs_hwloc
RANKS = 4
HIERARCHY = "hierarchical(binomial,ring)"
# A machine of two packages with a processor each, which hwloc takes for this one.
TWO_PACKAGES = {"HWLOC_SYNTHETIC": "pack:2 l3:1 core:1 pu:1", "HWLOC_THISSYSTEM": "1"}
BROKEN = {"HWLOC_COMPONENTS": "stop"}


def bound(program: Path, processor: str = "$((rank % 2))") -> list[str]:
    """Ranks on processors 0 and 1 in turn, whatever the launcher has bound them to."""
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("processors 0 and 1 are needed")
    rank = "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    return ["sh", "-c", f"{rank}; exec taskset -c {processor} {program}"]


def found(outcome: Outcome) -> list[str]:
    """What rank 0 says under STRETTO_VERBOSE, once a communicator."""
    return outcome.lines(f"stretto: {at_most(RANKS)} ranks on ")


def complaints(outcome: Outcome) -> list[str]:
    return [line for line in outcome.lines("stretto: ") if "STRETTO_HWLOC" in line]


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("allreduce", HIERARCHY),
        ("allreduce", "ring@topology"),
        ("bcast", "event_topology"),
        ("reduce", "event_topology"),
    ],
)
@pytest.mark.parametrize(
    ("processor", "places"),
    [("$((rank % 2))", "1 x node, 2 x package"), ("1", "1 x node, 1 x package"), ("0,1", "1 x node")],
)
def test_packages(compiled: Compiled, collective: str, algorithm: str, processor: str, places: str) -> None:
    env = stretto_env(**{collective: algorithm}, verbose=1) | TWO_PACKAGES
    outcome = run_mpi(bound(compiled(PROGRAMS[collective]), processor), RANKS, env).check()
    assert (found(outcome), complaints(outcome)) == ([places], [])


@pytest.mark.parametrize(
    ("machine", "places"),
    [
        ("pack:2 numa:2 core:1 pu:1", "1 x node, 1 x package, 2 x numa"),
        ("pack:2 l3:2 core:2 pu:1", "1 x node, 1 x package, 1 x l3, 2 x core"),
        ("l3:2 numa:2 core:1 pu:1", "1 x node, 2 x numa, 1 x l3"),
        ("pack:1 core:1 pu:2", "1 x node"),
        ("pu:1", "1 x node"),  # without the processor of every other rank
    ],
)
def test_machines(compiled: Compiled, machine: str, places: str) -> None:
    """Levels that hold the same processors as the one around them are left out, in whichever order they are."""
    fake = {"HWLOC_SYNTHETIC": machine, "HWLOC_THISSYSTEM": "1"}
    env = stretto_env(allreduce=HIERARCHY, verbose=1) | fake
    outcome = run_mpi(bound(compiled(PROGRAMS["allreduce"])), RANKS, env).check()
    assert (found(outcome), complaints(outcome)) == ([places], [])


def test_non_blocking_calls(compiled: Compiled) -> None:
    env = stretto_env(iallreduce="ring@topology", background="thread", verbose=1) | TWO_PACKAGES
    outcome = run_mpi(bound(compiled("mpi/non_blocking.c")), RANKS, env).check()
    assert "1 x node, 2 x package" in found(outcome)


@pytest.mark.parametrize("settings", [{"allreduce": HIERARCHY, "hwloc": "off"}, {}, {"allreduce": "arrival_stripes"}])
@pytest.mark.parametrize("machine", (TWO_PACKAGES, BROKEN))
def test_not_looked_for(compiled: Compiled, settings: dict[str, str], machine: dict[str, str]) -> None:
    """Where it is switched off, and where no algorithm asks for it: by default none does on one node."""
    env = stretto_env(**settings, verbose=1) | machine
    outcome = run_mpi(bound(compiled(PROGRAMS["allreduce"])), RANKS, env).check()
    assert (found(outcome), complaints(outcome)) == ([], [])


@pytest.mark.parametrize("broken", ([0], [2], range(RANKS)))
def test_what_one_rank_cannot_know_none_does(compiled: Compiled, broken: list[int]) -> None:
    """It hangs, or sums are wrong, if ranks go by different places. The lowest without tells, once."""
    env = stretto_env(allreduce=HIERARCHY, verbose=1)
    program = bound(compiled(PROGRAMS["allreduce"]))
    ranks = range(at_most(RANKS))
    parts = [Part(program, 1, env | (BROKEN if rank in broken else TWO_PACKAGES)) for rank in ranks]
    outcome = run_job(mpirun_command(parts), {}).check()
    assert not found(outcome)
    (complaint,) = complaints(outcome)
    assert "hwloc cannot read the machine; see what lstopo says, or set STRETTO_HWLOC=off" in complaint


def test_no_library(compiled: Compiled) -> None:
    shim = compiled("interposition/refusing_kernel.c", "-shared", "-fPIC")
    env = stretto_env(allreduce=HIERARCHY) | {"REFUSE": "hwloc", "REFUSE_RANK": "1"}
    env["LD_PRELOAD"] = f"{env['LD_PRELOAD']}:{shim}"
    outcome = run_mpi(compiled(PROGRAMS["allreduce"]), RANKS, env).check()
    (complaint,) = complaints(outcome)
    assert "there is no libhwloc.so.15; install hwloc" in complaint
