"""`stretto tune export`: Open MPI does what its file says, and only for the ranks that were measured."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_support import Stretto

from stretto.tune.rules import ANY, Evidence, Figure, Rule, Rules, write_rules

RANKS = 4
ON = {"date": "2026-11-26T22:00:00Z", "stretto": "0.1.0", "mpi": "Open MPI v4.1.4", "cpu": "any", "cores": 2,
      "ranks": RANKS, "nodes": 1}  # fmt: skip
PROGRAM = """#include <mpi.h>
int main(void) {
  static char data[100000];
  MPI_Init(0, 0);
  MPI_Bcast(data, LENGTH, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
"""
HAS_OPEN_MPI = shutil.which("ompi_info") is not None and shutil.which("mpicc.openmpi") is not None


def ratio(value: float, spread: float = 0.01) -> tuple[float, float, float]:
    return value - spread, value, value + spread


def evidence(size: int, **to_native: tuple[float, float, float]) -> Evidence:
    names = {"native": ratio(1.0), **{f"native:{name}": own for name, own in to_native.items()}}
    return Evidence(size, "balanced", 50, {name: Figure(1000, own, ratio(1)) for name, own in names.items()})


def messages_of_root(folder: Path, ranks: int, length: int, *options: str) -> int:
    """How many ranks the root of a broadcast sends to, as Open MPI counts them."""
    source, program = folder / "bcast.c", folder / f"bcast-{length}"
    source.write_text(PROGRAM)
    subprocess.run(["mpicc.openmpi", f"-DLENGTH={length}", "-o", program, source], check=True, timeout=60)
    counted = ("--mca", "pml_monitoring_enable", "1", "--mca", "pml_monitoring_enable_output", "1")
    command = ["mpirun", "--oversubscribe", "-n", str(ranks), *counted, *options, str(program)]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env={**os.environ, **root})
    return len(re.findall(r"^E\t0\t", done.stdout + done.stderr, re.MULTILINE))


@pytest.mark.skipif(not HAS_OPEN_MPI, reason="Open MPI's ompi_info and mpicc.openmpi are not installed")
def test_open_mpi_does_what_its_file_says(stretto: Stretto, tmp_path: Path) -> None:
    measured = [
        evidence(8, basic_linear=ratio(0.5), chain=ratio(0.8), binomial=ratio(0.9)),
        evidence(65536, basic_linear=ratio(0.96, 0.2), binomial=ratio(1.2)),  # nothing that is surely better
    ]
    write_rules(Rules(ON, [Rule("bcast", RANKS, 1, ANY, 0, "native", measured)]), tmp_path / "rules.toml")
    done = stretto("tune", "export", str(tmp_path / "rules.toml"), "--output", str(tmp_path / "rules.conf"))
    assert done.returncode == 0 and "rules for 1 collectives" in done.stdout, done.stdout + done.stderr
    from_bytes = 724  # the geometric mean of both
    assert (tmp_path / "rules.conf").read_text().split() == [
        *("1", "7", "2"),
        *("4", "2", "0", "1", "4", "0", str(from_bytes), "0", "4", "0"),
        *("5", "1", "0", "0", "4", "0"),
    ]
    rules = ("--mca", "coll_tuned_use_dynamic_rules", "1",
             "--mca", "coll_tuned_dynamic_rules_filename", str(tmp_path / "rules.conf"))  # fmt: skip
    assert messages_of_root(tmp_path, RANKS, 8) == 2, "its own is binomial"
    assert messages_of_root(tmp_path, RANKS, 8, *rules) == RANKS - 1
    assert messages_of_root(tmp_path, RANKS, from_bytes, *rules) < RANKS - 1
    more = RANKS + 1  # of which nothing was measured
    assert messages_of_root(tmp_path, more, 8, *rules) == messages_of_root(tmp_path, more, 8) < more - 1


def test_rules_of_another_library_are_refused(stretto: Stretto, tmp_path: Path) -> None:
    rules = Rules({**ON, "mpi": "MPICH Version: 4.0.2"}, [Rule("bcast", RANKS, 1, ANY, 0, "native", [])])
    write_rules(rules, tmp_path / "rules.toml")
    done = stretto("tune", "export", str(tmp_path / "rules.toml"), "--output", str(tmp_path / "rules.conf"))
    assert done.returncode == 2 and "measured with MPICH Version: 4.0.2, not with Open MPI" in done.stderr
    assert not (tmp_path / "rules.conf").exists()
