"""What real programs leave in a profile, on real MPI."""

from __future__ import annotations

import json
import platform
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi_jobs import (
    Part,
    at_most,
    check_unless_native_fails,
    mpirun_command,
    registry,
    run_job,
    run_mpi,
    stretto_env,
)

from stretto.algorithms import COLLECTIVES
from stretto.profile.calls import Unmatched, load_calls
from stretto.profile.files import IN_PLACE, NON_BLOCKING, NONE, PERSISTENT, SET_UP, Profile, open_profile
from stretto.profile.summary import summarise
from stretto.report.as_json import as_json
from stretto.report.words import conclusion

Compiled = Callable[..., Path]
RANKS = 4
NATIVE = dict.fromkeys(COLLECTIVES, "native")
needs_four_ranks = pytest.mark.skipif(at_most(RANKS) < RANKS, reason="this MPI is tested with fewer than 4 ranks")


def profiled(directory: Path, **settings: object) -> dict[str, str]:
    return stretto_env(profile=directory, **settings)


def records_of(profile: Profile, rank: int) -> list[dict[str, Any]]:
    """A rank's records in order, numbers replaced by names."""
    (file,) = [file for file in profile.ranks if file.world_rank == rank]
    datatypes = {fact["index"]: fact["name"] for fact in file.facts.get("datatype", [])}
    reductions = {fact["index"]: fact["name"] for fact in file.facts.get("reduction", [])}
    named = [*file.facts["communicator"], *file.facts.get("communicator_name", [])]
    names = {fact["index"]: fact["name"] for fact in named}
    parents = {fact["index"]: fact["communicator"] for fact in file.facts.get("persistent", [])}
    return [
        {
            "operation": profile.operation_name(int(row["operation"]), int(row["flags"])),
            "bytes": int(row["bytes"]),
            "root": int(row["root"]),
            "datatype": datatypes.get(int(row["datatype"])),
            "reduction": reductions.get(int(row["reduction"])),
            "in_place": bool(row["flags"] & IN_PLACE),
            "communicator": names[parents.get(int(row["communicator"]), int(row["communicator"]))],
            "ended": int(row["exit_ns"]) > 0,
        }
        for block in file.blocks(1 << 20)
        for row in block
    ]


def expected_calls(rank: int) -> list[tuple[str, int, int, str | None, str | None, bool, str]]:
    """Of every_collective.c: operation, bytes, root, datatype, reduction, in place, communicator."""
    world, ring, integer = "MPI_COMM_WORLD", "ring", "MPI_INT"
    mine = 4 * (rank + 1)
    return [
        ("Allreduce", 12, -1, integer, "MPI_MAX", False, world),
        ("Allreduce", 20, -1, integer, "MPI_SUM", True, world),
        ("Reduce", 28, 1, integer, "MPI_SUM", False, world),
        ("Bcast", 36, 3, integer, None, False, world),
        ("Allgather", 8, -1, integer, None, False, world),
        ("Allgatherv", mine, -1, integer, None, False, world),
        ("Alltoall", 16, -1, integer, None, False, world),
        ("Alltoallv", 16, -1, integer, None, False, world),
        ("Alltoallw", 16, -1, "MPI_FLOAT", None, False, world),
        ("Gather", 24, 2, integer, None, False, world),
        ("Gatherv", mine, 0, integer, None, False, world),
        ("Scatter", 32, 1, integer, None, False, world),
        ("Scatterv", mine, 3, integer, None, False, world),
        ("Reduce_scatter", 40, -1, integer, "MPI_MIN", False, world),
        ("Reduce_scatter_block", 44 * RANKS, -1, integer, "MPI_SUM", False, world),
        ("Scan", 48, -1, integer, "MPI_SUM", False, world),
        ("Exscan", 52, -1, integer, "MPI_SUM", False, world),
        ("Neighbor_allgather", 56, -1, integer, None, False, ring),
        ("Neighbor_allgatherv", 60, -1, integer, None, False, ring),
        ("Neighbor_alltoall", 64, -1, integer, None, False, ring),
        ("Neighbor_alltoallv", 8, -1, integer, None, False, ring),
        ("Neighbor_alltoallw", 8, -1, integer, None, False, ring),
        ("Barrier", 0, -1, None, None, False, world),
    ]


@needs_four_ranks
@pytest.mark.parametrize("setting", ("native", "default"))
def test_every_collective_in_every_form(compiled: Compiled, tmp_path: Path, setting: str) -> None:
    env = profiled(tmp_path, **(NATIVE if setting == "native" else {}))
    check_unless_native_fails(compiled("profile/every_collective.c"), RANKS, env)
    profile = open_profile(tmp_path)
    assert profile.warnings == []
    for rank in range(RANKS):
        found = records_of(profile, rank)
        assert all(record.pop("ended") for record in found)
        forms = {"blocking": [], "non-blocking": [], "persistent": []}  # type: ignore[var-annotated]
        for record in found:
            name = record["operation"]
            form = "persistent" if name.endswith("_init") else "non-blocking" if name.startswith("I") else "blocking"
            forms[form].append(tuple(record.values()))
        expected = expected_calls(rank)
        assert forms["blocking"] == expected
        assert forms["non-blocking"] == [("I" + row[0].lower(), *row[1:]) for row in expected]
        twice = [(row[0] + "_init", *row[1:]) for row in expected for _ in range(2)]
        assert forms["persistent"] in ([], twice)
    calls, unmatched = load_calls(profile)
    assert unmatched == Unmatched()
    assert len(calls) == len(records_of(profile, 0))
    assert calls["agreed"].all()
    ran = {profile.algorithms[index] for index in calls["algorithm"]}
    assert (ran == {"native"}) == (setting == "native")


@needs_four_ranks
def test_ranks_record_the_place_that_they_took(compiled: Compiled, tmp_path: Path) -> None:
    env = profiled(tmp_path, **NATIVE | {"allreduce": "arrival_chain"})
    run_mpi([compiled("profile/planted.c"), "6"], RANKS, env).check()
    profile = open_profile(tmp_path)
    chain = profile.algorithms.index("arrival_chain")
    by_call: dict[int, list[int]] = {}
    for rank in profile.ranks:
        for record in np.concatenate(list(rank.blocks(1 << 16))):
            if record["algorithm"] == chain:
                by_call.setdefault(int(record["sequence"]), []).append(int(record["place"]))
            else:
                assert record["place"] == NONE
    assert len(by_call) == 6
    assert all(sorted(places) == list(range(RANKS)) for places in by_call.values())
    # Rank 3, whose records come last, is late by 20 ms at call 3; and at call 0, where all wait for each other once.
    assert by_call[2 + 4 * 3][-1] == RANKS - 1


def test_names_are_those_of_the_library(compiled: Compiled, tmp_path: Path) -> None:
    run_mpi([compiled("profile/many_calls.c"), "count", "3"], 2, profiled(tmp_path)).check()
    profile = open_profile(tmp_path)
    assert profile.algorithms == ["native", *(str(entry["name"]) for entry in registry())]


@pytest.mark.skipif(at_most(5) < 5, reason="this MPI is tested with fewer than 5 ranks")
def test_algorithms_made_on_the_way_have_one_name_on_all_ranks(compiled: Compiled, tmp_path: Path) -> None:
    """Without shared memory the default is chosen as between nodes: a ring in segments for that number of ranks."""
    run_mpi(compiled("profile/pipelined_parts.c"), 5, profiled(tmp_path, shm_max_mib=0)).check()
    profile = open_profile(tmp_path)
    calls, unmatched = load_calls(profile)
    sums = calls[calls["operation"] == profile.operations.index("Allreduce")]
    assert (unmatched, sorted(sums["size"])) == (Unmatched(), [2, 3, 5])
    assert sums["agreed"].all()
    ran = {int(call["size"]): profile.algorithms[call["algorithm"]] for call in sums}
    assert ran == {2: "ring+112K", 3: "ring+160K", 5: "ring+256K"}, "56 KiB a rank, in three binary digits"


@pytest.mark.alone
@needs_four_ranks
def test_planted_lateness_is_found(compiled: Compiled, tmp_path: Path) -> None:
    """Rank 3 comes 40 ms late to 10 of 30 allreduces, rank 1 comes 5 ms late to all broadcasts, whose root it is.

    The machine adds to that, so the truth is what the program's own clock says.
    """
    outcome = run_mpi([compiled("profile/planted.c"), "30"], RANKS, profiled(tmp_path, **NATIVE)).check()
    late = float(outcome.lines("truth:")[0])
    assert late > 0.2  # 10 times 40 ms, less what the machine adds to the others
    summary = summarise(open_profile(tmp_path))
    first = summary.stragglers[0]
    assert first.rank == 3
    at_gradients = [(site, s) for (rank, site), s in summary.straggler_sites.items() if rank == 3]
    site, caused = max(at_gradients, key=lambda item: item[1])
    assert "reduce_gradients (planted.c:" in site
    assert caused == pytest.approx(3 * late, rel=0.05)
    assert summary.wait_states["Wait at NxN"] >= 0.95 * caused
    assert summary.wait_states["Late Broadcast"] >= 0.95 * 3 * 30 * 0.005
    # Each round is a barrier, an allreduce, a barrier, a broadcast.
    planted = {2 + 4 * round for round in range(0, 30, 3)}
    ours = [call for call in summary.worst_calls if (call.operation, call.rank) == ("Allreduce", 3)]
    found = {call.sequence: call.lateness for call in ours}
    assert planted <= found.keys()
    assert sum(found[sequence] for sequence in planted) == pytest.approx(late, rel=0.05)
    json.dumps(as_json(summary))


def test_a_killed_rank_loses_nothing(compiled: Compiled, tmp_path: Path) -> None:
    program: list[str | Path] = [compiled("profile/many_calls.c"), "killed", "100"]
    outcome = run_job(mpirun_command([Part(program, at_most(3), profiled(tmp_path))]), {}, 60)
    assert outcome.code != 0
    profile = open_profile(tmp_path)
    assert any("did not reach MPI_Finalize" in warning for warning in profile.warnings)
    killed = records_of(profile, 1)
    assert [record["ended"] for record in killed] == [True] * 100
    for rank in {0, at_most(3) - 1} - {1}:
        found = records_of(profile, rank)
        assert [record["ended"] for record in found] == [True] * 100 + [False]
        assert found[-1]["operation"] == "Allreduce"
    calls, unmatched = load_calls(profile)
    assert (len(calls), unmatched.calls) == (100, 1)


def test_pcontrol_stops_and_starts_the_recording(compiled: Compiled, tmp_path: Path) -> None:
    program: list[str | Path] = [compiled("profile/many_calls.c"), "control", "10"]
    run_mpi(program, 2, profiled(tmp_path / "on")).check()
    calls, unmatched = load_calls(open_profile(tmp_path / "on"))
    assert calls["sequence"].tolist() == [*range(1, 11), *range(21, 31)]
    assert unmatched == Unmatched()
    run_mpi(program, 2, profiled(tmp_path / "off", profile_start="off")).check()
    calls, _ = load_calls(open_profile(tmp_path / "off"))
    assert calls["sequence"].tolist() == list(range(21, 31))


def test_calls_in_which_stretto_was_set_up_are_told(compiled: Compiled, tmp_path: Path) -> None:
    run_mpi([compiled("profile/many_calls.c"), "count", "9"], 2, profiled(tmp_path)).check()
    profile = open_profile(tmp_path)
    for rank in profile.ranks:
        (block,) = rank.blocks(1 << 20)
        assert (block["flags"] & SET_UP != 0).tolist() == [True] + [False] * 8
    summary = summarise(profile)
    (share,) = summary.by_operation.values()
    assert 0 < share.set_up <= share.after_last
    assert "in which Stretto was set up, once" in conclusion(summary, 1.0)


def test_more_communicators_than_there_is_room_for(compiled: Compiled, tmp_path: Path) -> None:
    program: list[str | Path] = [compiled("profile/many_calls.c"), "fresh", "4000"]
    run_mpi(program, 2, profiled(tmp_path / "small", profile_max_mib=2)).check()
    profile = open_profile(tmp_path / "small")
    (warning,) = profile.warnings
    assert "had no room for" in warning
    assert "STRETTO_PROFILE_MAX_MIB" in warning
    _, unmatched = load_calls(profile)
    assert unmatched.untold > 0
    assert unmatched.alone == 0
    run_mpi(program, 2, profiled(tmp_path / "large")).check()
    profile = open_profile(tmp_path / "large")
    assert (profile.warnings, load_calls(profile)[1]) == ([], Unmatched())


def test_every_so_manieth_call(compiled: Compiled, tmp_path: Path) -> None:
    run_mpi([compiled("profile/many_calls.c"), "count", "20"], 2, profiled(tmp_path, profile_every=6)).check()
    calls, unmatched = load_calls(open_profile(tmp_path))
    assert (calls["sequence"].tolist(), unmatched) == ([6, 12, 18], Unmatched())


@needs_four_ranks
def test_only_some_collectives(compiled: Compiled, tmp_path: Path) -> None:
    env = profiled(tmp_path, profile_collectives="scan,reduce_scatter")
    check_unless_native_fails(compiled("profile/every_collective.c"), RANKS, env)
    profile = open_profile(tmp_path)
    found = Counter(record["operation"] for record in records_of(profile, 0))
    assert {name for name in found if not name.endswith("_init")} == {
        "Scan", "Iscan", "Reduce_scatter", "Ireduce_scatter"
    }  # fmt: skip


def test_oldest_records_make_room_and_are_counted(compiled: Compiled, tmp_path: Path) -> None:
    count = 60_000
    program: list[str | Path] = [compiled("profile/many_calls.c"), "count", str(count)]
    run_mpi(program, 2, profiled(tmp_path, profile_max_mib=2)).check()
    assert all(path.stat().st_size <= 2 << 20 for path in tmp_path.glob("*.stretto"))
    profile = open_profile(tmp_path)
    (warning,) = profile.warnings
    kept = profile.ranks[0].kept
    assert f"{2 * (count - kept):,} of {2 * count:,} records are gone" in warning
    calls, unmatched = load_calls(profile)
    assert calls["sequence"].tolist() == list(range(count - kept + 1, count + 1))
    assert unmatched == Unmatched()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"profile_collectives": "scan,scam"}, ["STRETTO_PROFILE_COLLECTIVES=scam", "allreduce", "scan"]),
        ({"profile": "/proc/none"}, ["STRETTO_PROFILE", "/proc/none"]),
    ],
)
def test_bad_settings_are_refused(
    compiled: Compiled, tmp_path: Path, settings: dict[str, str], words: list[str]
) -> None:
    """Those that take more than reading them; tests/select/configuration_test.cpp has the others."""
    env = stretto_env(**({"profile": str(tmp_path / "profile")} | settings))
    outcome = run_mpi([compiled("profile/many_calls.c"), "count", "1"], 2, env)
    assert outcome.code == 2
    assert all(word in outcome.output for word in words), outcome.output


@pytest.mark.parametrize(
    ("source", "options"),
    [("interposition/collectives.F90", ("-DUSE_MPIF_H",)), ("interposition/collectives.F90", ()),
     ("interposition/collectives_f08.f90", ())],
)  # fmt: skip
def test_fortran(compiled: Compiled, tmp_path: Path, source: str, options: tuple[str, ...]) -> None:
    run_mpi(compiled(source, *options), 3, profiled(tmp_path)).check()
    profile = open_profile(tmp_path)
    calls, unmatched = load_calls(profile)
    assert (profile.warnings, unmatched.calls, unmatched.in_progress, unmatched.alone) == ([], 0, 0, 0)
    assert {"Allreduce", "Reduce", "Bcast", "Barrier"} <= {profile.operations[i] for i in calls["operation"]}
    if platform.machine() == "x86_64":  # elsewhere the wrappers' frames are not skipped
        sites = {site for _, site in summarise(profile).by_site}
        assert all(f"({Path(source).name}:" in site for site in sites), sites


def test_mpi4py(mpi_python: str, tmp_path: Path) -> None:
    program = Path(__file__).resolve().parents[1] / "interposition/mpi4py_program.py"
    run_mpi([mpi_python, program], 3, profiled(tmp_path)).check()
    profile = open_profile(tmp_path)
    calls, unmatched = load_calls(profile)
    assert (profile.warnings, unmatched.calls, unmatched.in_progress) == ([], 0, 0)
    assert {"Allreduce", "Bcast"} <= {profile.operations[i] for i in calls["operation"]}


def test_results_stay_the_same_to_the_bit(compiled: Compiled, tmp_path: Path) -> None:
    """An observer: with everything left to the MPI library it computes what it does without us."""
    program = compiled("mpi/floating_bits.c")
    alone = run_mpi(program, 3, {}).check()
    watched = run_mpi(program, 3, profiled(tmp_path, **NATIVE)).check()
    assert sorted(alone.output.splitlines()) == sorted(watched.output.splitlines())


@pytest.mark.parametrize("program", ("communicators", "mixture", "threads", "sessions", "lifecycle"))
def test_programs_that_do_everything_run_under_the_profiler(compiled: Compiled, tmp_path: Path, program: str) -> None:
    arguments = ["1"] if program == "sessions" else []  # a second may hang or crash with any MPI alone
    run_mpi([compiled(f"mpi/{program}.c"), *arguments], 3, profiled(tmp_path)).check()
    if program != "sessions":  # no world, so no ranks to file under
        profile = open_profile(tmp_path)
        assert profile.warnings == []
        _, unmatched = load_calls(profile)
        assert (unmatched.calls, unmatched.in_progress) == (0, 0)


def test_flags_are_those_of_the_format() -> None:
    text = (Path(__file__).resolve().parents[2] / "src/mpi/profile/format.hpp").read_text()
    for name, value in (
        ("kNonBlocking", NON_BLOCKING),
        ("kPersistent", PERSISTENT),
        ("kInPlace", IN_PLACE),
        ("kSetUp", SET_UP),
    ):
        assert f"{name} = {value};" in text


def test_report_of_a_real_program(compiled: Compiled, tmp_path: Path, stretto_command: list[str]) -> None:
    run_mpi([compiled("profile/many_calls.c"), "count", "5"], 2, profiled(tmp_path)).check()
    shown = subprocess.run([*stretto_command, "report", str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0, shown.stderr
    assert "Barrier" in shown.stdout
    assert "\x1b" not in shown.stdout
    data = json.loads(
        subprocess.run([*stretto_command, "report", "--json", str(tmp_path)], capture_output=True, timeout=60).stdout
    )
    assert data["calls"] == 5
    assert np.isclose(sum(row["calls"] for row in data["by_operation"]), 5)
