"""The forms with counts of type MPI_Count that MPI 4 brought; mpi4py calls them wherever the MPI has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import COLLECTIVES, NATIVE_ENV, algorithms, each_env, needs_mpi_4, run_mpi, stretto_env

Compiled = Callable[..., Path]
pytestmark = needs_mpi_4("large counts")


@pytest.mark.parametrize("collective", ("allreduce", "gather", "scatter"))
def test_the_library_alone(compiled: Compiled, collective: str) -> None:
    run_mpi([compiled("mpi/large_forms.c"), collective], 3, NATIVE_ENV).check()


@pytest.mark.parametrize("collective", [each for each in COLLECTIVES if each != "barrier"])  # has no count
def test_large_forms(compiled: Compiled, collective: str) -> None:
    """The program asserts of each plain call that the forced algorithm ran; Stretto's own report, that it ran."""
    names = ["native", "default", *algorithms(collective)]
    env = each_env(collective, names) | stretto_env(verbose=1) | NATIVE_ENV
    outcome = run_mpi([compiled("mpi/large_forms.c"), collective], 3, env).check()
    for name in names:
        assert name == "default" or f"stretto: {collective}: {name} ran " in outcome.output
