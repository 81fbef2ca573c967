"""Each collective on real MPI: every count, root and type in one run, for each number of ranks and each algorithm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import COLLECTIVES, env_for, run_mpi, settings

RANKS = (1, 2, 3, 4, 5, 7, 8)
PROGRAMS = {
    "allreduce": "mpi/allreduce_counts.c",
    "reduce": "mpi/reduce_counts.c",
    "bcast": "mpi/bcast_counts.c",
    "barrier": "mpi/barrier_order.c",
    "scatter": "mpi/scatter_counts.c",
    "gather": "mpi/gather_counts.c",
    "scatterv": "mpi/scatter_counts.c",
    "gatherv": "mpi/gather_counts.c",
}
# Kinds of what is run on every number of ranks already: other names, lengths of their own.
FEW = (3, 8)
EVERYWHERE = [collective for collective in COLLECTIVES if not collective.endswith("v")]
# On one rank every call is passed through, whatever is forced.
EVERY_RUN = [
    (collective, setting, ranks)
    for collective in COLLECTIVES
    for setting in settings(collective)
    for ranks in (RANKS if collective in EVERYWHERE else FEW)
    if ranks > 1 or setting in ("unloaded", "native", "default")
]


@pytest.mark.parametrize(("collective", "setting", "ranks"), EVERY_RUN)
def test_every_count_and_root(compiled: Callable[..., Path], collective: str, setting: str, ranks: int) -> None:
    run_mpi(compiled(PROGRAMS[collective]), ranks, env_for(collective, setting)).check()


@pytest.mark.parametrize("ranks", (16, 33))
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_many_more_ranks_than_cores(compiled: Callable[..., Path], collective: str, ranks: int) -> None:
    run_mpi(compiled(PROGRAMS[collective]), ranks, env_for(collective, "default")).check()
