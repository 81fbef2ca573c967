"""What `./check` runs: Stretto's tests and figures on this machine, each part within its time, all in nine minutes.

Usage: check [FOLDER [PART...]]. Writes to FOLDER (default: a new one, results-DATE-TIME) the output of each part, the
figures as JSON, and the table that it prints. Exit code 1 where a test fails or a part finds no end; a missed target
of the figures is a result, and no failure.
"""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = sys.executable
CORES = len(os.sched_getaffinity(0))
# Each in so many parts that run side by side.
CPP_TESTS = {"virtual_tests": 32, "threads_test": 2}
# A core each, where there are as many. Fewer than four would leave out most of what can go wrong.
MOST_RANKS = max(4, min(16, CORES))
MPI_TESTS = {
    "STRETTO_TEST_PROGRAMS": str(HERE / "programs"),
    "STRETTO_TEST_MPICC": "mpicc",
    "STRETTO_TEST_MAX_RANKS": str(MOST_RANKS),
    # Open MPI 5.0.11 adds 8-bit integers wrongly with AVX.
    "STRETTO_TEST_NATIVE_ENV": "OMPI_MCA_op=^avx",
}


@dataclass
class Part:
    """One line of the table. `run(results, limit_s)` tells whether all is well, and what it found."""

    name: str
    limit_s: float
    run: Callable[[Path, float], tuple[bool, str]]


def command(words: Sequence[object], output: Path, limit_s: float, env: Mapping[str, str] | None = None) -> int | None:
    """The exit code of a command in a process group of its own, or None where its time ran out. Nothing of it stays."""
    with output.open("ab") as file:
        process = subprocess.Popen(
            [str(word) for word in words], cwd=HERE, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
            stdout=file, stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def last_line(output: Path) -> str:
    lines = output.read_text(errors="replace").split("\n")
    return next((line.strip(" =") for line in reversed(lines) if line.strip()), "")


def run_cpp_tests(results: Path, limit_s: float) -> tuple[bool, str]:
    """The algorithms on virtual ranks and on threads, two seeds each."""
    end = time.monotonic() + limit_s

    def shard(test: str, index: int, count: int) -> bool:
        env = {"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(index), "STRETTO_SEEDS": "2"}
        words = [HERE / "build/bin" / test, "--gtest_brief=1", "--gtest_filter=-*ManyRanks*"]
        return command(words, results / f"cpp-{test}-{index}.txt", max(1, end - time.monotonic()), env) == 0

    jobs = [(test, index, count) for test, count in CPP_TESTS.items() for index in range(count)]
    with ThreadPoolExecutor(CORES) as pool:
        passed = list(pool.map(lambda job: shard(*job), jobs))
    for (test, index, _), well in zip(jobs, passed, strict=True):
        file = results / f"cpp-{test}-{index}.txt"
        with (results / "cpp-tests.txt").open("a") as all_output:
            all_output.write(f"== {test} {index}: {'ok' if well else 'FAILED'}\n{file.read_text(errors='replace')}")
        file.unlink()
    failed = sorted({test for (test, _, _), well in zip(jobs, passed, strict=True) if not well})
    return not failed, f"failed: {', '.join(failed)}" if failed else f"{len(CPP_TESTS)} programs"


def run_mpi_tests(results: Path, limit_s: float) -> tuple[bool, str]:
    """Every collective with every algorithm on 2 to 16 ranks of Open MPI, and what surrounds a call."""
    output = results / "mpi-tests.txt"
    workers = max(1, CORES // 8)
    words = [
        PYTHON,
        "-m",
        "pytest",
        "tests/mpi",
        "-q",
        "-rfEs",
        "-n",
        workers,
        "--dist",
        "worksteal",
        "-m",
        "not alone",
    ]
    code = command(words, output, limit_s, MPI_TESTS)
    return code == 0, last_line(output)


def run_figures(option: str) -> Callable[[Path, float], tuple[bool, str]]:
    def run(results: Path, limit_s: float) -> tuple[bool, str]:
        output = results / f"{option}.txt"
        words = [PYTHON, "-m", "stretto", "bench", f"--{option}", "--json", results / f"{option}.json"]
        code = command(words, output, limit_s, {"COLUMNS": "160"})
        text = output.read_text(errors="replace").splitlines()
        return code is not None and (results / f"{option}.json").exists(), next(
            (line for line in text if "targets met" in line), ""
        )

    return run


LIMIT_S = 540.0
PARTS = {
    "cpp": Part("C++ tests", 60, run_cpp_tests),
    "mpi": Part("tests on real MPI", 200, run_mpi_tests),
    "quick": Part("stretto bench --quick", 90, run_figures("quick")),
    "must-show": Part("stretto bench --must-show", LIMIT_S, run_figures("must-show")),  # whatever time is left
}


def machine() -> str:
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    version = " ".join((HERE / "version").read_text().split())
    return f"{version}\n{CORES} cores ({models[0] if models else platform.machine()}), {platform.platform()}"


def main() -> int:
    results = Path(sys.argv[1] if len(sys.argv) > 1 else HERE / time.strftime("results-%Y%m%d-%H%M%S")).resolve()
    names = sys.argv[2:] or list(PARTS)
    if unknown := [name for name in names if name not in PARTS]:
        print(f"check: {', '.join(unknown)}: no such part; choose from {', '.join(PARTS)}", file=sys.stderr)
        return 2
    results.mkdir(parents=True, exist_ok=True)
    if any(results.iterdir()):
        print(f"check: {results} is not empty: name a folder for the results that is", file=sys.stderr)
        return 2
    lines = [machine()]
    print(lines[0], flush=True)
    all_well = True
    begin = time.monotonic()
    for part in (PARTS[name] for name in names):
        start = time.monotonic()
        limit_s = min(part.limit_s, begin + LIMIT_S - start)
        well, note = part.run(results, limit_s)
        seconds = time.monotonic() - start
        all_well = all_well and well
        verdict = "ok" if well else "FAILED: its time is over" if seconds >= limit_s else "FAILED"
        lines.append(f"{part.name:<28} {seconds:4.0f} s  {verdict:<7} {note}")
        print(lines[-1], flush=True)
    (results / "summary.txt").write_text("\n".join(lines) + "\n")
    print(f"details: {results}")
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
