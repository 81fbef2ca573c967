"""Exports of small profiles against rows and slices worked out by hand."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_support import Stretto
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from profile_writer import Call, communicator, write_job, write_rank

from stretto.errors import StrettoError
from stretto.export.command import FORMATS, export
from stretto.export.rows import read_rows
from stretto.profile.calls import Matcher
from stretto.profile.files import IN_PLACE, NON_BLOCKING, PERSISTENT, open_profile

# What the rows of these tests have in common.
USUAL = {"host": "node", "communicator": "communicator 0.0", "sequence": 1, "operation": "Allreduce", "bytes": 8,
         "root": None, "datatype": None, "reduction": None, "algorithm": "ring", "non_blocking": False,
         "persistent": False, "in_place": False, "call_site": "unknown", "place": None, "last_rank": None,
         "waiting_ns": None, "imbalance_ns": None}  # fmt: skip


def exported(directory: Path, kind: str) -> Path:
    output = directory / f"out.{kind}"
    export(directory, kind, output)
    return output


def table_rows(directory: Path) -> list[dict[str, Any]]:
    """The rows of the Parquet table, after a check that the CSV says the same in text."""
    rows: list[dict[str, Any]] = pq.read_table(exported(directory, "parquet")).to_pylist()
    with exported(directory, "csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    texts = {None: "", True: "true", False: "false"}
    assert lines == [
        {name: texts[cell] if cell is None or isinstance(cell, bool) else str(cell) for name, cell in row.items()}
        for row in rows
    ]
    return rows


def test_matched_call_has_a_row_a_rank_in_the_order_of_arrival(tmp_path: Path) -> None:
    write_job(tmp_path, [Call(100, 950)], [Call(700, 900, flags=IN_PLACE)], [Call(400, 600)])
    whole = USUAL | {"last_rank": 1, "imbalance_ns": 600}
    assert table_rows(tmp_path) == [
        whole | {"rank": 0, "arrival_ns": 100, "exit_ns": 950, "inside_ns": 850, "place": 0, "waiting_ns": 600},
        whole
        | {"rank": 2, "arrival_ns": 400, "exit_ns": 600, "inside_ns": 200, "place": 1, "waiting_ns": 200},  # left early
        whole
        | {
            "rank": 1,
            "arrival_ns": 700,
            "exit_ns": 900,
            "inside_ns": 200,
            "place": 2,
            "waiting_ns": 0,
            "in_place": True,
        },
    ]


def test_places_that_the_ranks_took_overrule_the_clocks(tmp_path: Path) -> None:
    write_job(
        tmp_path,
        [Call(100, 950, place=1), Call(960, 990, number=2)],
        [Call(101, 900, place=0), Call(970, 980, number=2)],
    )
    places = [(row["sequence"], row["rank"], row["place"]) for row in table_rows(tmp_path)]
    assert places == [(1, 0, 1), (1, 1, 0), (2, 0, 0), (2, 1, 1)]


def test_records_that_do_not_match_are_kept(tmp_path: Path) -> None:
    facts = [communicator(1, 5, 2, 0, matched=False), communicator(2, 6, 1, 0)]
    first = [Call(10, 20), Call(30, 40, communicator=1), Call(50, 60, communicator=2), Call(70, 80, communicator=9),
             Call(90, 0, 2)]  # fmt: skip
    write_rank(tmp_path, 0, 2, first, facts)
    write_rank(tmp_path, 1, 2, [Call(95, 99, 2), Call(110, 120, 3, "Bcast", root=1)])
    rows = table_rows(tmp_path)
    shown = [(row["rank"], row["communicator"], row["sequence"], row["arrival_ns"], row["exit_ns"]) for row in rows]
    assert sorted(shown, key=lambda row: int(row[3])) == [
        (0, "communicator 0.0", 1, 10, 20),
        (0, "communicator 0.5", 1, 30, 40),
        (0, "communicator 0.6", 1, 50, 60),
        (0, None, 1, 70, 80),
        (0, "communicator 0.0", 2, 90, None),
        (1, "communicator 0.0", 2, 95, 99),
        (1, "communicator 0.0", 3, 110, 120),
    ]
    assert {row[name] for row in rows for name in ("last_rank", "waiting_ns", "imbalance_ns")} == {None}
    assert [row["root"] for row in rows if row["operation"] == "Bcast"] == [1]
    assert [row["inside_ns"] for row in rows if row["exit_ns"] is None] == [None]


def test_waiting_of_a_non_blocking_call_is_empty(tmp_path: Path) -> None:
    write_job(tmp_path, *([Call(10 + rank, 90, flags=NON_BLOCKING, inside=7)] for rank in (0, 1)))
    rows = table_rows(tmp_path)
    assert [row["operation"] for row in rows] == ["Iallreduce", "Iallreduce"]
    assert [(row["inside_ns"], row["last_rank"], row["waiting_ns"], row["imbalance_ns"]) for row in rows] == [
        (7, 1, None, 1),
        (7, 1, None, 1),
    ]
    assert all(row["non_blocking"] and not row["persistent"] for row in rows)


def test_words_of_ranks_that_number_them_differently(tmp_path: Path) -> None:
    """Records name data types by index; each rank has its own list. Two hosts, and two communicators of one name."""
    for rank, (double, single) in enumerate(((0, 1), (1, 0))):
        facts = [{"fact": "datatype", "index": double, "name": "MPI_DOUBLE", "bytes": 8},
                 {"fact": "datatype", "index": single, "name": "MPI_FLOAT", "bytes": 4},
                 {"fact": "reduction", "index": 0, "name": "MPI_SUM"},
                 *(communicator(index, 4 + index, 2, rank) | {"name": "pair"} for index in (1, 2))]  # fmt: skip
        calls = [Call(10, 20, communicator=1, datatype=double, reduction=0),
                 Call(30, 40, communicator=2, datatype=single), Call(50, 60, datatype=5)]  # fmt: skip
        write_rank(tmp_path, rank, 2, calls, facts, host=f"host{rank}")
    rows = table_rows(tmp_path)
    assert [(row["rank"], row["host"], row["communicator"], row["datatype"], row["reduction"]) for row in rows] == [
        (rank, f"host{rank}", *words)
        for words in (("pair", "MPI_DOUBLE", "MPI_SUM"), ("pair", "MPI_FLOAT", None), ("communicator 0.0", None, None))
        for rank in (0, 1)
    ]


def test_times_are_on_the_clock_of_rank_0(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, 2, [Call(1_000, 2_000)], host="a")
    clock = {"fact": "clock", "at_ns": 1, "offset_ns": 5_000, "error_ns": 9}
    write_rank(tmp_path, 1, 2, [Call(6_500, 7_500)], [clock], host="b")
    assert [(row["arrival_ns"], row["exit_ns"], row["imbalance_ns"]) for row in table_rows(tmp_path)] == [
        (1_000, 2_000, 500),
        (1_500, 2_500, 500),
    ]


def slices(path: Path) -> tuple[dict[str, str], list[tuple[Any, ...]], list[dict[str, Any]]]:
    """Reads a trace as Perfetto does: events in the order of time, ends closing the innermost slice of their track.

    Returns the parent of each track by name, the slices (track, depth, name, begin, end) in the order of their
    beginnings, and the notes of each slice that has some.
    """
    trace = Trace.FromString(path.read_bytes())
    tracks, parents = {}, {}
    texts: dict[tuple[str, int], str] = {}
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid not in tracks
            tracks[descriptor.uuid] = descriptor.name or descriptor.process.process_name
            if descriptor.parent_uuid:
                parents[descriptor.name] = tracks[descriptor.parent_uuid]
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                texts[field.name, entry.iid] = entry.str.decode() if hasattr(entry, "str") else entry.name
    found: list[list[Any]] = []
    notes = []
    open_slices: dict[int, list[list[Any]]] = {}
    for packet in sorted((p for p in trace.packet if p.HasField("track_event")), key=lambda p: int(p.timestamp)):
        event, time = packet.track_event, packet.timestamp
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_END:
            stack.pop()[-1] = time
            continue
        name = texts["event_names", event.name_iid]
        found.append([tracks[event.track_uuid], len(stack), name, time, None])
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append(found[-1])
        if event.debug_annotations:
            notes.append({
                texts["debug_annotation_names", note.name_iid]: note.uint_value if note.HasField("uint_value")
                else texts["debug_annotation_string_values", note.string_value_iid]
                for note in event.debug_annotations
            })  # fmt: skip
    return parents, [tuple(entry) for entry in found], notes


def test_trace_shows_waiting_and_what_comes_after(tmp_path: Path) -> None:
    for rank, call in enumerate((Call(100, 950, 1, "Bcast", root=1), Call(700, 900, 1, "Bcast", root=1),
                                 Call(400, 600, 1, "Bcast", root=1))):  # fmt: skip
        write_rank(tmp_path, rank, 3, [call], host="ab"[rank > 1])
    parents, found, notes = slices(exported(tmp_path, "perfetto"))
    assert parents == {"rank 0": "a", "rank 1": "a", "rank 2": "b"}
    assert found == [
        ("rank 0", 0, "Bcast", 100, 950),
        ("rank 0", 1, "waiting for rank 1", 100, 700),
        ("rank 2", 0, "Bcast", 400, 600),
        ("rank 2", 1, "left before rank 1", 400, 600),
        ("rank 0", 1, "after the last arrival", 700, 950),
        ("rank 1", 0, "Bcast", 700, 900),
        ("rank 1", 1, "after the last arrival", 700, 900),
    ]
    assert notes == [{"bytes": 8, "communicator": "communicator 0.0", "algorithm": "ring", "sequence": 1,
                      "call site": "unknown", "root": 1}] * 3  # fmt: skip


def test_trace_keeps_overlapping_calls_apart_and_unended_ones_open(tmp_path: Path) -> None:
    write_job(tmp_path, [Call(10, 50, 1, flags=NON_BLOCKING), Call(20, 40, 2, flags=NON_BLOCKING), Call(30, 35, 3),
                         Call(60, 70, 4, flags=PERSISTENT), Call(80, 0, 5, flags=NON_BLOCKING),
                         Call(90, 0, 6)])  # fmt: skip
    _, found, _ = slices(exported(tmp_path, "perfetto"))
    assert found == [
        ("rank 0, non-blocking", 0, "Iallreduce", 10, 50),
        ("rank 0, non-blocking", 0, "Iallreduce", 20, 40),
        ("rank 0", 0, "Allreduce", 30, 35),
        ("rank 0, non-blocking", 0, "Allreduce_init", 60, 70),
        ("rank 0, non-blocking", 0, "Iallreduce, end not seen", 80, None),
        ("rank 0", 0, "Allreduce", 90, None),
    ]


def test_memory_is_bounded_by_the_blocks(tmp_path: Path) -> None:
    """1000 calls of 4 ranks, 16 records of each rank at a time: no block has more than twice what was asked for."""
    write_job(tmp_path, *([Call(100 * n + rank, 100 * n + 50, n) for n in range(1, 1001)] for rank in range(4)),
              capacity=1000)  # fmt: skip
    told: list[int] = []
    lengths = [len(rows) for rows in read_rows(Matcher(open_profile(tmp_path), 16), told.append)]
    assert max(lengths) <= 2 * 4 * 16
    assert sum(lengths) == 4000
    assert told == lengths
    export(tmp_path, "parquet", tmp_path / "out", records_at_once=64)
    file = pq.ParquetFile(tmp_path / "out").metadata
    assert file.num_rows == 4000
    assert max(file.row_group(group).num_rows for group in range(file.num_row_groups)) <= 128
    whole, pieces = exported(tmp_path, "perfetto"), tmp_path / "pieces"
    export(tmp_path, "perfetto", pieces, records_at_once=64)
    assert sorted(slices(whole)[1]) == sorted(slices(pieces)[1])


@pytest.mark.parametrize("kind", FORMATS)
def test_profile_without_records(tmp_path: Path, kind: str) -> None:
    write_job(tmp_path, [], [])
    output = exported(tmp_path, kind)
    assert output.stat().st_size > 0
    if kind == "csv":
        assert set(output.read_text().rstrip().split(",")) == {"rank", "arrival_ns", "exit_ns", "inside_ns", *USUAL}


def test_command(stretto: Stretto, tmp_path: Path) -> None:
    write_job(tmp_path, [Call(1, 2)])
    output = tmp_path / "out.csv"
    result = stretto("export", str(tmp_path), "--format", "csv", "--output", str(output))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert len(output.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("directory", "kind", "output", "words"),
    [
        ("nowhere", "csv", "out", "no such directory: give the DIR"),
        ("empty", "csv", "out", "no rank-"),
        (".", "xlsx", "out", "choose from csv, parquet, perfetto"),
        (".", "csv", "nowhere/out", "cannot be written: No such file or directory"),
        (".", "csv", "empty", "cannot be written: Is a directory"),
        (".", "csv", "rank-00000.stretto", "a file of the profile itself"),
    ],
)
def test_bad_input_names_the_fix(tmp_path: Path, directory: str, kind: str, output: str, words: str) -> None:
    path = write_job(tmp_path, [Call(1, 2)]) / "rank-00000.stretto"
    (tmp_path / "empty").mkdir()
    before = path.read_bytes()
    with pytest.raises(StrettoError, match=words):
        export(tmp_path / directory, kind, tmp_path / output)
    assert path.read_bytes() == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("kind", "package"), [("parquet", "pyarrow"), ("perfetto", "perfetto")])
def test_missing_package_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, package: str
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"stretto.export.as_{kind}", raising=False)
    with pytest.raises(StrettoError, match=r"pip install 'stretto\[export\]'"):
        export(tmp_path, kind, tmp_path / "out")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("kind", FORMATS)
def test_full_disk(tmp_path: Path, kind: str) -> None:
    write_job(tmp_path, [Call(1, 2)])
    with pytest.raises(StrettoError, match=r"No space left on device.*: is the disk full"):
        export(tmp_path, kind, Path("/dev/full"))


def test_half_an_export_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_job(tmp_path, [Call(1, 2)])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("stretto.export.as_csv.write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export(tmp_path, "csv", tmp_path / "out")
    assert not (tmp_path / "out").exists()
