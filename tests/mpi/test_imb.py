"""Intel's MPI benchmarks, which come with Intel MPI's wheel: all sizes run, on Stretto's algorithms."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, MPICC, run_mpi, stretto_env

SIZES = ["0", *(str(1 << power) for power in range(17))]
REDUCED = ["0", *SIZES[3:]]  # benchmarks that add floats begin with the size of one
BLOCKING = {"Allreduce": "allreduce", "Reduce": "reduce", "Bcast": "bcast", "Barrier": "barrier"}
NON_BLOCKING = ("Iallreduce", "Ibcast")


def benchmark(name: str) -> Path:
    """Beside the compiler wrapper; linked to Intel MPI, whose ABI is MPICH's."""
    path = Path(shutil.which(MPICC) or MPICC).parent / name
    if FAMILY != "mpich" or not path.exists():
        pytest.skip("IMB comes with Intel MPI only")
    return path


def tables(output: str) -> dict[str, list[str]]:
    """Benchmark -> the sizes that it printed a row for; [] where rows have no size."""
    found: dict[str, list[str]] = {}
    for name, table in re.findall(r"^# Benchmarking (\w+) *\n(.*?)(?=^# Benchmarking|\Z)", output, re.M | re.S):
        found[name] = re.findall(r"^ +(\d+) +\d+ +\d+\.\d+", table, re.M)
    return found


def run(program: str, benchmarks: Iterable[str], ranks: int, loaded: bool) -> str:
    options = ["-npmin", str(ranks), "-iter", "50", "-msglog", "0:16"]
    env = stretto_env(verbose=1) if loaded else {}
    return run_mpi([benchmark(program), *options, *benchmarks], ranks, env).check().output


@pytest.mark.parametrize("ranks", (2, 3))
@pytest.mark.parametrize("loaded", (False, True), ids=("unloaded", "default"))
def test_blocking(loaded: bool, ranks: int) -> None:
    output = run("IMB-MPI1", BLOCKING, ranks, loaded)
    found = tables(output)
    assert found.keys() == BLOCKING.keys(), output[-3000:]
    assert found["Bcast"] == SIZES
    assert found["Allreduce"] == found["Reduce"] == REDUCED
    for collective in BLOCKING.values():
        ran = re.findall(rf"^stretto: {collective}: (?!native)(\w+) ran \d+ times", output, re.M)
        assert bool(ran) == loaded, f"{collective}:\n{output[-3000:]}"


@pytest.mark.parametrize("ranks", (2, 3))
@pytest.mark.parametrize("loaded", (False, True), ids=("unloaded", "default"))
def test_non_blocking(loaded: bool, ranks: int) -> None:
    found = tables(run("IMB-NBC", NON_BLOCKING, ranks, loaded))
    assert found == {"Iallreduce": REDUCED, "Ibcast": SIZES}
