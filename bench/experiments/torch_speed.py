#!/usr/bin/env python3
"""DistributedDataParallel's training over gloo and by Stretto's hook over MPI: images a second, compared by rounds.

`.venv/bin/python bench/experiments/torch_speed.py [--rounds N] [--only node|cluster] [--json FILE]`, after `make
torch`. No target: it says what is. 4 ranks of this node, and one each on 4 emulated nodes, where gloo is told the
nodes' interface.
"""

from __future__ import annotations

import os
import sys

from experiment import write_measured
from training_speed import PLACES, RANKS, RATE, TITLES, Way, argument_parser, measure

from stretto.bench.launch import REPOSITORY
from stretto.cluster import why_impossible

PYTHON = "/usr/bin/python3"  # Debian's, with its PyTorch and mpi4py
# Name -> STRETTO_ALLREDUCE.
HOOKS = {"hook, native": "native", "hook, default": "default", "hook, ring+4": "ring+4"}


def ways_of(place: str, training: list[str]) -> list[Way]:
    """All ways to run a training, gloo's first."""
    alone, under_stretto = PLACES[place]
    path = ":".join(filter(None, [str(REPOSITORY / "python"), os.environ.get("PYTHONPATH")]))
    common = {"PYTHONPATH": path} | ({"GLOO_SOCKET_IFNAME": "eth0"} if place == "cluster" else {})
    ways = [Way("gloo", [*alone, *training, "--backend", "gloo"], common)]
    for name, algorithm in HOOKS.items():
        ways.append(Way(name, [*under_stretto, *training, "--hook"], common | {"STRETTO_ALLREDUCE": algorithm}))
    return ways


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--bucket-mb", type=float, default=1, metavar="N", help="DDP's (default: %(default)s)")
    options = parser.parse_args()
    places = [options.only] if options.only else list(PLACES)
    if "cluster" in places and (why := why_impossible()):
        sys.exit(f"{why}; or leave the emulated nodes out: --only node")
    settings = {"iterations": options.iterations, "more_stages": options.more_stages, "bucket_mb": options.bucket_mb}
    training = [PYTHON, str(REPOSITORY / "apps/torch/train.py")]
    training += ["--iterations", str(options.iterations), "--bucket-mb", str(options.bucket_mb)]
    training += ["--more-stages", str(options.more_stages)]
    measured = [measure(TITLES[place], ways_of(place, training), options.rounds) for place in places]
    write_measured(options.json, {"ranks": RANKS, "rate": RATE, **settings, "measured": measured})
    return 0


if __name__ == "__main__":
    sys.exit(main())
