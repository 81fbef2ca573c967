"""Non-blocking and persistent collectives on the engine: STRETTO_IALLREDUCE and so on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import (
    COLLECTIVES,
    NATIVE_ENV,
    NON_BLOCKING_TURNS,
    each_env,
    needs_mpi_4,
    night,
    non_blocking_turn,
    of_messages_alone,
    run_mpi,
    stretto_env,
)

Compiled = Callable[..., Path]
EXCHANGES = COLLECTIVES[COLLECTIVES.index("allgather") :]


@pytest.mark.parametrize("number", range(NON_BLOCKING_TURNS))
def test_each_algorithm_is_right(compiled: Compiled, number: int) -> None:
    # What has been freed is written over.
    env = stretto_env(**non_blocking_turn(number)) | {"MALLOC_PERTURB_": "165"}
    run_mpi(compiled("mpi/non_blocking.c"), (2, 3, 5, 8)[number % 4], env).check()


@pytest.mark.parametrize("ranks", (1, night(2), 5))
@pytest.mark.parametrize("background", ("unloaded", "thread", "auto", "off"))
def test_whoever_drives_them(compiled: Compiled, background: str, ranks: int) -> None:
    ours = stretto_env(**non_blocking_turn(0), background=background)
    env = dict(NATIVE_ENV) if background == "unloaded" else ours
    if background == "off":  # nobody drives them, so they are the MPI library's
        env["CHECK_NOT_FORCED"] = "1"
    run_mpi(compiled("mpi/non_blocking.c"), ranks, env).check()


@needs_mpi_4("persistent collectives")
@pytest.mark.parametrize("ranks", (2, 3, 8))
@pytest.mark.parametrize("number", range(2))
def test_persistent(compiled: Compiled, number: int, ranks: int) -> None:
    run_mpi(compiled("mpi/persistent.c"), ranks, stretto_env(**non_blocking_turn(number))).check()


def in_segments(collective: str) -> list[str]:
    return {"allgather": ["recursive_doubling+3"], "reduce_scatter_block": ["ring+1K"]}.get(collective, [])


@pytest.mark.parametrize("ranks", (3, 8))
@pytest.mark.parametrize("collective", EXCHANGES)
def test_exchanges(compiled: Compiled, collective: str, ranks: int) -> None:
    program = compiled("mpi/later_exchanges.c")
    run_mpi([program, collective], ranks, NATIVE_ENV).check()
    names = of_messages_alone()[collective] + in_segments(collective)
    # Non-blocking calls may be ours only where the environment says so from the beginning.
    env = stretto_env(**{f"i{collective}": "native"}) | each_env(f"i{collective}", names)
    run_mpi([program, collective], ranks, env).check()


@pytest.mark.parametrize("ranks", (3, 4))
def test_segments(compiled: Compiled, ranks: int) -> None:
    env = stretto_env(iallreduce="ring+16", ibcast="binomial+1K", ireduce="binomial+40")
    run_mpi(compiled("mpi/non_blocking.c"), ranks, env).check()
