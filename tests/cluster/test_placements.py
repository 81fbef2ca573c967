"""Algorithms that depend on who shares a node, on nodes with several ranks each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import LIBRARY, MPIRUN, TIME_LIMIT_S, open_mpi_only, stretto_env

from stretto.cluster import cluster

# Ranks on the nodes in turn, as a cluster does by itself; or side by side.
MAPPINGS = {"in turn": "node:oversubscribe", "side by side": "ppr:3:node:oversubscribe"}


# Those with one message a node, those that renumber the ranks, and hierarchies.
FORCED = [
    *(("scatter", "two_level"), ("gather", "two_level")),
    *(("allreduce", "ring@topology"), ("allreduce", "rabenseifner@topology+4"), ("reduce", "binomial@topology")),
    *(("bcast", "event_binary@topology"), ("bcast", "scatter_allgather@recursive_doubling")),
    ("allreduce", "hierarchical(reduce_scatter_gather,rabenseifner)"),
    *(("reduce", "hierarchical(binomial,event_chain)"), ("bcast", "hierarchical(binomial,binomial)+3")),
]


@open_mpi_only("placement is asked for as Open MPI 4 does")
@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize(("collective", "algorithm"), FORCED)
def test_every_count_and_root(compiled: Callable[..., Path], collective: str, algorithm: str, mapping: str) -> None:
    """The program asserts which algorithm ran. One of the three nodes has fewer ranks than the others."""
    settings = stretto_env(**{collective: algorithm})
    del settings["LD_PRELOAD"]
    settings["OMPI_MCA_rmaps_base_mapping_policy"] = MAPPINGS[mapping]
    with cluster(nodes=3, rate="0") as nodes:
        result = nodes.run(
            [compiled(f"mpi/{collective}_counts.c")],
            ranks=8,
            preload=[LIBRARY],
            mpirun=MPIRUN,
            environment=settings,
            capture=True,
            timeout_s=TIME_LIMIT_S,
        )
    assert result.returncode == 0, result.stdout
    assert "ok on 8 ranks" in result.stdout
