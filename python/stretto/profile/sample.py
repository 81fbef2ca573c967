"""A bounded sample of the calls of a profile, for figures that show calls one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stretto.profile.calls import CALL

SAMPLE_LIMIT = 5000
_WORST = 250
_WORST_BY = ("imbalance", "completion_lag")
_SEED = 1
SAMPLED = np.dtype([*CALL.descr, ("site", "<i8"), ("form", "<i8"), ("key", "<f8")])


class Sample:
    """All calls where they are at most SAMPLE_LIMIT; else the _WORST by each figure of _WORST_BY, and of all calls a
    uniform sample: those with the lowest of random keys, seeded so that a profile always gives the same."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(_SEED)
        self._kept = np.empty(0, SAMPLED)
        self._seen = 0

    def add(self, calls: NDArray[np.void], operations: NDArray[np.int64], sites: NDArray[np.int64]) -> None:
        """Offer calls, (n,) of CALL, with the codes of their operations and sites, both (n,)."""
        fresh = np.empty(len(calls), SAMPLED)
        for name in CALL.names or ():
            fresh[name] = calls[name]
        fresh["form"], fresh["site"], fresh["key"] = operations, sites, self._random.random(len(calls))
        self._seen += len(calls)
        self._kept = np.concatenate([self._kept, fresh])
        if self._seen > SAMPLE_LIMIT:
            keep = np.argsort(self._kept["key"], kind="stable")[: SAMPLE_LIMIT - _WORST * len(_WORST_BY)]
            worst = [np.lexsort((self._kept["key"], -self._kept[name]))[:_WORST] for name in _WORST_BY]
            self._kept = self._kept[np.unique(np.concatenate([keep, *worst]))]

    def calls(self) -> NDArray[np.void]:
        """What was kept, (n,) of SAMPLED, n at most SAMPLE_LIMIT, in the order of the last arrival."""
        return self._kept[np.argsort(self._kept["last_ns"], kind="stable")]
