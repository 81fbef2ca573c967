"""Collectives from mpi4py, buffers and pickled objects; exits with 1 and a message where a result is wrong.

With each algorithm in turn that CHECK_EACH="allreduce ring arrival_chain" names, as tests/mpi/check.h does.
"""

import ctypes
import os
import sys
from collections.abc import Iterator

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def run_buffers(count: int) -> bool:
    mine = np.arange(count, dtype=np.float64) + 1000.0 * rank
    expected = size * np.arange(count) + 1000.0 * size * (size - 1) / 2
    total = np.empty_like(mine)
    world.Allreduce(mine, total, op=MPI.SUM)
    in_place = mine.copy()
    world.Allreduce(MPI.IN_PLACE, in_place, op=MPI.SUM)
    everywhere = np.array_equal(total, expected) and np.array_equal(in_place, expected)
    for root in range(size):
        world.Reduce(mine, total, op=MPI.MAX, root=root)
        everywhere &= rank != root or np.array_equal(total, np.arange(count) + 1000.0 * (size - 1))
        data = mine.copy()
        world.Bcast(data, root=root)
        everywhere &= np.array_equal(data, np.arange(count) + 1000.0 * root)
    world.Barrier()
    return bool(everywhere)


def run_objects() -> bool:
    words = world.allreduce([f"rank {rank}"])  # lists concatenate: the order of ranks shows
    parameters = world.bcast({"steps": 7, "name": "x" * 100_000} if rank == 0 else None, root=0)
    half = world.Split(rank % 2, rank)
    halves = half.allreduce(rank)
    half.Free()
    right = words == [f"rank {other}" for other in range(size)] and len(parameters["name"]) == 100_000
    return right and halves == sum(range(rank % 2, size, 2))


def each_algorithm() -> Iterator[str]:
    """The names that CHECK_EACH has, each forced; one empty name where there is none."""
    collective, *names = os.environ.get("CHECK_EACH", "").split() or ["", ""]
    for name in names:
        if name and ctypes.CDLL(None).Stretto_force(collective.encode(), name.encode()) != 0:
            sys.exit(f"cannot force {name}")
        yield name


wrong = [
    name
    for name in each_algorithm()
    if not all([run_buffers(count) for count in (0, 1, 7, 1000, 100_003)] + [run_objects()])
]
if wrong:
    print(f"wrong: rank {rank}: {' '.join(wrong)}")
elif rank == 0:
    print("ok")
sys.exit(1 if wrong else 0)
