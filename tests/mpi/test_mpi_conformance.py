"""Each collective on real MPI: every count, root and type in one run, for each number of ranks and each algorithm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import (
    COLLECTIVES,
    PROGRAMS,
    WITH_LENGTHS,
    algorithms,
    check_unless_native_fails,
    each_env,
    env_for,
    night,
    run_mpi,
    with_a_core_each,
)

RANKS = (1, 2, 3, 4, 5, 7, 8)
# Kinds of what is run on every number of ranks already: other names, lengths of their own.
FEW = (3, 8)
EVERYWHERE = [collective for collective in COLLECTIVES if collective not in WITH_LENGTHS]
EVERY_RUN = [
    (collective, ranks) for collective in COLLECTIVES for ranks in (RANKS if collective in EVERYWHERE else FEW)
]
# In segments, of ours and of the MPI library's own; and with ranks renumbered.
DERIVED = {
    "allreduce": [
        *("ring+4", "rabenseifner+64K", "recursive_doubling+3", "native+4", "native+64K"),
        *("ring@topology", "rabenseifner@topology+4", "reduce_bcast@knomial", "recursive_doubling@binary_tree"),
        "hierarchical(binomial,ring)",
    ],
    "reduce": ["binomial+4", "binomial+64K", "native+4", "reduce_scatter_gather@topology", "event_chain@binary_tree"],
    "bcast": [
        *("binomial+4", "scatter_allgather+64K", "native+4", "native+1K"),
        *("scatter_allgather@recursive_doubling", "event_binary@topology", "binomial@rabenseifner+64K"),
    ],
    "allgather": ["ring+4", "recursive_doubling+3", "bruck+1K", "arrival_ordered+2"],
    "reduce_scatter_block": ["ring+4", "recursive_halving+1K", "pairwise+3"],
}


# That the program is right, by the MPI library itself; which does the same on any number of ranks.
@pytest.mark.parametrize("setting", ("unloaded", "native"))
@pytest.mark.parametrize(
    ("collective", "ranks"), [(each, ranks) if ranks in (1, 3) else night(each, ranks) for each, ranks in EVERY_RUN]
)
def test_the_library_alone(compiled: Callable[..., Path], collective: str, setting: str, ranks: int) -> None:
    check_unless_native_fails(compiled(PROGRAMS[collective]), ranks, env_for(collective, setting))


@pytest.mark.parametrize("collective", EVERYWHERE)
def test_on_one_rank(compiled: Callable[..., Path], collective: str) -> None:
    """Every call is passed through, and MPICH 4.0.2 puts the only block of an allgatherv in the wrong place."""
    check_unless_native_fails(compiled(PROGRAMS[collective]), 1, env_for(collective, "default"))


@pytest.mark.parametrize(
    ("collective", "ranks"),
    [
        *((collective, ranks) for collective, ranks in EVERY_RUN if ranks > 1),
        *(with_a_core_each(collective, ranks=16) for collective in COLLECTIVES),
    ],
)
def test_every_count_and_root(compiled: Callable[..., Path], collective: str, ranks: int) -> None:
    names = ["default", *algorithms(collective), *DERIVED.get(collective, [])]
    run_mpi(compiled(PROGRAMS[collective]), ranks, each_env(collective, names)).check()


@pytest.mark.parametrize("ranks", (16, night(33)))
@pytest.mark.parametrize("collective", [each if each in EVERYWHERE else night(each) for each in COLLECTIVES])
def test_many_more_ranks_than_cores(compiled: Callable[..., Path], collective: str, ranks: int) -> None:
    run_mpi(compiled(PROGRAMS[collective]), ranks, env_for(collective, "default")).check()
