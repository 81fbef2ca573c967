"""Ways to run a program, compared in rounds: each runs it once in every way, in an order that rotates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tables import with_interval

from stretto.bench.stats import estimate_paired_ratio


def in_turn(ways: Sequence[str], number: int) -> list[str]:
    """The ways in the order of round `number`, from 0: each round begins with another one."""
    return [str(way) for way in np.roll(np.array(ways), number)]


def run_in_rounds(ways: Sequence[str], rounds: int, run_once: Callable[[str], Sequence[float]]) -> NDArray[np.float64]:
    """What `run_once` measures of a way, in seconds; shape (rounds, ways, metrics)."""
    times: list[list[Sequence[float]]] = []
    for number in range(rounds):
        of_round = {way: run_once(way) for way in in_turn(ways, number)}
        times.append([of_round[way] for way in ways])
    return np.array(times)


def compare_ways(ways: Sequence[str], metrics: Sequence[str], times: NDArray[np.float64]) -> dict[str, Any]:
    """Prints medians and ratios to the first way, of runs of one round, and returns the ratios by way and metric."""
    print(f"{'':32}" + "".join(f"{metric:>36}" for metric in metrics))
    ratios = {}
    for index, way in enumerate(ways):
        estimates = [estimate_paired_ratio(times[:, index, m], times[:, 0, m]) for m in range(len(metrics))]
        ratios[way] = [vars(estimate) for estimate in estimates]
        medians = np.median(times[:, index], axis=0)
        cells = [
            f"{1e3 * t:.2f} ms {with_interval(**vars(e), digits=3)}" for t, e in zip(medians, estimates, strict=True)
        ]
        print(f"{way:32}" + "".join(f"{text:>36}" for text in cells))
    return ratios
