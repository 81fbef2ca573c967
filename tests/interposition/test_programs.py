"""Stretto around programs: their exit codes, other processes that inherit the preload, jobs without a launcher."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import LIBRARY, Part, check_unless_native_fails, mpirun_command, run_job, run_mpi, stretto_env

Compiled = Callable[..., Path]


@pytest.mark.parametrize("code", (0, 3, 42))
def test_the_programs_own_exit_code(compiled: Compiled, code: int) -> None:
    outcome = run_mpi([compiled("interposition/exit_code.c"), str(code)], 3, stretto_env())
    assert outcome.code == code, outcome.output
    assert not outcome.leftovers


def test_a_job_without_a_launcher(compiled: Compiled) -> None:
    assert "ok on 1 ranks" in run_job([compiled("mpi/allreduce_counts.c")], stretto_env()).check().output


def test_the_launcher_preloaded_too(compiled: Compiled) -> None:
    """As in `LD_PRELOAD=... mpirun ...`, and with all that mpirun starts."""
    command = mpirun_command([Part([compiled("mpi/allreduce_counts.c")], 3, {})])
    assert "ok on 3 ranks" in run_job(command, stretto_env()).check().output


def test_a_program_without_mpi() -> None:
    outcome = run_job(["sh", "-c", "echo $((6 * 7)) | cat; exit 7"], stretto_env())
    assert (outcome.code, outcome.output) == (7, "42\n")


def test_children_do_without(compiled: Compiled) -> None:
    """What a program starts after MPI_Init does not load Stretto, but whatever else the user preloads."""
    shim = compiled("interposition/refusing_kernel.c", "-shared", "-fPIC")
    env = stretto_env() | {"LD_PRELOAD": f"{LIBRARY} {shim}"}
    lines = run_job([compiled("interposition/children.c")], env).check().output.splitlines()
    assert lines == [f"before: LD_PRELOAD={LIBRARY} {shim}", "before: loaded", f"after: LD_PRELOAD={shim}"]


@pytest.mark.parametrize("children", ("alike", "bare"))
@pytest.mark.parametrize("loaded", (False, True))
def test_spawned_processes(compiled: Compiled, loaded: bool, children: str) -> None:
    """Communicators that reach beyond MPI_COMM_WORLD may hold ranks without Stretto (`bare`)."""
    program: list[str | Path] = [compiled("interposition/spawned.c"), children]
    env = {"OMPI_MCA_btl": "self,vader,tcp"}  # Open MPI reaches other jobs by TCP only
    check_unless_native_fails(program, 2, env | (stretto_env() if loaded else {}), limit_s=40)


@pytest.mark.parametrize("cause", ("refused", "forbidden"))
def test_one_message_for_many_communicators(compiled: Compiled, cause: str) -> None:
    shim = compiled("interposition/refusing_kernel.c", "-shared", "-fPIC")
    env = stretto_env() | {"REFUSE": "memfd", "LD_PRELOAD": f"{LIBRARY}:{shim}"}
    if cause == "forbidden":
        env = stretto_env(allreduce="arrival_tree", shm_max_mib=0)
    outcome = run_mpi(compiled("mpi/communicator_leaks.c"), 2, env).check()
    assert len(outcome.lines("stretto: ")) == 1
