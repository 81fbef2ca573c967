"""Imbalance over the invocations of one kind of call, and its phases: steady for long, then a jump (Alizadeh 2021,
3.2.4, Figures 3.9-3.13)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 512
# A phase of fewer bins is an outlier. A jump counts if it explains this many times the noise of one bin, times the
# logarithm of the number of bins (Schwarz's criterion has 1 to 2, for noise without outliers).
_SHORTEST = 5
_PENALTY = 6.0
# Below this two means are the same to a reader.
_LEAST_CHANGE = 1.25


class Series:
    """Means of a quantity over equal numbers of successive calls, at most 2 * BINS of them however many calls come."""

    def __init__(self) -> None:
        self.width = 1  # calls a bin
        self._sums = np.zeros(0)
        self._rest = np.zeros(0)  # of the bin that is not full

    def add(self, values: Floats) -> None:
        """The values of the next calls, (n,)."""
        values = np.concatenate([self._rest, values])
        full = len(values) // self.width * self.width
        self._rest = values[full:]
        self._sums = np.concatenate([self._sums, values[:full].reshape(-1, self.width).sum(axis=1)])
        while len(self._sums) > 2 * BINS:
            even = len(self._sums) // 2 * 2
            left_over = self._sums[even:]
            self._sums = self._sums[:even].reshape(-1, 2).sum(axis=1)
            # An odd bin goes back to the rest, as calls that all had its mean.
            back = np.repeat(left_over / self.width, self.width)
            self._rest = np.concatenate([back, self._rest])
            self.width *= 2

    @property
    def means(self) -> Floats:
        """(bins,), calls that fill no bin left out unless there are no others."""
        if not len(self._sums):
            return self._rest[:0] if not len(self._rest) else np.array([self._rest.mean()])
        return self._sums / self.width


@dataclass(frozen=True)
class Phase:
    """Calls from number `first` on, `calls` of them, whose mean is `level`."""

    first: int
    calls: int
    level: float


@dataclass(frozen=True)
class History:
    """A quantity over the successive calls of one kind: `means` over `width` calls each, (bins,), and its phases."""

    width: int
    means: Floats
    phases: list[Phase]


def find_phases(series: Series) -> list[Phase]:
    """The stretches between which the level jumps, by binary segmentation of the logarithms of the means."""
    means = series.means
    if not len(means):
        return []
    logs = np.log(np.maximum(means, 1e-12))
    # Differences of neighbours know the noise and hardly anything of the jumps.
    noise = np.median(np.abs(np.diff(logs))) / (0.6745 * np.sqrt(2)) if len(logs) > 1 else 0.0
    edges = sorted(_split(_without_outliers(logs), 0, _PENALTY * max(noise, 0.02) ** 2 * np.log(max(len(logs), 2))))
    bounds = [0, *edges, len(logs)]
    phases: list[Phase] = []
    for begin, end in pairwise(bounds):
        level = float(means[begin:end].mean())
        calls = (end - begin) * series.width
        last = phases[-1] if phases else None
        if last and max(level, last.level) < _LEAST_CHANGE * max(min(level, last.level), 1e-12):
            both = last.calls + calls
            phases[-1] = Phase(last.first, both, (last.level * last.calls + level * calls) / both)
        else:
            phases.append(Phase(begin * series.width, calls, level))
    return phases


def _without_outliers(values: Floats) -> Floats:
    """Each value replaced by the median around it: keeps jumps, loses what is shorter than a phase."""
    # Mirrored, not repeated, at the ends: one slow first call would be a phase of its own copies.
    padded = np.pad(values, _SHORTEST - 1, mode="reflect")
    smooth: Floats = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * _SHORTEST - 1), axis=1)
    return smooth


def _split(values: Floats, offset: int, least_gain: float) -> list[int]:
    """Where to cut `values`, which begin at `offset`, so that each cut lowers the sum of squares by `least_gain`."""
    count = len(values)
    if count < 2 * _SHORTEST:
        return []
    left = np.arange(1, count)
    sums = np.cumsum(values)[:-1]
    total = values.sum()
    gains = sums**2 / left + (total - sums) ** 2 / (count - left) - total**2 / count
    allowed = gains[_SHORTEST - 1 : count - _SHORTEST]
    best = int(np.argmax(allowed)) + _SHORTEST
    if gains[best - 1] < least_gain:
        return []
    before = _split(values[:best], offset, least_gain)
    return [*before, offset + best, *_split(values[best:], offset + best, least_gain)]
