#!/usr/bin/env python3
"""What calls take by where in their pages the program's buffers begin: Stretto's default against the MPI library.

`.venv/bin/python bench/experiments/buffer_offsets.py [--ranks N...] [--calls N] [--json FILE]`, after `make build`, on
a quiet machine. Both in turn in one run; of each call what the slowest rank took. Ratios are medians of paired ones,
with 95 % bootstrap intervals. Large buffers of malloc's begin 16 bytes after a page does (src/core/copy.hpp).
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from experiment import make_parser, read_options, require, write_measured
from tables import make_console, make_table, with_interval

from stretto.bench.launch import REPOSITORY
from stretto.bench.report import format_size
from stretto.bench.stats import estimate_paired_ratio
from stretto.demo import rank_environment
from stretto.launch.processes import run_limited

PROGRAM = REPOSITORY / "build/bin/stretto-buffer-offsets-openmpi"
OFFSETS = (0, 16, 64)
_LIMIT_S = 300


def run_once(ranks: int, calls: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="stretto-offsets-") as folder:
        file = Path(folder) / "calls.json"
        command = [sys.executable, "-m", "stretto", "run", "--", "mpirun", "--oversubscribe", "-n", str(ranks)]
        command += [str(PROGRAM), str(file), str(calls), *map(str, OFFSETS)]
        run_limited(command, rank_environment(), _LIMIT_S)
        return [json.loads(line) for line in file.read_text().splitlines()]


def figures_of(cell: dict[str, Any]) -> dict[str, Any]:
    native, ours = np.array(cell.pop("native_us")), np.array(cell.pop("default_us"))
    ratio = estimate_paired_ratio(ours, native)
    medians = {"native_us": float(np.median(native)), "default_us": float(np.median(ours))}
    return cell | medians | {"ratio": [ratio.value, ratio.low, ratio.high]}


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], metavar="N", help="(default: %(default)s)")
    parser.add_argument("--calls", type=int, default=100, metavar="N", help="of each kind (default: %(default)s)")
    options = read_options(parser)
    require(PROGRAM)
    console = make_console(140)
    results: dict[int, list[dict[str, Any]]] = {}
    for ranks in options.ranks:
        results[ranks] = [figures_of(cell) for cell in run_once(ranks, options.calls)]
        headings = ("", "bytes", *(f"{at}: native, us, default, ratio" for at in OFFSETS))
        table = make_table(f"{ranks} ranks, buffers so many bytes after the beginning of a page", headings)
        for first in range(0, len(results[ranks]), len(OFFSETS)):
            cells = results[ranks][first : first + len(OFFSETS)]
            texts = [f"{c['native_us']:.1f}  {c['default_us']:.1f}  {with_interval(*c['ratio'])}" for c in cells]
            table.add_row(cells[0]["collective"], format_size(cells[0]["bytes"]), *texts)
        console.print(table)
    write_measured(options.json, {"calls": options.calls, "ranks": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
