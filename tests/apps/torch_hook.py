"""Checks of stretto.torch that test_torch.py runs on several ranks: `python -m mpi4py torch_hook.py CHECK`.

Gradients are chosen: a parameter's gradient is what it was multiplied by.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from mpi4py import MPI
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from stretto.torch import State, allreduce_hook, init_process_group

WORLD = MPI.COMM_WORLD
SIZES = (1, 1000, 70_000, 300_000, 513)  # elements of the parameters: three buckets and more, of 1/4 MB but the first
STEPS = 3  # in the first DDP has one bucket


class Products(nn.Module):  # type: ignore[misc]  # PyTorch is not where mypy runs
    """The sum of parameter times factor over all elements."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(size, dtype=dtype)) for size in SIZES])

    def forward(self, factors: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack([(w * f).sum() for w, f in zip(self.weights, factors, strict=True)]).sum()


def integers(rank: int, step: int) -> list[Any]:
    """For each parameter one integer per element, in no other rank or element: int64 arrays of shape (size,)."""
    total = sum(SIZES)
    return np.split(np.arange(rank * total, (rank + 1) * total) + step, np.cumsum(SIZES)[:-1])


def distributed(dtype: torch.dtype = torch.float32) -> DistributedDataParallel:
    return DistributedDataParallel(Products(dtype), bucket_cap_mb=0.25)


def learn(model: DistributedDataParallel, step: int = 0) -> None:
    """One backward pass."""
    dtype = next(model.parameters()).dtype
    model.zero_grad()
    model([torch.from_numpy(each).to(dtype) for each in integers(WORLD.rank, step)]).backward()


def failure_of(action: Callable[[], object]) -> str:
    """What the exception says that `action` raises."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("nothing was raised")


def exact() -> None:
    """Gradients are the right averages, bit for bit: sums are exact, and the one division rounds once."""
    for dtype, wide in ((torch.float32, np.float32), (torch.float64, np.float64)):
        buckets: set[int] = set()

        def hook(state, bucket, buckets=buckets):  # type: ignore[no-untyped-def]
            buckets.add(bucket.index())
            return allreduce_hook(state, bucket)

        model = distributed(dtype)
        state = None if dtype == torch.float64 else State(WORLD)
        model.register_comm_hook(state, hook)
        for step in range(STEPS):
            learn(model, step)
            sums = [sum(parts) for parts in zip(*(integers(rank, step) for rank in range(WORLD.size)), strict=True)]
            for parameter, expected in zip(model.parameters(), sums, strict=True):
                assert np.array_equal(parameter.grad.numpy(), expected.astype(wide) / wide(WORLD.size))
        assert len(buckets) >= 3, buckets
        if state is not None:
            state.close()


def types() -> None:
    """16 bits go by way of float32: one rounding at the end, and no overflow before the division."""
    numbers = torch.arange(1000) % 11
    sums = WORLD.size * numbers + 7 * sum(range(WORLD.size))
    with State() as state:
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            tensor = (numbers + 7 * WORLD.rank).to(dtype)
            result = state.average(tensor).wait()
            wide = sums.double() if dtype == torch.float64 else sums.float()
            assert torch.equal(result, (wide / WORLD.size).to(dtype)), dtype
            assert result.data_ptr() == tensor.data_ptr(), "not in place"
        assert state.average(torch.full((3,), 60000.0, dtype=torch.float16)).wait().tolist() == [60000.0] * 3


def refused() -> None:
    """What cannot be averaged is refused at once, with what to do about it; DDP hands the message on."""
    with State() as state:
        assert "model.float()" in failure_of(lambda: state.average(torch.zeros(3, dtype=torch.int32)))
        assert "nccl" in failure_of(lambda: state.average(torch.zeros(3, device="meta")))
    assert "closed" in failure_of(lambda: state.average(torch.zeros(3)))
    model = distributed()
    model.register_comm_hook("nonsense", allreduce_hook)
    assert "register the hook with stretto.torch.State" in failure_of(lambda: learn(model))


class Disturbed:
    """An mpi4py communicator whose Allreduce first does something else."""

    def __init__(self, before: Callable[[], None]) -> None:
        self._before = before
        self._communicator = WORLD.Dup()
        self.size = WORLD.size
        self.Free = self._communicator.Free

    def Dup(self) -> Disturbed:  # noqa: N802
        return self

    def Allreduce(self, *buffers: Any) -> None:  # noqa: N802
        self._before()
        self._communicator.Allreduce(*buffers)


def overlap() -> None:
    """The backward pass goes on while the first bucket is under way: here that waits for the second to be ready."""
    one_bucket, second = True, threading.Event()

    def wait() -> None:
        assert one_bucket or second.wait(timeout=30), "the backward pass waited for the first bucket"

    def hook(state, bucket):  # type: ignore[no-untyped-def]
        future = allreduce_hook(state, bucket)
        if bucket.index() == 1:
            second.set()
        return future

    with State(Disturbed(wait)) as state:  # type: ignore[arg-type]
        model = distributed()
        model.register_comm_hook(state, hook)
        learn(model)
        one_bucket = False
        learn(model)


def failing() -> None:
    """An error of the thread reaches backward(), and later buckets: they may no longer pair with the others' ones."""
    calls: list[None] = []

    def fail() -> None:
        calls.append(None)
        if len(calls) == 2:
            raise RuntimeError("the cable is gone")

    with State(Disturbed(fail)) as state:  # type: ignore[arg-type]
        model = distributed()
        model.register_comm_hook(state, allreduce_hook)
        learn(model)
        assert "the cable is gone" in failure_of(lambda: learn(model))
        said = failure_of(lambda: state.average(torch.zeros(3)).wait())
        assert "an earlier bucket has failed: the cable is gone" in said, said
        assert len(calls) == 2


CHECKS = (exact, types, refused, overlap, failing)

if __name__ == "__main__":
    torch.set_num_threads(1)
    init_process_group()
    {check.__name__: check for check in CHECKS}[sys.argv[1]]()
    torch.distributed.destroy_process_group()
