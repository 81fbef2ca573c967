"""What benchmarks of training programs share: runs of several ways in turn, images a second, ratios within a round."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from experiment import add_json, make_parser
from tables import with_interval

from stretto.bench.stats import Times, estimate_paired_ratio
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

RANKS, RATE = 4, "1gbit"
_LIMIT_S = 300
_STRETTO = [sys.executable, "-m", "stretto"]
_CLUSTER = [*_STRETTO, "cluster", "run", "--nodes", str(RANKS), "--rate", RATE, "--ranks", str(RANKS)]
# How the ranks are started, without and with Stretto.
PLACES = {
    "node": (["mpirun", "-n", str(RANKS)], [*_STRETTO, "run", "--", "mpirun", "-n", str(RANKS)]),
    "cluster": ([*_CLUSTER, "--"], [*_CLUSTER, "--stretto", "--"]),
}
TITLES = {"node": f"{RANKS} ranks of this node", "cluster": f"{RANKS} ranks on as many emulated nodes, {RATE}"}


@dataclass(frozen=True)
class Way:
    """One way to train: a command of apps/, without --out, and variables for it beside those of every rank."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    """The options of such a benchmark: how often, how much, where, and where to write what was measured."""
    parser = make_parser(description)
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="runs of each (default: %(default)s)")
    parser.add_argument("--only", choices=list(PLACES), help="leave the other place out")
    parser.add_argument("--iterations", type=int, default=10, metavar="N", help="a run's (default: %(default)s)")
    parser.add_argument("--more-stages", type=int, default=0, metavar="N", help="of the network (default: %(default)s)")
    add_json(parser)
    return parser


def train_once(way: Way) -> tuple[float, str]:
    """Images a second of all ranks, the median of the run's iterations; and what Stretto says it ran as allreduce.

    Raises ProgramFailedError where the training fails, as it does by itself where ranks end with other parameters.
    """
    with tempfile.TemporaryDirectory(prefix="stretto-training-") as scratch:
        file = Path(scratch) / "training.json"
        environment = rank_environment() | {"STRETTO_VERBOSE": "1"} | way.environment
        output = run_limited([*way.command, "--out", str(file)], environment, _LIMIT_S)
        speeds = json.loads(file.read_text())["images_per_second"]
    ran = re.findall(r"^stretto: allreduce: (\S+) ran", output, re.MULTILINE)
    return float(np.median(speeds)), ", ".join(ran)


def measure(title: str, ways: Sequence[Way], rounds: int, peers: int = 1) -> dict[str, Any]:
    """Run each way once a round, in an order that rotates, and print how each compares with the first.

    Where several, the first `peers` of them, are others' ways, also with the best of those, chosen by its median after
    the fact, which favours it. Returns for JSON: images a second, (rounds, ways), and the ratios with 95 % intervals.
    """
    speeds: Times = np.empty((rounds, len(ways)))
    ran = [""] * len(ways)
    for number in range(rounds):
        for turn in range(len(ways)):
            index = (turn + number) % len(ways)
            speeds[number, index], ran[index] = train_once(ways[index])
    best = int(np.argmax(np.median(speeds[:, :peers], axis=0)))
    ratios: dict[str, Any] = {}
    print(title)
    for index, way in enumerate(ways):
        references = dict.fromkeys((0, best))
        compared = {ways[other].name: estimate_paired_ratio(speeds[:, index], speeds[:, other]) for other in references}
        ratios[way.name] = {name: vars(ratio) for name, ratio in compared.items()}
        texts = [f"{with_interval(**vars(one), digits=3)} of {name}'s" for name, one in compared.items()]
        print(f"  {way.name:24}{np.median(speeds[:, index]):8.1f} images/s, {', '.join(texts)}; {ran[index]}")
    return {
        "title": title,
        "columns": [way.name for way in ways],
        "ran": ran,
        "images_per_second": speeds.tolist(),
        "ratios": ratios,
    }
