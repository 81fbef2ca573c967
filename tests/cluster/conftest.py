"""Fixtures for tests of emulated clusters. Whatever a test did, nothing of it may be left on the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from mpi_jobs import processes_with

from stretto.cluster import why_impossible

LIMIT_S = 60


@pytest.fixture(scope="session")
def reason() -> str | None:
    return why_impossible()


def traces() -> list[str]:
    """What a cluster could leave where everybody sees it: names of namespaces and links, mounts, shared memory."""
    shown = [
        subprocess.run(["ip", *words], capture_output=True, text=True, timeout=LIMIT_S).stdout
        for words in (["netns", "list"], ["-brief", "link"])
    ]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return [*shown, *mounts, *(str(path) for path in Path("/dev/shm").glob("*stretto*"))]


@pytest.fixture
def runtime(reason: str | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime directory of the test's own; every process of its clusters has the path in its environment."""
    if reason is not None:
        pytest.skip(reason)
    path = Path(tempfile.mkdtemp(prefix="st"))  # shorter than tmp_path: launchers have sockets below
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(path))
    before = traces()
    yield path
    left = processes_with(str(path))
    for pid in left:
        os.kill(pid, 9)
    files = list(path.iterdir())
    shutil.rmtree(path, ignore_errors=True)
    assert (left, files) == ([], [])
    assert traces() == before
