"""bench/experiments/overlap.c checks what it gets, and Stretto's algorithms run under it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import NATIVE_ENV, non_blocking_turn, run_mpi, stretto_env

Compiled = Callable[..., Path]
RANKS, ITERATIONS, TESTS = 3, 2, 4
FORCED = non_blocking_turn(0)
KINDS = ("iallreduce", "ireduce", "ibcast", "iallgather", "ialltoall", "igather", "iscatter", "ibarrier")
TIMES = {"total_s", "start_s", "compute_s", "test_s"}
OWN = {"pure", "alone", "untested", "tested"}
COMMON = {"common_alone", "common_untested", "common_tested"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loaded", (False, True), ids=("unloaded", "forced"))
def test_every_kind(compiled: Compiled, tmp_path: Path, kind: str, loaded: bool) -> None:
    file = tmp_path / "overlap.json"
    env = stretto_env(**FORCED, verbose=1) if loaded else dict(NATIVE_ENV)
    program = compiled("../bench/experiments/overlap.c")
    output = run_mpi([program, file, kind, str(ITERATIONS), str(TESTS), "8", "80000:50"], RANKS, env).check().output
    ran = re.findall(rf"^stretto: {kind}: (\S+) ran [1-9]\d* times$", output, re.MULTILINE)
    assert ran == ([FORCED[kind]] if loaded else []), output
    small, large = (json.loads(line) for line in file.read_text().splitlines())
    assert (small["bytes"], large["bytes"]) == (8, 80000)
    assert small["modes"].keys() == OWN
    assert large["modes"].keys() == OWN | COMMON
    for name, times in large["modes"].items():
        assert times.keys() == TIMES
        assert all(len(by_rank) == RANKS for by_rank in times.values())
        assert all((seconds > 0) == (name != "pure") for seconds in times["compute_s"])
        assert all(seconds > 0 for seconds in times["total_s"])


def test_an_unknown_kind_is_refused(compiled: Compiled, tmp_path: Path) -> None:
    program = compiled("../bench/experiments/overlap.c")
    assert run_mpi([program, tmp_path / "overlap.json", "isend", "1", "1", "8"], 1).code != 0
