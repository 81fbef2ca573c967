#!/usr/bin/env python3
"""What Stretto's thread costs while the program sleeps, in percent of one core, and at each call.

`.venv/bin/python bench/experiments/background_cost.py [--rounds N] [--json FILE]`, after `make build`. Exit code 1
above 1 % of a core, with nothing begun ahead or with a call begun ahead. CPU time is hardly disturbed by what else runs
on the machine; how long a rank is held up is.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from experiment import make_parser, read_options, require, write_measured

from stretto.bench.launch import REPOSITORY
from stretto.bench.stats import estimate_median
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

PROGRAM = REPOSITORY / "build/bin/stretto-background-cost-openmpi"
# Messages over MPI: in shared memory nothing begins ahead.
SETTINGS = {
    "STRETTO_GATHER": "background_sorted_linear_synchronised",
    "STRETTO_BACKGROUND": "thread",
    "STRETTO_SHM_MAX_MIB": "0",
}
RANKS, SLEEP_S, CALLS, LATE_CALLS = 2, 5, 200, 40
TARGET_PERCENT = 1.0
_LIMIT_S = 120


def run_once() -> list[dict[str, Any]]:
    """What each rank has measured, by rank."""
    command = [sys.executable, "-m", "stretto", "run", "--", "mpirun", "-n", str(RANKS), str(PROGRAM)]
    command += [str(number) for number in (SLEEP_S, SLEEP_S, CALLS, LATE_CALLS)]
    output = run_limited(command, rank_environment() | SETTINGS, _LIMIT_S)
    ranks: list[dict[str, Any]] = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert len(ranks) == RANKS, output
    ranks.sort(key=lambda rank: int(rank["rank"]))
    assert ranks[0]["thread"], output
    return ranks


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="(default: %(default)s)")
    options = read_options(parser)
    require(PROGRAM)
    rounds = [run_once() for _ in range(options.rounds)]
    roots = [once[0] for once in rounds]  # who gives only to a gather can do nothing ahead, and has no thread

    def percent(phase: str) -> np.ndarray:
        return np.array([100 * root[phase]["cpu_s"] / root[phase]["wall_s"] for root in roots])

    calls_us = np.array([1e6 * root["calls"]["cpu_s"] / CALLS for root in roots])
    held_up_ms = 1e3 * np.concatenate([once[1]["held_up_s"] for once in rounds])
    figures = {
        "idle_percent": (percent("idle"), "% of a core, nothing begun ahead"),
        "begun_percent": (percent("begun"), "% of a core, a call begun ahead, and messages awaited"),
        "come_percent": (percent("come"), "% of a core, the same when all messages have come"),
        "call_us": (calls_us, "us of a core each call, one every 5 ms"),
        "held_up_ms": (held_up_ms, "ms in a gather of 1 MiB while its root sleeps for 60 ms more"),
    }
    estimates = {name: estimate_median(values) for name, (values, _) in figures.items()}
    for name, estimate in estimates.items():
        values, text = figures[name]
        print(f"{estimate.value:8.3f}  {text} ({estimate.low:.3f}..{estimate.high:.3f}), at most {values.max():.3f}")
    met = max(estimates[name].value for name in ("idle_percent", "begun_percent")) < TARGET_PERCENT
    print(f"target {TARGET_PERCENT:.0f} %: {'met' if met else 'MISSED'}")
    medians = {name: vars(estimate) | {"most": figures[name][0].max()} for name, estimate in estimates.items()}
    about = {"settings": SETTINGS, "sleep_s": SLEEP_S, "calls": CALLS, "target_percent": TARGET_PERCENT}
    write_measured(options.json, about | {"medians": medians, "rounds": rounds})
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
