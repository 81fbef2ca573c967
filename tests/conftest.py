"""Fixtures for tests that compile small MPI programs and run them under mpirun, with and without Stretto."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import ROOT

OPT_IN_MARKERS = {
    "external": "runs programs that others wrote, fetched at run time; slow: pytest -m external",
    "large": "moves more than INT_MAX bytes, needs about 8 GiB of memory: pytest -m large",
}


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in OPT_IN_MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the opt-in tests out unless -m asks for something itself."""
    if config.option.markexpr:
        return
    opted_out = [item for item in items if any(item.get_closest_marker(name) for name in OPT_IN_MARKERS)]
    config.hook.pytest_deselected(items=opted_out)
    items[:] = [item for item in items if item not in opted_out]


def compiler_of(source: Path) -> list[str]:
    if source.suffix == ".c":
        return ["mpicc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
    # mpif.h declares no interfaces, so gfortran sees the same routine called with arguments of several types.
    return ["mpifort", "-O1", "-g", "-Wall", "-Wno-uninitialized", "-fallow-argument-mismatch"]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """compiled("mpi/allreduce_counts.c") gives the program, built once a session; options go to the compiler."""
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
    """An interpreter with mpi4py and NumPy: the project's own, else the one that runs the tests."""
    for candidate in (str(ROOT / ".venv/bin/python"), sys.executable):
        found = shutil.which(candidate)
        if found and subprocess.run([found, "-c", "import mpi4py, numpy"], capture_output=True).returncode == 0:
            return found
    pytest.skip("mpi4py or NumPy is not installed (make build puts both into .venv)")


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
