"""The forms with counts of type MPI_Count that MPI 4 brought; mpi4py calls them wherever the MPI has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import algorithms, env_for, run_mpi

EVERY_SETTING = [
    ("allreduce", "unloaded"),
    *(
        (collective, setting)
        for collective in ("allreduce", "reduce", "bcast")
        for setting in ("native", "default", *algorithms(collective))
    ),
]


@pytest.mark.parametrize(("collective", "setting"), EVERY_SETTING)
def test_large_forms(compiled: Callable[..., Path], collective: str, setting: str) -> None:
    run_mpi(compiled("mpi/large_forms.c"), 3, env_for(collective, setting)).check()
