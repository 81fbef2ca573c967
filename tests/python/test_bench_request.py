"""What `stretto bench` accepts, and what it says to what it does not."""

from pathlib import Path

import pytest

from stretto.bench.command import main
from stretto.bench.request import (
    Arrival,
    Request,
    UsageError,
    choose_iterations,
    parse_algorithms,
    parse_arrival,
    parse_size,
    parse_sizes,
    parse_time_ns,
)


@pytest.mark.parametrize(("text", "time_ns"), [("50ms", 50_000_000), ("0.5us", 500), ("1s", 1_000_000_000), ("7ns", 7)])
def test_times_have_units(text: str, time_ns: int) -> None:
    assert parse_time_ns(text) == time_ns


@pytest.mark.parametrize("text", ["50", "ms", "-1ms", "5 ms", "5m", "1e3us", ""])
def test_a_time_without_unit_or_sense_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        parse_time_ns(text)


@pytest.mark.parametrize(("text", "size"), [("8", 8), ("64K", 65536), ("1mb", 1 << 20), ("2MiB", 2 << 20), ("0", 0)])
def test_sizes_in_powers_of_1024(text: str, size: int) -> None:
    assert parse_size(text) == size


def test_ranges_of_sizes_hold_both_ends() -> None:
    assert parse_sizes("8:8M") == tuple(8 * 4**k for k in range(11))
    assert parse_sizes("8:100:2") == (8, 16, 32, 64, 100)
    assert parse_sizes("4,8:32:2,8,1K") == (4, 8, 16, 32, 1024)


@pytest.mark.parametrize("text", ["8:", ":8", "8M:8", "0:8", "8:64:1", "8:64:2:2", "8;64", "8,,64", "8X"])
def test_malformed_sizes_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a (size|range)"):
        parse_sizes(text)


def test_arrival_patterns() -> None:
    assert parse_arrival("balanced") == Arrival("balanced")
    assert parse_arrival("uniform:50ms") == Arrival("uniform", 50_000_000)
    assert parse_arrival("mif:20").argument(Path("d")) == "mif:20"
    assert parse_arrival("one-late:10ms").argument(Path("d")) == "one-late:10000000"
    assert parse_arrival("noise:10,2.5ms").argument(Path("d")) == "noise:10,2500000"
    assert parse_arrival("rank-late:3,50ms").argument(Path("d")) == "rank-late:3,50000000"
    assert parse_arrival("rank-late:3,50ms").text == "rank-late:3,50ms"
    assert parse_arrival("rank-late:3,50ms").sleeps
    assert parse_arrival("replay:a/b").argument(Path("d")) == "replay:d"
    assert [parse_arrival(text).text for text in ("noise:10,2.5ms", "replay:a/b")] == ["noise:10,2.5ms", "replay:a/b"]
    assert [parse_arrival(text).text for text in ("staircase:1500us", "mif:2.5")] == ["staircase:1.5ms", "mif:2.5"]
    assert parse_arrival("uniform:1ms").sleeps
    assert not parse_arrival("compute-uniform:1ms").sleeps


@pytest.mark.parametrize(
    "text",
    [
        "uniform",
        "uniform:",
        "uniform:0ms",
        "uniform:2000s",
        "mif",
        "mif:x",
        "late:1ms",
        "",
        "noise:10",
        "noise:,1ms",
        "noise:0,1ms",
        "noise:500,2ms",
        "rank-late:5ms",
        "rank-late:-1,5ms",
        "rank-late:1.5,5ms",
        "rank-late:1,",
        "rank-late:1,0ms",
        "replay:",
        "replay",
    ],
)
def test_malformed_arrival_patterns_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_arrival(text)


@pytest.mark.parametrize("text", ["native,native", "native,", "", "Ring", "../x", "a b", "native:", "ours:ring"])
def test_malformed_algorithms_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--algorithms"):
        parse_algorithms(text)


def test_algorithms_may_run_on_segments() -> None:
    assert parse_algorithms("ring+4,native+1M,native:ring") == ("ring+4", "native+1M", "native:ring")


def test_small_messages_get_more_iterations() -> None:
    counts = [choose_iterations(Arrival("balanced"), size) for size in (8, 64 << 10, 1 << 20, 8 << 20)]
    assert counts == sorted(counts, reverse=True)
    assert choose_iterations(Arrival("uniform", 1e6), 8) < counts[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["allreduce", "--ranks", "1"], "at least 2"),
        (["reduce", "--root", "9"], "ranks 0 to 3"),
        (["reduce", "--root", "first"], "give a rank, or rotate"),
        (["bcast", "--in-place"], "no such form"),
        (["barrier", "--sizes", "8"], "carries no data"),
        (["allreduce", "--sizes", "6"], "not a multiple"),
        (["allreduce", "--sizes", "12", "--datatype", "double"], "not a multiple"),
        (["allreduce", "--iterations", "0"], "at least 1"),
        (["allreduce", "--precision", "0%"], "a percentage above 0"),
        (["allreduce", "--precision", "2"], "a percentage above 0"),
        (["allreduce", "--precision", "2%", "--budget", "60"], "not a time"),
        (["allreduce", "--arrival", "uniform:50"], "not a time"),
        (["allreduce", "--json", "/nonexistent/x.json"], "no folder"),
        (["allreduce", "--timeout", "0"], "above 0"),
        (["allreduce", "--mpirun", "/nonexistent/mpirun", "--algorithms", "native"], "--mpirun"),
        (["allreduce", "--datatype", "float16"], "invalid choice"),
        (["alltoallw"], "invalid choice"),
        (["gather", "--in-place"], "no such form"),
        ([], "which collective"),
    ],
)
def test_usage_errors_are_exit_code_2_with_a_reason(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "stretto-bench-openmpi").touch()
    monkeypatch.setenv("STRETTO_BIN_DIR", str(tmp_path))
    assert main([*arguments, *(["--algorithms", "native"] if "--algorithms" not in arguments else [])]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_driver_names_the_way_to_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STRETTO_BIN_DIR", str(tmp_path))
    assert main(["allreduce", "--algorithms", "native"]) == 2
    assert "make build" in capsys.readouterr().err


def test_the_driver_is_told_everything() -> None:
    request = Request("reduce", ("native", "default"), (8, 64), (3, 2), ranks=3, arrival=parse_arrival("mif:5"), root=2)
    arguments = request.driver_arguments(Path("out"), Path("delays"))
    for expected in ("collective=reduce", "sizes=8,64", "iterations=3,2", "arrival=mif:5", "root=2", "output=out"):
        assert expected in arguments
    assert request.reference == "native"
    assert request.needs_stretto
