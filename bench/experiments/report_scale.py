#!/usr/bin/env python3
"""How long `stretto report` takes for a million calls on 8 ranks, and how much memory.

`.venv/bin/python bench/experiments/report_scale.py [--json FILE]`. Exit code 1 above 10 s or 1 GiB.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from experiment import read_options, write_measured

from stretto.profile.files import HEADER, MAGIC, RECORD, VERSION

CALLS, RANKS = 1_000_000, 8
MOST_SECONDS, MOST_GIB = 10.0, 1.0
_FACTS_AT, _RECORDS_AT = 4096, 8192


def write_profile(directory: Path) -> None:
    """Allreduces, reduces and broadcasts of four sizes from three places, with ranks late by up to 10 us."""
    random = np.random.default_rng(1)
    begin = np.cumsum(random.integers(20_000, 200_000, CALLS)) + 10**12
    late = random.integers(0, 10_000, (RANKS, CALLS))
    last = (begin + late).max(axis=0)
    records = np.zeros(CALLS, RECORD)
    records["operation"] = random.integers(0, 3, CALLS)
    records["bytes"] = np.array([8, 4096, 65536, 1 << 20])[random.integers(0, 4, CALLS)]
    records["call_site"] = 1000 + records["operation"]
    records["sequence"] = np.arange(1, CALLS + 1)
    for rank in range(RANKS):
        records["arrival_ns"] = begin + late[rank]
        records["exit_ns"] = last + random.integers(1000, 5000, CALLS)
        records["inside_ns"] = records["exit_ns"] - records["arrival_ns"]
        with (directory / f"rank-{rank:05d}.stretto").open("wb") as file:
            file.write(_head(rank))
            records.tofile(file)


def _head(rank: int) -> bytes:
    facts = [
        {"fact": "job", "command": ["synthetic"], "mpi": "none"},
        {"fact": "operations", "names": ["Allreduce", "Reduce", "Bcast"]},
        {"fact": "algorithms", "names": ["native"]},
        {"fact": "alpha", "between": "node", "points": [[8, 500], [1 << 20, 100_000]]},
        {
            "fact": "communicator",
            "index": 0,
            "identity": 0,
            "size": RANKS,
            "rank": rank,
            "matched": True,
            "name": "world",
        },
    ]
    text = "".join(json.dumps(fact) + "\n" for fact in facts).encode()
    header = np.zeros(1, HEADER)
    layout = json.dumps([[name, RECORD[name].str] for name in RECORD.names or ()]).encode()
    for name, value in {
        "magic": MAGIC, "version": VERSION, "record_bytes": RECORD.itemsize, "world_rank": rank, "world_size": RANKS,
        "finished": 1, "run": 1, "facts_offset": _FACTS_AT, "facts_bytes": len(text), "records_offset": _RECORDS_AT,
        "records_capacity": CALLS, "records_begun": CALLS, "host": b"node", "layout": layout,
    }.items():  # fmt: skip
        header[name] = value
    return header.tobytes().ljust(_FACTS_AT, b"\0") + text.ljust(_RECORDS_AT - _FACTS_AT, b"\0")


def measure(directory: Path) -> tuple[float, float]:
    """Seconds and GiB of `stretto report --json`, in a process of its own."""
    begin = time.perf_counter()
    with (directory / "report.json").open("wb") as output:
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "stretto", "report", "--json", str(directory)],
            {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "python")},
            file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)],
        )
        _, status, usage = os.wait4(process, 0)
    if status != 0 or json.loads((directory / "report.json").read_text())["calls"] != CALLS:
        raise SystemExit(f"the report failed (status {status})")
    return time.perf_counter() - begin, usage.ru_maxrss / (1 << 20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    options = read_options(parser)
    with tempfile.TemporaryDirectory(prefix="stretto-scale-") as scratch:
        write_profile(Path(scratch))
        seconds, gib = measure(Path(scratch))
    print(
        f"{CALLS:,} calls on {RANKS} ranks: {seconds:.1f} s (target {MOST_SECONDS:.0f}), {gib:.2f} GiB ({MOST_GIB:.0f})"
    )
    write_measured(options.json, {"calls": CALLS, "seconds": seconds, "gib": gib})
    return 0 if seconds <= MOST_SECONDS and gib <= MOST_GIB else 1


if __name__ == "__main__":
    sys.exit(main())
