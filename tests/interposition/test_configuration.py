"""Bad settings stop the job with a message that helps; a kernel that refuses things only makes it slower."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import (
    FAMILY,
    LIBRARY,
    PROGRAMS,
    Outcome,
    Part,
    algorithms,
    each_env,
    mpirun_command,
    non_blocking_turn,
    open_mpi_only,
    registry,
    run_job,
    run_mpi,
    stretto_env,
)

Compiled = Callable[..., Path]
PROMISED = {
    "allreduce": (
        "recursive_doubling rabenseifner ring reduce_bcast slot_exchange "
        "arrival_leader arrival_chain arrival_tree arrival_stripes"
    ),
    "reduce": "binomial reduce_scatter_gather arrival_chain arrival_stripes",
    "bcast": "binomial scatter_allgather arrival_copy",
    "barrier": "dissemination arrival_count",
    "scatter": "linear binomial linear_nonblocking announced_linear arrival_copy",
    "gather": "linear linear_synchronised binomial linear_nonblocking arrival_copy",
    "scatterv": "linear linear_nonblocking announced_linear",
    "gatherv": "linear linear_synchronised linear_nonblocking",
    "allgather": "arrival_copy ring recursive_doubling bruck linear arrival_ordered",
    "allgatherv": "arrival_copy ring recursive_doubling bruck linear arrival_ordered",
    "reduce_scatter_block": "ring recursive_halving pairwise",
    "reduce_scatter": "ring recursive_halving pairwise",
    "alltoall": "arrival_copy pairwise linear bruck arrival_ordered",
    "alltoallv": "pairwise linear arrival_ordered",
}
SHARED_MEMORY: dict[str, list[str]] = {}
for _entry in registry():
    if _entry["needs_shared_memory"]:
        SHARED_MEMORY.setdefault(str(_entry["collective"]), []).append(str(_entry["name"]))


@pytest.mark.parametrize("collective", PROMISED)
def test_registry_has_what_was_promised(collective: str) -> None:
    assert set(PROMISED[collective].split()) <= set(algorithms(collective))


@pytest.mark.parametrize(
    ("setting", "value", "choices"),
    [
        ("allreduce", "rnig", ("default", "native", "ring")),
        ("background_core", "0,1023", ("cores that this job may use here",)),
    ],
)
def test_a_bad_value_is_refused(compiled: Compiled, setting: str, value: str, choices: tuple[str, ...]) -> None:
    """Of a job; tests/select/configuration_test.cpp has all values that are refused."""
    outcome = run_mpi(compiled("interposition/hundred_calls.c"), 3, stretto_env(**{setting: value}))
    assert outcome.code == 2, outcome.output
    message = one_message(outcome)
    for part in (f"STRETTO_{setting.upper()}", value, *choices):
        assert part in message
    assert not outcome.leftovers


def one_message(outcome: Outcome) -> str:
    """Stretto's message, which one rank prints for all."""
    messages = outcome.lines("stretto: ")
    assert len(messages) == 1, outcome.output
    return messages[0]


@pytest.mark.parametrize(
    ("setting", "one", "other"), (("allreduce", "ring", "native"), ("background", "thread", "polled"))
)
def test_different_settings_on_different_ranks_are_refused(
    compiled: Compiled, setting: str, one: str, other: str
) -> None:
    program = [compiled("interposition/hundred_calls.c")]
    parts = [Part(program, 1, stretto_env(**{setting: value})) for value in (one, other)]
    outcome = run_job(mpirun_command(parts), {})
    # Hydra ends the other ranks at once, and may give their signal instead.
    assert outcome.code == 2 or (FAMILY == "mpich" and outcome.code != 0), outcome.output
    assert "STRETTO_" in one_message(outcome)


@pytest.mark.parametrize("setting", ("allreduce", "deterministic", "cma", "shm_max_mib", "background_core"))
def test_an_empty_value_is_no_value(compiled: Compiled, setting: str) -> None:
    run_mpi(compiled("mpi/lifecycle.c"), 2, stretto_env(**{setting: ""})).check()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [(None, "No such file or directory"), ("", "it names no nodes"), ("Switch=a", "line 1: 'Switch' is none of")],
)
def test_a_wrong_topology_is_told_and_done_without(
    compiled: Compiled, tmp_path: Path, text: str | None, complaint: str
) -> None:
    path = tmp_path / "topology.conf"
    if text is not None:
        path.write_text(text)
    env = stretto_env(allreduce="rabenseifner@topology", topology=path)
    outcome = run_mpi(compiled(PROGRAMS["allreduce"]), 3, env).check()
    assert f"STRETTO_TOPOLOGY={path}: {complaint}" in one_message(outcome)


@pytest.mark.parametrize("ranks", (2, 5))
@pytest.mark.parametrize("collective", SHARED_MEMORY)
def test_without_shared_memory_another_serves(compiled: Compiled, collective: str, ranks: int) -> None:
    env = each_env(collective, SHARED_MEMORY[collective]) | {"STRETTO_SHM_MAX_MIB": "0", "CHECK_NOT_FORCED": "1"}
    outcome = run_mpi(compiled(PROGRAMS[collective]), ranks, env).check()
    assert "STRETTO_SHM_MAX_MIB" in one_message(outcome)


@pytest.mark.parametrize("collective", SHARED_MEMORY)
def test_with_little_shared_memory(compiled: Compiled, collective: str) -> None:
    """1 MiB: the results are right, whoever serves."""
    env = each_env(collective, SHARED_MEMORY[collective]) | {"STRETTO_SHM_MAX_MIB": "1", "CHECK_ANY": "1"}
    run_mpi(compiled(PROGRAMS[collective]), 5, env).check()


@pytest.mark.parametrize("collective", SHARED_MEMORY)
def test_without_single_copy(compiled: Compiled, collective: str) -> None:
    env = each_env(collective, SHARED_MEMORY[collective]) | {"STRETTO_CMA": "off"}
    run_mpi(compiled(PROGRAMS[collective]), 5, env).check()


@pytest.mark.parametrize("rank", (0, 2))
@pytest.mark.parametrize("refused", ("memfd", "pool", "mmap", "cma"))
@pytest.mark.parametrize("collective", ("allreduce", "bcast"))
def test_one_rank_is_refused(compiled: Compiled, collective: str, refused: str, rank: int) -> None:
    """What one rank cannot have, none uses; nobody hangs, and the results are right."""
    shim = compiled("interposition/refusing_kernel.c", "-shared", "-fPIC")
    env = stretto_env() | {"REFUSE": refused, "REFUSE_RANK": str(rank), "LD_PRELOAD": f"{LIBRARY}:{shim}"}
    outcome = run_mpi(compiled(PROGRAMS[collective]), 4, env).check()
    if refused == "mmap" or (rank == 0 and refused in ("memfd", "pool")):
        assert outcome.lines("stretto: "), "no message about the shared memory that could not be had"


def test_one_rank_gets_no_thread(compiled: Compiled) -> None:
    """Its own MPI calls drive what the thread would have; communicators made later are the same on all ranks."""
    shim = compiled("interposition/refusing_kernel.c", "-shared", "-fPIC")
    settings = stretto_env(**non_blocking_turn(0), background="thread")
    env = settings | {"REFUSE": "thread", "REFUSE_RANK": "1", "LD_PRELOAD": f"{LIBRARY}:{shim}"}
    outcome = run_mpi(compiled("mpi/non_blocking.c"), 3, env).check()
    assert len(outcome.lines("stretto: no thread for the background")) == 1


@open_mpi_only("only Open MPI can be told to keep out of /dev/shm itself")
@pytest.mark.parametrize("setting", ("unloaded", "default", "arrival_stripes"))
def test_a_full_dev_shm(compiled: Compiled, private_dev_shm: Callable[[str], list[str]], setting: str) -> None:
    env = {} if setting == "unloaded" else stretto_env(allreduce=setting) | {"CHECK_ANY": "1"}
    command = mpirun_command([Part([compiled("mpi/allreduce_counts.c")], 3, env)], ["--mca", "btl", "self,tcp"])
    outcome = run_job([*private_dev_shm("64k"), *command], {}).check()
    assert outcome.lines("left in /dev/shm:") == [""]
