"""Overlap of calls whose times are known."""

from __future__ import annotations

import numpy as np
import pytest

from stretto.bench.overlap import Overlapped


def overlapped(pure: list[float], total: list[float], compute: list[float], alone: list[float]) -> Overlapped:
    return Overlapped(np.array(pure), np.array(total), np.array(compute), np.array(alone))


@pytest.mark.parametrize(("total", "percent"), [(10.0, 100), (15.0, 50), (20.0, 0)])
def test_all_agree_where_the_computation_is_not_disturbed(total: float, percent: float) -> None:
    call = overlapped([10, 10], [total, total], [10, 10], [10, 10])
    assert call.osu() == call.imb() == call.net() == pytest.approx(percent)


def test_a_call_that_costs_more_than_alone_hides_nothing() -> None:
    call = overlapped([10], [25], [10], [10])
    assert call.osu() == call.imb() == 0
    assert call.net() == pytest.approx(-50)


def test_only_net_sees_what_is_taken_from_the_computation() -> None:
    """A thread that drives the call on the same core: nothing is won, but the wait is short."""
    call = overlapped([10], [20], [20], [10])
    assert call.osu() == call.imb() == 100
    assert call.net() == pytest.approx(0)


def test_osu_has_means_over_ranks_and_imb_the_slowest() -> None:
    call = overlapped([10, 20], [10, 30], [10, 20], [10, 20])
    assert call.osu() == pytest.approx(100 - 100 * 5 / 15)
    assert call.imb() == pytest.approx(50)


def test_imb_has_no_more_to_hide_than_the_shorter_of_both() -> None:
    assert overlapped([10], [10], [2], [2]).imb() == pytest.approx(100)
