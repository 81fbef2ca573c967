"""The verdicts of `stretto bench --quick` on samples whose truth is planted."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest
from rich.console import Console
from test_bench_stats import REQUEST, make_samples, make_size

from stretto.bench.quick import RANKS, contest_table, judge, requests
from stretto.bench.report import summarise
from stretto.bench.request import Request


def contest_of(speed_up: float) -> tuple[str, str]:
    """Ours against a native algorithm twice as fast as native's default: its name, and the outcome."""
    size = make_size(speed_up=2 * speed_up)
    native = size.samples["native"]
    size.samples["native:quick"] = make_samples(native.arrivals, native.metric("lag") / 2, "native:quick")
    request = dataclasses.replace(REQUEST, algorithms=("native", "native:quick", "default"))
    contest = judge(request, "lag", summarise(size, request))
    return contest.best, contest.outcome


@pytest.mark.parametrize(("speed_up", "outcome"), [(1.1, "win"), (1.0, "even"), (1 / 1.1, "loss")])
def test_a_planted_difference_of_a_tenth_is_found_and_none_is_not(speed_up: float, outcome: str) -> None:
    assert contest_of(speed_up) == ("native:quick", outcome)


def test_requests_force_the_mpi_library_to_all_that_it_has() -> None:
    for request, metric in requests():
        assert isinstance(request, Request)
        assert (request.ranks, request.forces_native, request.reference) == (RANKS, True, "native")
        assert metric == ("lag" if request.arrival.sleeps else "elapsed")


def test_the_table_names_losses(tmp_path: Path) -> None:
    size = make_size(speed_up=0.5)
    request = dataclasses.replace(REQUEST, algorithms=("native", "native:quick", "default"))
    native = size.samples["native"]
    size.samples["native:quick"] = make_samples(native.arrivals, native.metric("lag"), "native:quick")
    text = io.StringIO()
    Console(file=text, width=160).print(contest_table([judge(request, "lag", summarise(size, request))], "title"))
    assert "loss" in text.getvalue()
    assert "allreduce, uniform:50ms: completion lag" in text.getvalue()
