"""The calls that a program has made, as the profiler recorded them (`stretto run --profile DIR`)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from stretto.algorithms import COLLECTIVES
from stretto.errors import StrettoError
from stretto.profile.calls import Matcher, is_blocking
from stretto.profile.files import open_profile

_MOST_SIZES = 6  # of a collective on so many ranks: those on which most time was spent
_WIDTH = 4  # bytes of what is measured with
_FEWEST_CALLS = 10

Kind = tuple[str, int]  # collective, ranks


def profiled_calls(directory: Path) -> dict[Kind, tuple[int, ...]]:
    """Sizes in bytes on which most time was spent, of one collective on so many ranks; by time. Of sizes within a
    factor of two the one of the most time stands for all. Raises StrettoError where there is none."""
    seconds: dict[Kind, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    calls: dict[Kind, int] = defaultdict(int)
    profile = open_profile(directory)
    names = [name.lower() for name in profile.operations]
    for block in Matcher(profile).blocks():
        own = block.calls[is_blocking(block.calls)]
        keys = np.stack([own["operation"], own["size"], own["bytes"].astype(np.int64)], axis=1).astype(np.int64)
        for operation, ranks, size in np.unique(keys, axis=0).tolist():
            if names[operation] not in COLLECTIVES or ranks < 2:
                continue
            of_kind = (keys == (operation, ranks, size)).all(axis=1)
            seconds[names[operation], ranks][size] += float(own["elapsed"][of_kind].sum())
            calls[names[operation], ranks] += int(of_kind.sum())
    kinds = sorted(seconds, key=lambda kind: -sum(seconds[kind].values()))
    found = {kind: _worth_measuring(seconds[kind]) for kind in kinds if calls[kind] >= _FEWEST_CALLS}
    if not found:
        raise StrettoError(f"{directory}: has no blocking collective of {_FEWEST_CALLS} calls: nothing to tune for")
    return found


def _worth_measuring(seconds: dict[int, float]) -> tuple[int, ...]:
    chosen: dict[int, int] = {}  # power of two -> size
    for size in sorted(seconds, key=lambda size: -seconds[size]):
        if len(chosen) < _MOST_SIZES:
            chosen.setdefault(size.bit_length(), -(-size // _WIDTH) * _WIDTH)
    return tuple(sorted(set(chosen.values())))
