"""Scatter and gather that are known ahead: by history, by hints, begun in the background or by polling, given up."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import TOLERANT, Outcome, each_env, night, registry, run_mpi, stretto_env

Compiled = Callable[..., Path]
PREDICTED: dict[str, list[str]] = {}
for _entry in registry():
    if _entry["needs_prediction"]:
        PREDICTED.setdefault(str(_entry["collective"]), []).append(str(_entry["name"]))
BACKGROUND_GATHERS = [name for name in PREDICTED.get("gather", []) if name.startswith("background_")]
# Messages over MPI: in shared memory nothing begins ahead.
MESSAGES = {"STRETTO_SHM_MAX_MIB": "0"}
TALLY = r"rank 0: (\d+) calls begun ahead, (\d+) given up; order of arrival from history in (\d+), from hints in (\d+)"


def forced(kind: str) -> dict[str, str]:
    gather = f"{kind}_synchronised" if kind.endswith("sorted_linear") else kind
    scatter = kind.removeprefix("background_") if kind == "background_announced_linear" else kind
    return stretto_env(scatter=scatter, gather=gather, verbose=1) | MESSAGES


def tally(outcome: Outcome) -> tuple[int, ...]:
    """Begun ahead, given up, ordered by history, ordered by hints."""
    found = re.search(TALLY, outcome.output)
    assert found, outcome.output
    return tuple(int(number) for number in found.groups())


@pytest.mark.parametrize("ranks", (night(2), 3, night(7)))
@pytest.mark.parametrize("hints", ("none", "hints", "some_hints"))
@pytest.mark.parametrize("threads", ("polled", "multiple"))
@pytest.mark.parametrize(
    "kind",
    (
        "background_sorted_linear",
        "background_sorted_binomial",
        "background_linear_nonblocking",
        "background_announced_linear",
    ),
)
def test_begun_ahead(compiled: Compiled, kind: str, threads: str, hints: str, ranks: int) -> None:
    env = forced(kind) | ({"WANT_MULTIPLE": "1"} if threads == "multiple" else {})
    outcome = run_mpi([compiled("mpi/anticipation.c"), str(ranks), "100", hints], ranks, env).check()
    begun, given_up, _, by_hints = tally(outcome)
    uses_hints = hints == "hints" and "sorted" in kind
    # With hints the program is often in the call before all hints are in: then the call was begun by nobody, and so not
    # given up, either.
    gathers_only = kind == "background_announced_linear"
    assert begun > (5 if uses_hints else 50 if gathers_only else 100)
    assert given_up > 0 or uses_hints
    assert (by_hints > 20) == uses_hints


@pytest.mark.parametrize("kind", ("sorted_linear", "sorted_binomial"))
@pytest.mark.parametrize("messages", ("mailboxes", "mpi"))
def test_sorted_by_hints(compiled: Compiled, kind: str, messages: str) -> None:
    env = forced(kind)
    if messages == "mailboxes":
        del env["STRETTO_SHM_MAX_MIB"]
    begun, given_up, _, by_hints = tally(run_mpi([compiled("mpi/anticipation.c"), "5", "100", "hints"], 4, env).check())
    assert by_hints > 20
    assert (begun, given_up) == (0, 0)


@pytest.mark.alone
def test_a_steady_pattern_is_learnt(compiled: Compiled) -> None:
    """Always the same rank comes 20 ms late, and nobody says so."""
    outcome = run_mpi(compiled("mpi/steady_pattern.c"), 4, forced("sorted_linear")).check()
    begun, _, by_history, by_hints = tally(outcome)
    assert (begun, by_hints) == (0, 0)
    # Of 40 gathers and 40 scatters two windows of 8 calls each, and half a one more, pass before anything is said.
    assert 20 <= by_history <= 40


@pytest.mark.parametrize("setting", ("off", "polled", "thread"))
def test_who_drives_the_background(compiled: Compiled, setting: str) -> None:
    env = forced("background_sorted_linear") | {"STRETTO_BACKGROUND": setting, "CHECK_ANY": "1"}
    outcome = run_mpi([compiled("mpi/anticipation.c"), "2", "60", "none"], 3, env).check()
    if setting == "off":
        assert re.search(TALLY, outcome.output) is None
    else:
        assert tally(outcome)[0] > 50


@pytest.mark.parametrize("forced_between_rounds", (False, True))
@pytest.mark.parametrize("name", BACKGROUND_GATHERS)
def test_others_leave_before_the_root_comes(compiled: Compiled, name: str, forced_between_rounds: bool) -> None:
    arguments = [name] if forced_between_rounds else []
    env = stretto_env(gather=name) | MESSAGES | {"STRETTO_BACKGROUND": "thread"}
    run_mpi([compiled("mpi/early_leave.c"), *arguments], 4, env).check()


@pytest.mark.parametrize("name", BACKGROUND_GATHERS)
@pytest.mark.parametrize("bcast", ("binomial", "arrival_ordered_nonblocking"))
def test_calls_beside_what_has_begun(compiled: Compiled, name: str, bcast: str) -> None:
    forced_too = {"scatter": "linear_nonblocking", "allreduce": "ring", "reduce": "rebalanced_tree", "bcast": bcast}
    env = stretto_env(gather=name, verbose=1, **forced_too) | MESSAGES | {"STRETTO_BACKGROUND": "thread"}
    begun, given_up, _, _ = tally(run_mpi([compiled("mpi/beside.c"), "200"], 4, env).check())
    assert begun > 150
    assert given_up <= 1  # at the end


@pytest.mark.parametrize(
    ("setting", "ran"), (("thread", "background_linear_nonblocking"), ("auto", "linear_nonblocking"))
)
def test_a_thread_that_is_asked_for_is_used(compiled: Compiled, setting: str, ran: str) -> None:
    env = stretto_env(verbose=1) | MESSAGES | {"STRETTO_BACKGROUND": setting}
    outcome = run_mpi(compiled("mpi/steady_pattern.c"), 4, env).check()
    assert re.search(rf"gather: {ran} ran \d+ times", outcome.output), outcome.output


@pytest.mark.parametrize("collective", PREDICTED)
@pytest.mark.parametrize("ranks", (2, 5, 8))
def test_every_count_and_root(compiled: Compiled, collective: str, ranks: int) -> None:
    env = each_env(collective, PREDICTED[collective]) | MESSAGES
    run_mpi(compiled(f"mpi/{collective.removesuffix('v')}_counts.c"), ranks, env).check()


def test_the_thread_ends_with_the_program(compiled: Compiled) -> None:
    outcome = run_mpi(compiled("mpi/no_finalize.c"), 3, forced("background_sorted_linear"))
    # Some launchers kill the other ranks, and tell of that, when one ends so.
    assert outcome.code == 7 or (TOLERANT and "KILLED BY SIGNAL: 9" in outcome.output), outcome.output
    assert not outcome.leftovers
