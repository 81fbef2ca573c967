"""STRETTO_ADAPT: what serves calls changes by what they have taken, or only what is told, and results do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from mpi_jobs import Outcome, open_mpi_only, run_mpi, stretto_env

from stretto.profile.files import open_profile
from stretto.profile.savings import read_savings

Compiled = Callable[..., Path]

_SAID = re.compile(
    r"stretto: (\w+): (-?[\d.e+-]+) s of ([\d.e+-]+) s saved \(\+-[\d.e+-]+\) by Stretto's algorithms in (\d+) of "
    r"(\d+) calls; at no time more than [\d.]+ % behind the MPI library's own"
)


@dataclass(frozen=True)
class Said:
    """What the line at the end of the job says of a collective."""

    saved_s: float
    native_s: float
    ours: int
    calls: int


def said(outcome: Outcome) -> dict[str, Said]:
    found = _SAID.findall(outcome.output)
    return {name: Said(float(saved), float(of), int(ours), int(calls)) for name, saved, of, ours, calls in found}


@pytest.mark.parametrize("ranks", (2, 3, 5))
def test_both_arms_serve_every_kind(compiled: Compiled, ranks: int) -> None:
    outcome = run_mpi([compiled("mpi/adaptation.c"), "400"], ranks, stretto_env(adapt="on", verbose=1)).check()
    told = said(outcome)
    for collective in ("barrier", "bcast", "reduce", "allreduce"):
        assert told[collective].calls >= 400
        assert 16 <= told[collective].ours < told[collective].calls
        assert 0 < told[collective].native_s < 60
        assert told[collective].saved_s < told[collective].native_s
        ran = outcome.lines(f"stretto: {collective}: ")
        assert any(line.startswith("native ran") for line in ran), ran
        assert any(not line.startswith("native") and "ran" in line for line in ran), ran


@pytest.mark.parametrize("ranks", (2, 5))
def test_what_the_rule_saves_is_watched(compiled: Compiled, tmp_path: Path, ranks: int) -> None:
    env = stretto_env(adapt="watch", profile=tmp_path)
    outcome = run_mpi([compiled("mpi/adaptation.c"), "2000"], ranks, env).check()
    told = said(outcome)
    savings = read_savings(open_profile(tmp_path))
    for collective in ("barrier", "bcast", "reduce", "allreduce"):
        # Natively go trials, most of them in the beginning.
        assert 0.6 * told[collective].calls < told[collective].ours < told[collective].calls
        kinds = [saving for saving in savings if saving.operation.lower() == collective]
        assert sum(kind.calls for kind in kinds) == told[collective].calls
        assert sum(kind.ours for kind in kinds) == told[collective].ours
        assert sum(kind.native for kind in kinds) == pytest.approx(told[collective].native_s, rel=0.01)
        assert all(0 < sum(kind.arrivals.values()) <= kind.calls for kind in kinds)


def test_nothing_is_chosen_so_unless_asked_for(compiled: Compiled) -> None:
    outcome = run_mpi([compiled("mpi/adaptation.c"), "100"], 2, stretto_env(verbose=1)).check()
    assert said(outcome) == {}


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
