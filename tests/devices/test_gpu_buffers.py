"""Buffers in the memory of GPUs, of which no more is here than a library that answers as a driver does (fake_gpu.c)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import COLLECTIVES, non_blocking_turn, run_mpi, stretto_env

Compiled = Callable[..., Path]

# That take any operation, and messages; and that share memory.
ORDERED = {"allreduce": "recursive_doubling", "reduce": "binomial", "bcast": "event_binary"} | {
    "reduce_scatter_block": "pairwise",
    "reduce_scatter": "pairwise",
}
SHARED = {"allreduce": "arrival_stripes", "reduce": "arrival_stripes", "bcast": "arrival_copy"} | {
    "reduce_scatter_block": "ring",
    "reduce_scatter": "ring",
}
MOVED = ("scatter", "gather", "allgather", "alltoall")


def of_all(reductions: dict[str, str], moved: str) -> dict[str, str]:
    """One algorithm for each collective, blocking or not."""
    rest = {each: "linear" for each in COLLECTIVES if each != "barrier"}
    return rest | dict.fromkeys(MOVED, moved) | reductions | non_blocking_turn(0)


WAYS = {"ordered": of_all(ORDERED, "linear"), "shared": of_all(SHARED, "arrival_copy")}
DRIVERS = {"cuda": ("libcuda.so.1", ()), "hip": ("libamdhip64.so.6", ("-DFAKE_HIP",))}


@pytest.fixture
def driver(request: pytest.FixtureRequest, compiled: Compiled, tmp_path: Path) -> Path:
    """Under the name by which its functions are looked for."""
    name, options = DRIVERS[request.param]
    library = compiled("devices/fake_gpu.c", "-shared", "-fPIC", f"-Wl,-soname,{name}", *options)
    return Path(shutil.copy(library, tmp_path / name))


@pytest.mark.parametrize("driver", DRIVERS, indirect=True)
@pytest.mark.parametrize(("way", "ranks"), [("ordered", 3), ("shared", 4)])
def test_buffers_on_gpus(compiled: Compiled, driver: Path, way: str, ranks: int) -> None:
    words: list[str | Path] = [compiled("devices/gpu_buffers.c"), driver, "1", "200"]
    words += ["ordered"] if way == "ordered" else []
    output = run_mpi(words, ranks, stretto_env(**WAYS[way])).check().output
    ends = re.findall(r"^rank \d: (\d+) calls differ, (\d+) copies, (\d+) parts$", output, re.MULTILINE)
    assert len(ends) == ranks, output
    assert all(differ == "0" and int(copies) > 100 and int(parts) > 1 for differ, copies, parts in ends), output
