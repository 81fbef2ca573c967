"""Imbalance factors against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from profile_writer import Call, write_job, write_rank

from stretto.profile.calls import Matcher
from stretto.profile.files import open_profile
from stretto.profile.imbalance import Alpha, Factors, ImbalanceFactors
from stretto.profile.summary import summarise

US = 1000
NODE = {"fact": "alpha", "between": "node", "points": [[8, 1 * US], [8000, 10 * US]]}
NETWORK = {"fact": "alpha", "between": "network", "points": [[8, 20 * US], [8000, 40 * US]]}


def factors_of(directory: Path) -> Factors:
    profile = open_profile(directory)
    (block,) = [block for block in Matcher(profile).blocks() if len(block.calls)]
    return ImbalanceFactors(profile).of(block)


def test_alpha_between_and_beyond_the_measured_sizes() -> None:
    alpha = Alpha(np.array([10.0, 1000.0]), np.array([100.0, 400.0]))
    sizes = np.array([0, 10, 100, 1000, 5000], np.uint64)
    assert alpha.of(sizes) == pytest.approx([100, 100, 200, 400, 2000])


def test_on_one_node(tmp_path: Path) -> None:
    write_job(tmp_path, *([Call(time * US, 20 * US)] for time in (1, 3, 8)), extra_facts=[NODE])
    factors = factors_of(tmp_path)
    mean = (3 + 1 + 4) / 3  # around 4 us
    for worst, average in ((factors.worst, factors.mean), (factors.node_worst, factors.node_mean)):
        assert worst == pytest.approx([7])
        assert average == pytest.approx([mean])


def test_on_two_nodes(tmp_path: Path) -> None:
    """Ranks 0, 1 and 4 on node a, rank 2 alone on b, ranks 3 and 5 on c."""
    arrivals = [1, 5, 101, 51, 13, 91]
    for rank, (time, host) in enumerate(zip(arrivals, "aabcac", strict=True)):
        write_rank(tmp_path, rank, 6, [Call(time * US, 200 * US, bytes=8000)], [NODE, NETWORK], host=host)
    factors = factors_of(tmp_path)
    assert factors.worst == pytest.approx([100 / 40])
    centre = np.mean(arrivals)
    assert factors.mean == pytest.approx([np.abs(np.array(arrivals) - centre).mean() / 40])
    assert factors.node_worst == pytest.approx([(12 + 40) / 2 / 10])
    in_a = (16 / 3 + 4 / 3 + 20 / 3) / 3  # 1, 5, 13 around 19/3
    assert factors.node_mean == pytest.approx([(in_a + 20) / 2 / 10])


def test_what_was_not_measured_is_not_known(tmp_path: Path) -> None:
    for rank, host in enumerate("ab"):
        write_rank(tmp_path, rank, 2, [Call(1 + rank, 10)], [NODE], host=host)
    factors = factors_of(tmp_path)
    assert np.isnan([factors.worst, factors.mean, factors.node_worst, factors.node_mean]).all()
    share = summarise(open_profile(tmp_path)).by_class["Allreduce", "0-1 KB"]
    assert (share.factor("worst"), share.factor("node_worst")) == (None, None)


def test_mean_over_the_calls_of_a_class(tmp_path: Path) -> None:
    first = [Call(1 * US, 9 * US, 1), Call(20 * US, 29 * US, 2), Call(40 * US, 90 * US, 3, bytes=8000)]
    second = [Call(3 * US, 9 * US, 1), Call(26 * US, 29 * US, 2), Call(60 * US, 90 * US, 3, bytes=8000)]
    write_job(tmp_path, first, second, extra_facts=[NODE])
    table = summarise(open_profile(tmp_path)).by_class
    assert table["Allreduce", "0-1 KB"].factor("worst") == pytest.approx((2 + 6) / 2)
    assert table["Allreduce", "0-1 KB"].factor("mean") == pytest.approx((1 + 3) / 2)
    assert table["Allreduce", "1 KB-1 MB"].factor("worst") == pytest.approx(2)
