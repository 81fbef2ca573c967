#!/usr/bin/env python3
"""Horovod's training with and without Stretto: images a second, runs in alternation, compared in pairs.

`.venv/bin/python bench/horovod_speed.py [--rounds N] [--json FILE]`, after `make horovod`. No target: it says what is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from training_speed import Way, argument_parser, measure, write

from stretto.bench.launch import REPOSITORY

RANKS = 4
_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
PYTHON = _CACHE / "stretto/horovod-0.28.1/bin/python"


def main() -> int:
    options = argument_parser(__doc__).parse_args()
    if not PYTHON.exists():
        sys.exit(f"{PYTHON} is missing: run `make horovod`")
    training = ["mpirun", "-n", str(RANKS), str(PYTHON), str(REPOSITORY / "apps/horovod/train.py")]
    ways = [Way("native", training), Way("stretto", [sys.executable, "-m", "stretto", "run", "--", *training])]
    write(options.json, {"ranks": RANKS}, [measure(f"Horovod, {RANKS} ranks of this node", ways, options.rounds)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
