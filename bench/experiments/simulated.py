"""What benchmarks of `stretto sim` share: its figures by algorithm and size."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

from stretto.simulate.sim import main

# The ranks of a node share its memory; reducing takes 0.08 ns a byte and copying 0.125, in messages as there.
IN_MEMORY = ("--shared-memory", "--gamma", "0.08", "--delta", "0.125")


def summaries(
    collective: str, algorithms: list[str], sizes: list[int], platform: str, ranks: int, options: list[str]
) -> list[dict[str, Any]]:
    """What `stretto sim` says of each size, as in its JSON: algorithm -> times in ns by metric, and what ran in how
    many calls. Raises RuntimeError for a failed run."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.json"
        words = [collective, "--algorithms", ",".join(algorithms), "--sizes", ",".join(map(str, sizes))]
        words += ["--platform", platform, "--ranks", str(ranks), "--timeout", "3600", "--json", str(output), *options]
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = main(words)
        if code != 0:
            raise RuntimeError(f"stretto sim {' '.join(words)}: exit code {code}\n{said.getvalue()}")
        return [measured["summary"]["algorithms"] for measured in json.loads(output.read_text())["sizes"]]


def simulate(
    collective: str, algorithms: list[str], sizes: list[int], platform: str, ranks: int, options: list[str]
) -> dict[str, dict[int, dict[str, float]]]:
    """Algorithm -> bytes -> metric (run_time, elapsed, lag) -> ns, medians. Raises RuntimeError for a failed run, or if
    something else ran than was asked for by name."""
    times: dict[str, dict[int, dict[str, float]]] = {}
    found = summaries(collective, algorithms, sizes, platform, ranks, options)
    for size, by_algorithm in zip(sizes, found, strict=True):
        for name, own in by_algorithm.items():
            if name != "default" and set(own["ran"]) != {name}:
                raise RuntimeError(f"{name} at {size} bytes: {', '.join(own['ran'])} ran in its place")
            times.setdefault(name, {})[size] = {metric: value["value"] for metric, value in own["times"].items()}
    return times
