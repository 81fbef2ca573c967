"""A rank that is killed takes the job down within a time limit; no process and no shared memory stay behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, Part, algorithms, at_most, env_for, mpirun_command, night, run_job

Compiled = Callable[..., Path]
LIMIT_S = 30.0
# By day those that share the most.
SHARED = [
    "default",
    *(
        name if name in ("arrival_chain", "arrival_stripes") else night(name)
        for name in algorithms("allreduce")
        if name.startswith("arrival")
    ),
]


def run_isolated(
    words: list[str], program: Sequence[str | Path], env: dict[str, str], ranks: int
) -> tuple[int, list[str]]:
    """Exit code, and Stretto's own leftovers in the /dev/shm that only this job sees."""
    outcome = run_job([*words, *mpirun_command([Part(program, at_most(ranks), env)])], {}, LIMIT_S)
    assert not outcome.leftovers, outcome.output
    if len(program) > 1:
        assert "about to lose rank 1" in outcome.output
    left = outcome.lines("left in /dev/shm:")
    return outcome.code, [name for names in left for name in names.split() if "stretto" in name.lower()]


@pytest.mark.parametrize("setting", ["unloaded", *SHARED])
@pytest.mark.parametrize("how", ("absent", "inside", "message"))
def test_a_killed_rank(compiled: Compiled, private_dev_shm: Callable[[str], list[str]], how: str, setting: str) -> None:
    if (FAMILY, how, setting) == ("mpich", "inside", "unloaded"):
        pytest.skip("MPICH alone may reduce on rank 0 only, and rank 1 is to die in a user operation")
    program: list[str | Path] = [compiled("interposition/killed_rank.c"), how]
    code, left = run_isolated(private_dev_shm("1g"), program, env_for("allreduce", setting), 4)
    assert code != 0
    assert left == []


@pytest.mark.parametrize("setting", SHARED)
def test_a_clean_end_leaves_nothing(
    compiled: Compiled, private_dev_shm: Callable[[str], list[str]], setting: str
) -> None:
    program = [compiled("mpi/allreduce_counts.c")]
    assert run_isolated(private_dev_shm("1g"), program, env_for("allreduce", setting), 4) == (0, [])
