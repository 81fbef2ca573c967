"""STRETTO_ADAPT=on: what serves calls changes by what they have taken, and results do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import Outcome, open_mpi_only, run_mpi, stretto_env

Compiled = Callable[..., Path]

_SAID = re.compile(
    r"stretto: rank 0: (\d+) calls chosen by what they take, Stretto's own for (\d+) of them; about -?[\d.]+ s saved; "
    r"(\d+) exchanges"
)


def said(outcome: Outcome) -> tuple[int, int, int]:
    found = _SAID.search(outcome.output)
    assert found is not None, outcome.output
    return int(found[1]), int(found[2]), int(found[3])


@pytest.mark.parametrize("ranks", (2, 3, 5))
def test_both_arms_serve_every_kind(compiled: Compiled, ranks: int) -> None:
    outcome = run_mpi([compiled("mpi/adaptation.c"), "400"], ranks, stretto_env(adapt="on", verbose=1)).check()
    calls, ours, exchanges = said(outcome)
    # Of the world four kinds at least: barrier, bcast, reduce, allreduce; each exchanges before its 150th call.
    assert calls >= 4 * 400
    assert exchanges >= 4 * 2
    assert 4 * 40 <= ours < calls
    for collective in ("barrier", "bcast", "reduce", "allreduce"):
        ran = outcome.lines(f"stretto: {collective}: ")
        assert len(ran) >= 2, f"native and one of ours: {ran}"
        assert any(line.startswith("native") for line in ran), ran


def test_nothing_is_chosen_so_unless_asked_for(compiled: Compiled) -> None:
    outcome = run_mpi([compiled("mpi/adaptation.c"), "100"], 2, stretto_env(verbose=1)).check()
    assert "chosen by what they take" not in outcome.output


def test_deterministic_sums_are_not_chosen_so(compiled: Compiled) -> None:
    env = stretto_env(adapt="on", deterministic=1, verbose=1)
    outcome = run_mpi([compiled("mpi/adaptation.c"), "200"], 3, env).check()
    for collective in ("reduce", "allreduce"):
        ran = outcome.lines(f"stretto: {collective}: ")
        assert not any(line.startswith("native ran 2") for line in ran), ran
    assert any(line.startswith("native") for line in outcome.lines("stretto: barrier: "))


@open_mpi_only("MPICH's own broadcasts keep a root until the others come")
@pytest.mark.parametrize("ranks", (2, 4))
def test_a_root_is_still_early(compiled: Compiled, ranks: int) -> None:
    run_mpi(compiled("mpi/early_broadcasts.c"), ranks, stretto_env(adapt="on")).check()


def test_a_long_mixture(compiled: Compiled) -> None:
    run_mpi([compiled("mpi/mixture.c"), "5", "1000"], 4, stretto_env(adapt="on")).check()
