"""Processes that die under an MPI library that lives on without them (ULFM), in memory and by messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import FAMILY, NATIVE_ENV, at_most, run_mpi, stretto_env

Compiled = Callable[..., Path]
WAYS: dict[str, dict[str, object] | None] = {
    "unloaded": None,
    "default": {},
    "messages": {"allreduce": "ring", "bcast": "binomial", "reduce": "binomial", "barrier": "dissemination"}
    | {"allgather": "ring", "shm_max_mib": 0},
}


@pytest.mark.parametrize("collective", ("bcast", "reduce", "allreduce", "barrier", "allgather"))
@pytest.mark.parametrize("way", WAYS)
def test_those_who_are_left_get_an_error_and_go_on(compiled: Compiled, way: str, collective: str) -> None:
    if FAMILY != "openmpi":
        pytest.skip("tried with Open MPI alone")
    program = compiled("mpi/failed_peer.c")
    run_mpi(program, 1).check()  # or skip
    settings = WAYS[way]
    env = NATIVE_ENV if settings is None else stretto_env(**settings)
    ranks = at_most(4)
    outcome = run_mpi([program, collective], ranks, env, options=["--with-ft", "ulfm"], limit_s=60)
    assert sorted(outcome.lines("rank ")) == [f"{rank}: ok" for rank in range(ranks) if rank != 1], outcome.output
