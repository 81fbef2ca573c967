"""Fixtures for tests that compile small MPI programs and run them under mpirun, with and without Stretto."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, MAX_RANKS, MPICC, MPIFORT, PROGRAMS_FOLDER, ROOT

OPT_IN_MARKERS = {
    "night": "repeats in more ways what others show; make test-nightly, or pytest -m night",
    "external": "runs programs that others wrote, fetched at run time; slow: pytest -m external",
    "large": "moves more than INT_MAX bytes, needs about 8 GiB of memory: pytest -m large",
}


LONG = {"long": "takes more than some ten seconds, so it begins before others, lest a worker has it alone at the end"}
# Two workers (pytest -n 2) disturb each other's times, and may not run these side by side.
ALONE = {"alone": "measures time or the whole machine, so nothing may run beside it"}


def pytest_configure(config: pytest.Config) -> None:
    # Whoever starts us in the background may have interrupts ignored, which our children would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, meaning in (OPT_IN_MARKERS | LONG | ALONE).items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests on too many ranks for this MPI; and the opt-in tests, unless -m asks for them by name."""

    def is_left_out(item: pytest.Item) -> bool:
        asked_for = re.findall(r"\w+", config.option.markexpr)
        opt_in = any(item.get_closest_marker(name) and name not in asked_for for name in OPT_IN_MARKERS)
        ranks = item.callspec.params.get("ranks") if hasattr(item, "callspec") else None
        too_many = isinstance(ranks, int) and ranks > MAX_RANKS
        return too_many or opt_in

    left_out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    kept = [item for item in items if item not in left_out]
    items[:] = sorted(kept, key=lambda item: item.get_closest_marker("long") is None)


def compiler_of(source: Path) -> list[str]:
    if source.suffix == ".c":
        # MPICH's MPI_STATUSES_IGNORE is no array, whatever its prototypes tell GCC.
        warnings = ["-Wno-stringop-overflow"] if FAMILY == "mpich" else []
        return [MPICC, "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", *warnings]
    if not MPIFORT:
        pytest.skip("this MPI has no Fortran")
    # mpif.h declares no interfaces, so gfortran sees the same routine called with arguments of several types.
    return [MPIFORT, "-O1", "-g", "-Wall", "-Wno-uninitialized", "-fallow-argument-mismatch"]


def already_compiled(source: str, *options: str) -> Path:
    """Of PROGRAMS_FOLDER, which has the repository's layout."""
    assert PROGRAMS_FOLDER
    program = PROGRAMS_FOLDER / (ROOT / "tests" / source).resolve().relative_to(ROOT).with_suffix("")
    if options or not program.is_file():
        pytest.skip(f"{source} needs a compiler")
    return program


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """compiled("mpi/allreduce_counts.c") gives the program, built once a session; options go to the compiler."""
    if PROGRAMS_FOLDER:
        return already_compiled
    directory = tmp_path_factory.mktemp("programs")
    done: dict[tuple[str, ...], Path] = {}

    def build(source: str, *options: str) -> Path:
        key = (source, *options)
        if key not in done:
            path = ROOT / "tests" / source
            suffix = ".so" if "-shared" in options else ""
            target = directory / f"{path.stem}-{len(done)}{suffix}"
            # Fortran writes its module files where it runs.
            command = [
                *compiler_of(path),
                *options,
                str(path),
                "-I",
                str(path.parent),
                "-o",
                str(target),
                "-ldl",
                "-lm",
            ]
            result = subprocess.run(command, cwd=directory, capture_output=True, text=True)
            assert result.returncode == 0, f"{' '.join(command)}\n{result.stderr}"
            done[key] = target
        return done[key]

    return build


@pytest.fixture(scope="session")
def mpi_python() -> str:
    """An interpreter with mpi4py and NumPy: the one that runs the tests, else the project's own."""
    for candidate in (sys.executable, str(ROOT / ".venv/bin/python")):
        found = shutil.which(candidate)
        if found and subprocess.run([found, "-c", "import mpi4py, numpy"], capture_output=True).returncode == 0:
            return found
    pytest.skip("mpi4py or NumPy is not installed (make build puts both into .venv)")


@pytest.fixture(scope="session")
def stretto_command() -> list[str]:
    """The words that start the `stretto` command from this checkout."""
    return [sys.executable, "-m", "stretto"]


@pytest.fixture(scope="session")
def private_dev_shm() -> Callable[[str], list[str]]:
    """private_dev_shm("64k") gives words to put before a command: it then has a /dev/shm of that size to itself.

    What is left there in the end is printed as a line `left in /dev/shm: name ...`, and the exit code is kept.
    """
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("no private mount namespace: `unshare -m` is not permitted here")

    def words(size: str) -> list[str]:
        script = (
            f"mount -t tmpfs -o size={size} tmpfs /dev/shm || exit 99\n"
            '"$@"; code=$?; echo "left in /dev/shm:" $(ls -A /dev/shm); exit $code'
        )
        return [unshare, "-m", "sh", "-c", script, "private_dev_shm"]

    return words
