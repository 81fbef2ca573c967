"""Statistics and summaries on samples whose truth is known."""

import dataclasses
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from stretto.bench.launch import BenchError, RunResult, SizeResult, read_samples
from stretto.bench.must_show import EXPERIMENTS, Experiment, judge, verdict_table
from stretto.bench.report import (
    find_replacements,
    format_ran,
    format_time,
    print_report,
    result_as_json,
    summarise,
    write_json,
)
from stretto.bench.request import Arrival, Request
from stretto.bench.stats import (
    Estimate,
    Samples,
    Times,
    estimate_mean,
    estimate_median,
    estimate_paired_ratio,
    late_starts,
)


def make_samples(arrivals: Times, lag_ns: Times, ran: str = "native") -> Samples:
    """All ranks leave `lag_ns`, shape (iterations,), after the last arrival."""
    exits = np.repeat((arrivals.max(axis=1) + lag_ns)[:, None], arrivals.shape[1], axis=1)
    return Samples(arrivals, exits, (ran,) * len(arrivals))


def make_size(iterations: int = 200, speed_up: float = 2.0, ran: str = "ring") -> SizeResult:
    """Native's lag is 1000 ns with a drift of the machine that both share; ours is `speed_up` times shorter."""
    generator = np.random.default_rng(3)
    delays = generator.uniform(0, 50e6, (iterations, 4))
    drift = np.linspace(1, 3, iterations)
    noise = generator.normal(1, 0.05, (2, iterations))
    return SizeResult(
        1024,
        500,
        100,
        200.0,
        delays,
        {
            "native": make_samples(delays + 1e4, 1000 * drift * noise[0]),
            "default": make_samples(delays + 1e4, 1000 * drift * noise[1] / speed_up, ran),
        },
    )


REQUEST = Request("allreduce", ("native", "default"), (1024,), (200,), arrival=Arrival("uniform", 50e6))
SETUP = {"nodes": 1, "mpi": "Some MPI, 1", "copy_bytes_per_ns": 20.0, "ranks": 2, "algorithms": ["native", "default"]}
MACHINE = {"cores": 2, "cpu": "test"}


def test_metrics_follow_their_definitions() -> None:
    samples = Samples(np.array([[0.0, 10.0, 4.0]]), np.array([[12.0, 15.0, 13.0]]), ("native",))
    assert samples.metric("run_time") == [15]
    assert samples.metric("elapsed") == [pytest.approx((12 + 5 + 9) / 3)]
    assert samples.metric("lag") == [5]
    with pytest.raises(ValueError, match="unknown metric"):
        samples.metric("speed")


def test_samples_must_match() -> None:
    with pytest.raises(ValueError, match="same calls"):
        Samples(np.zeros((2, 3)), np.zeros((3, 3)), ("a", "b"))


def test_the_interval_of_a_median_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(11)
    hits = 0
    for trial in range(200):
        estimate = estimate_median(generator.exponential(1.0, 60), seed=trial)
        assert estimate.low <= estimate.value <= estimate.high
        hits += estimate.low <= np.log(2) <= estimate.high
    assert 180 <= hits <= 200


def test_mean_and_median_differ_where_an_outlier_is() -> None:
    values = np.array([1.0] * 99 + [1000.0])
    assert estimate_median(values) == Estimate(1.0, 1.0, 1.0)
    assert estimate_mean(values).value == pytest.approx(10.99)


def test_many_samples_are_resampled_in_batches() -> None:
    values = np.random.default_rng(5).normal(10, 1, 9_000)
    estimate = estimate_median(values)
    assert estimate.low < estimate.value < estimate.high
    assert estimate.high - estimate.low < 0.1


def test_paired_ratio_sees_through_a_drift_that_both_share() -> None:
    result = make_size(speed_up=2.0)
    ours, native = (result.samples[name].metric("lag") for name in ("default", "native"))
    ratio = estimate_paired_ratio(ours, native)
    assert ratio.value == pytest.approx(0.5, rel=0.03)
    assert ratio.high - ratio.low < 0.03
    assert ratio.excludes_one


def test_equal_algorithms_are_not_told_apart() -> None:
    result = make_size(speed_up=1.0)
    ours, native = (result.samples[name].metric("lag") for name in ("default", "native"))
    ratio = estimate_paired_ratio(ours, native)
    assert not ratio.excludes_one


def test_late_starts_are_those_beyond_the_threshold() -> None:
    delays = np.array([[0.0, 100.0], [0.0, 100.0]])
    arrivals = np.array([[3.0, 104.0], [50.0, 100.0]])
    assert late_starts(arrivals, delays, 10).tolist() == [False, True]


def test_a_late_start_drops_the_iteration_for_all() -> None:
    result = make_size()
    result.samples["default"].arrivals[7, 2] += 6e6
    result.samples["native"].arrivals[9, 1] += 6e6
    summary = summarise(result, REQUEST)
    assert (summary.iterations, summary.discarded) == (198, 2)
    assert [summary.algorithms[name].late_starts for name in ("native", "default")] == [1, 1]


def test_ranks_that_compute_are_never_late() -> None:
    result = make_size()
    result.samples["default"].arrivals[7, 2] += 6e6
    request = Request("allreduce", ("native", "default"), (1024,), (200,), arrival=Arrival("compute-uniform", 50e6))
    assert summarise(result, request).discarded == 0


def test_when_all_started_late_they_are_shown_and_counted() -> None:
    result = make_size(iterations=5)
    result.samples["native"].arrivals[:] += 6e6
    summary = summarise(result, REQUEST)
    assert summary.iterations == 5
    assert summary.algorithms["native"].late_starts == 5


def test_what_ran_is_named_with_its_share() -> None:
    assert format_ran({"ring": 10}) == "ring"
    assert format_ran({"native": 1, "ring": 3}) == "ring 75%, native 25%"
    run = RunResult(REQUEST, SETUP, [make_size(ran="ring")])
    assert find_replacements(run, [summarise(run.sizes[0], REQUEST)]) == []
    forced = Request("allreduce", ("native", "arrival_leader"), (1024,), (200,), arrival=REQUEST.arrival)
    samples = run.sizes[0].samples
    size = SizeResult(
        1024, 1, 1, 1.0, run.sizes[0].delays, {"native": samples["native"], "arrival_leader": samples["default"]}
    )
    notes = find_replacements(RunResult(forced, SETUP, [size]), [summarise(size, forced)])
    assert notes == ["arrival_leader at 1K: ring ran in its place"]


@pytest.mark.parametrize(
    ("time_ns", "text"), [(0, "0 ns"), (999, "999 ns"), (1500, "1.50 us"), (23_456, "23.5 us"), (2.5e9, "2.50 s")]
)
def test_times_are_written_with_three_digits(time_ns: float, text: str) -> None:
    assert format_time(time_ns) == text


def driver_lines() -> list[str]:
    call = {"kind": "call", "root": 0, "delays": [0, 5], "ran": "native"}
    records = [
        {"kind": "setup", **SETUP},
        {"kind": "size", "size": 8, "iterations": 2, "copies": 2, "latency_ns": 3, "copy_bound_ns": 4},
        *(
            {**call, "iteration": i, "algorithm": a, "arrivals": [0, 5 + i], "exits": [9 + a, 10 + a]}
            for i, a in ((0, 1), (0, 0), (1, 0), (1, 1))
        ),
        {"kind": "end"},
    ]
    return [json.dumps(record) for record in records]


def test_the_drivers_lines_become_arrays() -> None:
    request = Request("allreduce", ("native", "default"), (8,), (2,), ranks=2)
    run = read_samples(request, driver_lines())
    size = run.sizes[0]
    assert size.samples["native"].exits.tolist() == [[9, 10], [9, 10]]
    assert size.samples["default"].metric("lag").tolist() == [6, 5]
    assert (size.latency_ns, size.copy_bound_ns) == (3, 4)
    assert size.memory_bound_ns == pytest.approx(0.8)


def test_a_file_that_breaks_off_is_an_error() -> None:
    request = Request("allreduce", ("native", "default"), (8,), (2,), ranks=2)
    with pytest.raises(BenchError, match="break off"):
        read_samples(request, driver_lines()[:-1])


def test_report_and_json_tell_the_same(tmp_path: Path) -> None:
    run = RunResult(REQUEST, SETUP, [make_size()])
    summaries = [summarise(run.sizes[0], REQUEST)]
    text = io.StringIO()
    print_report(Console(file=text, width=200), run, summaries, MACHINE)
    assert "arrival uniform:50ms" in text.getvalue()
    assert "completion lag" in text.getvalue()
    write_json(tmp_path / "out.json", result_as_json(run, summaries, MACHINE))
    content = json.loads((tmp_path / "out.json").read_text())
    assert content["schema_version"] == 2
    size = content["sizes"][0]
    assert size["summary"]["algorithms"]["default"]["ratios"]["lag"]["value"] == pytest.approx(0.5, rel=0.03)
    assert np.shape(size["samples"]["algorithms"]["native"]["exits"]) == (200, 4)


def test_ours_is_compared_with_the_best_of_the_mpi_librarys_own() -> None:
    size = make_size(speed_up=2.0)
    native = size.samples["native"]
    quick = make_samples(native.arrivals, native.metric("lag") / 4, "native:quick")
    request = dataclasses.replace(REQUEST, algorithms=("native", "native:quick", "default"))
    size.samples["native:quick"] = quick
    summary = summarise(size, request)
    assert summary.best_native["lag"] == "native:quick"
    ours = summary.algorithms["default"]
    assert ours.ratios["lag"].value == pytest.approx(0.5, rel=0.03)
    assert ours.best_ratios["lag"].value == pytest.approx(2.0, rel=0.03)
    assert summary.algorithms["native:quick"].best_ratios == {}
    assert summarise(make_size(), REQUEST).best_native == {}
    low, high = ours.percentiles["lag"]
    assert low < ours.times["lag"].value < high


def test_targets_are_judged_by_the_ratio() -> None:
    summary = summarise(make_size(speed_up=2.0), REQUEST)
    experiment = Experiment("allreduce", 4, "uniform:50ms", "1K", "lag", ((512, 0.1), (4096, 0.6), (8192, 0.2)))
    assert experiment.target(1024) == 0.6
    verdict = judge(experiment, summary)
    assert verdict.met
    assert verdict.certain
    strict = judge(Experiment("allreduce", 4, "uniform:50ms", "1K", "lag", ((4096, 0.3),)), summary)
    assert not strict.met
    text = io.StringIO()
    Console(file=text, width=200).print(verdict_table([verdict, strict], "title"))
    assert "pass" in text.getvalue()
    assert "MISS" in text.getvalue()


def test_the_promises_can_be_requested() -> None:
    assert [experiment.request().reference for experiment in EXPERIMENTS] == ["native"] * len(EXPERIMENTS)
