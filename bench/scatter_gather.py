#!/usr/bin/env python3
"""Scatter and gather on emulated nodes under delays: every algorithm against the MPI library's own, in one run each.

`.venv/bin/python bench/scatter_gather.py [--nodes 8,16] [--delays 0,10,50,100] [--draws 40] [--json FILE]`, on a quiet
machine. 8 MB in all, one rank a node, 1 gbit, root 0, delays uniform up to so many ms; each rank tells Stretto when
half of its delay is over. Ratios are those of the mean over draws, as Proficz 2020 gives them, with 95 % bootstrap
intervals over the draws: where the root comes last, as it does in every eighth draw, there is nothing to gain.
Targets, for Stretto's default: never more than 3 % behind the MPI library's; at 50 ms a gather at least 15 % and a
scatter at least 10 % shorter in run time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from stretto.algorithms import load_registry
from stretto.bench.launch import describe_machine
from stretto.bench.report import write_json
from stretto.bench.request import SLEEPING_LATE_NS
from stretto.bench.stats import Samples
from stretto.processes import run_limited

TOTAL_BYTES = 8 << 20
METRICS = {"run_time": "run time", "elapsed": "elapsed time", "lag": "completion lag"}
_LIMIT_S = 900


def measure(collective: str, nodes: int, delay_ms: int, draws: int, variants: bool) -> dict[str, Any]:
    """Times in ns and ratios to the MPI library's own, by algorithm."""
    ours = [entry.name for entry in load_registry() if entry.collective == collective]
    names = ["native", *(["native:*"] if variants else []), "default", *ours]
    arrival = f"uniform:{delay_ms}ms" if delay_ms else "balanced"
    with tempfile.TemporaryDirectory(prefix="stretto-scatter-gather-") as folder:
        output = Path(folder) / "result.json"
        command = [sys.executable, "-m", "stretto", "bench", collective, "--algorithms", ",".join(names)]
        command += ["--nodes", str(nodes), "--rate", "1gbit", "--sizes", str(TOTAL_BYTES // nodes), "--root", "0"]
        command += ["--arrival", arrival, "--iterations", str(draws), "--hints", "--json", str(output)]
        run_limited([*command, "--timeout", str(_LIMIT_S)], dict(os.environ), _LIMIT_S + 30)
        size = json.loads(output.read_text())["sizes"][0]
    kept, samples = on_time(size["samples"])
    figures = {name: compare(own, samples["native"]) for name, own in samples.items()}
    ran = {name: entry["ran"] for name, entry in size["summary"]["algorithms"].items()}
    return {
        "collective": collective,
        "nodes": nodes,
        "delay_ms": delay_ms,
        "draws": kept,
        "ran": ran,
        "figures": figures,
    }


def on_time(samples: dict[str, Any]) -> tuple[int, dict[str, Samples]]:
    """The calls by algorithm, of those draws in which no rank came 5 ms later than planned to any of them."""
    planned = np.array(samples["delays"], dtype=float)
    calls = {
        name: Samples(np.array(own["arrivals"], dtype=float), np.array(own["exits"], dtype=float), tuple(own["ran"]))
        for name, own in samples["algorithms"].items()
    }
    keep = np.all([(own.arrivals - planned < SLEEPING_LATE_NS).all(axis=1) for own in calls.values()], axis=0)
    return int(keep.sum()), {name: own.where(keep) for name, own in calls.items()}


def compare(own: Samples, native: Samples) -> dict[str, dict[str, float]]:
    """By metric: the mean over draws in ms, and its ratio to the native one's with a 95 % bootstrap interval."""
    random = np.random.default_rng(1)
    figures = {}
    for metric in METRICS:
        times, reference = own.metric(metric), native.metric(metric)
        drawn = random.integers(len(times), size=(2000, len(times)))
        low, high = np.quantile(times[drawn].mean(axis=1) / reference[drawn].mean(axis=1), (0.025, 0.975))
        ratio = times.mean() / reference.mean()
        figures[metric] = {"mean_ms": times.mean() / 1e6, "ratio": ratio, "low": low, "high": high}
    return figures


def cell(figure: dict[str, float], is_reference: bool) -> str:
    if is_reference:
        return f"{figure['mean_ms']:.1f} ms"
    return f"{figure['ratio']:.2f} ({figure['low']:.2f}-{figure['high']:.2f})"


def show(rows: list[dict[str, Any]], console: Console) -> None:
    """A table for each collective, number of nodes and metric: algorithms against delays."""
    keys = dict.fromkeys((row["collective"], row["nodes"]) for row in rows)
    for collective, nodes in keys:
        own = [row for row in rows if (row["collective"], row["nodes"]) == (collective, nodes)]
        for metric, title in METRICS.items():
            table = Table(title=f"{collective}, {nodes} nodes: {title} / native", title_justify="left")
            for heading in ("algorithm", *(f"{row['delay_ms']} ms" for row in own)):
                table.add_column(heading, justify="left" if heading == "algorithm" else "right", no_wrap=True)
            for name in own[0]["figures"]:
                table.add_row(name, *(cell(row["figures"][name][metric], name == "native") for row in own))
            console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", default="8,16", help="(default: %(default)s)")
    parser.add_argument("--delays", default="0,10,50,100", help="ms (default: %(default)s)")
    parser.add_argument("--collectives", default="scatter,gather", help="(default: %(default)s)")
    parser.add_argument("--draws", type=int, default=40, help="of delays (default: %(default)s)")
    parser.add_argument("--variants", action="store_true", help="all that the MPI library can be forced to, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args()
    console = Console(width=None if Console().is_terminal else 150)
    rows = []
    for collective in options.collectives.split(","):
        for nodes in map(int, options.nodes.split(",")):
            for delay_ms in map(int, options.delays.split(",")):
                rows.append(measure(collective, nodes, delay_ms, options.draws, options.variants))
    show(rows, console)
    if options.json:
        write_json(options.json, {"machine": describe_machine(), "total_bytes": TOTAL_BYTES, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
