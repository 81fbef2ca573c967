"""Hints from Python: what is taken, what is refused, gathers after them; exits with 1 where anything is wrong."""

import sys

import numpy as np
from mpi4py import MPI

from stretto import hints


def is_refused(error: type[Exception], fraction: float) -> bool:
    try:
        hints.progress_mark(fraction)
    except error:
        return True
    return not hints.available()


world = MPI.COMM_WORLD
right = is_refused(RuntimeError, 0.5)
for number in range(40):
    hints.compute_begin()
    mine = np.full(2000, 1000 * world.rank + number)
    hints.progress_mark(0.5)
    right &= is_refused(ValueError, 0.4) and is_refused(ValueError, 2.0) and is_refused(ValueError, float("nan"))
    everything = np.empty((world.size, mine.size), dtype=mine.dtype)
    world.Gather(mine, everything)
    right &= world.rank != 0 or np.array_equal(everything[:, -1], 1000 * np.arange(world.size) + number)
if not right:
    print(f"rank {world.rank}: something is wrong", file=sys.stderr)
sys.exit(0 if right else 1)
