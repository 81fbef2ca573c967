"""That the benchmark's peers are what they are called: another algorithm adds in another order, which the bits show.

Open MPI's do. MPICH's allreduces all add along the same tree.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from mpi_jobs import MPIRUN, ROOT, open_mpi_only, run_job

LIMIT_S = 120
RULES = ["--mca", "coll_tuned_use_dynamic_rules", "1"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mpicxx") is None:
        pytest.skip("no mpicxx")
    output = tmp_path_factory.mktemp("variants") / "variants"
    sources = ["tests/bench/native_variants.cpp", "bench/driver/native_variants.cpp", "bench/driver/options.cpp"]
    flags = ["-std=c++20", "-O1", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-Ibench/driver", "-Iinclude", "-Isrc"]
    subprocess.run(["mpicxx", *flags, *sources, "-o", output], cwd=ROOT, check=True, timeout=LIMIT_S)
    return output


def sums(program: Path, *options: str) -> dict[str, str]:
    """Name of the variant -> hash of its sum on 5 ranks."""
    command = [str(shutil.which(MPIRUN)), "--oversubscribe", *RULES, *options, "-n", "5", str(program)]
    outcome = run_job(command, {}, LIMIT_S)
    assert outcome.code == 0, outcome.output
    lines = [line.split() for line in outcome.output.splitlines() if len(line.split()) == 2]
    assert lines[0] == lines[-1], "the default is another after the others were forced"
    return {words[0]: words[1] for words in lines}


@open_mpi_only("MPICH's algorithms cannot be told apart so")
def test_each_adds_as_when_the_whole_run_is_forced(program: Path) -> None:
    found = sums(program)
    assert len({found[name] for name in ("basic_linear", "recursive_doubling", "ring")}) == 3
    for number, name in ((1, "basic_linear"), (3, "recursive_doubling"), (4, "ring")):
        assert sums(program, "--mca", "coll_tuned_allreduce_algorithm", str(number))["default"] == found[name]
