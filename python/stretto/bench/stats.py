"""What the samples of a benchmark say: times from arrival and exit patterns, medians, ratios and their intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]  # ns

METRICS = {
    "run_time": "run time, max f - min a",
    "elapsed": "elapsed time, mean(f - a)",
    "lag": "completion lag, max f - max a",
}
CONFIDENCE = 0.95
RESAMPLES = 1000
_DRAWS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Samples:
    """The calls of one algorithm at one size.

    arrivals, exits: ns since the start of their call, shape (iterations, ranks); ran: what ran, one name a call.
    """

    arrivals: Times
    exits: Times
    ran: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.arrivals.shape != self.exits.shape or len(self.ran) != len(self.arrivals):
            raise ValueError("arrivals, exits and ran must tell of the same calls")

    def metric(self, name: str) -> Times:
        """One value in ns a call, shape (iterations,)."""
        values: Times
        if name == "run_time":
            values = self.exits.max(axis=1) - self.arrivals.min(axis=1)
        elif name == "elapsed":
            values = (self.exits - self.arrivals).mean(axis=1)
        elif name == "lag":
            values = self.exits.max(axis=1) - self.arrivals.max(axis=1)
        else:
            raise ValueError(f"unknown metric {name}")
        return values

    def where(self, keep: NDArray[np.bool_]) -> Samples:
        """Only the calls marked in `keep`, shape (iterations,)."""
        ran = tuple(name for name, kept in zip(self.ran, keep, strict=True) if kept)
        return Samples(self.arrivals[keep], self.exits[keep], ran)


@dataclass(frozen=True)
class Estimate:
    """A median (or mean) with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    @property
    def excludes_one(self) -> bool:
        return self.low > 1 or self.high < 1


def late_starts(arrivals: Times, delays: Times, threshold_ns: float) -> NDArray[np.bool_]:
    """Calls in which a rank came later than planned by more than `threshold_ns`; shape (iterations,)."""
    late: NDArray[np.bool_] = (arrivals - delays).max(axis=1) > threshold_ns
    return late


def estimate_median(values: Times, seed: int = 0) -> Estimate:
    """Median of `values`, shape (iterations,), with a percentile bootstrap over iterations."""
    return Estimate(float(np.median(values)), *_bootstrap_interval(values, np.median, seed))


def estimate_mean(values: Times, seed: int = 0) -> Estimate:
    """Mean of `values`, as the OSU benchmarks report it, with a percentile bootstrap over iterations."""
    return Estimate(float(np.mean(values)), *_bootstrap_interval(values, np.mean, seed))


def estimate_paired_ratio(values: Times, reference: Times, seed: int = 0) -> Estimate:
    """Median over iterations of value / reference.

    Both were measured in one iteration, under the same delays and moments apart, so that what disturbs the machine for
    longer than that falls out of each ratio. Iterations are resampled as pairs.
    """
    return estimate_median(values / reference, seed)


def estimate_ratio_of_medians(values: Times, reference: Times, seed: int = 0) -> Estimate:
    """Median of `values` by that of `reference`, measured apart: each is resampled by itself, shapes (n,) and (m,)."""
    generators = np.random.default_rng(seed).spawn(2)
    medians = [
        _bootstrap(own, np.median, generator) for own, generator in zip((values, reference), generators, strict=True)
    ]
    low, high = _interval(medians[0] / medians[1])
    return Estimate(float(np.median(values) / np.median(reference)), low, high)


def _bootstrap_interval(values: Times, statistic: Callable[..., Any], seed: int) -> tuple[float, float]:
    """95 % percentile interval of `statistic`."""
    return _interval(_bootstrap(values, statistic, np.random.default_rng(seed)))


def _bootstrap(values: Times, statistic: Callable[..., Any], generator: np.random.Generator) -> Times:
    """`statistic` of RESAMPLES resamples of `values`; in batches, so that memory stays bounded."""
    batch = max(1, _DRAWS_AT_ONCE // len(values))
    results: list[Times] = []
    for done in range(0, RESAMPLES, batch):
        rows = min(batch, RESAMPLES - done)
        results.append(statistic(values[generator.integers(0, len(values), (rows, len(values)))], axis=1))
    return np.concatenate(results)


def _interval(results: Times) -> tuple[float, float]:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(results, [tail, 1 - tail])
    return float(low), float(high)
