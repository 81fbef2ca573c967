"""libstretto_nospin.so: polls in vain sleep, others do not, and results are the system's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from mpi_jobs import ROOT

Compiled = Callable[..., Path]
NOSPIN = ROOT / "build/lib/libstretto_nospin.so"
FUNCTIONS = ["poll", "ppoll", "epoll_wait", "epoll_pwait"]


def run(program: Path, function: str, count: int, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_PRELOAD": str(NOSPIN), **settings}
    return subprocess.run([program, function, str(count)], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_polls_in_vain_sleep(compiled: Compiled, function: str) -> None:
    ms, found, ready = run(compiled("cluster/polls.c"), function, 24).stdout.split()
    assert float(ms) >= 20, "24 polls, of which 4 do not sleep, of 1 ms each"
    assert (found, ready) == ("0", "1")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_ready_ends_the_sleep(compiled: Compiled, function: str) -> None:
    # Only the second poll, which finds the byte, could sleep.
    settings = {"STRETTO_NOSPIN_POLLS": "1", "STRETTO_NOSPIN_US": "1000000"}
    ms, found, ready = run(compiled("cluster/polls.c"), function, 1, **settings).stdout.split()
    assert float(ms) < 1000
    assert (found, ready) == ("0", "1")


@pytest.mark.parametrize("value", ["x", "-1", "1000001", "1 "])
def test_bad_settings_are_told(compiled: Compiled, value: str) -> None:
    result = run(compiled("cluster/polls.c"), "poll", 1, STRETTO_NOSPIN_US=value)
    assert result.returncode == 2
    assert "STRETTO_NOSPIN_US" in result.stderr
