"""Random programs: the legal see the same under Stretto as natively, the illegal get an error or what happens natively.

`make fuzz` runs 10 000 and 500 of them, these tests a few, each time the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import fuzzing
import pytest
from mpi_jobs import night, stretto_env

Compiled = Callable[..., Path]


@pytest.mark.parametrize(
    ("job", "ranks"), [(0, 4), (1, 3), (2, 5), (3, 4)], ids=("forced", "non_blocking", "checked", "adapting")
)
def test_legal_programs_see_the_same(compiled: Compiled, job: int, ranks: int) -> None:
    seeds = range(1000 * job, 1000 * job + 17)
    assert fuzzing.find_differences(compiled("fuzz/fuzz.c"), seeds, ranks, job) == []


def test_programs_depend_on_their_seeds(compiled: Compiled) -> None:
    """And each rank has seen something of its own."""
    seen = fuzzing.run_programs(compiled("fuzz/fuzz.c"), range(1, 21), 3, fuzzing.settings(0))
    assert len({digest for ranks in seen.values() for digest in ranks.values()}) == 60


# By day those that end at once.
@pytest.mark.parametrize("seeds", [(1, 3, 5, 9, 12, 13, 17, 18), night(range(50))], ids=("some", "many"))
@pytest.mark.parametrize("check", (False, True), ids=("default", "checked"))
def test_illegal_programs_are_told(compiled: Compiled, check: bool, seeds: Iterable[int]) -> None:
    env = stretto_env(check=1) if check else stretto_env()
    endings = {seed: fuzzing.judge(compiled("fuzz/fuzz.c"), seed, 3, env)[1] for seed in seeds}
    assert not {"hangs", "in silence"} & set(endings.values()), endings
    assert "error" in endings.values()
