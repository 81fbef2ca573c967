"""Programs that others wrote, with and without Stretto: pytest -m external.

Fetched at run time: mpi4py's source distribution (from PyPI, kept in build/external). Taken from the system where it is
there: `lmp` (Debian's package lammps). Intel MPI's benchmarks are in test_imb.py.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from mpi_jobs import (
    COLLECTIVES,
    NON_BLOCKING_TURNS,
    ROOT,
    algorithms,
    env_for,
    non_blocking_turn,
    run_mpi,
    stretto_env,
)

pytestmark = pytest.mark.external
CACHE = ROOT / "build/external"
EVERY_FORCED = [(collective, name) for collective in COLLECTIVES for name in algorithms(collective)]

LENNARD_JONES = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 5 delay 0 check yes
fix 1 all nve
thermo 10
thermo_modify format float %.10g
run 200
"""


@pytest.fixture(scope="session")
def mpi4py_tests(mpi_python: str) -> Path:
    """The folder of mpi4py's own tests, of the version that is installed."""
    asked = [mpi_python, "-c", "import importlib.metadata as m; print(m.version('mpi4py'))"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    folder = CACHE / f"mpi4py-{version}/test"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", "-d", str(CACHE)]
        subprocess.run([*pip, f"mpi4py=={version}"], check=True)
        with tarfile.open(CACHE / f"mpi4py-{version}.tar.gz") as archive:
            archive.extractall(CACHE, filter="data")
    return folder


def run_mpi4py(python: str, tests: Path, env: dict[str, str]) -> str:
    """The tests of collectives, blocking, non-blocking and persistent; returns what they print."""
    command: list[str | Path] = [python, tests / "main.py", "--no-builddir", "-q", "-i", "test_cco"]
    outcome = run_mpi(command, 3, env, limit_s=400).check()
    # The ranks' lines mix; a failure on any rank shows in the exit code.
    ran = [int(count) for count in re.findall(r"Ran (\d+) tests", outcome.output)]
    assert ran, outcome.output[-3000:]
    assert max(ran) > 300, "mpi4py's tests were not found"
    return outcome.output


@pytest.mark.parametrize("setting", ("unloaded", "default"))
def test_mpi4py_collectives(mpi_python: str, mpi4py_tests: Path, setting: str) -> None:
    run_mpi4py(mpi_python, mpi4py_tests, env_for("allreduce", setting))


@pytest.mark.parametrize(("collective", "name"), EVERY_FORCED)
def test_mpi4py_collectives_forced(mpi_python: str, mpi4py_tests: Path, collective: str, name: str) -> None:
    run_mpi4py(mpi_python, mpi4py_tests, stretto_env(**{collective: name}))


@pytest.mark.parametrize("number", range(NON_BLOCKING_TURNS))
def test_mpi4py_non_blocking_forced(mpi_python: str, mpi4py_tests: Path, number: int) -> None:
    forced = non_blocking_turn(number)
    output = run_mpi4py(mpi_python, mpi4py_tests, stretto_env(**forced, verbose=1))
    for collective, name in forced.items():
        assert re.search(rf"^stretto: {collective}: {name} ran [1-9]\d* times$", output, re.MULTILINE), collective


def thermo_rows(output: str) -> list[list[float]]:
    """The table between its header and the closing line: step, temperature, energies, pressure."""
    table = re.search(r"^ *Step .*?\n(.*?)^Loop time", output, re.MULTILINE | re.DOTALL)
    assert table, output[-3000:]
    return [[float(word) for word in line.split()] for line in table.group(1).splitlines()]


@pytest.fixture(scope="session")
def lammps_run(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    lmp = shutil.which("lmp")
    if lmp is None:
        pytest.skip("LAMMPS is not installed (Debian's package lammps)")
    script = tmp_path_factory.mktemp("lammps") / "in.lj"
    script.write_text(LENNARD_JONES)
    return [lmp, "-log", "none", "-in", script]


@pytest.mark.parametrize(("collective", "name"), [*((each, "default") for each in COLLECTIVES[:1]), *EVERY_FORCED])
def test_lammps_thermo_rows(lammps_run: list[str | Path], collective: str, name: str) -> None:
    native = thermo_rows(run_mpi(lammps_run, 4).check().output)
    ours = thermo_rows(run_mpi(lammps_run, 4, stretto_env(**{collective: name})).check().output)
    assert len(native) == len(ours) == 21
    # Rounding differs with the order of adding and grows by chaos; the first hundred steps are not there yet.
    for expected, row in zip(native[:11], ours[:11], strict=True):
        assert all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in zip(expected, row, strict=True))
