"""Starting the benchmark driver under mpirun, and bringing home what it measured."""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from stretto.bench_request import Request, UsageError
from stretto.bench_stats import Samples, Times
from stretto.library import preload_library

REPOSITORY = Path(__file__).resolve().parents[2]
DRIVER = "stretto-bench-openmpi"
MPI_FAMILY = "openmpi"
_GRACE_SECONDS = 3.0


class BenchError(Exception):
    """The run failed: a wrong result, a crash, the time limit. Exit code 1."""


@dataclass(frozen=True)
class SizeResult:
    """All that was measured at one size: delays in ns, shape (iterations, ranks); samples by algorithm asked for."""

    size: int
    latency_ns: int
    copy_bound_ns: int  # of the results' private copies, in cache where they fit; 0 where nothing is measured
    memory_bound_ns: float  # of the same through memory; 0 likewise
    delays: Times
    samples: dict[str, Samples]


@dataclass(frozen=True)
class RunResult:
    """One run of the driver. `setup`: what the driver says of its MPI and machine."""

    request: Request
    setup: dict[str, Any]
    sizes: list[SizeResult]
    warnings: tuple[str, ...] = ()


def locate_programs(request: Request) -> tuple[Path, Path | None]:
    """The driver, and the library to preload where the request needs it."""
    library = preload_library(MPI_FAMILY) if request.needs_stretto else None
    folder = Path(os.environ.get("STRETTO_BIN_DIR", REPOSITORY / "build" / "bin")).resolve()
    driver = folder / DRIVER
    if not driver.is_file():
        raise UsageError(f"{driver} is missing: run `make build`, or let STRETTO_BIN_DIR name the folder it is in")
    return driver, library


def build_command(request: Request, mpirun: str, driver: Path, library: Path | None, output: Path) -> list[str]:
    """The mpirun command. Only the ranks are given the library, not mpirun itself."""
    launcher = shlex.split(mpirun)
    if not launcher:
        raise UsageError("--mpirun is empty")
    try:
        version = subprocess.run([launcher[0], "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--mpirun {mpirun}: {error}; is Open MPI installed?") from error
    oversubscribe = ["--oversubscribe"] if "Open MPI" in version.stdout else []
    preload = []
    if library is not None:
        others = os.environ.get("LD_PRELOAD")
        preload = ["env", f"LD_PRELOAD={library}" + (f":{others}" if others else "")]
    arguments = request.driver_arguments(str(output))
    return [*launcher, *oversubscribe, "-np", str(request.ranks), *preload, str(driver), *arguments]


def run_request(request: Request, mpirun: str = "mpirun", timeout_seconds: float = 600) -> RunResult:
    """Measures `request`. Raises BenchError with the driver's own words when it fails."""
    driver, library = locate_programs(request)

    def command(output: Path) -> list[str]:
        return build_command(request, mpirun, driver, library, output)

    return run_driver(request, command, _environment(), timeout_seconds)


def run_driver(
    request: Request, make_command: Callable[[Path], list[str]], environment: dict[str, str], timeout_seconds: float
) -> RunResult:
    """Runs a driver that carries out `request` and writes its samples to the file that `make_command` is given."""
    with tempfile.TemporaryDirectory(prefix="stretto-bench-") as folder:
        output = Path(folder) / "samples.jsonl"
        command = make_command(output)
        exit_code, errors = _run_bounded(command, environment, timeout_seconds)
        said = [line for line in errors.splitlines() if line.startswith("stretto") or "/CRITICAL]" in line]  # SimGrid's
        if exit_code == 2:
            raise UsageError("\n".join(said) or errors[-2000:])
        if exit_code != 0:
            raise BenchError("\n".join(said) or f"{command[0]} ended with exit code {exit_code}:\n{errors[-2000:]}")
        with output.open() as lines:
            return read_samples(request, lines, tuple(said))


def _environment() -> dict[str, str]:
    environment = dict(os.environ)
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return environment


def _run_bounded(command: list[str], environment: dict[str, str], timeout_seconds: float) -> tuple[int, str]:
    """Exit code and stderr. Whatever the way out, no process of the session that mpirun leads stays behind."""
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(
            command, env=environment, stdout=errors, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            exit_code = process.wait(timeout_seconds)
        except subprocess.TimeoutExpired as expired:
            message = f"no end after {timeout_seconds:g} s (--timeout); stopped"
            raise BenchError(message) from expired
        finally:
            _end_session(process)
        errors.seek(0)
        return exit_code, errors.read()


def _end_session(process: subprocess.Popen[bytes]) -> None:
    """mpirun puts each rank into a process group of its own, but the session stays the same."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    for pid in _session_members(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def _session_members(session: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == session:
                    yield int(entry.name)
            except (ProcessLookupError, PermissionError):
                continue


def read_samples(request: Request, lines: Iterable[str], warnings: tuple[str, ...] = ()) -> RunResult:
    """The driver's JSON lines as arrays."""
    setup: dict[str, Any] = {}
    groups: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    complete = False
    for line in lines:
        record = json.loads(line)
        kind = record.pop("kind")
        if kind == "setup":
            setup = record
        elif kind == "size":
            groups.append((record, []))
        elif kind == "call":
            groups[-1][1].append(record)
        complete = kind == "end"
    if not complete:
        raise BenchError("the driver's samples break off before their end")
    sizes = [_size_result(request, setup, facts, calls) for facts, calls in groups]
    return RunResult(request, setup, sizes, warnings)


def _size_result(
    request: Request, setup: dict[str, Any], facts: dict[str, Any], calls: list[dict[str, Any]]
) -> SizeResult:
    samples = {}
    delays: Times = np.zeros((0, request.ranks))
    for index, name in enumerate(request.algorithms):
        own = sorted((call for call in calls if call["algorithm"] == index), key=lambda call: call["iteration"])
        arrivals, exits, delays = (
            np.array([call[field] for call in own], dtype=np.float64) for field in ("arrivals", "exits", "delays")
        )
        samples[name] = Samples(arrivals, exits, tuple(call["ran"] for call in own))
    memory_bound_ns = facts["size"] * facts["copies"] / (setup.get("copy_bytes_per_ns") or math.inf)
    return SizeResult(facts["size"], facts["latency_ns"], facts["copy_bound_ns"], memory_bound_ns, delays, samples)


def describe_machine() -> dict[str, Any]:
    """What a reader needs to judge a figure."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*:\s*(.+)", text)
    return {
        "cpu": model[1].strip() if model else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "") if Path("/etc/os-release").exists() else "",
        "python": platform.python_version(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "environment": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith(("STRETTO_", "OMPI_MCA_"))
        },
        "git_commit": _git("rev-parse", "HEAD"),
        "git_changed": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def _git(*arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
