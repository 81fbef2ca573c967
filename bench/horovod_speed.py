#!/usr/bin/env python3
"""Horovod's training with and without Stretto: images a second, runs in alternation, compared in pairs.

`.venv/bin/python bench/horovod_speed.py [--pairs N] [--json FILE]`, after `make horovod`. No target: it says what is.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from stretto.bench.launch import REPOSITORY, describe_machine
from stretto.bench.report import write_json
from stretto.bench.stats import estimate_paired_ratio
from stretto.demo import rank_environment
from stretto.processes import run_limited

RANKS = 4
_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
PYTHON = _CACHE / "stretto/horovod-0.28.1/bin/python"
_LIMIT_S = 300


def images_per_second(under_stretto: bool) -> float:
    """The median of the run's ten iterations, all ranks together."""
    with tempfile.TemporaryDirectory(prefix="stretto-horovod-") as scratch:
        command = [sys.executable, "-m", "stretto", "run", "--"] if under_stretto else []
        command += ["mpirun", "-n", str(RANKS), str(PYTHON), str(REPOSITORY / "apps/horovod/train.py")]
        run_limited([*command, "--out", f"{scratch}/training.json"], rank_environment(), _LIMIT_S)
        return float(np.median(json.loads(Path(f"{scratch}/training.json").read_text())["images_per_second"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=10, metavar="N", help="runs of each")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    if not PYTHON.exists():
        sys.exit(f"{PYTHON} is missing: run `make horovod`")
    speeds = np.empty((options.pairs, 2))
    for pair in range(options.pairs):
        for under_stretto in (0, 1) if pair % 2 else (1, 0):
            speeds[pair, under_stretto] = images_per_second(bool(under_stretto))
    native, ours = np.median(speeds, axis=0)
    ratio = estimate_paired_ratio(speeds[:, 1], speeds[:, 0])
    print(
        f"native {native:.0f}, under Stretto {ours:.0f} images/s: {ratio.value:.3f} ({ratio.low:.3f}..{ratio.high:.3f})"
    )
    if options.json:
        write_json(options.json, {"machine": describe_machine(), "images_per_second": speeds.tolist(),
                                  "columns": ["native", "stretto"], "ratio": vars(ratio)})  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
