"""`stretto tune export`: Open MPI and MPICH do what their files say, and only for the ranks that were measured."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_support import Stretto

from stretto.tune import as_mpich
from stretto.tune.rules import ANY, Evidence, Figure, Rule, Rules, write_rules
from stretto.tune.surely_better import Steps

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
# Rank 2 comes to the broadcast when rank 1 has left it, or after so many seconds; prints whether it had.
WHO_WAITS = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  static char data[LENGTH];
  int rank, left = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (double end = MPI_Wtime() + atof(argv[1]); rank == 2 && !left && MPI_Wtime() < end;)
    MPI_Iprobe(1, 0, MPI_COMM_WORLD, &left, MPI_STATUS_IGNORE);
  MPI_Bcast(data, LENGTH, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Send(0, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD);
  if (rank == 2) MPI_Recv(0, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 2) printf("%d\\n", left);
  MPI_Finalize();
}
"""
MPICH = ("mpichversion", "mpicc.mpich", "mpiexec.mpich")
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


def leaves_early(folder: Path, ranks: int, length: int, limit_s: int, settings: dict[str, str]) -> bool:
    """Whether rank 1 leaves MPICH's broadcast before rank 2 has come. The limit is what it takes if it does not.

    Of up to 8 KiB: longer ones wait for their receivers.
    """
    source, program = folder / "waits.c", folder / f"waits-{length}"
    source.write_text(WHO_WAITS)
    subprocess.run(["mpicc.mpich", f"-DLENGTH={length}", "-o", program, source], check=True, timeout=60)
    command = ["mpiexec.mpich", "-n", str(ranks), str(program), str(limit_s)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **settings})
    assert done.returncode == 0 and done.stdout.strip() in ("0", "1"), done.stdout + done.stderr
    return done.stdout.strip() == "1"


@pytest.mark.skipif(not all(map(shutil.which, MPICH)), reason="MPICH is not installed")
def test_mpich_does_what_its_files_say(stretto: Stretto, tmp_path: Path) -> None:
    measured = [
        evidence(512, scatter_ring_allgather=ratio(1.2)),
        evidence(2048, scatter_ring_allgather=ratio(0.5), binomial=ratio(0.8)),
        evidence(8000, scatter_ring_allgather=ratio(0.96, 0.2)),  # nothing that is surely better
    ]
    on = {**ON, "mpi": "MPICH Version: 4.0.2", "ranks": 5}
    write_rules(Rules(on, [Rule("bcast", 5, 1, ANY, 0, "native", measured)]), tmp_path / "rules.toml")
    file, ways = tmp_path / "rules.json", tmp_path / "rules-compositions.json"
    done = stretto("tune", "export", str(tmp_path / "rules.toml"), "--output", str(file))
    assert done.returncode == 0 and "rules for 1 collectives" in done.stdout, done.stdout + done.stderr
    settings = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(file),
                "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": str(ways)}  # fmt: skip
    enough, short = 60, 3
    assert leaves_early(tmp_path, 5, 2048, enough, {}), "its own is binomial"
    assert not leaves_early(tmp_path, 5, 2048, short, settings), "all wait for all in a ring"
    for ranks, length in ((5, 700), (5, 6000), (4, 2048), (6, 2048)):
        assert leaves_early(tmp_path, ranks, length, enough, settings), f"{ranks} ranks, {length} bytes: not measured"


def test_mpich_gets_no_algorithm_that_a_call_may_not_have() -> None:
    own: as_mpich.Tree = {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}
    flat: as_mpich.Tree = {"composition=MPIDI_Allreduce_intra_composition_alpha": {}}
    algorithms, compositions = ({"collective=allreduce": {"comm_type=intra": tree}} for tree in (own, flat))
    steps: Steps = [(0, None), (100, "reduce_scatter_allgather"), (1 << 31, "ring")]
    as_mpich.add("allreduce", {4: steps}, algorithms, compositions)
    tree = algorithms["collective=allreduce"]["comm_type=intra"]
    assert tree["comm_size<4"] == tree["comm_size=any"] == own
    assert list(tree["comm_size<=4"]) == ["avg_msg_size<100", "avg_msg_size=any"], "MPICH reads no longer number"
    guarded = tree["comm_size<=4"]["avg_msg_size=any"]
    assert guarded["is_commutative=no"] == guarded["is_commutative=yes"]["is_op_built_in=no"] == own
    assert guarded["is_commutative=yes"]["is_op_built_in=yes"]["count<pow2"] == own
    assert compositions["collective=allreduce"]["comm_type=intra"]["comm_size<=4"] == {
        "avg_msg_size<100": flat,
        "avg_msg_size=any": {"composition=MPIDI_Allreduce_intra_composition_beta": {}},
    }


def test_mpich_gets_what_needs_a_power_of_two_only_there() -> None:
    own: as_mpich.Tree = {"algorithm=MPIR_Bcast_intra_binomial": {}}
    algorithms, compositions = ({"collective=bcast": {"comm_type=intra": own}} for _ in range(2))
    steps: Steps = [(0, "scatter_recursive_doubling_allgather")]
    as_mpich.add("bcast", {3: steps, 4: steps}, algorithms, compositions)
    tree = algorithms["collective=bcast"]["comm_type=intra"]
    assert list(tree) == ["comm_size<3", "comm_size<=3", "comm_size<=4", "comm_size=any"]
    assert tree["comm_size<=3"]["avg_msg_size=any"] == own
    assert "scatter_recursive_doubling_allgather" in str(tree["comm_size<=4"])


def test_rules_of_another_library_are_refused(stretto: Stretto, tmp_path: Path) -> None:
    rules = Rules({**ON, "mpi": "MPICH Version: 4.0.2"}, [Rule("bcast", RANKS, 1, ANY, 0, "native", [])])
    write_rules(rules, tmp_path / "rules.toml")
    done = stretto("tune", "export", str(tmp_path / "rules.toml"), "--format", "ompi")
    assert done.returncode == 2 and "measured with MPICH Version: 4.0.2, not with Open MPI" in done.stderr
    write_rules(Rules({**ON, "mpi": "Intel(R) MPI Library 2021.14"}, rules.rules), tmp_path / "rules.toml")
    done = stretto("tune", "export", str(tmp_path / "rules.toml"))
    assert done.returncode == 2 and "which has no rules file that is known here" in done.stderr
