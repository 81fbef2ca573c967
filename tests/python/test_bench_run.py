"""The driver under a real mpirun, with the MPI library alone."""

import dataclasses
import gzip
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from profile_writer import Call, write_job

from stretto.algorithms import load_registry
from stretto.bench.command import main
from stretto.bench.launch import REPOSITORY

_BINARIES = Path(os.environ.get("STRETTO_BIN_DIR", REPOSITORY / "build" / "bin"))

pytestmark = pytest.mark.skipif(
    shutil.which("mpirun") is None or not (_BINARIES / "stretto-bench-openmpi").is_file(),
    reason="needs Open MPI and `make build`",
)


def run_native(tmp_path: Path, *arguments: str) -> Any:
    """`stretto bench` with the MPI library alone and 2 ranks; its JSON."""
    output = tmp_path / "out.json.gz"
    assert main([*arguments, "--algorithms", "native", "--ranks", "2", "--timeout", "60", "--json", str(output)]) == 0
    return json.loads(gzip.decompress(output.read_bytes()))


def test_a_native_run_is_measured_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = run_native(tmp_path, "allreduce", "--sizes", "8,64K", "--iterations", "20", "--arrival", "uniform:2ms")
    assert "completion lag" in capsys.readouterr().out
    assert content["setup"]["ranks"] == 2
    assert content["machine"]["cores"] >= 1
    assert [size["summary"]["size"] for size in content["sizes"]] == [8, 65536]
    for size in content["sizes"]:
        delays = np.array(size["samples"]["delays"])
        native = size["samples"]["algorithms"]["native"]
        arrivals, exits = np.array(native["arrivals"]), np.array(native["exits"])
        assert arrivals.shape == exits.shape == delays.shape == (20, 2)
        assert (arrivals >= delays).all(), "nobody may come before its time"
        assert (exits.min(axis=1) >= arrivals.max(axis=1)).all()
        assert set(native["ran"]) == {"native"}
        assert 0 <= delays.min() < delays.max() < 2_000_000


def test_a_seed_gives_the_same_delays_and_another_gives_others(tmp_path: Path) -> None:
    def delays(seed: str) -> Any:
        content = run_native(
            tmp_path, "bcast", "--sizes", "8", "--iterations", "3", "--arrival", "one-late:1ms", "--seed", seed
        )
        return content["sizes"][0]["samples"]["delays"]

    assert delays("5") == delays("5")
    assert all(sorted(row) == [0, 1_000_000] for row in delays("6"))


def measured_delays(tmp_path: Path, arrival: str, *arguments: str) -> Any:
    words = ["allreduce", "--sizes", "8", "--iterations", "40", "--arrival", arrival, *arguments]
    return np.array(run_native(tmp_path, *words)["sizes"][0]["samples"]["delays"])


@pytest.mark.alone
def test_ranks_start_at_an_agreed_moment(tmp_path: Path) -> None:
    """Two ranks on two cores: hardly any comes before it, or late by more than the scheduler's whim."""
    content = run_native(tmp_path, "allreduce", "--sizes", "8", "--iterations", "100", "--sync", "window")
    arrivals = np.array(content["sizes"][0]["samples"]["algorithms"]["native"]["arrivals"])
    assert arrivals.min() >= 0
    assert content["late_threshold_ns"] == 20_000
    late = int((arrivals.max(axis=1) > 20_000).sum())
    assert content["sizes"][0]["summary"]["discarded"] == (late if late < 100 else 0)


@pytest.mark.alone  # beside others a single call has taken as long as the whole budget
def test_a_budget_ends_the_repetition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = run_native(tmp_path, "allreduce", "--sizes", "16K,64K", "--precision", "0.001%", "--budget", "500ms")
    for size in content["sizes"]:
        assert 20 <= len(size["samples"]["delays"]) < 20_000
    assert "64K: medians are known to" in capsys.readouterr().out


def test_a_wide_precision_is_reached_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = run_native(tmp_path, "barrier", "--precision", "100%", "--budget", "50s")
    assert len(content["sizes"][0]["samples"]["delays"]) < 2000
    assert "raise --budget" not in capsys.readouterr().out


def test_normal_delays_count_from_the_first(tmp_path: Path) -> None:
    delays = measured_delays(tmp_path, "normal:100us")
    assert (delays.min(axis=1) == 0).all()
    # The distance of two normal numbers has a mean of 2 / sqrt(pi) standard deviations.
    assert np.mean(delays.max(axis=1)) == pytest.approx(112_838, rel=0.4)


def test_recorded_arrivals_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = tmp_path / "profile"
    calls = [Call(1_000_000 * n, 1_000_000 * n + 900_000, n) for n in range(1, 31)]
    late = [dataclasses.replace(call, arrival=call.arrival + 1000 * call.number) for call in calls]
    bcast = Call(40_000_000, 40_001_000, 31, "Bcast", root=0)
    write_job(profile, [*calls, bcast], [*late, bcast])
    delays = measured_delays(tmp_path, f"replay:{profile}", "--warm-up", "0")
    assert delays.tolist() == [[0, 1000 * (1 + n % 30)] for n in range(40)]
    words = ["--algorithms", "native", "--sizes", "8", "--arrival", f"replay:{profile}"]
    assert main(["allreduce", *words, "--ranks", "3"]) == 2
    assert "no allreduce of 3 ranks (those recorded have 2)" in capsys.readouterr().err
    assert main(["reduce", *words, "--ranks", "2"]) == 2
    assert "no reduce of 2 ranks (none is recorded)" in capsys.readouterr().err


def test_a_file_of_delays_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "delays.txt"
    file.write_text("0 1000\n5000 0\n")
    delays = measured_delays(tmp_path, f"replay:{file}", "--warm-up", "0")
    assert delays.tolist() == [[0, 1000], [5000, 0]] * 20
    words = ["allreduce", "--algorithms", "native", "--sizes", "8", "--ranks", "2", "--arrival", f"replay:{file}"]
    for wrong in ("0 1 2\n", "", "0 -1\n", "0 1\n2\n", "soon\n"):
        file.write_text(wrong)
        assert main(words) == 2, wrong
        assert str(file) in capsys.readouterr().err


@pytest.mark.alone
def test_noise_makes_detours_in_calls(tmp_path: Path) -> None:
    # In a tenth of a second, much of it in calls, each rank makes some twenty.
    words = ["allreduce", "--sizes", "1M", "--iterations", "200", "--arrival", "noise:200,2ms"]
    native = run_native(tmp_path, *words)["sizes"][0]["samples"]["algorithms"]["native"]
    elapsed = np.array(native["exits"]) - np.array(native["arrivals"])
    assert elapsed.max() >= 1_000_000


def test_ranks_of_one_node_cannot_be_late_by_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bcast", "--algorithms", "native", "--sizes", "8", "--ranks", "2", "--arrival", "node-late:1ms"]
    assert main(words) == 2
    assert "the ranks are all on one node" in capsys.readouterr().err


def test_the_rank_that_is_late_is_among_the_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bcast", "--algorithms", "native", "--sizes", "8", "--ranks", "2", "--arrival", "rank-late:2,1ms"]
    assert main(words) == 2
    assert "there is no rank 2 among 2" in capsys.readouterr().err


def test_always_the_same_rank_is_late(tmp_path: Path) -> None:
    native = run_native(tmp_path, "bcast", "--sizes", "8", "--iterations", "5", "--arrival", "rank-late:1,3ms")
    delays = np.array(native["sizes"][0]["samples"]["delays"])
    assert (delays[:, 1] == 3_000_000).all()
    assert (np.delete(delays, 1, axis=1) == 0).all()


@pytest.mark.parametrize(
    "arguments",
    [
        ["reduce", "--in-place", "--root", "1", "--datatype", "int32", "--op", "max"],
        ["allreduce", "--cold-cache"],
        ["bcast", "--sync", "window"],
        ["gather", "--datatype", "double"],
        ["scatter", "--root", "1", "--datatype", "int32"],
        ["allgather", "--datatype", "int32"],
        ["reduce_scatter_block", "--op", "max"],
        ["alltoall", "--datatype", "double"],
        ["gatherv", "--datatype", "int32"],
        ["scatterv", "--root", "1"],
        ["allgatherv", "--datatype", "double"],
        ["reduce_scatter", "--op", "max"],
        ["alltoallv", "--datatype", "int32"],
        ["allreduce", "--in-place", "--datatype", "double", "--arrival", "mif:3"],
        ["bcast", "--arrival", "half-late:200us"],
        ["reduce", "--arrival", "compute-uniform:200us"],
    ],
)
def test_every_form_is_verified(tmp_path: Path, arguments: list[str]) -> None:
    content = run_native(tmp_path, *arguments, "--sizes", "8,12K", "--iterations", "5")
    assert len(content["sizes"][1]["samples"]["delays"]) == 5


@pytest.mark.parametrize("collective", ["gatherv", "scatterv", "allgatherv", "reduce_scatter", "alltoallv"])
def test_all_of_a_form_with_lengths_can_be_measured(tmp_path: Path, collective: str) -> None:
    """Each of Stretto's algorithms that needs no prediction, and what the MPI can be forced to."""
    output = tmp_path / "out.json"
    words = [collective, "--algorithms", "all", "--ranks", "3", "--sizes", "4K", "--iterations", "2"]
    assert main([*words, "--timeout", "60", "--json", str(output)]) == 0
    algorithms = json.loads(output.read_text())["sizes"][0]["samples"]["algorithms"]
    wanted = {entry.name for entry in load_registry() if entry.collective == collective}
    assert wanted <= set(algorithms)
    assert all(set(algorithms[name]["ran"]) == {name} for name in wanted)


def test_the_mpi_library_is_forced_to_each_of_its_algorithms(tmp_path: Path) -> None:
    """By Open MPI's own names, each verified in every call."""
    output = tmp_path / "out.json"
    words = ["allreduce", "--algorithms", "native,native:*", "--ranks", "3", "--sizes", "64K", "--iterations", "5"]
    assert main([*words, "--json", str(output)]) == 0
    content = json.loads(output.read_text())
    names = content["request"]["algorithms"]
    assert names[0] == "native"
    assert {"native:basic_linear", "native:recursive_doubling", "native:ring", "native:rabenseifner"} <= set(names)
    (size,) = content["sizes"]
    assert all(size["samples"]["algorithms"][name]["ran"] == [name] * 5 for name in names)
    medians = {name: size["summary"]["algorithms"][name]["times"]["lag"]["value"] for name in names}
    assert size["summary"]["best_native"]["lag"] == min(medians, key=lambda name: medians[name])


@pytest.mark.skipif(
    shutil.which("mpirun.mpich") is None or not (_BINARIES / "stretto-bench-mpich").is_file(),
    reason="needs Debian's MPICH, and `make build` with it",
)
def test_mpich_is_forced_in_each_call(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    words = ["allreduce", "--algorithms", "native,native:*", "--ranks", "2", "--sizes", "64K", "--iterations", "20"]
    assert main([*words, "--mpirun", "mpirun.mpich", "--json", str(output)]) == 0
    content = json.loads(output.read_text())
    assert {"native:recursive_doubling", "native:reduce_scatter_allgather"} <= set(content["request"]["algorithms"])
    assert content["setup"]["mpi"].startswith("MPICH Version")


def test_an_algorithm_that_the_mpi_library_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bcast", "--algorithms", "native:ring", "--ranks", "2", "--sizes", "8"]) == 2
    assert "native:ring: this MPI library's bcast can be forced to basic_linear, chain" in capsys.readouterr().err


def test_a_barrier_has_no_size(tmp_path: Path) -> None:
    content = run_native(tmp_path, "barrier", "--iterations", "10", "--arrival", "staircase:100us")
    assert content["request"]["sizes"] == [0]


def test_the_time_limit_leaves_no_process_behind(capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()
    arguments = ["allreduce", "--sizes", "8", "--iterations", "1000", "--arrival", "one-late:1s", "--timeout", "2"]
    assert main([*arguments, "--algorithms", "native", "--ranks", "2", "--seed", "987654321"]) == 1
    assert "--timeout" in capsys.readouterr().err
    assert time.monotonic() - begin < 15
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "seed=987654321" not in running


def test_a_missing_stretto_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STRETTO_LIB_DIR", str(tmp_path))
    assert main(["allreduce", "--algorithms", "native,ring", "--ranks", "2", "--sizes", "8"]) == 2
    assert "make build" in capsys.readouterr().err


# Stands in for Stretto: obeys, names what it ran, and does one thing wrong on rank 1 when its name asks for that.
_SABOTEUR = r"""
#include <mpi.h>
#include <string.h>
static char forced[64];
int Stretto_force(const char *collective, const char *algorithm) {
  if (strcmp(algorithm, "unheard_of") == 0) return 2;
  strcpy(forced, algorithm);
  return 0;
}
const char *Stretto_last_algorithm(const char *collective) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(forced, "discord") == 0) return rank == 1 ? "ring" : "binomial";
  return strcmp(forced, "default") == 0 ? "ring" : forced;
}
int MPI_Allreduce(const void *send, void *receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int rank;
  PMPI_Comm_rank(comm, &rank);
  const int result = PMPI_Allreduce(send, receive, n, type, op, comm);
  if (rank == 1 && strcmp(forced, "wrong_element") == 0) ((float *)receive)[n - 1] += 1000;
  if (rank == 1 && strcmp(forced, "other_bits") == 0) ((int *)receive)[n - 1] ^= 1;
  if (rank == 1 && strcmp(forced, "scribble") == 0) ((float *)send)[0] += 1000;
  return result;
}
"""


_SABOTEUR_OF_BLOCKS = r"""
int MPI_Gather(const void *send, int n, MPI_Datatype type, void *receive, int m, MPI_Datatype other, int root,
               MPI_Comm comm) {
  int rank, ranks;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  const int result = PMPI_Gather(send, n, type, receive, m, other, root, comm);
  if (rank == root && strcmp(forced, "wrong_block") == 0) ((float *)receive)[n * ranks - 1] += 1000;
  return result;
}
int MPI_Scatter(const void *send, int n, MPI_Datatype type, void *receive, int m, MPI_Datatype other, int root,
                MPI_Comm comm) {
  int rank;
  PMPI_Comm_rank(comm, &rank);
  const int result = PMPI_Scatter(send, n, type, receive, m, other, root, comm);
  if (rank == 1 && strcmp(forced, "wrong_block") == 0) ((float *)receive)[m - 1] += 1000;
  return result;
}
"""


@pytest.fixture(scope="module")
def saboteur(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library that takes Stretto's place."""
    if shutil.which("mpicc") is None:
        pytest.skip("needs mpicc")
    folder = tmp_path_factory.mktemp("saboteur")
    (folder / "saboteur.c").write_text(_SABOTEUR + _SABOTEUR_OF_BLOCKS)
    library = folder / "libstretto_openmpi.so"
    subprocess.run(["mpicc", "-w", "-shared", "-fPIC", "-o", library, folder / "saboteur.c"], check=True)
    return folder


@pytest.mark.parametrize(
    ("algorithm", "exit_code", "message"),
    [
        ("wrong_element", 1, "allreduce, wrong_element, 8192 bytes, iteration -3, rank 1, root 0: element 2047"),
        ("other_bits", 1, "rank 1 has a result of other bits"),
        ("scribble", 1, "the send buffer was changed at byte"),
        ("discord", 1, "the ranks ran different algorithms in one call"),
        ("unheard_of", 2, "unknown algorithm 'unheard_of' for allreduce"),
    ],
)
def test_what_is_wrong_is_found_and_named(
    saboteur: Path,
    algorithm: str,
    exit_code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STRETTO_LIB_DIR", str(saboteur))
    arguments = ["allreduce", "--sizes", "8K", "--iterations", "3", "--ranks", "2", "--timeout", "60"]
    assert main([*arguments, "--algorithms", f"native,{algorithm}"]) == exit_code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("collective", "message"),
    [
        ("gather", "gather, wrong_block, 8192 bytes, iteration -3, rank 0, root 0: element 4095"),
        ("scatter", "scatter, wrong_block, 8192 bytes, iteration -3, rank 1, root 0: element 2047"),
    ],
)
def test_a_wrong_block_is_found(
    saboteur: Path, collective: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRETTO_LIB_DIR", str(saboteur))
    arguments = [collective, "--sizes", "8K", "--iterations", "3", "--ranks", "2", "--timeout", "60"]
    assert main([*arguments, "--algorithms", "native,wrong_block"]) == 1
    assert message in capsys.readouterr().err


def test_what_ran_by_default_is_recorded(saboteur: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STRETTO_LIB_DIR", str(saboteur))
    output = tmp_path / "out.json"
    arguments = ["allreduce", "--sizes", "8K", "--iterations", "3", "--ranks", "2", "--json", str(output)]
    assert main([*arguments, "--algorithms", "native,passthrough,default"]) == 0
    algorithms = json.loads(output.read_text())["sizes"][0]["summary"]["algorithms"]
    assert [algorithms[name]["ran"] for name in ("native", "passthrough", "default")] == [
        {"native": 3},
        {"native": 3},
        {"ring": 3},
    ]
