"""The figures of a report against synthetic traces whose truth is known, and the report itself."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from cli_support import Compile, Stretto
from profile_writer import Call, communicator, saved, write_job, write_rank

from stretto.profile import sample
from stretto.profile.files import NON_BLOCKING, open_profile
from stretto.profile.sites import cython_name, without_parameters
from stretto.profile.summary import Summary, summarise

MS = 1_000_000
KIB = 1 << 10


def summary_of(directory: Path) -> Summary:
    return summarise(open_profile(directory))


def one_call(
    operation: str,
    arrivals: list[int],
    exits: list[int],
    root: int = -1,
) -> list[list[Call]]:
    """The same call of every rank, times in ms."""
    return [
        [Call(arrival * MS, leave * MS, 1, operation, root=root)]
        for arrival, leave in zip(arrivals, exits, strict=True)
    ]


@pytest.mark.parametrize(
    ("operation", "arrivals", "exits", "root", "expected_ms"),
    [
        ("Allreduce", [1, 3, 7], [9, 8, 10], -1, {"Wait at NxN": 6 + 4 + 0, "NxN Completion": 1 + 0 + 2}),
        ("Barrier", [1, 3, 7], [9, 8, 10], -1, {"Wait at Barrier": 10, "Barrier Completion": 3}),
        ("Bcast", [1, 5, 9], [6, 6, 10], 1, {"Late Broadcast": 4}),
        ("Bcast", [5, 1, 9], [6, 2, 10], 0, {"Late Broadcast": 1}),  # rank 1 had left before the root came
        ("Reduce", [4, 9, 1], [5, 10, 11], 2, {"Early Reduce": 3}),
        ("Reduce", [4, 9, 6], [5, 10, 11], 2, {"Early Reduce": 0}),
        ("Gather", [4, 9, 1], [5, 10, 11], 2, {"Early Gather": 3}),
        ("Scan", [5, 1, 2], [6, 7, 8], -1, {"Early Scan": 0 + 4 + 3}),
    ],
)
def test_wait_states(
    tmp_path: Path,
    operation: str,
    arrivals: list[int],
    exits: list[int],
    root: int,
    expected_ms: dict[str, int],
) -> None:
    summary = summary_of(write_job(tmp_path, *one_call(operation, arrivals, exits, root)))
    found = {state: seconds * 1000 for state, seconds in summary.wait_states.items()}
    assert found == pytest.approx(expected_ms)


def test_root_is_a_rank_of_the_communicator_not_of_the_world(tmp_path: Path) -> None:
    for rank, arrival in ((0, 1), (1, 5)):  # world rank 1 is rank 0 of the communicator
        facts = [communicator(1, 9, 2, 1 - rank)]
        write_rank(tmp_path, rank, 2, [Call(arrival * MS, 6 * MS, 1, "Bcast", communicator=1, root=0)], facts)
    assert summary_of(tmp_path).wait_states["Late Broadcast"] == pytest.approx(0.004)


def test_straggler_is_named_with_how_late_and_how_often(tmp_path: Path) -> None:
    """Rank 2 comes 20 ms late to every third of 30 calls, and 1 us last at the others; rank 0 never."""
    ranks: list[list[Call]] = [[], [], []]
    for number in range(1, 31):
        begin = number * 100 * MS
        late = 20 * MS if number % 3 == 0 else 1000
        for rank, delay in enumerate((0, 500, 500 + late)):
            ranks[rank].append(Call(begin + delay, begin + 30 * MS, number))
    summary = summary_of(write_job(tmp_path, *ranks))
    worst = summary.stragglers[0]
    assert (worst.rank, worst.last, worst.calls) == (2, 30, 30)
    assert worst.typical_lateness == pytest.approx(0.020, rel=0.001)
    assert worst.effective_times == pytest.approx(10, rel=0.001)
    assert worst.caused == pytest.approx(2 * (10 * 0.020 + 20 * 1e-6))
    assert worst.waited == 0
    assert summary.stragglers[1].waited + summary.stragglers[2].waited == pytest.approx(worst.caused + 30 * 0.5e-6)
    assert {call.sequence for call in summary.worst_calls[:10]} == set(range(3, 31, 3))
    assert summary.straggler_sites[2, "unknown"] == pytest.approx(worst.caused)


def test_who_left_early_did_not_wait(tmp_path: Path) -> None:
    summary = summary_of(write_job(tmp_path, *one_call("Reduce", [1, 2, 9], [3, 10, 11], 1)))
    (state,) = summary.wait_states.values()
    assert state == 0  # the root came after the first sender
    assert summary.stragglers[0].rank == 2
    assert summary.stragglers[0].caused == pytest.approx((3 - 2 + 9 - 2) / 1000)


def test_shares_by_operation_and_class(tmp_path: Path) -> None:
    calls = [
        Call(1 * MS, 2 * MS, 1, bytes=KIB, algorithm="native"),
        Call(3 * MS, 5 * MS, 2, bytes=KIB + 1),
        Call(6 * MS, 9 * MS, 3, "Bcast", bytes=64 * KIB * KIB, root=0),
        Call(10 * MS, 20 * MS, 4, bytes=8, flags=NON_BLOCKING, inside=MS),
    ]
    summary = summary_of(write_job(tmp_path, calls, calls))
    shares = summary.by_operation
    assert {name: share.calls for name, share in shares.items()} == {"Bcast": 1, "Allreduce": 2, "Iallreduce": 1}
    inside = {name: share.inside for name, share in shares.items()}
    assert inside == pytest.approx({"Bcast": 0.006, "Allreduce": 0.006, "Iallreduce": 0.002})
    assert summary.by_operation["Allreduce"].algorithms == {"native": 1, "ring": 1}
    assert {key: share.calls for key, share in summary.by_class.items()} == {
        ("Bcast", "1-64 MB"): 1,
        ("Allreduce", "1 KB-1 MB"): 1,
        ("Allreduce", "0-1 KB"): 1,
        ("Iallreduce", "0-1 KB"): 1,
    }
    assert summary.span == pytest.approx(0.019)


@pytest.mark.parametrize(("saved_ns", "words"), [(5_000_000, "saved 4 ms"), (-3_000_000, "lost 4 ms")])
def test_what_stretto_has_saved_is_told(tmp_path: Path, stretto: Stretto, saved_ns: int, words: str) -> None:
    facts = [saved("bcast", -1_000_000, [0, 0, 1000], 0), saved("allreduce", saved_ns, [100, 800, 100], 1024)]
    for rank in range(2):
        write_rank(tmp_path, rank, 2, [Call(1 * MS, 2 * MS)], facts if rank == 0 else [])
    savings = {saving.operation: saving for saving in summary_of(tmp_path).savings}
    assert set(savings) == {"Bcast", "Allreduce"}
    told = savings["Allreduce"]
    assert (told.from_bytes, told.calls, told.ours, told.mostly) == (1024, 1000, 900, "uneven")
    assert (told.native, told.saved, told.unsure) == pytest.approx((0.01, saved_ns * 1e-9, 0.0005))
    shown = stretto("report", str(tmp_path)).stdout
    assert f"Stretto has {words} (±1 ms) of the 20 ms that" in " ".join(shown.split())
    assert re.search(r"Allreduce +│ uneven +│ +1,024 │ +1,000 │ +90.0 % │ +10 ms │ +-?[35] ms │ +500 us", shown)
    assert json.loads(stretto("report", "--json", str(tmp_path)).stdout)["savings"][0]["calls"] == 1000


def test_parts_add_up_to_the_whole(tmp_path: Path) -> None:
    """Rank 1 comes 3 ms late to two allreduces of one site, rank 0 1 ms late to a broadcast of another."""
    early = [
        Call(1 * MS, 9 * MS, 1),
        Call(10 * MS, 19 * MS, 2, bytes=KIB + 1),
        Call(21 * MS, 22 * MS, 3, "Bcast", root=0),
    ]
    late = [Call(4 * MS, 9 * MS, 1), Call(13 * MS, 19 * MS, 2), Call(20 * MS, 22 * MS, 3, "Bcast", root=0)]
    summary = summary_of(write_job(tmp_path, early, late))
    assert {key: share.calls for key, share in summary.by_kind.items()} == {
        ("Allreduce", "0-1 KB", "unknown"): 1,
        ("Allreduce", "1 KB-1 MB", "unknown"): 1,
        ("Bcast", "0-1 KB", "unknown"): 1,
    }
    blame = {(operation, one.rank): one for (operation, _), ranks in summary.blame.items() for one in ranks}
    assert {key: one.caused for key, one in blame.items() if one.last} == pytest.approx(
        {("Allreduce", 1): 0.006, ("Bcast", 0): 0.001}
    )
    assert (blame["Allreduce", 1].calls, blame["Allreduce", 1].last) == (2, 2)
    assert blame["Allreduce", 0].waited == pytest.approx(0.006)
    assert summary.states_by_operation["Allreduce", "Wait at NxN"] == pytest.approx(0.006)
    assert [call.at for call in summary.sample] == pytest.approx([0.003, 0.012, 0.020])


def test_sample_is_bounded_keeps_the_worst_and_is_the_same_every_time(tmp_path: Path) -> None:
    count = 4 * sample.SAMPLE_LIMIT
    worst = {17, count // 2, count - 3}
    ranks: list[list[Call]] = [[], []]
    for number in range(1, count + 1):
        begin = number * MS
        ranks[0].append(Call(begin, begin + 100, number))
        ranks[1].append(Call(begin + (90 if number in worst else 10 + number % 7), begin + 100, number))
    directory = write_job(tmp_path, *ranks, capacity=count)
    first, second = summary_of(directory).sample, summary_of(directory).sample
    assert first == second
    assert len(first) <= sample.SAMPLE_LIMIT
    assert worst <= {call.sequence for call in first}
    quarter = sum(call.sequence <= count // 4 for call in first) / len(first)
    assert quarter == pytest.approx(0.25, abs=0.05)


def test_phases_of_imbalance_by_call_site(tmp_path: Path) -> None:
    """At one site imbalance jumps from 1 to 8 us at call 201 of 400; at another it stays."""
    ranks: list[list[Call]] = [[], []]
    for number in range(400):
        late = 1000 if number < 200 else 8000
        for rank in (0, 1):
            begin = (number + 1) * MS
            ranks[rank].append(Call(begin + rank * late, begin + MS // 4, 2 * number + 1, site=0x10))
            half = begin + MS // 2
            ranks[rank].append(Call(half + rank * 500, half + 9000, 2 * number + 2, "Bcast", root=0, site=0x20))
    summary = summary_of(write_job(tmp_path, *ranks, capacity=1000))
    (steady,) = summary.histories["Bcast", "unknown"].phases
    assert (steady.first, steady.calls) == (0, 400)
    assert steady.level == pytest.approx(0.5e-6)
    first, second = summary.histories["Allreduce", "unknown"].phases
    assert (first.first, first.calls, second.first, second.calls) == (0, 200, 200, 200)
    assert [first.level, second.level] == pytest.approx([1e-6, 8e-6])


def test_sites_are_the_same_for_ranks_that_load_elsewhere(tmp_path: Path) -> None:
    for rank in (0, 1):
        base = 0x7000_0000 + rank * 0x10_0000
        module = {"fact": "module", "path": "/no/such/lib.so", "base": base, "begin": base, "end": base + 0x1000}
        calls = [Call(1, 2, 1, site=base + 0x123), Call(3, 4, 2, site=base + 0x456), Call(5, 6, 3, site=0x99)]
        write_rank(tmp_path, rank, 2, calls, [module])
    assert {site for _, site in summary_of(tmp_path).by_site} == {"lib.so+0x123", "lib.so+0x456", "unknown"}


def test_places_of_one_line_are_one_site(tmp_path: Path, compile_c: Compile) -> None:
    library = compile_c("int one_line(int x) { return x * x + 7 * x + 1; }", "-g", "-shared", "-fPIC")
    symbols = subprocess.run(["nm", str(library)], capture_output=True, text=True, check=True).stdout
    begin = 0x7000_0000 + int(next(line for line in symbols.splitlines() if line.endswith(" one_line")).split()[0], 16)
    module = {"fact": "module", "path": str(library), "base": 0x7000_0000, "begin": 0x7000_0000, "end": 0x7100_0000}
    for rank in (0, 1):
        calls = [Call(10 * n, 10 * n + 5, n, site=begin + 5 + n % 2) for n in range(1, 9)]
        write_rank(tmp_path, rank, 2, calls, [module])
    summary = summary_of(tmp_path)
    ((_, site),) = summary.by_site
    assert re.fullmatch(r"one_line \(.+\.c:1\)", site)
    assert len(summary.histories["Allreduce", site].means) == 8


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("main", "main"),
        ("a::b<c>(d, e) const", "a::b<c>"),
        ("(anonymous namespace)::f(int, void (*)(int))", "(anonymous namespace)::f"),
        ("std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()"),
        ("f(int) [clone .isra.0]", "f"),
        ("not(demangled", "not(demangled"),
    ],
)
def test_functions_are_named_without_their_parameters(function: str, shown: str) -> None:
    assert without_parameters(function) == shown


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_121Bcast", "mpi4py.MPI.Comm.Bcast"),
        ("__pyx_pf_6mpi4py_3MPI_4Comm_6Gather", "mpi4py.MPI.Comm.Gather"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_reduce", "__pyx_f_6mpi4py_3MPI_PyMPI_reduce"),
        ("main", "main"),
    ],
)
def test_functions_of_cython_have_their_names_in_python(symbol: str, shown: str) -> None:
    assert cython_name(symbol) == shown


def test_report_in_words_and_as_json(stretto: Stretto, tmp_path: Path) -> None:
    write_job(tmp_path, *one_call("Allreduce", [1, 3, 21], [22, 23, 24]))
    shown = stretto("report", str(tmp_path))
    assert shown.returncode == 0, shown.stderr
    assert "\x1b" not in shown.stdout
    assert "Rank 2 on node" in shown.stdout
    assert "./program x" in shown.stdout
    data = json.loads(stretto("report", "--json", str(tmp_path)).stdout)
    assert data["stragglers"][0]["rank"] == 2
    assert data["stragglers"][0]["typical_lateness"] == pytest.approx(0.018)
    assert data["wait_states"]["Wait at NxN"] == pytest.approx(0.038)


def test_report_of_less_than_everything_says_so(stretto: Stretto, tmp_path: Path) -> None:
    write_job(tmp_path, *one_call("Allreduce", [1, 3, 21], [22, 23, 24]), finished=0)
    (tmp_path / "rank-00002.stretto").write_bytes(b"STRETTOP" + bytes(50))
    write_rank(tmp_path, 1, 3, [Call(1, 2), Call(3, 4, 2)])
    shown = stretto("report", str(tmp_path))
    assert shown.returncode == 0
    for words in ("too short", "no sound file of rank 2 of 3", "rank 0 did not reach MPI_Finalize", "left out",
                  "nothing to report"):  # fmt: skip
        assert words in " ".join(shown.stdout.split()), shown.stdout


@pytest.mark.parametrize("words", [("report", "/no/such/place"), ("report", ".")])
def test_report_of_nothing(stretto: Stretto, words: tuple[str, ...]) -> None:
    shown = stretto(*words)
    assert shown.returncode == 2
    assert "--profile" in shown.stderr
