"""Clocks of several nodes. The emulated ones share a kernel, so the true offset is known: it is zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import LIBRARY, MPIRUN, open_mpi_only, run_mpi, stretto_env

from stretto.cluster import cluster, why_impossible
from stretto.profile.calls import Unmatched, load_calls
from stretto.profile.clocks import clock_error_ns
from stretto.profile.files import open_profile
from stretto.report.as_json import as_json
from stretto.report.read import read_summary

Compiled = Callable[..., Path]


def test_one_node_has_one_clock(compiled: Compiled, tmp_path: Path) -> None:
    run_mpi([compiled("profile/many_calls.c"), "count", "3"], 3, stretto_env(profile=tmp_path)).check()
    profile = open_profile(tmp_path)
    assert clock_error_ns(profile) == 0
    for rank in profile.ranks:
        assert [(fact["offset_ns"], fact["error_ns"]) for fact in rank.facts["clock"]] == [(0, 0)] * 2


@pytest.mark.alone
@open_mpi_only("the nodes are known to Open MPI's launcher only")
def test_two_nodes_know_how_far_their_clocks_are_apart(compiled: Compiled, tmp_path: Path) -> None:
    if (reason := why_impossible()) is not None:
        pytest.skip(reason)
    settings = {"STRETTO_PROFILE": str(tmp_path / "profile"), "STRETTO_ALLREDUCE": "native"}
    program = [str(compiled("profile/planted.c")), "12"]
    with cluster(nodes=2, rate="0") as nodes:
        outcome = nodes.run(
            program, ranks=4, mpirun=MPIRUN, preload=[LIBRARY], environment=settings, capture=True, timeout_s=60
        )
        names = nodes.names
    assert outcome.returncode == 0, outcome.stdout
    profile = open_profile(tmp_path / "profile")
    assert profile.warnings == []
    assert [rank.host for rank in profile.ranks] == names * 2
    for rank in profile.ranks:
        for fact in rank.facts["clock"]:
            assert abs(fact["offset_ns"]) <= fact["error_ns"], "the true offset, zero, is not within the bounds"
    error = clock_error_ns(profile)
    assert error is not None
    assert error > 0
    _, unmatched = load_calls(profile)
    assert unmatched == Unmatched()
    summary = read_summary(tmp_path / "profile")
    assert summary.clock_error == pytest.approx(error * 1e-9)
    first = as_json(summary)["stragglers"][0]
    assert (first["rank"], first["host"]) == (3, names[1])
