"""Processes that die under an MPI library that lives on without them (ULFM), in memory and by messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, NATIVE_ENV, at_most, non_blocking_turn, run_mpi, stretto_env

Compiled = Callable[..., Path]
WAYS: dict[str, dict[str, object] | None] = {
    "unloaded": None,
    "default": {},
    "messages": {"allreduce": "ring", "bcast": "binomial", "reduce": "binomial", "barrier": "dissemination"}
    | {"allgather": "ring", "shm_max_mib": 0},
}


def check_those_left(compiled: Compiled, collective: str, settings: dict[str, object] | None) -> str:
    if FAMILY != "openmpi":
        pytest.skip("tried with Open MPI alone")
    program = compiled("mpi/failed_peer.c")
    run_mpi(program, 1).check()  # or skip
    env = NATIVE_ENV if settings is None else stretto_env(**settings)
    ranks = at_most(4)
    outcome = run_mpi([program, collective], ranks, env, options=["--with-ft", "ulfm"], limit_s=60)
    assert sorted(outcome.lines("rank ")) == [f"{rank}: ok" for rank in range(ranks) if rank != 1], outcome.output
    return outcome.output


@pytest.mark.parametrize("collective", ("bcast", "reduce", "allreduce", "barrier", "allgather"))
@pytest.mark.parametrize("way", WAYS)
def test_those_who_are_left_get_an_error_and_go_on(compiled: Compiled, way: str, collective: str) -> None:
    check_those_left(compiled, collective, WAYS[way])


def test_non_blocking_calls_are_left_to_the_library_that_knows(compiled: Compiled) -> None:
    output = check_those_left(compiled, "iallreduce", dict(non_blocking_turn(0)))
    assert "non-blocking collectives stay the MPI library's own" in output
