#!/usr/bin/env python3
"""What grids that were recorded come to: Stretto's default against the MPI library's own choice, a line for each file.

`.venv/bin/python bench/experiments/grid_table.py bench/results/grid-*.json`. Of the files of grid.py. A cell is ahead
or behind where its median ratio is below 0.95 or above 1.05 and the interval of 95 % has it on that side of 1; the mean
is the geometric one of all cells' ratios.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from grid import BEHIND
from tables import make_console, make_table, with_interval

from stretto.bench.report import format_size

AHEAD = 0.95


def place_of(grid: dict[str, Any]) -> str:
    """Ranks, nodes and the link between them."""
    nodes = f" on {grid['nodes']} nodes, {grid['rate']}" if grid["nodes"] else ""
    return f"{grid['ranks']}{nodes}"


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    headings = ("file", "ranks", "cells", "ahead", "behind", "mean", "the worst")
    table = make_table("default / the MPI library's own choice", headings, left=("file", "ranks", "the worst"))
    for file in map(Path, sys.argv[1:]):
        grid = json.loads(file.read_text())
        cells = grid["cells"]
        ahead = sum(cell["to_native"][0] < AHEAD and cell["to_native"][2] < 1 for cell in cells)
        behind = sum(cell["to_native"][0] > BEHIND and cell["to_native"][1] > 1 for cell in cells)
        mean = math.exp(sum(math.log(cell["to_native"][0]) for cell in cells) / len(cells))
        worst = max(cells, key=lambda cell: cell["to_native"][1])  # beyond doubt
        described = f"{worst['collective']} {format_size(worst['bytes'])}, {worst['arrival']}"
        table.add_row(file.stem, place_of(grid), str(len(cells)), str(ahead), str(behind), f"{mean:.2f}",
                      f"{with_interval(*worst['to_native'])} {described}")  # fmt: skip
    make_console(180).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
