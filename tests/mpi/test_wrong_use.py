"""Programs that are wrong: an error that says what is, or what the MPI library does; never silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import NATIVE_ENV, run_mpi, stretto_env

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
SETTINGS = {"default": {}, "messages": BY_MESSAGES, "copied": COPIED}


@pytest.mark.parametrize("ranks", (2, 3, 5))
@pytest.mark.parametrize("setting", SETTINGS)
def test_different_calls_are_errors_on_all_ranks(compiled: Compiled, setting: str, ranks: int) -> None:
    run_mpi([compiled("mpi/wrong_calls.c"), "different"], ranks, stretto_env(**SETTINGS[setting])).check()


@pytest.mark.parametrize(("setting", "ranks"), [("messages", 2), ("copied", 2), ("copied", 5)])
def test_other_counts_give_what_there_is_room_for(compiled: Compiled, setting: str, ranks: int) -> None:
    """As messages from the root would; of more than two ranks those in between know no better."""
    run_mpi([compiled("mpi/wrong_calls.c"), "counts"], ranks, stretto_env(**SETTINGS[setting])).check()


@pytest.mark.parametrize("setting", ("unloaded", "default"))
def test_arguments_wrong_by_themselves_are_no_call(compiled: Compiled, setting: str) -> None:
    env = NATIVE_ENV if setting == "unloaded" else stretto_env()
    run_mpi([compiled("mpi/wrong_calls.c"), "arguments"], 3, env).check()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (0, ("MPI_Barrier", "MPI_Bcast of 36 bytes with root 0")),
        (1, ("MPI_Bcast of 36 bytes with root 0", "MPI_Bcast of 36 bytes with root 1")),
        (5, ("MPI_Allreduce of 36 bytes", "with another operation or datatype")),
        (9, ("MPI_Allreduce of 160000 bytes", "MPI_Allreduce of 120000 bytes")),
    ],
)
def test_the_message_names_both_calls(compiled: Compiled, case: int, said: tuple[str, str]) -> None:
    outcome = run_mpi([compiled("mpi/wrong_calls.c"), "fatal", str(case)], 2, stretto_env())
    assert outcome.code != 0
    lines = outcome.lines("stretto: rank ")
    assert any(all(part in line for part in (*said, "at call 1 of MPI_COMM_WORLD")) for line in lines), outcome.output
