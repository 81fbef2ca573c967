"""STRETTO_ADAPT: what serves calls changes by what they have taken, or only what is told, and results do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mpi_jobs import Outcome, open_mpi_only, run_mpi, stretto_env

from stretto.profile.files import open_profile
from stretto.profile.savings import read_savings
from stretto.tune.toml_file import read_toml

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
    for collective in ("barrier", "bcast", "reduce", "allreduce", "scatter", "gather", "allgather"):
        assert told[collective].calls >= 400
        assert 16 <= told[collective].ours < told[collective].calls
        assert 0 < told[collective].native_s < 60
        assert told[collective].saved_s < told[collective].native_s
        ran = outcome.lines(f"stretto: {collective}: ")
        assert any(not line.startswith("native") and "ran" in line for line in ran), ran
        (native,) = (int(line.split()[2]) for line in ran if line.startswith("native ran"))
        # What served them is what was chosen. Allreduces there are of a communicator that is too young, too.
        if collective != "allreduce":
            assert native == told[collective].calls - told[collective].ours


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


def test_of_more_ranks_than_the_rule_was_measured_with_calls_choose(compiled: Compiled) -> None:
    """On 9 ranks of a node, by default."""
    outcome = run_mpi([compiled("mpi/adaptation.c"), "100"], 9, stretto_env(verbose=1)).check()
    told = said(outcome)
    for collective in ("barrier", "bcast", "reduce", "allreduce", "scatter", "gather", "allgather"):
        assert 16 <= told[collective].ours < told[collective].calls, told[collective]


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


def _kept(folder: Path) -> dict[str, Any]:
    """The one file there."""
    (file,) = folder.iterdir()
    return read_toml(file)


def test_what_is_learnt_serves_the_next_run(compiled: Compiled, tmp_path: Path) -> None:
    folder = tmp_path / "learnt" / "here"
    env = stretto_env(adapt="on", memory=folder)
    program: list[str | Path] = [compiled("mpi/adaptation.c"), "400"]
    first = said(run_mpi(program, 3, env).check())
    kept = _kept(folder)
    assert kept["program"] == str(program[0])
    kinds = {(kind["collective"], kind["ranks"], kind["from_bytes"]): kind for kind in kept["kind"]}
    for collective in ("barrier", "bcast", "reduce", "allreduce"):
        of_world = [kind for (name, ranks, _), kind in kinds.items() if name == collective and ranks == 3]
        native_us = sum(kind["native_us"] for kind in of_world)
        assert native_us == pytest.approx(1e6 * first[collective].native_s, rel=0.3)
    # Another run finds a lesson that was never learnt: of broadcasts of twelve bytes Stretto's are hopeless.
    bcast = next(kind for (name, ranks, _), kind in kinds.items() if name == "bcast" and ranks == 3)
    (file,) = folder.iterdir()
    costs = "{ calls = 200, mean_ns = %d, spread_permille = 100, typical_ns = %d }"
    head = file.read_text().split("[[kind]]")[0]
    learnt = f"native = {costs % (1000, 1000)}\nours = {costs % (10**8, 10**8)}\ncandidate = 0\nnative_ns = 1000\n"
    arrivals = "".join(f"[kind.{each}]\n{learnt}" for each in ("balanced", "uneven", "far_apart"))
    settings = "arrivals = 'balanced'\nnative_us = 1\nnodes = 1\nranks = 3\n"
    file.write_text(f"{head}[[kind]]\ncollective = 'bcast'\nfrom_bytes = {bcast['from_bytes']}\n{settings}{arrivals}")
    second = run_mpi([program[0], "24"], 3, stretto_env(adapt="on", memory=folder, verbose=1)).check()
    ran = dict(re.findall(r"(\w+) ran (\d+)", " ".join(second.lines("stretto: bcast: "))))
    assert int(ran["native"]) >= 12, ran


def test_nothing_is_kept_of_another_number_of_ranks(compiled: Compiled, tmp_path: Path) -> None:
    for ranks in (2, 3):
        run_mpi([compiled("mpi/adaptation.c"), "100"], ranks, stretto_env(adapt="on", memory=tmp_path)).check()
    names = sorted(each.name for each in tmp_path.iterdir())
    assert [re.findall(r"^adaptation.*-(\d)-ranks-[0-9a-f]{16}\.toml$", name) for name in names] == [["2"], ["3"]]


def test_a_broken_file_of_lessons_is_left_out_and_replaced(compiled: Compiled, tmp_path: Path) -> None:
    program: list[str | Path] = [compiled("mpi/adaptation.c"), "100"]
    env = stretto_env(adapt="on", memory=tmp_path)
    run_mpi(program, 2, env).check()
    (file,) = tmp_path.iterdir()
    file.write_text("schema = 7")
    again = run_mpi(program, 2, env).check()
    complaint = f"stretto: STRETTO_MEMORY: {file}: schema: is 7, this Stretto reads 2: remove the file"
    assert again.output.count(complaint) == 1
    assert _kept(tmp_path)["kind"]


def test_a_directory_that_cannot_be_had_is_told(compiled: Compiled, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    env = stretto_env(adapt="on", memory=tmp_path / "file" / "folder")
    outcome = run_mpi([compiled("mpi/adaptation.c"), "30"], 2, env).check()
    assert outcome.output.count("cannot be written") == 1
    assert "name a directory of your own" in outcome.output


def test_lessons_are_kept_where_some_are_given(compiled: Compiled, tmp_path: Path) -> None:
    outcome = run_mpi([compiled("mpi/adaptation.c"), "30"], 2, stretto_env(memory=tmp_path))
    assert outcome.code != 0
    assert "set STRETTO_ADAPT to on or watch, too" in outcome.output
    assert not list(tmp_path.iterdir())
