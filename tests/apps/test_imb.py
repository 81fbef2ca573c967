"""Intel's MPI benchmarks: all sizes run, on Stretto's algorithms.

They come compiled, with Intel MPI's wheel, and run over every MPI with MPICH's ABI. For Open MPI they would have to be
built, and no package has their source. With pytest -m external the wheel is fetched (from PyPI, kept in build/external)
where the MPI is another: PYTEST_OPTIONS="-m external" scripts/test_all_mpis.sh mpich-debian mpich.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, MPICC, NON_BLOCKING_TURNS, ROOT, non_blocking_turn, run_mpi, stretto_env

Compiled = Callable[..., Path]

SIZES = ["0", *(str(1 << power) for power in range(17))]
REDUCED = ["0", *SIZES[3:]]  # benchmarks that add floats begin with the size of one
BLOCKING = {"Allreduce": "allreduce", "Reduce": "reduce", "Bcast": "bcast", "Barrier": "barrier"}
NON_BLOCKING = ("Iallreduce", "Ibcast")
# All of IMB-NBC's that overlap a call with computation; each has the name of its call.
OVERLAPPING = (
    *("Iallreduce", "Ireduce", "Ibcast", "Ibarrier", "Iscatter", "Igather", "Iscatterv", "Igatherv"),
    *("Iallgather", "Iallgatherv", "Ireduce_scatter", "Ialltoall", "Ialltoallv"),
)


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


def fetch(name: str) -> Path:
    """The program of that name from Intel MPI's wheel."""
    folder = ROOT / "build/external/impi-rt"
    program = folder / name
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), "impi-rt==2021.*"]
        subprocess.run(pip, check=True)
        (path,) = folder.glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            (member,) = (member for member in wheel.namelist() if member.endswith(f"/bin/{name}"))
            program.write_bytes(wheel.read(member))
        program.chmod(0o755)
        path.unlink()
    return program


@pytest.fixture(scope="session")
def imb_nbc(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The program, and the environment in which it finds the MPI that is tested under the name that it asks for."""
    if FAMILY != "mpich":
        pytest.skip("IMB is compiled for MPICH's ABI")
    beside = Path(shutil.which(MPICC) or MPICC).parent / "IMB-NBC"
    if beside.exists():
        return beside, {}
    needed = subprocess.run(["ldd", compiled("mpi/no_finalize.c")], check=True, capture_output=True, text=True).stdout
    library = re.search(r"libmpi(?:ch)?\.so\.12 => (\S+)", needed)
    assert library, needed
    folder = tmp_path_factory.mktemp("imb")
    (folder / "libmpi.so.12").symlink_to(library[1])
    return fetch("IMB-NBC"), {"LD_LIBRARY_PATH": str(folder)}


@pytest.mark.external
@pytest.mark.parametrize("number", range(NON_BLOCKING_TURNS))
def test_non_blocking_forced(imb_nbc: tuple[Path, dict[str, str]], number: int) -> None:
    program, place = imb_nbc
    ranks = 2 + number % 2
    forced = {each: name for each, name in non_blocking_turn(number).items() if each.capitalize() in OVERLAPPING}
    assert len(forced) == len(OVERLAPPING)
    options = ["-npmin", str(ranks), "-iter", "5", "-msglog", "0:16"]
    output = run_mpi([program, *options, *OVERLAPPING], ranks, place | stretto_env(**forced, verbose=1)).check().output
    found = tables(output)
    assert set(found) == set(OVERLAPPING), output[-3000:]
    assert all(found[each] in (SIZES, REDUCED) for each in OVERLAPPING if each != "Ibarrier"), found
    for collective, name in forced.items():
        assert re.search(rf"^stretto: {collective}: {name} ran [1-9]\d* times$", output, re.MULTILINE), collective
