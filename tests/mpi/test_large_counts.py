"""The forms with counts of type MPI_Count that MPI 4 brought; mpi4py calls them wherever the MPI has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import COLLECTIVES, algorithms, env_for, run_mpi

EVERY_SETTING = [
    *((collective, "unloaded") for collective in ("allreduce", "gather", "scatter")),
    *(
        (collective, setting)
        for collective in COLLECTIVES
        if collective != "barrier"  # has no count
        for setting in ("native", "default", *algorithms(collective))
    ),
]


@pytest.mark.parametrize(("collective", "setting"), EVERY_SETTING)
def test_large_forms(compiled: Callable[..., Path], collective: str, setting: str) -> None:
    """The program asserts of each plain call that the forced algorithm ran; Stretto's own report, that it ran."""
    outcome = run_mpi([compiled("mpi/large_forms.c"), collective], 3, env_for(collective, setting, verbose=1)).check()
    if setting not in ("unloaded", "default"):
        assert f"stretto: {collective}: {setting} ran " in outcome.output
