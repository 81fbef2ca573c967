#!/usr/bin/env python3
"""Horovod's training on one node and on 4 emulated ones, with Stretto's allreduces and with Open MPI's own.

`.venv/bin/python bench/experiments/horovod_speed.py [--rounds N] [--only node|cluster] [--more-stages N] [--json
FILE]`, after `make horovod`, on a quiet machine. 4 ranks of one thread; images a second, compared by rounds: with Open
MPI's default, and with the best that it can be forced to. A run whose ranks have different parameters in the end fails.
No target: it says what is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from experiment import require, write_measured
from training_speed import PLACES, RANKS, RATE, TITLES, Way, argument_parser, measure

from stretto.bench.launch import REPOSITORY

_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
PYTHON = _CACHE / "stretto/horovod-0.28.1/bin/python"


def forced(number: int) -> dict[str, str]:
    """Open MPI's own algorithm of that number; without a length of segments its segmented ring is its ring."""
    name = "OMPI_MCA_coll_tuned_allreduce_algorithm"
    return {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", name: str(number), f"{name}_segmentsize": str(1 << 20)}


OPEN_MPI: dict[str, dict[str, str]] = {
    "native": {},
    "native, ring": forced(4),
    "native, segmented ring": forced(5),
    "native, rabenseifner": forced(6),
}
STRETTO = {"default": {}, "ring+4": {"STRETTO_ALLREDUCE": "ring+4"}}


def ways_of(place: str, training: list[str]) -> list[Way]:
    """All ways to run a training, Open MPI's first."""
    alone, under_stretto = PLACES[place]
    ways = [Way(name, [*alone, *training], settings) for name, settings in OPEN_MPI.items()]
    return ways + [Way(name, [*under_stretto, *training], settings) for name, settings in STRETTO.items()]


def main() -> int:
    options = argument_parser(__doc__).parse_args()
    require(PYTHON, made_by="make horovod")
    training = [str(PYTHON), str(REPOSITORY / "apps/horovod/train.py"), "--iterations", str(options.iterations)]
    training += ["--more-stages", str(options.more_stages)]
    measured = [
        measure(TITLES[place], ways_of(place, training), options.rounds, peers=len(OPEN_MPI))
        for place in ([options.only] if options.only else PLACES)
    ]
    settings = {"iterations": options.iterations, "more_stages": options.more_stages}
    write_measured(options.json, {"ranks": RANKS, "rate": RATE, **settings, "measured": measured})
    return 0


if __name__ == "__main__":
    sys.exit(main())
