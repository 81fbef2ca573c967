"""The other sub-commands, and the parts of the demo."""

import json
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from cli_support import Stretto

from stretto import __version__
from stretto.algorithms import COLLECTIVES, Algorithm, load_registry, parse_registry
from stretto.demo import Run, compare, format_size, losses_agree
from stretto.errors import StrettoError
from stretto.launch.processes import run_limited
from stretto.profile.calls import CALL, Unmatched, load_calls
from stretto.profile.files import open_profile

TRAINING = Path(__file__).resolve().parents[2] / "apps" / "training" / "train.py"


def test_algorithms_table_names_every_algorithm(stretto: Stretto) -> None:
    result = stretto("algorithms", extra={"COLUMNS": "200"})
    assert result.returncode == 0, result.stderr
    for algorithm in load_registry():
        assert algorithm.name in result.stdout


def test_algorithms_of_one_collective_as_json(stretto: Stretto) -> None:
    result = stretto("algorithms", "allreduce", "--json")
    entries = [Algorithm(**entry) for entry in json.loads(result.stdout)]
    assert entries == [algorithm for algorithm in load_registry() if algorithm.collective == "allreduce"]
    assert entries


def test_every_collective_has_an_algorithm_and_names_are_unique() -> None:
    keys = [(algorithm.collective, algorithm.name) for algorithm in load_registry()]
    assert {collective for collective, _ in keys} == set(COLLECTIVES)
    assert len(keys) == len(set(keys))


def test_unknown_collective(stretto: Stretto) -> None:
    result = stretto("algorithms", "alltoallw")
    assert result.returncode == 2
    assert "choose from allreduce" in result.stderr


@pytest.mark.parametrize("text", ["", "{}x", "[1]", '[{"name": "ring"}]'])
def test_broken_registry_is_a_clear_error(text: str) -> None:
    with pytest.raises(StrettoError, match="make build"):
        parse_registry(text)


def test_help_and_version(stretto: Stretto) -> None:
    assert "algorithms" in stretto("--help").stdout
    assert stretto("--version").stdout.startswith("stretto ")
    assert stretto("bench", "--help").returncode == 0


def test_compare_finds_the_ratio() -> None:
    random = np.random.default_rng(0)
    native = random.normal(10e-3, 1e-3, (3, 200))
    comparison = compare(native, 0.5 * native)
    assert comparison.ratio == pytest.approx(0.5)
    assert comparison.low == pytest.approx(0.5)
    assert comparison.high == pytest.approx(0.5)
    assert comparison.native == pytest.approx(10, rel=0.05)
    noisy = compare(native, random.normal(10e-3, 1e-3, (3, 200)))
    assert noisy.low < 1 < noisy.high
    assert noisy.high - noisy.low < 0.1


def test_compare_of_a_native_median_of_zero_is_not_a_number() -> None:
    assert np.isnan(compare(np.zeros((1, 10)), np.ones((1, 10))).ratio)


def run_of(losses: list[float]) -> Run:
    nothing = np.empty(0, np.str_)
    return Run(np.array(losses), np.ones(len(losses)), np.empty(0, CALL), nothing, nothing)


def test_losses_agree_within_the_tolerance_and_not_beyond() -> None:
    assert losses_agree([run_of([1, 0.5]), run_of([1, 0.50001])])[0]
    agree, greatest = losses_agree([run_of([1, 0.5]), run_of([1, 0.51])])
    assert not agree
    assert greatest == pytest.approx(0.02)
    assert not losses_agree([run_of([1, 0.5]), run_of([1, float("nan")])])[0]


def test_format_size() -> None:
    assert [format_size(size) for size in (0, 8, 2048, 4505640)] == ["0 B", "8 B", "2.0 KiB", "4.3 MiB"]


def read_quietly(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # the process is gone by now
        return ""


def processes_named(marker: str) -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if marker in read_quietly(path)]


def test_run_limited_ends_the_whole_group() -> None:
    marker = f"{os.getpid()}{time.monotonic_ns()}"
    script = f"trap '' TERM; sh -c 'trap \"\" TERM; sleep 60; : {marker}' & echo begun; wait"
    start = time.monotonic()
    with pytest.raises(StrettoError, match="longer than 1 s"):
        run_limited(["sh", "-c", script], os.environ, 1)
    assert time.monotonic() - start < 30
    assert not processes_named(marker)


def test_run_limited_ends_those_who_hold_no_output_and_miss_the_first_signal() -> None:
    marker = f"{os.getpid()}{time.monotonic_ns()}"
    script = f"(trap '' TERM; exec >/dev/null 2>&1; while :; do sleep 60; : {marker}; done) & echo begun; wait"
    with pytest.raises(StrettoError, match="begun"):
        run_limited(["sh", "-c", script], os.environ, 1)
    assert not processes_named(marker)


def test_run_limited_reports_failure_with_the_output() -> None:
    assert run_limited(["sh", "-c", "echo out; echo err >&2"], os.environ, 30) == "out\nerr\n"
    with pytest.raises(StrettoError, match=r"(?s)exit code 3.*the reason"):
        run_limited(["sh", "-c", "echo the reason; exit 3"], os.environ, 30)


@pytest.mark.long
def test_demo_runs_and_shows_its_table(stretto: Stretto) -> None:
    result = stretto("demo", "--rounds", "1", "--steps", "12", "--ranks", "3")
    assert result.returncode == 0, result.stdout + result.stderr
    for words in ("completion lag", "waiting for the last rank", "time per step", "runs agree"):
        assert words in result.stdout


def train(stretto: Stretto, directory: Path, algorithm: str) -> list[float]:
    output = directory / "losses.json"
    line = ["mpirun", "-n", "4", sys.executable, str(TRAINING), "--steps", "4", "--out", str(output)]
    result = stretto("run", "--allreduce", algorithm, "--profile", str(directory), "--", *line)
    assert result.returncode == 0, result.stderr
    losses: list[float] = json.loads(output.read_text())["losses"]
    return losses


def trained_by(stretto: Stretto, directory: Path, algorithms: Iterable[str]) -> set[str]:
    """The losses are native's with each of these. Returns the algorithms that ran: others served what these cannot."""
    reference = train(stretto, directory / "native", "native")
    ran = set()
    for algorithm in algorithms:
        assert train(stretto, directory / algorithm, algorithm) == pytest.approx(reference, rel=1e-5)
        profile = open_profile(directory / algorithm)
        calls, unmatched = load_calls(profile)
        assert (profile.warnings, unmatched) == ([], Unmatched())
        assert calls["agreed"].all()
        allreduces = calls[calls["operation"] == profile.operations.index("Allreduce")]
        ran |= {profile.algorithms[index] for index in allreduces["algorithm"]}
    return ran


@pytest.mark.long
def test_training_gives_the_same_losses(stretto: Stretto, tmp_path: Path) -> None:
    assert trained_by(stretto, tmp_path, ("ring", "arrival_stripes")) >= {"ring", "arrival_stripes"}


@pytest.mark.night
def test_training_gives_the_same_losses_with_every_algorithm(stretto: Stretto, tmp_path: Path) -> None:
    every = [entry.name for entry in load_registry() if entry.collective == "allreduce"]
    assert trained_by(stretto, tmp_path, every) > {"ring"}


def test_the_version_is_the_same_everywhere() -> None:
    root = Path(__file__).resolve().parents[2]
    places = {
        "CMakeLists.txt": rf"project\(stretto VERSION {re.escape(__version__)} ",
        "include/stretto/stretto.h": rf'#define STRETTO_VERSION "{re.escape(__version__)}"',
        "pyproject.toml": rf'version = "{re.escape(__version__)}"',
    }
    assert [file for file, text in places.items() if not re.search(text, (root / file).read_text())] == []
