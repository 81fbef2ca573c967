"""Runs MPI jobs for the tests: with a time limit, with and without Stretto, leaving no process behind.

The MPI is the one on PATH, an Open MPI. scripts/test_all_mpis.sh names others:
  STRETTO_TEST_LIBRARY    the preload library; its build tree's stretto-registry is used, too
  STRETTO_TEST_FAMILY     openmpi or mpich (Intel MPI is one): how the launcher is spoken to
  STRETTO_TEST_MPICC, STRETTO_TEST_MPIFORT, STRETTO_TEST_MPIRUN   where one is named, the others are not guessed
  STRETTO_TEST_MAX_RANKS  tests with more ranks are left out, or use this many
  STRETTO_TEST_PROGRAMS   a folder of the tests' programs, compiled, where there is no compiler (scripts/bundle)
  STRETTO_TEST_NATIVE_ENV NAME=VALUE, for runs without Stretto's algorithms: works around a defect of the MPI's own
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stretto.algorithms import COLLECTIVES as COLLECTIVES  # for the tests, which take it from here

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = Path(os.environ.get("STRETTO_TEST_LIBRARY", ROOT / "build/lib/libstretto_openmpi.so"))
REGISTRY = LIBRARY.parent.parent / "bin/stretto-registry"
FAMILY = os.environ.get("STRETTO_TEST_FAMILY", "openmpi")
MPICC = os.environ.get("STRETTO_TEST_MPICC", "mpicc")
MPIFORT = os.environ.get("STRETTO_TEST_MPIFORT", "" if "STRETTO_TEST_MPICC" in os.environ else "mpifort")
MPIRUN = os.environ.get("STRETTO_TEST_MPIRUN", "mpirun")
PROGRAMS_FOLDER = Path(os.environ["STRETTO_TEST_PROGRAMS"]) if "STRETTO_TEST_PROGRAMS" in os.environ else None
MAX_RANKS = int(os.environ.get("STRETTO_TEST_MAX_RANKS", "64"))
# Others than the default MPI have defects that are no news here.
TOLERANT = "STRETTO_TEST_MPICC" in os.environ
NATIVE_ENV = dict(word.split("=", 1) for word in os.environ.get("STRETTO_TEST_NATIVE_ENV", "").split())
TIME_LIMIT_S = 120.0
# Open MPI starts twice as fast where it need not look for networks that no test's job uses. A test that needs another
# transport says so on the command line, which is stronger.
SHARED_MEMORY_ONLY = {"OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1"} if FAMILY == "openmpi" else {}
# Of Open MPI 4.1's jobs that start at once some fail, as each makes and removes the same folder of the user's.
_SESSIONS = tempfile.TemporaryDirectory(prefix="stretto-jobs-")
os.environ |= {"OMPI_MCA_orte_tmpdir_base": _SESSIONS.name}
# What calls each with every count, root and type.
PROGRAMS = {
    "allreduce": "mpi/allreduce_counts.c",
    "reduce": "mpi/reduce_counts.c",
    "bcast": "mpi/bcast_counts.c",
    "barrier": "mpi/barrier_order.c",
    "scatter": "mpi/scatter_counts.c",
    "gather": "mpi/gather_counts.c",
    "scatterv": "mpi/scatter_counts.c",
    "gatherv": "mpi/gather_counts.c",
    "allgather": "mpi/allgather_counts.c",
    "allgatherv": "mpi/allgather_counts.c",
    "reduce_scatter_block": "mpi/reduce_scatter_counts.c",
    "reduce_scatter": "mpi/reduce_scatter_counts.c",
    "alltoall": "mpi/alltoall_counts.c",
    "alltoallv": "mpi/alltoall_counts.c",
}
# Kinds with a length for each rank of others.
WITH_LENGTHS = ("scatterv", "gatherv", "allgatherv", "reduce_scatter", "alltoallv")


@functools.cache
def mpi_version() -> int:
    """The major number of the standard that the MPI's header follows; 0 without a compiler."""
    if PROGRAMS_FOLDER:
        return int((PROGRAMS_FOLDER / "mpi_version").read_text())
    if not shutil.which(MPICC):
        return 0
    command = [MPICC, "-E", "-P", "-x", "c", "-"]
    source = "#include <mpi.h>\nMPI_VERSION\n"
    text = subprocess.run(command, input=source, check=True, capture_output=True, text=True).stdout
    return int(text.split()[-1])


@functools.cache
def registry() -> list[dict[str, object]]:
    """All algorithms as the built library knows them; empty where nothing is built yet."""
    if not REGISTRY.exists():
        return []
    entries: list[dict[str, object]] = json.loads(subprocess.run([REGISTRY], check=True, capture_output=True).stdout)
    return entries


def algorithms(collective: str) -> list[str]:
    """Those that can serve any call; others need a prediction of it."""
    return [
        str(entry["name"])
        for entry in registry()
        if entry["collective"] == collective and not entry["needs_prediction"]
    ]


def non_blocking_turn(number: int) -> dict[str, str]:
    """One algorithm for the non-blocking form of each collective: stretto_env(**non_blocking_turn(3)).

    All have had their turn after NON_BLOCKING_TURNS.
    """
    return {f"i{each}": names[number % len(names)] for each, names in of_messages_alone().items() if names}


@functools.cache
def of_messages_alone() -> dict[str, list[str]]:
    """By collective the algorithms that non-blocking calls can be served by."""
    others = {
        (entry["collective"], entry["name"])
        for entry in registry()
        if entry["needs_shared_memory"] or entry["needs_atomics"]
    }
    return {each: [name for name in algorithms(each) if (each, name) not in others] for each in COLLECTIVES}


NON_BLOCKING_TURNS = max(len(names) for names in of_messages_alone().values())


def settings(collective: str) -> list[str]:
    """What STRETTO_<COLLECTIVE> is tried with; `unloaded` is the MPI library alone, the baseline of every test."""
    return ["unloaded", "native", "default", *algorithms(collective)]


def stretto_env(**variables: object) -> dict[str, str]:
    """The environment of a rank under Stretto: stretto_env(allreduce="ring", deterministic=1, shm_max_mib=0)."""
    if not LIBRARY.exists():
        pytest.fail(f"{LIBRARY} is missing: run `make build` first")
    settings = {f"STRETTO_{name.upper()}": str(value) for name, value in variables.items()}
    return {"LD_PRELOAD": str(LIBRARY), "CHECK_STRETTO": "1", **settings}


def each_env(collective: str, names: Sequence[str]) -> dict[str, str]:
    """For programs that run their checks with each of these algorithms in turn (check.h, with_each_algorithm)."""
    return stretto_env() | {"CHECK_EACH": " ".join([collective, *names])}


def env_for(collective: str, setting: str, **variables: object) -> dict[str, str]:
    if setting == "unloaded":
        return dict(NATIVE_ENV)
    return stretto_env(**{collective: setting, **variables}) | (NATIVE_ENV if setting == "native" else {})


@dataclass(frozen=True)
class Outcome:
    code: int
    output: str
    leftovers: tuple[int, ...]

    def check(self) -> Outcome:
        """Assert a clean run; a program that cannot run here has said why, in a line "skip: reason"."""
        assert self.code == 0, f"exit code {self.code}:\n{self.output[-6000:]}"
        assert not self.leftovers, f"processes left behind: {self.leftovers}\n{self.output[-2000:]}"
        for reason in self.lines("skip: "):
            pytest.skip(reason)
        return self

    def lines(self, start: str) -> list[str]:
        """The rest of every line of output that begins with `start`."""
        return [line[len(start) :] for line in self.output.splitlines() if line.startswith(start)]


def processes_with(token: str) -> list[int]:
    """Ids of living processes that carry `token` in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            carries = token.encode() in (entry / "environ").read_bytes()
            dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:  # it is gone already, or is another user's
            continue
        if carries and not dead:
            found.append(int(entry.name))
    return found


def stop(process: subprocess.Popen[str], token: str) -> str:
    """End a job that has outrun its time: mpirun is asked first, since it ends its ranks; then all that is left."""
    process.terminate()
    try:
        output = process.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired:
        for pid in processes_with(token):
            os.kill(pid, signal.SIGKILL)
        output = process.communicate()[0]
    for pid in processes_with(token):
        os.kill(pid, signal.SIGKILL)
    return output


def run_job(command: Sequence[str | Path], env: Mapping[str, str], limit_s: float = TIME_LIMIT_S) -> Outcome:
    """Run `command` with `env` added, in a process group of its own; whatever happens, nothing of it stays."""
    token = f"STRETTO_TEST_JOB={uuid.uuid4()}"
    name, _, value = token.partition("=")
    process = subprocess.Popen(
        [str(part) for part in command],
        env={**SHARED_MEMORY_ONLY, **clean_environment(), **env, name: value},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        output = stop(process, token)
        pytest.fail(f"no end within {limit_s} s: {' '.join(map(str, command))}\n{output[-4000:]}")
    # Hydra ends before it has seen the last of its ranks end, and mpirun those that it has killed.
    patience_end = time.monotonic() + (5 if FAMILY == "mpich" or process.returncode != 0 else 0)
    while processes_with(token) and time.monotonic() < patience_end:
        time.sleep(0.1)
    leftovers = tuple(processes_with(token))
    for pid in leftovers:
        os.kill(pid, signal.SIGKILL)
    return Outcome(process.returncode, output, leftovers)


def clean_environment() -> dict[str, str]:
    """This process' environment without settings for Stretto that the caller's shell may hold."""
    mine = {key: value for key, value in os.environ.items() if not key.startswith("STRETTO_") and key != "LD_PRELOAD"}
    return {**mine, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass(frozen=True)
class Part:
    """One program of an MPMD job."""

    program: Sequence[str | Path]
    ranks: int
    env: Mapping[str, str]


def open_mpi_only(reason: str) -> pytest.MarkDecorator:
    """Marks a test of something that no other MPI has."""
    return pytest.mark.skipif(FAMILY != "openmpi", reason=reason)


def has_hwloc() -> bool:
    """Whether the library that Stretto loads to know what ranks are bound to can be loaded."""
    try:
        ctypes.CDLL("libhwloc.so.15")
    except OSError:
        return False
    return True


def needs_mpi_4(what: str) -> pytest.MarkDecorator:
    """Marks a test of something that MPI 4 brought; decided without a job."""
    version = mpi_version()
    return pytest.mark.skipif(version < 4, reason=f"{what} need MPI 4, this is MPI {version}")


needs_hwloc = pytest.mark.skipif(not has_hwloc(), reason="no libhwloc.so.15 is installed")


def night(*values: object, id: str | None = None) -> Any:
    """A set of parameters for `make test-nightly` alone."""
    return pytest.param(*values, marks=pytest.mark.night, id=id)


def with_a_core_each(*values: object, ranks: int) -> Any:
    """A set of parameters for machines with that many cores: fewer would take minutes for it."""
    cores = len(os.sched_getaffinity(0))
    return pytest.param(*values, ranks, marks=pytest.mark.skipif(cores < ranks, reason=f"this needs {ranks} cores"))


def at_most(ranks: int) -> int:
    """`ranks`, or as many as this MPI is tested with."""
    return min(ranks, MAX_RANKS)


def mpirun_command(parts: Sequence[Part], options: Sequence[str] = ()) -> list[str]:
    open_mpi = FAMILY == "openmpi"
    command = [str(shutil.which(MPIRUN) or MPIRUN), *(["--oversubscribe"] if open_mpi else []), *options]
    for index, part in enumerate(parts):
        command += [":"] if index else []
        command += ["-n", str(part.ranks)]
        for name, value in part.env.items():
            command += ["-x", f"{name}={value}"] if open_mpi else ["-env", name, value]
        command += [str(word) for word in part.program]
    return command


def run_mpi(
    program: str | Path | Sequence[str | Path],
    ranks: int,
    env: Mapping[str, str] | None = None,
    *,
    options: Sequence[str] = (),
    limit_s: float = TIME_LIMIT_S,
) -> Outcome:
    """Run `program` (with arguments, if a list) on `ranks` ranks; `env` reaches the ranks, not mpirun itself."""
    words = [program] if isinstance(program, (str, Path)) else list(program)
    return run_job(mpirun_command([Part(words, at_most(ranks), env or {})], options), {}, limit_s)


def check_unless_native_fails(
    program: str | Path | Sequence[str | Path], ranks: int, env: Mapping[str, str], limit_s: float = TIME_LIMIT_S
) -> None:
    """For what other MPIs may get wrong by themselves: a failure counts only if the MPI library alone does better."""
    outcome = run_mpi(program, ranks, env, limit_s=limit_s)
    if TOLERANT and outcome.code != 0 and run_mpi(program, ranks, NATIVE_ENV, limit_s=limit_s).code != 0:
        pytest.skip("the MPI library alone fails, too")
    outcome.check()
