"""Other tools that interpose MPI stay in the chain, above Stretto and below it, and count every call once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import LIBRARY, run_mpi, stretto_env

Compiled = Callable[..., Path]
EACH_RANK_COUNTS_100 = sorted(f"rank {rank}: 100 calls" for rank in range(3))


def stacked(*libraries: Path) -> dict[str, str]:
    return {"LD_PRELOAD": ":".join(str(library) for library in libraries)}


def tool(compiled: Compiled) -> Path:
    return compiled("interposition/counting_tool.c", "-shared", "-fPIC")


def test_the_tool_alone(compiled: Compiled) -> None:
    outcome = run_mpi(compiled("interposition/hundred_calls.c"), 3, stacked(tool(compiled))).check()
    assert sorted(outcome.lines("tool: ")) == EACH_RANK_COUNTS_100


@pytest.mark.parametrize("algorithm", ("default", "ring", "arrival_leader"))
def test_a_tool_above(compiled: Compiled, algorithm: str) -> None:
    """The program calls the tool, which passes on to PMPI_Allreduce: Stretto must be there too."""
    env = stretto_env(allreduce=algorithm) | stacked(tool(compiled), LIBRARY)
    outcome = run_mpi(compiled("interposition/hundred_calls.c"), 3, env).check()
    assert sorted(outcome.lines("tool: ")) == EACH_RANK_COUNTS_100
    assert outcome.lines("ran: ")[0] != "native"


def test_a_tool_below_sees_calls_passed_through(compiled: Compiled) -> None:
    env = stretto_env(allreduce="native") | stacked(LIBRARY, tool(compiled))
    outcome = run_mpi(compiled("interposition/hundred_calls.c"), 3, env).check()
    assert sorted(outcome.lines("tool: ")) == EACH_RANK_COUNTS_100


@pytest.mark.parametrize("algorithm", ("default", "ring", "arrival_leader"))
def test_a_tool_below_may_miss_calls_but_invents_none(compiled: Compiled, algorithm: str) -> None:
    """Stretto's own calls while it sets a communicator up are not the program's: the tool must not count them."""
    env = stretto_env(allreduce=algorithm) | stacked(LIBRARY, tool(compiled))
    outcome = run_mpi(compiled("interposition/hundred_calls.c"), 3, env).check()
    assert sorted(outcome.lines("tool: ")) == sorted(f"rank {rank}: 0 calls" for rank in range(3))


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, 3),  # the private one of the world, one by which nodes are found, one of this process alone
        ({"allreduce": "arrival_stripes"}, 3),
        ({"scatter": "announced_linear", "gather": "background_linear_nonblocking"}, 3),
        ({"iallreduce": "ring", "ibcast": "binomial"}, 4),  # and one for requests
        ({"allreduce": "rendezvous_tree"}, 4),  # and a window
    ],
    ids=lambda value: "-".join(value) or "default" if isinstance(value, dict) else None,
)
def test_communicators_are_made_in_mpi_init_alone(compiled: Compiled, settings: dict[str, str], wanted: int) -> None:
    """However many the program makes, and calls collectives on."""
    counter = compiled("interposition/made_communicators.c", "-shared", "-fPIC")
    env = stretto_env(**settings) | stacked(LIBRARY, counter) | {"CHECK_ANY": "1"}
    outcome = run_mpi(compiled("mpi/communicator_leaks.c"), 3, env).check()
    assert outcome.lines("made: ") == [str(wanted)] * 3


def test_how_often_the_ranks_agree(compiled: Compiled) -> None:
    """The MPI library's collectives of Stretto's own, as docs/architecture.md has them; 0 where nothing is set up."""
    counter = compiled("interposition/counted_collectives.c", "-shared", "-fPIC")
    env = stretto_env() | stacked(LIBRARY, counter)
    outcome = run_mpi(compiled("interposition/agreements.c"), 3, env).check()
    counted = dict(line.split(": ") for line in outcome.output.splitlines() if ": " in line)
    assert counted == {
        "init": "9",
        "first call": "1",
        "further calls": "0",
        "communicator of few calls": "0",
        "communicator of many calls": "1",
        "many communicators": "200",
        "first long call": "0",
        "further long calls": "0",
    }


def test_counted_once_by_stretto_itself(compiled: Compiled) -> None:
    env = stretto_env(allreduce="ring", verbose=1) | stacked(tool(compiled), LIBRARY)
    outcome = run_mpi(compiled("interposition/hundred_calls.c"), 3, env).check()
    assert "allreduce: ring ran 100 times" in outcome.output
