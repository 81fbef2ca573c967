#!/usr/bin/env python3
"""Measure what Stretto promises: `stretto bench --must-show` for a checkout that is built but not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from stretto.bench.command import main

if __name__ == "__main__":
    sys.exit(main(["--must-show", *sys.argv[1:]]))
