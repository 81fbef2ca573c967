"""The thread that drives what has begun ahead: there only where it is needed, asleep where nothing is to be done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mpi_jobs import run_mpi, stretto_env

Compiled = Callable[..., Path]
pytestmark = pytest.mark.alone
KIND = "background_sorted_linear_synchronised"
RANKS = 2


def ranks_of(compiled: Compiled, idle_s: float, begun_s: float, **settings: object) -> list[dict[str, Any]]:
    """What the program of bench/experiments/background_cost.py says of the root's thread and of the other rank's.

    Messages go over MPI, or nothing would begin ahead.
    """
    env = stretto_env(**{"gather": KIND, "background": "thread", "shm_max_mib": 0, **settings})
    program: list[str | Path] = [
        compiled("../bench/experiments/background_cost.c"),
        str(idle_s),
        str(begun_s),
        "1",
        "1",
    ]
    outcome = run_mpi(program, RANKS, env).check()
    ranks: list[dict[str, Any]] = [json.loads("{" + line) for line in outcome.lines("{")]
    assert len(ranks) == RANKS, outcome.output
    return sorted(ranks, key=lambda rank: int(rank["rank"]))


def test_a_thread_with_nothing_to_do_sleeps(compiled: Compiled) -> None:
    root, other = ranks_of(compiled, 2, 0)
    assert root["thread"]
    assert root["state"] == "S"
    assert root["idle"]["naps"] == 0, "it woke"
    assert root["idle"]["cpu_s"] < 0.01 * root["idle"]["wall_s"]
    assert not other["thread"], "who gives only to a gather can do nothing ahead"


def test_a_thread_with_a_call_begun_looks_seldom(compiled: Compiled) -> None:
    """Every 10 ms when nothing has come for long, no more when all is there; a look takes what the machine takes."""
    root, _ = ranks_of(compiled, 0, 2)
    assert 10 < root["begun"]["naps"] < 300 * root["begun"]["wall_s"]
    assert root["come"]["naps"] < 20


@pytest.mark.parametrize(
    "settings",
    [
        {"background": "off"},
        {"background": "polled"},
        {"background": ""},  # the program has not asked for MPI_THREAD_MULTIPLE
        {"gather": "linear_nonblocking"},
        {"gather": "sorted_linear_synchronised"},
        {"gather": "native"},
    ],
)
def test_no_thread_where_none_is_needed(compiled: Compiled, settings: dict[str, str]) -> None:
    assert not any(rank["thread"] for rank in ranks_of(compiled, 0, 0, **settings))


def test_the_thread_stays_on_its_core(compiled: Compiled) -> None:
    core = max(os.sched_getaffinity(0))
    root, _ = ranks_of(compiled, 0, 0, background_core=core)
    assert root["cores"] == str(core)


def test_the_thread_stays_on_its_cores(compiled: Compiled) -> None:
    """Given one by one, and as a range, whatever core its rank is bound to."""
    first, *others = sorted(os.sched_getaffinity(0))
    if not others or others[0] != first + 1:
        pytest.skip("no two neighbouring cores")
    for cores in (f"{first + 1},{first}", f"{first}-{first + 1}"):
        root, _ = ranks_of(compiled, 0, 0, background_core=cores)
        assert root["cores"] == f"{first}-{first + 1}"
