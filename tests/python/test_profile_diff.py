"""Comparisons of two small profiles, worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Stretto
from profile_writer import Call, write_job

from stretto.profile.files import open_profile
from stretto.profile.summary import Summary, summarise
from stretto.report.diff import compare, diff_as_json, differences, ratio_words

MS = 1_000_000


def summary_of(directory: Path) -> Summary:
    return summarise(open_profile(directory))


def allreduces(directory: Path, *late_ms: int, exit_ms: int = 20, ranks: int = 2) -> Summary:
    """Allreduces of 8 bytes 100 ms apart: rank 1 comes `late_ms` after the others, and all leave at `exit_ms`."""
    begins = [100 * MS * number for number in range(1, len(late_ms) + 1)]
    calls = [
        [
            Call(begin + (late * MS if rank == 1 else 0), begin + exit_ms * MS, number)
            for number, (begin, late) in enumerate(zip(begins, late_ms, strict=True), start=1)
        ]
        for rank in range(ranks)
    ]
    return summary_of(write_job(directory, *calls))


def test_times_are_for_one_call_and_the_ratio_is_of_b_by_a(tmp_path: Path) -> None:
    """A: two calls, late by 4 and 8 ms, all out at 20: time 36 and 32, waiting 4 and 8, lag 16 and 12.
    B: one call, late by 3 ms, all out at 12: time 21, waiting 3, after the last 18, lag 9."""
    data = diff_as_json(allreduces(tmp_path / "a", 4, 8), allreduces(tmp_path / "b", 3, exit_ms=12))
    (row,) = data["per_call"]
    assert (row["operation"], row["size"]) == ("Allreduce", "0-1 KB")
    assert row["a"] == pytest.approx({"calls": 2, "inside": 0.034, "waiting": 0.006, "after_last": 0.028, "lag": 0.014})
    assert row["b"] == pytest.approx({"calls": 1, "inside": 0.021, "waiting": 0.003, "after_last": 0.018, "lag": 0.009})
    assert row["ratio"] == pytest.approx(
        {"calls": 1 / 2, "inside": 21 / 34, "waiting": 1 / 2, "after_last": 18 / 28, "lag": 9 / 14}
    )
    worst = [(data[side]["stragglers"][0]["rank"], data[side]["stragglers"][0]["caused"]) for side in "ab"]
    assert worst == [(1, pytest.approx(0.012)), (1, pytest.approx(0.003))]
    assert [data[side]["directory"] for side in "ab"] == [str(tmp_path / side) for side in "ab"]


def test_runs_that_are_alike_have_no_differences(tmp_path: Path) -> None:
    a, b = (allreduces(tmp_path / name, late) for name, late in (("a", 4), ("b", 8)))
    assert differences(a, b) == []


def reduction(directory: Path, *times: tuple[int, int]) -> Summary:
    """One MPI_Reduce to rank 0; arrival and exit of each rank in ns."""
    return summary_of(write_job(directory, *([Call(*each, operation="Reduce", root=0)] for each in times)))


def test_lag_that_is_not_above_nothing_has_no_ratio(tmp_path: Path) -> None:
    (row,) = compare(reduction(tmp_path / "a", (1, 5), (9, 9)), reduction(tmp_path / "b", (1, 7), (3, 5)))
    assert row.ratio("lag") is None
    assert row.ratio("inside") == pytest.approx((6 + 2) / (4 + 0))


def test_differences_are_told_plainly(tmp_path: Path) -> None:
    a = allreduces(tmp_path / "a", 4, 8)
    calls = [Call(1, 5), Call(6, 9, 2, "Barrier", bytes=0), Call(10, 20, 3, "Barrier", bytes=0)]
    b = summary_of(write_job(tmp_path / "b", calls, calls, calls))
    b.profile.ranks[0].facts["job"][0].update(command=["./other"], mpi="Another MPI", every=4)
    assert differences(a, b) == [
        "A ran on 2 ranks, B on 3: times summed over ranks do not compare",
        "A ran `./program x`, B ran `./other`",
        "the MPI library of A is Some MPI, that of B Another MPI",
        "A records every call, B one call in 4 (STRETTO_PROFILE_EVERY): numbers of calls do not compare",
        "A has 2 whole calls, B 3: times are for one call on average",
        "unequal numbers of calls of Allreduce 0-1 KB",
        "only B has Barrier 0-1 KB",
    ]
    assert [(row.operation, row.a is None, row.b is None) for row in compare(a, b)] == [
        ("Allreduce", False, False),
        ("Barrier", True, False),
    ]


@pytest.mark.parametrize(
    ("ratio", "words"), [(None, "-"), (0.00325, "0.0032"), (0.5, "0.50"), (99.994, "99.99"), (1234.5, "1,234")]
)
def test_ratio_in_words(ratio: float | None, words: str) -> None:
    assert ratio_words(ratio) == words


def test_nodes(tmp_path: Path) -> None:
    a = allreduces(tmp_path / "a", 4)
    b = allreduces(tmp_path / "b", 4)
    b.hosts.append("another")
    assert differences(a, b) == ["A ran on 1 node, B on 2 nodes"]


def test_in_words_and_as_json(stretto: Stretto, tmp_path: Path) -> None:
    allreduces(tmp_path / "a", 4, 8)
    allreduces(tmp_path / "b", 3, exit_ms=12, ranks=3)
    shown = stretto("diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout
    assert shown.stderr == ""
    lines = [line.replace("│", " ").split() for line in shown.stdout.splitlines()]
    assert ["Allreduce", "0-1", "KB", "calls", "2", "1", "0.50"] in lines
    assert ["time", "34", "ms", "33", "ms", "0.97"] in lines
    assert ["waiting", "6", "ms", "6", "ms", "1.00"] in lines
    assert ["1", "A", "node", "2", "of", "2", "6.67", "ms", "2", "12", "ms"] in lines
    assert ["B", "node", "1", "of", "1", "3", "ms", "1", "6", "ms"] in lines
    assert ["2", "A", "-", "-", "-", "-", "-"] in lines
    assert "not alike: A ran on 2 ranks, B on 3" in shown.stdout
    data: dict[str, Any] = json.loads(stretto("diff", "--json", str(tmp_path / "a"), str(tmp_path / "b")).stdout)
    assert data["schema_version"] == 1
    assert data["differences"][0].startswith("A ran on 2 ranks")


def test_less_than_everything(stretto: Stretto, tmp_path: Path) -> None:
    write_job(tmp_path / "a", [Call(1, 2)], [])
    write_job(tmp_path / "b", [], [])
    shown = stretto("diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert shown.returncode == 0
    assert "warning: A: 1 calls are known from some of their ranks only" in shown.stdout
    assert "nothing to compare" in shown.stdout


@pytest.mark.parametrize("bad", ["nowhere", "."])
def test_no_profile(stretto: Stretto, tmp_path: Path, bad: str) -> None:
    allreduces(tmp_path / "a", 4)
    shown = stretto("diff", str(tmp_path / "a"), str(tmp_path / bad))
    assert shown.returncode == 2
    assert "--profile" in shown.stderr
