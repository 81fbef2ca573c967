"""`stretto demo`: a real training, natively and under Stretto in turn, and who waited how long for whom."""

import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from stretto.algorithms import COLLECTIVES
from stretto.errors import StrettoError
from stretto.launch.processes import run_limited
from stretto.profile.calls import load_calls
from stretto.profile.files import open_profile

Floats = NDArray[np.float64]

_PROGRAM = Path(__file__).resolve().parents[2] / "apps" / "training" / "train.py"
_RUN_LIMIT_S = 180
_WARM_UP_STEPS = 5
# Two orders of summation of float32 gradients differ by about 1e-7 a step, which training then amplifies.
LOSS_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Run:
    """One training: losses and step times in seconds, both (steps,), and its matched calls (profile.calls.CALL) with
    the names of collective and algorithm of each."""

    losses: Floats
    step_seconds: Floats
    calls: NDArray[np.void]
    collectives: NDArray[np.str_]
    algorithms: NDArray[np.str_]


@dataclass(frozen=True)
class Comparison:
    """Medians of one figure in ms, both ways, and their ratio (Stretto / native) with its 95 % interval."""

    native: float
    stretto: float
    ratio: float
    low: float
    high: float


def compare(native: Floats, stretto: Floats, resamples: int = 1000) -> Comparison:
    """Compare a figure in seconds, (rounds, steps) each way, where step i had the same delays in all rounds.

    Round i of both ran one after the other. The interval, 2.5 to 97.5 %, is a bootstrap over rounds and over steps
    within them, since runs differ more than steps do on a busy machine. The ratio is NaN where the native median is
    not positive.
    """
    random = np.random.default_rng(0)
    ratios = np.full(resamples, np.nan)
    for index in range(resamples):
        rounds, steps = (random.integers(count, size=count) for count in native.shape)
        chosen = np.ix_(rounds, steps)
        below = np.median(native[chosen])
        if below > 0:
            ratios[index] = np.median(stretto[chosen]) / below
    middle, other = float(np.median(native)), float(np.median(stretto))
    known = ratios[~np.isnan(ratios)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (np.nan, np.nan)
    return Comparison(1e3 * middle, 1e3 * other, other / middle if middle > 0 else np.nan, float(low), float(high))


def losses_agree(runs: list[Run], tolerance: float = LOSS_TOLERANCE) -> tuple[bool, float]:
    """Whether every step's loss is the same in all runs within a relative tolerance, and the greatest difference."""
    reference = runs[0].losses
    differences = np.array([np.abs(run.losses - reference) / np.abs(reference) for run in runs])
    greatest = float(np.max(differences))  # a NaN among them stays one, and does not agree
    return greatest <= tolerance, greatest


def rank_environment() -> dict[str, str]:
    """Ours without settings of Stretto's, with one thread a rank, and with more ranks than cores allowed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STRETTO_")}
    kept.update({name: os.environ[name] for name in ("STRETTO_LIB_DIR",) if name in os.environ})
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS"):
        kept[f"{library}_NUM_THREADS"] = "1"
    kept.update(
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
    )
    return kept


def train_once(native: bool, steps: int, ranks: int, directory: Path) -> Run:
    """Run the training once under `stretto run`, all collectives native where asked. Raises StrettoError on failure."""
    # The MPI of the machine first, then one that was installed beside this Python.
    places = f"{os.environ.get('PATH', os.defpath)}:{Path(sys.executable).parent}"
    launcher = shutil.which("mpirun", path=places) or shutil.which("mpiexec", path=places)
    if launcher is None:
        raise StrettoError("no mpirun on PATH: run `make demo`, which installs one")
    if not _PROGRAM.is_file():
        raise StrettoError(f"{_PROGRAM}: not there: the demo runs from Stretto's repository")
    choice = [word for name in COLLECTIVES for word in (f"--{name}", "native" if native else "default")]
    output = directory / "result.json"
    training = [sys.executable, str(_PROGRAM), "--steps", str(steps), "--out", str(output)]
    command = [sys.executable, "-m", "stretto", "run", *choice, "--profile", str(directory), "--"]
    run_limited([*command, launcher, "-n", str(ranks), *training], rank_environment(), _RUN_LIMIT_S)
    result = json.loads(output.read_text())
    profile = open_profile(directory)
    calls, unmatched = load_calls(profile)
    if profile.warnings or unmatched.calls or unmatched.in_progress:
        raise StrettoError(f"the profile is incomplete: {'; '.join(profile.warnings) or unmatched}")
    collectives = np.array([name.lower() for name in profile.operations])[calls["operation"]]
    algorithms = np.array(profile.algorithms)[calls["algorithm"]]
    if not calls["agreed"].all():
        raise StrettoError("the ranks of a call ran different algorithms: please report this as an error of Stretto's")
    if native and set(algorithms) != {"native"}:
        raise StrettoError("the native run did not run natively: the comparison would be worthless")
    return Run(np.array(result["losses"]), np.array(result["step_seconds"]), calls, collectives, algorithms)


def algorithms_by_size(runs: list[Run]) -> dict[tuple[str, int], str]:
    """(collective, bytes) -> the algorithms that ran, most often first, joined by commas."""
    sizes = np.concatenate([run.calls["bytes"] for run in runs])
    collectives = np.concatenate([run.collectives for run in runs])
    algorithms = np.concatenate([run.algorithms for run in runs])
    outcome = {}
    for collective, size in sorted(set(zip(collectives.tolist(), sizes.tolist(), strict=True))):
        chosen = algorithms[(collectives == collective) & (sizes == size)]
        names, counts = np.unique(chosen, return_counts=True)
        outcome[collective, size] = ", ".join(names[np.argsort(-counts)].tolist())
    return outcome


def figure(runs: list[Run], collective: str, size: int, name: str) -> Floats:
    """One figure (a field of CALL) of a collective of `size` bytes, warm-up left out: (runs, calls) in seconds."""
    rows = []
    for run in runs:
        wanted = (run.collectives == collective) & (run.calls["bytes"] == size)
        rows.append(run.calls[wanted][name][_WARM_UP_STEPS:])
    return np.array(rows)


def format_size(size: int) -> str:
    """Bytes as B, KiB or MiB with at most one decimal."""
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} B"


def make_table(native: list[Run], stretto: list[Run], ranks: int) -> Table:
    """The demo's table: waiting, completion lag and time a step, both ways."""
    table = Table(title=f"Training on digits, {ranks} ranks, {len(native)} runs each way in turn; medians")
    for heading in ("", "native (ms)", "Stretto (ms)", "ratio, 95 % interval", "what ran"):
        table.add_column(heading, justify="left" if heading in ("", "what ran") else "right")

    def add(label: str, comparison: Comparison, ran: str) -> None:
        ratio = f"{comparison.ratio:.2f} ({comparison.low:.2f} - {comparison.high:.2f})"
        table.add_row(label, f"{comparison.native:.2f}", f"{comparison.stretto:.2f}", ratio, ran)

    for (collective, size), ran in algorithms_by_size(stretto).items():
        if collective != "allreduce":
            continue
        for name, label in (("waiting", "waiting for the last rank"), ("completion_lag", "completion lag")):
            both = compare(figure(native, collective, size, name), figure(stretto, collective, size, name))
            add(f"{collective} {format_size(size)}: {label}", both, ran)
        table.add_section()
    native_steps, stretto_steps = (
        np.array([run.step_seconds[_WARM_UP_STEPS:] for run in runs]) for runs in (native, stretto)
    )
    add("time per step", compare(native_steps, stretto_steps), "")
    return table


def run_demo(rounds: int, steps: int, ranks: int) -> int:
    """Run the demo and print its table; returns the exit code, 1 where the losses disagree.

    Raises StrettoError where a run fails.
    """
    console = Console(width=None if sys.stdout.isatty() else 120)
    native: list[Run] = []
    stretto: list[Run] = []
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stretto-demo-") as scratch:
        for number in range(rounds):
            for is_native in (True, False) if number % 2 == 0 else (False, True):
                kind = "native" if is_native else "Stretto"
                directory = Path(scratch) / f"{kind}-{number}"
                directory.mkdir()
                run = train_once(is_native, steps, ranks, directory)
                (native if is_native else stretto).append(run)
                median = 1e3 * np.median(run.step_seconds[_WARM_UP_STEPS:])
                console.print(f"round {number + 1} of {rounds}, {kind:7}: {median:6.1f} ms a step")
    console.print(make_table(native, stretto, ranks))
    others = [
        f"{collective} {format_size(size)}: {ran}"
        for (collective, size), ran in algorithms_by_size(stretto).items()
        if collective != "allreduce"
    ]
    console.print(f"Also ran under Stretto: {'; '.join(others)}.")
    console.print("Waiting for the last rank is the program's imbalance; completion lag is what the collective adds.")
    agree, greatest = losses_agree([*native, *stretto])
    verdict = "agree" if agree else "DISAGREE"
    console.print(
        f"The losses of all {2 * rounds} runs {verdict}: greatest relative difference {greatest:.1e} "
        f"(allowed {LOSS_TOLERANCE:.0e}). Took {time.monotonic() - start:.0f} s."
    )
    return 0 if agree else 1
