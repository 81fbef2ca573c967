"""Shared by the Python tests: an environment in which Open MPI runs here, a C compiler, and the real command."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_support import TIMEOUT_S, Compile, Stretto


@pytest.fixture
def environment() -> dict[str, str]:
    """Ours, without settings of Stretto's or a preload, with root and more ranks than cores allowed."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if (not name.startswith("STRETTO_") or name == "STRETTO_LIB_DIR") and name != "LD_PRELOAD"
    }
    kept.update(
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
    )
    return kept


@pytest.fixture
def stretto(environment: dict[str, str]) -> Stretto:
    """Runs the `stretto` command and returns its result; `extra` sets environment variables."""

    def run(*arguments: str, extra: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "stretto", *arguments],
            env=environment | dict(extra or {}),
            check=False,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles C text with a compiler and flags into a new file of the given name; returns its path."""

    def build(text: str, *flags: str, compiler: str = "cc", name: str = "program") -> Path:
        directory = tmp_path_factory.mktemp("compiled")
        source, output = directory / "source.c", directory / name
        source.write_text(text)
        subprocess.run([compiler, "-o", str(output), str(source), *flags], check=True, timeout=TIMEOUT_S)
        return output

    return build


@pytest.fixture(scope="session")
def foreign_program(compile_c: Compile) -> Path:
    """A program linked against a library named libmpi.so.12, as those of MPICH and Intel MPI are."""
    library = compile_c("int answer(void) { return 42; }", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.12", name="l.so")
    return compile_c("int answer(void); int main(void) { return answer() != 42; }", str(library))


@pytest.fixture(scope="session")
def library_directory(compile_c: Compile) -> Path:
    """A directory with a preload library for each MPI family, empty ones: for tests of what is handed to whom."""
    directory = compile_c("", "-shared", "-fPIC", name="libstretto_openmpi.so").parent
    for family in ("mpich", "mpi_abi"):
        compile_c("", "-shared", "-fPIC", name="empty.so").rename(directory / f"libstretto_{family}.so")
    return directory
