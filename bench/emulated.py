"""One size of `stretto bench` on emulated nodes, for the benchmarks in this folder."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from stretto.processes import run_limited

# Of a link of 1 gbit: 1448 bytes of each frame of 1514 are the program's.
PAYLOAD_NS_PER_BYTE = 8 * 1514 / 1448
_LIMIT_S = 1200


def run_bench(
    collective: str,
    algorithms: list[str],
    *,
    nodes: int,
    size: int,
    iterations: int,
    options: list[str],
    rate: str = "1gbit",
    settings: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON of its only size, in bytes, with the samples; `settings` are STRETTO_*."""
    with tempfile.TemporaryDirectory(prefix="stretto-emulated-") as folder:
        output = Path(folder) / "result.json"
        command = [sys.executable, "-m", "stretto", "bench", collective, "--algorithms", ",".join(algorithms)]
        command += ["--nodes", str(nodes), "--rate", rate, "--sizes", str(size), "--iterations", str(iterations)]
        command += [*options, "--json", str(output), "--timeout", str(_LIMIT_S)]
        run_limited(command, os.environ | (settings or {}), _LIMIT_S + 30)
        result: dict[str, Any] = json.loads(output.read_text())["sizes"][0]
    return result
