#!/usr/bin/env python3
"""What recording a call costs, in ns.

`.venv/bin/python bench/experiments/record_cost.py [--json FILE]`, after `make build`. Exit code 1 above 150 ns.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from experiment import read_options, write_measured

from stretto.bench.launch import REPOSITORY
from stretto.bench.stats import Estimate, estimate_median
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

TARGET_NS = 150
_LIMIT_S = 120


def measure() -> dict[str, np.ndarray]:
    """ns a call of each block, by way of calling."""
    driver = REPOSITORY / "build" / "bin" / "stretto-record-cost-openmpi"
    with tempfile.TemporaryDirectory(prefix="stretto-cost-") as scratch:
        command = [sys.executable, "-m", "stretto", "run", "--profile", f"{scratch}/profile", "--", "mpirun", "-n", "1"]
        output = run_limited([*command, str(driver)], rank_environment(), _LIMIT_S)
    return {name: np.array(values) for name, values in json.loads(output).items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    options = read_options(parser)
    blocks = measure()
    costs = {name: estimate_median(blocks[name] - blocks["native"]) for name in ("stopped", "recorded")}
    print(f"{np.median(blocks['native']):6.1f} ns  an 8-byte allreduce of one rank, past Stretto")
    for name, what in (("stopped", "more through Stretto, recording stopped"), ("recorded", "more recorded")):
        cost: Estimate = costs[name]
        print(f"{cost.value:6.1f} ns  {what} ({cost.low:.1f}..{cost.high:.1f})")
    met = costs["recorded"].value <= TARGET_NS
    print(f"target {TARGET_NS} ns: {'met' if met else 'MISSED'}")
    figures = {name: vars(cost) for name, cost in costs.items()}
    write_measured(options.json, {"target_ns": TARGET_NS, "ns_more": figures})
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
