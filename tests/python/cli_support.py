"""Types of the fixtures in conftest.py, and what needs no fixture."""

import subprocess
from collections.abc import Callable
from pathlib import Path

TIMEOUT_S = 120

Stretto = Callable[..., "subprocess.CompletedProcess[str]"]
Compile = Callable[..., Path]


def make_script(path: Path, text: str) -> Path:
    """Write an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
