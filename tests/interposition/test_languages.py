"""Every way into MPI: the three Fortran interfaces, C and Fortran in one job, mpi4py, and MPI-IO inside the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import (
    FAMILY,
    LIBRARY,
    NATIVE_ENV,
    ROOT,
    Part,
    algorithms,
    each_env,
    env_for,
    mpi_version,
    mpirun_command,
    night,
    non_blocking_turn,
    run_job,
    run_mpi,
    settings,
    stretto_env,
)

Compiled = Callable[..., Path]
FORTRAN = {
    "mpif.h": ("interposition/collectives.F90", "-DUSE_MPIF_H"),
    "mpi": ("interposition/collectives.F90",),
    "mpi_f08": ("interposition/collectives_f08.f90",),
}
NON_BLOCKING = {"mpif.h": ["-DUSE_MPIF_H"], "mpi": [], "mpi_f08": ["-DUSE_MPI_F08"]}
# One algorithm of each kind: over messages, in shared memory, in the order of arrival.
MEETING = [
    setting
    if setting in ("unloaded", "native", "default", "ring", "slot_exchange", "arrival_chain")
    else night(setting)
    for setting in settings("allreduce")
]
LATER_CALLS = ("iallreduce", "ibcast", "ireduce", "iallgather", "ibarrier")
HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize("ranks", (night(1), 3, night(8)))
@pytest.mark.parametrize("setting", ("unloaded", "native", "default"))
@pytest.mark.parametrize("interface", FORTRAN)
def test_fortran(compiled: Compiled, interface: str, setting: str, ranks: int) -> None:
    env = env_for("allreduce", setting, **({} if setting == "default" else {"bcast": setting, "reduce": setting}))
    run_mpi(compiled(*FORTRAN[interface]), ranks, env).check()


@pytest.mark.parametrize("interface", FORTRAN)
@pytest.mark.parametrize("algorithm", ("ring", "arrival_stripes", "arrival_chain"))
def test_fortran_forced(compiled: Compiled, interface: str, algorithm: str) -> None:
    """With the report of what ran: Fortran calls must have come through the library at all."""
    env = stretto_env(allreduce=algorithm, verbose=1)
    outcome = run_mpi(compiled(*FORTRAN[interface]), 3, env).check()
    assert f"allreduce: {algorithm} ran" in outcome.output


def compiled_non_blocking(compiled: Compiled, interface: str) -> Path:
    """With persistent collectives where the MPI has them."""
    options = ["-DPERSISTENT_COLLECTIVES"] if mpi_version() >= 4 else []
    # MPICH 4.0 gives indices from 0 on in mpi_f08.
    options += ["-DLOWEST_INDEX=0"] if (FAMILY, interface) == ("mpich", "mpi_f08") else []
    return compiled("interposition/non_blocking.F90", *NON_BLOCKING[interface], *options)


@pytest.mark.parametrize("ranks", (night(1), 3, night(4)))
@pytest.mark.parametrize("interface", NON_BLOCKING)
def test_fortran_non_blocking_unloaded(compiled: Compiled, interface: str, ranks: int) -> None:
    run_mpi(compiled_non_blocking(compiled, interface), ranks, NATIVE_ENV).check()


@pytest.mark.parametrize("background", ("thread", "polled"))
@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("interface", NON_BLOCKING)
def test_fortran_non_blocking_forced(compiled: Compiled, interface: str, number: int, background: str) -> None:
    """With the report of what ran, and nothing else may have."""
    forced = {collective: non_blocking_turn(number)[collective] for collective in LATER_CALLS}
    env = stretto_env(**forced, background=background, verbose=1)
    outcome = run_mpi(compiled_non_blocking(compiled, interface), 3, env).check()
    for collective, name in forced.items():
        ran = re.findall(rf"^stretto: {collective}: (\S+) ran [1-9]\d* times$", outcome.output, re.MULTILINE)
        assert ran == [name], f"{collective}: {outcome.output}"


@pytest.mark.parametrize("interface", NON_BLOCKING)
def test_fortran_non_blocking_in_segments(compiled: Compiled, interface: str) -> None:
    env = stretto_env(iallreduce="ring+4", ibcast="binomial+1K", ireduce="binomial+3", verbose=1)
    outcome = run_mpi(compiled_non_blocking(compiled, interface), 3, env).check()
    for line in ("iallreduce: ring+4", "ibcast: binomial+1K", "ireduce: binomial+3"):
        assert re.search(rf"^stretto: {re.escape(line)} ran [1-9]", outcome.output, re.MULTILINE), outcome.output


@pytest.mark.parametrize("setting", MEETING)
def test_c_and_fortran_meet(compiled: Compiled, setting: str) -> None:
    env = env_for("allreduce", setting)
    parts = [
        Part([compiled("interposition/meeting.c")], 1, env),
        Part([compiled("interposition/meeting_fortran.f90")], 1, env),
    ]
    run_job(mpirun_command(parts), {}).check()
    run_job(mpirun_command([*parts, *parts]), {}).check()


@pytest.mark.parametrize("setting", ("unloaded", "native", "default"))
def test_mpi4py(mpi_python: str, setting: str) -> None:
    run_mpi([mpi_python, HERE / "mpi4py_program.py"], 3, env_for("allreduce", setting)).check()


def test_mpi4py_forced(mpi_python: str) -> None:
    env = each_env("allreduce", algorithms("allreduce"))
    run_mpi([mpi_python, HERE / "mpi4py_program.py"], 3, env).check()


def hints_env() -> dict[str, str]:
    """A tree waits for all hints; the root of a linear gather makes do with history."""
    return stretto_env(gather="sorted_binomial", shm_max_mib=0, verbose=1)


def test_hints_from_fortran(compiled: Compiled) -> None:
    """The module that comes with Stretto, in a program that is linked with the library as well."""
    program = compiled("interposition/hints.f90", f"-I{ROOT / 'include/stretto'}", "-Wl,--no-as-needed", str(LIBRARY))
    outcome = run_mpi(program, 3, hints_env()).check()
    assert re.search(r"from hints in (2[0-9]|3[0-9])", outcome.output), outcome.output


@pytest.mark.parametrize("loaded", (True, False))
def test_hints_from_python(mpi_python: str, loaded: bool) -> None:
    """Without Stretto they do nothing."""
    env = hints_env() if loaded else {}
    outcome = run_mpi([mpi_python, HERE / "hints_program.py"], 3, env).check()
    assert (re.search(r"from hints in (2[0-9]|3[0-9])", outcome.output) is not None) == loaded, outcome.output


@pytest.mark.parametrize("library", ("ompio", "romio") if FAMILY == "openmpi" else ("romio",))
@pytest.mark.parametrize("setting", ("unloaded", "default", "ring"))
def test_mpi_io(compiled: Compiled, tmp_path: Path, setting: str, library: str) -> None:
    options = ["--mca", "io", "^ompio"] if (FAMILY, library) == ("openmpi", "romio") else []
    program = [compiled("interposition/collective_file.c"), tmp_path / "file"]
    run_mpi(program, 4, env_for("allreduce", setting), options=options).check()
