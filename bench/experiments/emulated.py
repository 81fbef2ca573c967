"""Runs for the benchmarks here, mostly on emulated nodes: one size of `stretto bench`, or a program of apps/."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from stretto.bench.request import is_native
from stretto.bench.stats import Samples, Times, estimate_paired_ratio
from stretto.launch.processes import run_limited

# Of a link of 1 gbit: 1448 bytes of each frame of 1514 are the program's.
PAYLOAD_NS_PER_BYTE = 8 * 1514 / 1448
_BENCH_LIMIT_S = 1200
_PROGRAM_LIMIT_S = 300


def run_bench(
    collective: str,
    algorithms: list[str],
    *,
    size: int,
    iterations: int,
    options: list[str],
    nodes: int | None = None,
    rate: str = "1gbit",
    settings: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON of its only size, in bytes, with the samples; `settings` are STRETTO_*; without `nodes`, on this one."""
    with tempfile.TemporaryDirectory(prefix="stretto-emulated-") as folder:
        output = Path(folder) / "result.json"
        command = [sys.executable, "-m", "stretto", "bench", collective, "--algorithms", ",".join(algorithms)]
        command += ["--sizes", str(size), "--iterations", str(iterations)]
        if nodes is not None:
            command += ["--nodes", str(nodes), "--rate", rate]
        command += [*options, "--json", str(output), "--timeout", str(_BENCH_LIMIT_S)]
        run_limited(command, os.environ | (settings or {}), _BENCH_LIMIT_S + 30)
        result: dict[str, Any] = json.loads(output.read_text())["sizes"][0]
    return result


def samples_of(size: dict[str, Any]) -> dict[str, Samples]:
    """The calls that `run_bench` has returned, by algorithm."""
    return {
        name: Samples(np.array(own["arrivals"], dtype=float), np.array(own["exits"], dtype=float), tuple(own["ran"]))
        for name, own in size["samples"]["algorithms"].items()
    }


def what_ran(size: dict[str, Any]) -> dict[str, dict[str, int]]:
    """How many calls of each algorithm that was asked for each algorithm has served; of what `run_bench` returned."""
    return {name: entry["ran"] for name, entry in size["summary"]["algorithms"].items()}


def compare_with_native(times: dict[str, Times]) -> tuple[str, dict[str, dict[str, Any]]]:
    """The best that the MPI library can be forced to, and by algorithm the median in ms and two ratios with intervals:
    `default`, to the library's default, and `best_forced`, to that best.

    `times`: in ns, by algorithm, of calls side by side; those of `native` and of its variants `native:NAME` among them.
    The best is chosen by its median after the fact, which favours it.
    """
    forced = min((name for name in times if is_native(name)), key=lambda name: float(np.median(times[name])))
    figures = {
        name: {
            "median_ms": float(np.median(own)) / 1e6,
            "default": asdict(estimate_paired_ratio(own, times["native"])),
            "best_forced": asdict(estimate_paired_ratio(own, times[forced])),
        }
        for name, own in times.items()
    }
    return forced, figures


def run_program(
    program: list[str],
    *,
    nodes: int,
    rate: str,
    options: list[str],
    settings: dict[str, str],
    file_option: str = "--json",
    read: Callable[[str], Any] = json.loads,
) -> Any:
    """What `read` makes of the text that a program writes to the file that `file_option` names; `options` are of
    `stretto cluster run`."""
    with tempfile.TemporaryDirectory(prefix="stretto-emulated-") as folder:
        output = Path(folder) / "result.json"
        command = [sys.executable, "-m", "stretto", "cluster", "run", "--nodes", str(nodes), "--rate", rate, *options]
        run_limited([*command, "--", *program, file_option, str(output)], os.environ | settings, _PROGRAM_LIMIT_S)
        return read(output.read_text())
