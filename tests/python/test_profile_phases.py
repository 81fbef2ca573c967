"""Phases of synthetic series whose jumps are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from stretto.profile.phases import BINS, Series, find_phases


def series_of(values: NDArray[np.float64], at_once: int = 1000) -> Series:
    series = Series()
    for begin in range(0, len(values), at_once):
        series.add(values[begin : begin + at_once])
    return series


@pytest.mark.parametrize("count", [1, 2, 1024, 1025, 5000, 20_003])
@pytest.mark.parametrize("at_once", [1, 7, 4096])
def test_bins_are_means_and_bounded(count: int, at_once: int) -> None:
    values = np.random.default_rng(1).random(count)
    series = series_of(values, at_once)
    assert len(series.means) <= 2 * BINS
    whole = count // series.width * series.width
    assert series.means == pytest.approx(values[:whole].reshape(-1, series.width).mean(axis=1))


def test_nothing() -> None:
    assert find_phases(Series()) == []


def test_steady_noise_is_one_phase() -> None:
    for seed in range(20):
        values = np.random.default_rng(seed).lognormal(0, 1, 3000)
        (phase,) = find_phases(series_of(values))
        assert phase.first == 0
        assert phase.level == pytest.approx(values[: phase.calls].mean())


def test_jumps_are_found_where_they_are() -> None:
    for seed in range(20):
        noise = np.random.default_rng(seed).lognormal(0, 0.3, 4000)
        level = np.repeat([1.0, 5.0, 2.0], [1500, 1000, 1500])
        phases = find_phases(series_of(level * noise))
        assert [round(phase.first / 50) * 50 for phase in phases] == [0, 1500, 2500]
        mean = np.exp(0.3**2 / 2)
        assert [phase.level / mean for phase in phases] == pytest.approx([1, 5, 2], rel=0.05)


@pytest.mark.parametrize("place", [0, 1, 300, 599])
def test_one_outlier_is_no_phase(place: int) -> None:
    values = np.ones(600) + 0.01 * np.random.default_rng(2).random(600)
    values[place] = 1000
    assert len(find_phases(series_of(values))) == 1


def test_levels_that_look_alike_are_one() -> None:
    values = np.repeat([1.0, 1.1], 300)
    (phase,) = find_phases(series_of(values))
    assert (phase.first, phase.calls) == (0, 600)
    assert phase.level == pytest.approx(1.05)
