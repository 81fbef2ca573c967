"""How much of a non-blocking collective hides behind computation, as others define it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stretto.bench.stats import Times


@dataclass(frozen=True)
class Overlapped:
    """Means over the calls of one run, by rank, in seconds, shape (ranks,).

    pure: of the call with its wait alone; total: of call, computation, tests and wait; compute: of the computation
    within that, tests left out; alone: of the same computation without a call.
    """

    pure: Times
    total: Times
    compute: Times
    alone: Times

    def osu(self) -> float:
        """Percent, as the OSU micro-benchmarks have it: of means over the ranks, the tests counted as cost."""
        return max(0.0, 100 - 100 * float((self.total.mean() - self.compute.mean()) / self.pure.mean()))

    def imb(self) -> float:
        """Percent, as IMB-NBC has it: of the rank whose total is greatest."""
        rank = int(np.argmax(self.total))
        pure, total, compute = (float(times[rank]) for times in (self.pure, self.total, self.compute))
        return 100 * max(0.0, min(1.0, (pure + compute - total) / min(pure, compute)))

    def net(self) -> float:
        """Percent of the call that the program does not notice, against the computation alone.

        OSU and IMB take the computation as it was beside the call, and so do not see what a thread that drives the
        call takes of it. Below 0 where the call costs more beside the computation than before it.
        """
        return 100 - 100 * float((self.total.mean() - self.alone.mean()) / self.pure.mean())
