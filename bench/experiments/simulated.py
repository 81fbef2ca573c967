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


def sizes_of(
    collective: str, algorithms: list[str], sizes: list[int], platform: str, ranks: int, options: list[str]
) -> list[dict[str, Any]]:
    """What `stretto sim` says of each size, as in its JSON: summary and samples. Raises RuntimeError for a failed
    run."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.json"
        words = [collective, "--algorithms", ",".join(algorithms), "--sizes", ",".join(map(str, sizes))]
        words += ["--platform", platform, "--ranks", str(ranks), "--timeout", "3600", "--json", str(output), *options]
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = main(words)
        if code != 0:
            raise RuntimeError(f"stretto sim {' '.join(words)}: exit code {code}\n{said.getvalue()}")
        found: list[dict[str, Any]] = json.loads(output.read_text())["sizes"]
    return found


def simulate(
    collective: str, algorithms: list[str], sizes: list[int], platform: str, ranks: int, options: list[str]
) -> dict[str, dict[int, dict[str, float]]]:
    """Algorithm -> bytes -> metric (run_time, elapsed, lag) -> ns, medians. Raises RuntimeError for a failed run, or if
    something else ran than was asked for by name."""
    times: dict[str, dict[int, dict[str, float]]] = {}
    found = sizes_of(collective, algorithms, sizes, platform, ranks, options)
    for size, measured in zip(sizes, found, strict=True):
        for name, own in measured["summary"]["algorithms"].items():
            if name != "default" and set(own["ran"]) != {name}:
                raise RuntimeError(f"{name} at {size} bytes: {', '.join(own['ran'])} ran in its place")
            times.setdefault(name, {})[size] = {metric: value["value"] for metric, value in own["times"].items()}
    return times
