"""apps/fft, a program that knows no Stretto: its results, its figures, its hints, and what it says to bad requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mpi_jobs import FAMILY, LIBRARY, NATIVE_ENV, Outcome, Part, mpirun_command, run_job, run_mpi, stretto_env

Compiled = Callable[..., Path]
PROGRAM = LIBRARY.parent.parent / f"bin/stretto-fft-{FAMILY}"
SERIES = ("run_time_s", "imbalance_s", "elapsed_time_s", "iteration_s", "master_compute_s", "mean_compute_s")
LIMIT_S = 60

pytestmark = pytest.mark.skipif(
    LIBRARY.exists() and not PROGRAM.exists(), reason=f"{PROGRAM.name} was not built: it needs FFTW, CLI11 and OpenMP"
)


def fft(ranks: int, *options: str | Path, env: dict[str, str] | None = None) -> Outcome:
    return run_mpi([PROGRAM, *options], ranks, NATIVE_ENV if env is None else env, limit_s=LIMIT_S)


def said(outcome: Outcome) -> list[str]:
    """What the program itself says on stderr. Launchers may put other text right behind a line."""
    return outcome.lines("stretto-fft: ")


def checked(outcome: Outcome, iterations: int) -> None:
    assert f"0 of {iterations} iterations wrong" in outcome.check().output
    assert said(outcome) == []


@pytest.mark.parametrize("distribute", ("p2p", "scatter"))
@pytest.mark.parametrize("loaded", (False, True), ids=("native", "stretto"))
@pytest.mark.parametrize("ranks", (1, 2, 4, 8))
def test_results_are_fftws(ranks: int, loaded: bool, distribute: str) -> None:
    env = stretto_env() if loaded else None
    options = ["--size", "8192", "--iterations", "5", "--distribute", distribute]
    checked(fft(ranks, *options, "--check", env=env), 5)


def test_results_are_fftws_in_the_papers_size(stretto_command: list[str]) -> None:
    """By `stretto run`, with several threads and jitter."""
    program: list[str | Path] = [PROGRAM, "--check", "--iterations", "3", "--threads", "3", "--jitter-ms", "2"]
    command = [*stretto_command, "run", "--verbose", "--", *mpirun_command([Part(program, 2, {})])]
    outcome = run_job(command, {"STRETTO_LIB_DIR": str(LIBRARY.parent)}, LIMIT_S)
    checked(outcome, 3)
    assert "131072 complex numbers" in outcome.output
    assert outcome.lines("stretto: "), "Stretto was not there"


@pytest.mark.parametrize(("ranks", "floats"), ((1, "2"), (2, "4")))
def test_one_number_a_rank(ranks: int, floats: str) -> None:
    checked(fft(ranks, "--size", floats, "--iterations", "2", "--threads", "2", "--check"), 2)


def test_a_wrong_result_is_found(compiled: Compiled, tmp_path: Path) -> None:
    defect = compiled("apps/wrong_gather.c", "-shared", "-fPIC")
    file = tmp_path / "wrong.json"
    env = NATIVE_ENV | {"LD_PRELOAD": str(defect)}
    outcome = fft(2, "--check", "--size", "1024", "--iterations", "4", "--json", file, env=env)
    assert outcome.code == 1, outcome.output
    assert not outcome.leftovers
    (line,) = said(outcome)
    # The fourth of the even numbers.
    assert line.startswith("wrong result in iteration 1: relative error ")
    assert "worst at index 6 of 512: expected " in line
    assert "1 of 4 iterations wrong" in outcome.output
    assert json.loads(file.read_text())["check"]["wrong_iterations"] == 1


def figures(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_figures(tmp_path: Path) -> None:
    file = tmp_path / "fft.json"
    options: list[str | Path] = [
        "--size",
        "4096",
        "--iterations",
        "6",
        "--seed",
        "9",
        "--jitter-ms",
        "8",
        "--json",
        file,
    ]
    output = fft(2, *options).check().output
    found = figures(file)
    settings = {"ranks": 2, "threads": 1, "size_floats": 4096, "size_complex": 2048, "iterations": 6, "seed": 9}
    assert found.items() >= (settings | {"gather_bytes_per_rank": 8192, "jitter_ms": 8, "check": None}).items()
    assert (found["distribute"], found["hints"], found["clock_common"]) == ("p2p", "off", True)
    assert all(len(found[name]) == 6 and min(found[name]) >= 0 for name in SERIES)
    assert found["total_s"] == pytest.approx(sum(found["iteration_s"]), abs=1e-6)
    for run, imbalance, elapsed in zip(*(found[name] for name in SERIES[:3]), strict=True):
        assert elapsed <= run
        assert imbalance <= run
    # The jitter is part of the computation, and makes the arrivals uneven.
    assert max(found["imbalance_s"]) > 1e-3
    assert max(found["mean_compute_s"]) > 2e-3
    share = 100 * sum(found["master_compute_s"]) / found["total_s"]
    assert f"{share:.1f} % of the total" in output


def test_hints_without_stretto() -> None:
    outcome = fft(2, "--hints", "--check", "--size", "1024", "--iterations", "3").check()
    assert said(outcome) == ["--hints: no Stretto with hints is preloaded; the run goes on without"]
    assert "0 of 3 iterations wrong" in outcome.output


@pytest.mark.parametrize("wanted", (False, True))
def test_hints(compiled: Compiled, tmp_path: Path, wanted: bool) -> None:
    counter = compiled("apps/hint_counter.c", "-shared", "-fPIC")
    env = NATIVE_ENV | {"LD_PRELOAD": str(counter)}
    file = tmp_path / "fft.json"
    options: list[str | Path] = ["--iterations", "4", "--size", "1024", "--json", file]
    outcome = fft(2, *options, *(["--hints"] if wanted else []), env=env).check()
    assert outcome.lines("hints: ") == ["4 begins, 4 marks, in order" if wanted else "0 begins, 0 marks, none"] * 2
    assert said(outcome) == []
    assert figures(file)["hints"] == ("on" if wanted else "off")


def test_refused_hints(compiled: Compiled) -> None:
    counter = compiled("apps/hint_counter.c", "-shared", "-fPIC")
    env = NATIVE_ENV | {"LD_PRELOAD": str(counter), "REFUSE_HINTS": "1"}
    outcome = fft(2, "--hints", "--iterations", "2", "--size", "1024", env=env).check()
    assert said(outcome) == ["--hints: Stretto refused some of them"]


@pytest.mark.parametrize(
    ("options", "message"),
    (
        (["--size", "1000"], "--size 1000: not a power of two; the nearest are 512 and 1024"),
        (["--size", "many"], "Could not convert: --size = many; --help tells what each option takes"),
        (["--threads", "0"], "--threads 0: give a number from 1 to 1024"),
        (["--iterations", "0"], "--iterations 0: give a number from 1 to 10000000"),
        (["--seed", "-1"], "--seed -1: give a number that is not negative"),
        (["--distribute", "ring"], "--distribute: ring not in {p2p,scatter}; --help tells what each option takes"),
        (["--sizes"], "The following argument was not expected: --sizes; --help tells what each option takes"),
    ),
    ids=lambda value: value[0][2:] if isinstance(value, list) else "",
)
def test_bad_requests(options: list[str], message: str) -> None:
    outcome = run_job([PROGRAM, *options], {}, LIMIT_S)
    assert outcome.code == 2, outcome.output
    (line,) = said(outcome)
    assert line.startswith(message)
    assert "total time" not in outcome.output


@pytest.mark.parametrize(
    ("ranks", "options", "message"),
    (
        (3, [], "3 ranks: every stage halves the work, so start a power of two, 2 or 4 (mpirun -n)"),
        (2, ["--size", "2"], "--size 2 is 1 complex numbers for 2 ranks: give --size 4 or more, or start fewer ranks"),
        (
            2,
            ["--json", "/nowhere/fft.json"],
            "--json /nowhere/fft.json: No such file or directory: name a file that rank 0 can write",
        ),
    ),
    ids=("odd", "small", "json"),
)
def test_one_rank_speaks_for_all(ranks: int, options: list[str], message: str) -> None:
    outcome = fft(ranks, *options)
    assert outcome.code == 2, outcome.output
    assert said(outcome) == [message]
    assert not outcome.leftovers


def test_a_full_disk_is_an_error() -> None:
    outcome = fft(2, "--json", "/dev/full", "--iterations", "1", "--size", "1024")
    assert outcome.code == 1, outcome.output
    assert said(outcome) == ["the file of --json could not be written: is its disk full?"]


def test_help_says_what_a_float_counts() -> None:
    output = fft(2, "--help").check().output
    assert output.count("Usage: stretto-fft") == 1
    assert "A complex number is two floats, so 262144 floats" in output
