"""Non-blocking and persistent collectives on the engine: STRETTO_IALLREDUCE and so on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import NATIVE_ENV, registry, run_mpi, stretto_env

Compiled = Callable[..., Path]
KINDS = ("allreduce", "reduce", "bcast", "barrier", "scatter", "gather")


def able(collective: str) -> list[str]:
    """Those that can serve non-blocking calls."""
    return [
        str(entry["name"])
        for entry in registry()
        if entry["collective"] == collective and not entry["needs_prediction"] and not entry["needs_shared_memory"]
    ]


def turn(number: int) -> dict[str, str]:
    """One algorithm of each collective; all have had their turn after as many turns as the longest list has."""
    return {f"i{kind}": able(kind)[number % len(able(kind))] for kind in KINDS} if registry() else {}


TURNS = max((len(able(kind)) for kind in KINDS), default=0)


@pytest.mark.parametrize("number", range(TURNS))
def test_each_algorithm_is_right(compiled: Compiled, number: int) -> None:
    run_mpi(compiled("mpi/non_blocking.c"), (2, 3, 5, 8)[number % 4], stretto_env(**turn(number))).check()


@pytest.mark.parametrize("ranks", (1, 2, 5))
@pytest.mark.parametrize("background", ("unloaded", "thread", "auto", "off"))
def test_whoever_drives_them(compiled: Compiled, background: str, ranks: int) -> None:
    if background == "unloaded":
        env = dict(NATIVE_ENV)
    else:
        # Without a thread they are the MPI library's.
        env = stretto_env(**turn(0), background=background) | ({"CHECK_NOT_FORCED": "1"} if background == "off" else {})
    run_mpi(compiled("mpi/non_blocking.c"), ranks, env).check()


@pytest.mark.parametrize("ranks", (2, 3, 8))
@pytest.mark.parametrize("number", range(2))
def test_persistent(compiled: Compiled, number: int, ranks: int) -> None:
    run_mpi(compiled("mpi/persistent.c"), ranks, stretto_env(**turn(number))).check()


def test_segments(compiled: Compiled) -> None:
    env = stretto_env(iallreduce="ring+4", ibcast="binomial+1K", ireduce="binomial+40")
    run_mpi(compiled("mpi/non_blocking.c"), 4, env).check()
