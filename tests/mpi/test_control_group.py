"""Memory that a control group bounds is the program's first: Stretto shares one pool, however many communicators.

Needs a group that may be made here: as root, where the memory controller is one of version 1, or is handed down.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mpi_jobs import run_mpi, stretto_env

Compiled = Callable[..., Path]
ROOTS = {Path("/sys/fs/cgroup/memory"): "memory.limit_in_bytes", Path("/sys/fs/cgroup"): "memory.max"}
LIMIT = 700 << 20  # four ranks' data are 192 MiB, a pool is 128, and ten would not fit


@pytest.fixture
def control_group() -> Iterator[Path]:
    for root, limit in ROOTS.items():
        group = root / f"stretto-tests-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(LIMIT))
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("no control group can be made that bounds memory")


@pytest.mark.parametrize("settings", ({"allreduce": "arrival_stripes"}, {}), ids=("forced", "default"))
def test_ten_communicators_with_long_messages_fit(
    compiled: Compiled, control_group: Path, settings: dict[str, str]
) -> None:
    entering = f'echo $$ >"{control_group}/cgroup.procs"; exec "$@"'
    program: list[str | Path] = ["sh", "-c", entering, "sh", compiled("mpi/ten_communicators.c")]
    run_mpi(program, 4, stretto_env(**settings)).check()
