"""The report as HTML, in a real browser: it loads without errors and from nowhere, shows the profile, and filters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import EXECUTABLE, Page, chromium_page
from cli_support import Stretto
from profile_writer import Call, write_job, write_rank

from stretto.html_report import render_html
from stretto.profile.files import NON_BLOCKING, open_profile
from stretto.profile.summary import Summary, summarise

MS = 1_000_000
KIB = 1 << 10
HOSTILE = "</script><img src=x onerror=document.title='owned'>${7}{{7*7}} <b>&amp; \"quoted'"
STEPS = 120
RANKS = 8
# (operation, bytes, call site, usual lateness in ns, flags) of each training step.
STEP = [
    ("Bcast", 64, 0x7000_0111, 40_000, 0),
    ("Allreduce", 8, 0x7000_0222, 400_000, 0),
    ("Allreduce", 4 << 20, 0x7000_0333, 2_500_000, 0),
    ("Allreduce", 96 * KIB, 0x7000_0444, 900_000, NON_BLOCKING),
    ("Reduce", 32 * KIB, 0x7000_0555, 150_000, 0),
    ("Barrier", 0, 0x7000_0666, 60_000, 0),
]
PLOTS = ["calls", "time", "size-calls", "size-time", "imbalance", "lag", "stragglers", "states"]

needs_chromium = pytest.mark.skipif(EXECUTABLE is None, reason="no browser: install the package chromium")


def training(directory: Path) -> Path:
    """A profile as of a training: rank 5 comes late in every seventh step, and more so as time goes on."""
    directory.mkdir()
    chance = random.Random(7)
    ranks: list[list[Call]] = [[] for _ in range(RANKS)]
    now, number = 5 * MS, 0
    for step in range(STEPS):
        for operation, size, site, spread, flags in STEP:
            number += 1
            arrivals = [now + int(chance.expovariate(1 / spread)) for _ in ranks]
            if step % 7 == 0 and operation == "Allreduce":
                arrivals[5] += (4 + step // 12) * MS
            last = max(arrivals)
            for rank, arrival in enumerate(arrivals):
                leave = last + 5_000 + size // 4 + int(chance.expovariate(1 / (2_000 + size / 20)))
                inside = 30_000 if flags else None
                algorithm = "native" if operation == "Reduce" else "arrival_chain" if size > KIB else "ring"
                root = 0 if operation in ("Bcast", "Reduce") else -1
                call = Call(arrival, leave, number, operation, size, 0, root, algorithm, flags, site, inside)
                ranks[rank].append(call)
            now = last + 2 * MS
    module = {"fact": "module", "path": "/no/such/train", "base": 0x7000_0000, "begin": 0x7000_0000, "end": 0x7000_1000}
    for rank, calls in enumerate(ranks):
        write_rank(directory, rank, RANKS, calls, [module], host=f"node{rank // 4}", capacity=10 * len(calls))
    return directory


def summary_of(directory: Path) -> Summary:
    return summarise(open_profile(directory))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium_page(tmp_path_factory.mktemp("chromium")) as one:
        yield one
