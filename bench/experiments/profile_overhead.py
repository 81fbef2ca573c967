#!/usr/bin/env python3
"""What recording costs the training application, in percent of a step.

`.venv/bin/python bench/experiments/profile_overhead.py [--json FILE]`, after `make build` and `scripts/setup.sh demo`.
Exit code 1 if the cost may be above 1 %.

One run of apps/training on 4 ranks, in which MPI_Pcontrol turns the recording on and off: blocks of steps with and
without are neighbours in time and are compared in pairs. The steps are those of the application but for its input,
whose delays would be all that can be seen: each rank trains on one batch that is ready.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "apps/training")]

RANKS, PAIRS, STEPS = 4, 600, 8
TARGET_PERCENT = 1.0
_LIMIT_S = 300


def train_in_blocks() -> None:
    """On each rank; rank 0 prints the seconds of each block of STEPS steps, (PAIRS, 2), without and with recording."""
    from mpi4py import MPI
    from train import Network, Pipeline, load_digits  # type: ignore[import-not-found]

    world = MPI.COMM_WORLD
    images, labels = load_digits(world)
    batch, network = Pipeline(images, labels, 1, world.rank).next_batch(), Network(1)
    total, mean_loss = np.empty_like(network.gradient), np.empty(1)

    def block() -> float:
        world.Barrier()
        start = time.perf_counter()
        for _ in range(STEPS):
            loss = network.learn(*batch)
            world.Allreduce(network.gradient, total)
            network.weights -= total * np.float32(1e-6)
            world.Allreduce(np.array([loss]), mean_loss)
        return time.perf_counter() - start

    seconds = np.empty((PAIRS, 2))
    for pair in range(-5, PAIRS):  # the first five warm up, and are written over
        for recorded in (0, 1) if pair % 2 else (1, 0):
            MPI.Pcontrol(recorded)
            seconds[pair, recorded] = block()
    if world.rank == 0:
        print(json.dumps(seconds.tolist()))


def measure() -> np.ndarray:
    """Seconds of the blocks, (PAIRS, 2)."""
    from stretto.demo import rank_environment
    from stretto.launch.processes import run_limited

    with tempfile.TemporaryDirectory(prefix="stretto-overhead-") as scratch:
        command = [sys.executable, "-m", "stretto", "run", "--profile", f"{scratch}/profile", "--"]
        command += ["mpirun", "-n", str(RANKS), sys.executable, __file__, "--as-rank"]
        return np.array(json.loads(run_limited(command, rank_environment(), _LIMIT_S)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--as-rank", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rank:
        train_in_blocks()
        return 0
    from experiment import write_measured

    from stretto.bench.stats import estimate_paired_ratio

    seconds = measure()
    ratio = estimate_paired_ratio(seconds[:, 1], seconds[:, 0])
    cost = {name: 100 * (value - 1) for name, value in vars(ratio).items()}
    print(f"{1e3 * np.median(seconds) / STEPS:6.2f} ms a step")
    print(f"{cost['value']:+6.2f} %  with recording ({cost['low']:+.2f}..{cost['high']:+.2f})")
    met = cost["high"] <= TARGET_PERCENT
    print(f"target {TARGET_PERCENT} %: {'met' if met else 'MISSED'}")
    figures = {"target_percent": TARGET_PERCENT, "step_seconds": float(np.median(seconds)) / STEPS, "percent": cost}
    write_measured(options.json, figures)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
