"""DistributedDataParallel with Stretto's hook: pytest -m external, but for what needs no PyTorch.

`make torch` installs what it takes; STRETTO_TEST_TORCH names another Python with PyTorch and the mpi4py of this MPI.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mpi_jobs import ROOT, Outcome, env_for, run_mpi, stretto_env

PYTHON = os.environ.get("STRETTO_TEST_TORCH", "/usr/bin/python3")
PATH = {"PYTHONPATH": str(ROOT / "python")}
STEPS = 10
# What the hook's calls run on: the MPI library alone, Stretto's choice, and a pipelined algorithm.
SETTINGS = ("unloaded", "default", "ring+4")


@pytest.fixture(scope="module")
def torch_python() -> str:
    """An interpreter with PyTorch and mpi4py."""
    program = "import importlib.util as u, sys; sys.exit(not (u.find_spec('torch') and u.find_spec('mpi4py')))"
    if not Path(PYTHON).exists() or subprocess.run([PYTHON, "-c", program]).returncode != 0:
        pytest.skip(f"{PYTHON} has no PyTorch or no mpi4py: run `make torch`")
    return PYTHON


def check(python: str, name: str, ranks: int, env: dict[str, str]) -> Outcome:
    """Run one of the checks of torch_hook.py; an exception on one rank ends all."""
    program: list[str | Path] = [python, "-m", "mpi4py", ROOT / "tests/apps/torch_hook.py", name]
    return run_mpi(program, ranks, env | PATH).check()


@pytest.mark.external
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("ranks", (2, 3, 4))
def test_averages_are_exact(torch_python: str, ranks: int, setting: str) -> None:
    check(torch_python, "exact", ranks, env_for("allreduce", setting))


@pytest.mark.external
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_type(torch_python: str, setting: str) -> None:
    check(torch_python, "types", 3, env_for("allreduce", setting))


@pytest.mark.external
@pytest.mark.parametrize("name", ("refused", "overlap", "failing"))
def test_hook(torch_python: str, name: str) -> None:
    check(torch_python, name, 2, env_for("allreduce", "default"))


def train(python: str, directory: Path, ranks: int, env: dict[str, str], *way: str) -> tuple[dict[str, Any], str]:
    """Train for STEPS steps; returns what rank 0 says of it, and what was printed."""
    file = directory / "training.json"
    program: list[str | Path] = [python, ROOT / "apps/torch/train.py", *way]
    program += ["--iterations", "1", "--batches", str(STEPS), "--out", file]
    output = run_mpi(program, ranks, env | PATH).check().output
    said: dict[str, Any] = json.loads(file.read_text())
    assert len(said["losses"]) == STEPS
    assert len(said["parameters_sha256"]) == ranks
    assert len(set(said["parameters_sha256"])) == 1, "ranks have different parameters"
    return said, output


@pytest.mark.external
@pytest.mark.parametrize("ranks", (2, 4))
def test_losses_are_those_over_gloo(torch_python: str, tmp_path: Path, ranks: int) -> None:
    """Bounds as for Horovod: the orders of addition differ, and training amplifies that. A wrong gradient shows at
    the second step."""
    expected = train(torch_python, tmp_path, ranks, {}, "--backend", "gloo")[0]["losses"]
    for setting in SETTINGS:
        losses = train(torch_python, tmp_path, ranks, env_for("allreduce", setting), "--hook")[0]["losses"]
        for steps, bound in ((4, 1e-4), (STEPS, 0.05)):
            together = zip(expected[:steps], losses[:steps], strict=True)
            assert all(math.isclose(a, b, rel_tol=bound) for a, b in together), (setting, losses)


@pytest.mark.external
@pytest.mark.parametrize("algorithm", ("native", "arrival_stripes", "ring", "ring+4"))
def test_stretto_serves_every_bucket(torch_python: str, tmp_path: Path, algorithm: str) -> None:
    _, output = train(torch_python, tmp_path, 4, stretto_env(allreduce=algorithm, verbose=1), "--hook")
    ran = re.findall(r"^stretto: allreduce: (\S+) ran (\d+) times$", output, re.MULTILINE)
    assert [name for name, _ in ran] == [algorithm], output
    assert int(ran[0][1]) >= 3 * STEPS, "the model has more than two buckets"


@pytest.mark.parametrize("level", ("funneled", "serialized", "multiple"))
def test_rights_of_threads(mpi_python: str, level: str) -> None:
    """A real MPI's rights, which may be more than one has asked for; test_torch_state.py has all cases."""
    program = (
        "import mpi4py, sys; mpi4py.rc.thread_level = sys.argv[1]; from mpi4py import MPI; import stretto.torch\n"
        "print('enough' if MPI.Query_thread() >= MPI.THREAD_SERIALIZED else 'too few')\n"
        "try: stretto.torch.State().close(); print('made')\n"
        "except RuntimeError as error: print(error)"
    )
    output = run_mpi([mpi_python, "-c", program, level], 2, PATH).check().output
    enough, made, refused = (output.count(word) for word in ("enough", "made", "MPI runs with MPI_THREAD_"))
    assert (enough, refused) == (made, 2 - made), output
    assert level == "funneled" or made == 2, output
