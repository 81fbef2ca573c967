"""A profile as a trace for ui.perfetto.dev: a process a host, in it a track a rank, on that a slice a call.

A track's slices must nest. Where calls of a rank overlap, as non-blocking ones and those of several threads do, or a
record comes out of order, the later one goes to another track of the same name, and Perfetto shows these as one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackDescriptor, TrackEvent

from stretto.export.rows import Columns
from stretto.profile.calls import is_blocking

_SEQUENCE_ID = 1
_ROWS_AT_ONCE = 4096
_NEVER = sys.maxsize


def write(blocks: Iterable[NDArray[np.void]], columns: Columns, file: BinaryIO) -> None:
    """Write `blocks`, each (n,) of ROW, to `file`."""
    packets = _Packets()
    tracks = _Tracks(columns.hosts, packets)
    for rows in blocks:
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            _add_calls(rows[begin : begin + _ROWS_AT_ONCE], columns, tracks, packets)
            file.write(packets.take())
    file.write(packets.take())


class _Packets:
    """Builds a trace piece by piece: traces written one behind the other are one trace. Texts are written once and
    then referred to by number."""

    def __init__(self) -> None:
        self._trace = Trace()
        self._numbers: dict[str, dict[str, int]] = {}
        first = self.add()
        first.first_packet_on_sequence = True
        first.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED

    def add(self) -> Any:
        """A new TracePacket, to be filled."""
        return self._trace.packet.add(
            trusted_packet_sequence_id=_SEQUENCE_ID, sequence_flags=TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        )

    def take(self) -> bytes:
        """What has been added since this was last called."""
        data: bytes = self._trace.SerializeToString()
        self._trace = Trace()  # Clear() would keep the memory
        return data

    def begin(self, track: int, time_ns: int, name: str, notes: dict[str, int | str] | None = None) -> None:
        self._event(track, time_ns, TrackEvent.TYPE_SLICE_BEGIN, name, notes or {})

    def end(self, track: int, time_ns: int) -> None:
        packet = self.add()
        packet.timestamp = time_ns
        packet.track_event.type, packet.track_event.track_uuid = TrackEvent.TYPE_SLICE_END, track

    def instant(self, track: int, time_ns: int, name: str, notes: dict[str, int | str]) -> None:
        self._event(track, time_ns, TrackEvent.TYPE_INSTANT, name, notes)

    def _event(self, track: int, time_ns: int, kind: int, name: str, notes: dict[str, int | str]) -> None:
        packet = self.add()
        packet.timestamp = time_ns
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        event.name_iid = self._number(packet, "event_names", name)
        for key, value in notes.items():
            note = event.debug_annotations.add(name_iid=self._number(packet, "debug_annotation_names", key))
            if isinstance(value, str):
                note.string_value_iid = self._number(packet, "debug_annotation_string_values", value)
            else:
                note.uint_value = value

    def _number(self, packet: Any, kind: str, text: str) -> int:
        """The number of a text of this kind; a new one is told in `packet`."""
        numbers = self._numbers.setdefault(kind, {})
        if text not in numbers:
            numbers[text] = len(numbers) + 1
            entry = getattr(packet.interned_data, kind).add(iid=numbers[text])
            if kind == "debug_annotation_string_values":
                entry.str = text.encode()
            else:
                entry.name = text
        return numbers[text]


class _Tracks:
    """The tracks: uuids from 1, first those of the hosts, then each rank's as they are needed."""

    def __init__(self, hosts: list[str], packets: _Packets) -> None:
        self._packets = packets
        self._parents = {host: place for place, host in enumerate(dict.fromkeys(hosts), start=1)}
        self._hosts = hosts
        self._fresh = len(self._parents) + 1
        # For each rank, and its blocking calls or its others: [time in ns from when it is free, uuid] of each track.
        self._lanes: dict[tuple[int, bool], list[list[int]]] = {}
        for host, uuid in self._parents.items():
            descriptor = packets.add().track_descriptor
            descriptor.uuid, descriptor.process.pid, descriptor.process.process_name = uuid, uuid, host
            descriptor.child_ordering = TrackDescriptor.EXPLICIT

    def reserve(self, rank: int, blocking: bool, begin_ns: int, end_ns: int) -> int:
        """The uuid of a track of the rank on which no slice ends after `begin_ns`."""
        lanes = self._lanes.setdefault((rank, blocking), [])
        lane = next((lane for lane in lanes if lane[0] <= begin_ns), None)
        if lane is None:
            lane = [0, self._new(rank, blocking)]
            lanes.append(lane)
        lane[0] = end_ns
        return lane[1]

    def _new(self, rank: int, blocking: bool) -> int:
        uuid, self._fresh = self._fresh, self._fresh + 1
        descriptor = self._packets.add().track_descriptor
        descriptor.uuid, descriptor.parent_uuid = uuid, self._parents[self._hosts[rank]]
        descriptor.name = f"rank {rank}" if blocking else f"rank {rank}, non-blocking"
        descriptor.sibling_order_rank = 2 * rank + (not blocking)
        return uuid


def _add_calls(rows: NDArray[np.void], columns: Columns, tracks: _Tracks, packets: _Packets) -> None:
    sites, site_words = columns.sites(rows)
    names = ("rank", "group", "sequence", "bytes", "root", "algorithm", "arrival_ns", "exit_ns", "whole", "last_rank",
             "last_ns")  # fmt: skip
    lists = [columns.operation_codes(rows), sites, is_blocking(rows), *(rows[name] for name in names)]
    for (operation, site, blocking, rank, group, sequence, bytes_, root, algorithm, arrival, leave, whole, last_rank,
         last) in zip(*(values.tolist() for values in lists), strict=True):  # fmt: skip
        notes = {"bytes": bytes_, "communicator": columns.communicators[group] if group >= 0 else "unknown",
                 "algorithm": columns.algorithms[algorithm], "sequence": sequence,
                 "call site": site_words[site]}  # fmt: skip
        if root >= 0:
            notes["root"] = root
        name = columns.operations[operation]
        if not leave and not blocking:  # no slice, which would stay open beside all later ones
            packets.instant(tracks.reserve(rank, blocking, arrival, arrival), arrival, f"{name}, end not seen", notes)
            continue
        track = tracks.reserve(rank, blocking, arrival, leave or _NEVER)
        packets.begin(track, arrival, name, notes)
        if whole and blocking:
            _add_parts(packets, track, arrival, leave, last_rank, last)
        if leave:
            packets.end(track, leave)


def _add_parts(packets: _Packets, track: int, arrival: int, leave: int, last_rank: int, last: int) -> None:
    """Slices in that of a call: before the last rank came at `last`, and after; times in ns."""
    if arrival < last:
        early = leave <= last
        packets.begin(track, arrival, f"{'left before' if early else 'waiting for'} rank {last_rank}")
        packets.end(track, min(leave, last))
    if leave > last:
        packets.begin(track, last, "after the last arrival")
        packets.end(track, leave)
