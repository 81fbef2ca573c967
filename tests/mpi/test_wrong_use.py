"""Programs that are wrong: an error that says what is, or what the MPI library does; never silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import NATIVE_ENV, Part, at_most, mpirun_command, night, run_job, run_mpi, stretto_env

Compiled = Callable[..., Path]
# One of each kind, by messages alone.
BY_MESSAGES = {
    "allreduce": "recursive_doubling",
    "reduce": "binomial",
    "bcast": "binomial",
    "barrier": "dissemination",
    "scatter": "linear",
    "gather": "linear",
    "allgather": "ring",
}
COPIED = {"bcast": "arrival_copy", "scatter": "arrival_copy", "gather": "arrival_copy"}
SHORT = {"reduce_scatter": "ring"}  # else the MPI library's
WITH_LENGTHS = {"allgatherv": "ring", **SHORT}
SETTINGS = {
    "default": SHORT,
    "messages": BY_MESSAGES | WITH_LENGTHS,
    "copied": COPIED | {"allgatherv": "arrival_copy", **SHORT},
}


@pytest.mark.parametrize("ranks", (2, 3, 5))
@pytest.mark.parametrize("setting", SETTINGS)
def test_different_calls_are_errors_on_all_ranks(compiled: Compiled, setting: str, ranks: int) -> None:
    run_mpi([compiled("mpi/wrong_calls.c"), "different"], ranks, stretto_env(**SETTINGS[setting])).check()


@pytest.mark.parametrize("ranks", (2, 3, 5))
def test_so_they_are_where_all_like_them_were_right(compiled: Compiled, ranks: int) -> None:
    run_mpi([compiled("mpi/wrong_calls.c"), "different", "known"], ranks, stretto_env(**WITH_LENGTHS)).check()


@pytest.mark.parametrize(("setting", "ranks"), [("messages", 2), ("copied", 2), ("copied", 5)])
def test_other_counts_give_what_there_is_room_for(compiled: Compiled, setting: str, ranks: int) -> None:
    """As messages from the root would; of more than two ranks those in between know no better."""
    run_mpi([compiled("mpi/wrong_calls.c"), "counts"], ranks, stretto_env(**SETTINGS[setting])).check()


@pytest.mark.parametrize("setting", ("unloaded", "default"))
def test_arguments_wrong_by_themselves_are_no_call(compiled: Compiled, setting: str) -> None:
    env = NATIVE_ENV if setting == "unloaded" else stretto_env()
    run_mpi([compiled("mpi/wrong_calls.c"), "arguments"], 3, env).check()


def checked(**variables: object) -> dict[str, str]:
    return stretto_env(check=1, **variables)


NOT_SERVED = {"allreduce": "native", "bcast": "native"}


@pytest.mark.parametrize("ranks", (2, 5))
@pytest.mark.parametrize("setting", ({}, BY_MESSAGES, NOT_SERVED), ids=("default", "messages", "native"))
def test_check_finds_all_differences_before_the_call(compiled: Compiled, setting: dict[str, str], ranks: int) -> None:
    """Nobody has begun the call then, so the communicator stays good; counts that differ are errors on all ranks."""
    run_mpi([compiled("mpi/wrong_calls.c"), "checked"], ranks, checked(**setting)).check()


def test_check_says_who_calls_what_and_from_where(compiled: Compiled) -> None:
    ranks = at_most(5)
    even, odd = {3: ("ranks 0, 2", "rank 1"), 5: ("ranks 0, 2, 4", "ranks 1, 3")}[ranks]
    outcome = run_mpi([compiled("mpi/wrong_calls.c"), "fatal", "0"], ranks, checked())
    assert outcome.code != 0
    (line,) = outcome.lines("stretto: check: ")
    assert f"call 1 of MPI_COMM_WORLD: {even} in MPI_Bcast of 36 bytes with root 0 (" in line, line
    assert f", {odd} in MPI_Barrier (" in line, line
    assert line.count(" in wrong_calls-") == 2, line


@pytest.mark.parametrize("program", ("communicators", "mixture", "progress"))
def test_check_has_nothing_to_say_of_right_programs(compiled: Compiled, program: str) -> None:
    outcome = run_mpi(compiled(f"mpi/{program}.c"), 3, checked() | {"CHECK_ANY": "1"}).check()
    assert outcome.lines("stretto: ") == []


@pytest.mark.long
@pytest.mark.parametrize("without", (0, night(1)))
def test_a_rank_without_stretto_is_told_of(compiled: Compiled, without: int) -> None:
    """Before, it took the words by which the others compare their settings for its own data."""
    program = [compiled("mpi/allreduce_counts.c")]
    envs = [NATIVE_ENV if rank == without else stretto_env() for rank in range(3)]
    outcome = run_job(mpirun_command([Part(program, 1, env) for env in envs]), {}, 90)
    assert outcome.code != 0
    assert any("does each of them run with Stretto?" in line for line in outcome.lines("stretto: ")), outcome.output
    assert "not (" not in outcome.output, outcome.output


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (0, ("MPI_Barrier", "MPI_Bcast of 36 bytes with root 0")),
        (1, ("MPI_Bcast of 36 bytes with root 0", "MPI_Bcast of 36 bytes with root 1")),
        (5, ("MPI_Allreduce of 36 bytes by MPI_SUM of int32", "MPI_Allreduce of 36 bytes by MPI_MAX of int32")),
        (9, ("MPI_Allreduce of 160000 bytes", "MPI_Allreduce of 120000 bytes")),
    ],
)
def test_the_message_names_both_calls(compiled: Compiled, case: int, said: tuple[str, str]) -> None:
    outcome = run_mpi([compiled("mpi/wrong_calls.c"), "fatal", str(case)], 2, stretto_env())
    assert outcome.code != 0
    lines = outcome.lines("stretto: rank ")
    assert any(all(part in line for part in (*said, "at call 1 of MPI_COMM_WORLD")) for line in lines), outcome.output
