"""Starting the benchmark driver under mpirun, and bringing home what it measured."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import platform
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from stretto.algorithms import ALWAYS, load_registry
from stretto.bench.replay import delays_of, write_delays
from stretto.bench.request import Request, UsageError, is_native
from stretto.bench.stats import Samples, Times
from stretto.cluster.namespaces import Nodes
from stretto.errors import ProgramFailedError, StrettoError
from stretto.launch.launchers import identify
from stretto.launch.run import settings_in
from stretto.library import library_directory, nospin_library, preload_library

REPOSITORY = Path(__file__).resolve().parents[3]
_GRACE_SECONDS = 3.0
_LOOK_SECONDS = 0.5


class BenchError(ProgramFailedError):
    """The run failed: a wrong result, a crash, the time limit."""


@dataclass(frozen=True)
class SizeResult:
    """All that was measured at one size: delays in ns, shape (iterations, ranks); samples by algorithm asked for.

    half_interval: the widest, as a part of its median, when the driver last looked; 0 where no precision was asked for.
    """

    size: int
    latency_ns: int
    copy_bound_ns: int  # of the results' private copies, in cache where they fit; 0 where nothing is measured
    memory_bound_ns: float  # of the same through memory; 0 likewise
    delays: Times
    samples: dict[str, Samples]
    half_interval: float = 0.0


@dataclass(frozen=True)
class RunResult:
    """One run of the driver. `setup`: what the driver says of its MPI and machine."""

    request: Request
    setup: dict[str, Any]
    sizes: list[SizeResult]
    warnings: tuple[str, ...] = ()


def locate_programs(request: Request, family: str) -> tuple[Path, Path | None]:
    """The driver for an MPI family, and the library to preload where the request needs it."""
    library = preload_library(family) if request.needs_stretto else None
    folder = Path(os.environ.get("STRETTO_BIN_DIR", REPOSITORY / "build" / "bin")).resolve()
    driver = folder / f"stretto-bench-{family}"
    if not driver.is_file():
        raise UsageError(f"{driver} is missing: run `make build`, or let STRETTO_BIN_DIR name the folder it is in")
    return driver, library


def build_command(request: Request, mpirun: str, arguments: list[str], preload: list[Path]) -> list[str]:
    """The mpirun command with the driver's arguments. Only the ranks are given libraries, Stretto's and those of
    `preload`, not mpirun itself."""
    launcher = shlex.split(mpirun)
    if not launcher:
        raise UsageError("--mpirun is empty")
    try:
        _, family = identify(launcher[0], os.environ)
    except StrettoError as error:
        raise UsageError(f"--mpirun {mpirun}: {error}") from error
    if family is None:
        raise UsageError(f"--mpirun {mpirun}: starts ranks of any MPI: name the mpirun of the one to measure")
    driver, library = locate_programs(request, family)
    options = []
    if family == "openmpi":
        options.append("--oversubscribe")
        if request.forces_native:  # by default nothing can be forced
            options += ["--mca", "coll_tuned_use_dynamic_rules", "1"]
    libraries = [*([library] if library else []), *preload]
    wrapper = []
    if libraries:
        others = os.environ.get("LD_PRELOAD")
        wrapper = ["env", "LD_PRELOAD=" + ":".join([*map(str, libraries), *([others] if others else [])])]
    if library:
        # On other hosts ranks do not have our environment.
        settings = settings_in(os.environ)
        if _uses_remote_words(request):
            settings["STRETTO_REMOTE_WORDS"] = "1"
        wrapper += [f"{name}={value}" for name, value in sorted(settings.items())]
    return [*launcher, *options, "-np", str(request.ranks), *wrapper, str(driver), *arguments]


def _uses_remote_words(request: Request) -> bool:
    """Whether any of its algorithms needs what only MPI_Init can make; the driver names them later."""
    named = [algorithm for algorithm in request.algorithms if not is_native(algorithm) and algorithm not in ALWAYS]
    if not named or not (library_directory().parent / "bin" / "stretto-registry").is_file():
        return False  # a library by itself knows what it has
    names = [entry.name for entry in load_registry() if entry.needs_atomics]
    return any(name in algorithm for algorithm in named for name in names)


Watcher = Callable[[int, int], None]  # told of the index of a size, and the iteration there
MakeCommand = Callable[[Path, Path], list[str]]  # from the file for the samples, and that with the delays of a replay


def run_request(
    request: Request,
    mpirun: str = "mpirun",
    timeout_seconds: float = 600,
    watcher: Watcher | None = None,
    nodes: Nodes | None = None,
) -> RunResult:
    """Measures `request`, on this machine or on the nodes of an emulated cluster, where nobody watches.

    Raises BenchError with the driver's own words when it fails.
    """
    # On a cluster ranks that wait must not take the cores of those that work.
    nospin = [nospin_library()] if nodes is not None and request.ranks <= len(nodes.names) else []
    watched = watcher is not None and nodes is None

    def command(output: Path, replay_file: Path) -> list[str]:
        return build_command(request, mpirun, request.driver_arguments(output, replay_file, watched), nospin)

    if nodes is None:
        return run_driver(request, command, job_environment(), timeout_seconds, watcher)

    def execute(words: list[str]) -> tuple[int, str]:
        ended = nodes.execute(nodes.names[0], words, capture=True, timeout_s=timeout_seconds)
        return ended.returncode, ended.stdout

    # In that of the cluster it is gone even when we are killed.
    return _carry_out(request, command, execute, nodes.directory)


def run_driver(
    request: Request,
    make_command: MakeCommand,
    environment: dict[str, str],
    timeout_seconds: float,
    watcher: Watcher | None = None,
) -> RunResult:
    """Runs a driver that carries out `request` on this machine."""

    def execute(words: list[str]) -> tuple[int, str]:
        return _run_bounded(words, environment, timeout_seconds, watcher)

    return _carry_out(request, make_command, execute, None)


def _carry_out(
    request: Request,
    make_command: MakeCommand,
    execute: Callable[[list[str]], tuple[int, str]],
    folder_for_files: Path | None,
) -> RunResult:
    with tempfile.TemporaryDirectory(prefix="stretto-bench-", dir=folder_for_files) as folder:
        output, replay_file = Path(folder) / "samples.jsonl", Path(folder) / "delays.txt"
        if request.arrival.name == "replay":
            delays = delays_of(Path(request.arrival.profile), request.collective, request.ranks)
            write_delays(delays, replay_file)
        command = make_command(output, replay_file)
        exit_code, errors = execute(command)
        said = [line for line in errors.splitlines() if line.startswith("stretto") or "/CRITICAL]" in line]  # SimGrid's
        if exit_code == 2:
            raise UsageError("\n".join(said) or errors[-2000:])
        if exit_code != 0:
            raise BenchError("\n".join(said) or f"{command[0]} ended with exit code {exit_code}:\n{errors[-2000:]}")
        with output.open() as lines:
            return read_samples(request, lines, tuple(said))


def job_environment() -> dict[str, str]:
    """Ours, in which root may start jobs."""
    environment = dict(os.environ)
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return environment


def _run_bounded(
    command: list[str], environment: dict[str, str], timeout_seconds: float, watcher: Watcher | None
) -> tuple[int, str]:
    """Exit code and stderr. Whatever the way out, no process of the session that mpirun leads stays behind."""
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(
            command, env=environment, stdout=errors, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            exit_code = _wait(process, errors.fileno(), timeout_seconds, watcher)
        except subprocess.TimeoutExpired as expired:
            message = f"no end after {timeout_seconds:g} s (--timeout); stopped"
            raise BenchError(message) from expired
        finally:
            _end_session(process)
        errors.seek(0)
        return exit_code, errors.read()


def _wait(process: subprocess.Popen[bytes], output: int, timeout_seconds: float, watcher: Watcher | None) -> int:
    """The exit code; meanwhile tells the watcher of the last line "progress SIZE ITERATION" in the file `output`."""
    deadline = time.monotonic() + timeout_seconds
    while watcher is not None and time.monotonic() + _LOOK_SECONDS < deadline:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK_SECONDS)
        tail = os.pread(output, 4096, max(0, os.fstat(output).st_size - 4096)).decode(errors="replace")
        lines = re.findall(r"^progress (\d+) (\d+)$", tail, re.MULTILINE)
        if lines:
            watcher(int(lines[-1][0]), int(lines[-1][1]))
    return process.wait(max(0.0, deadline - time.monotonic()))


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
    # `native:*` has become what the MPI library has.
    request = dataclasses.replace(request, algorithms=tuple(setup["algorithms"]))
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
    return SizeResult(
        facts["size"],
        facts["latency_ns"],
        facts["copy_bound_ns"],
        memory_bound_ns,
        delays,
        samples,
        facts.get("half_interval", 0.0),
    )


def mpi_name(setup: dict[str, Any]) -> str:
    """The MPI library in a few words; what it says of itself may fill a page."""
    mpich = re.match(r"MPICH Version:\s*(\S+)", setup["mpi"])
    return f"MPICH {mpich[1]}" if mpich else str(setup["mpi"]).partition(",")[0][:60]


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
