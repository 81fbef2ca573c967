"""Profile files written byte by byte from the description of the format, not with the code that reads them."""

from __future__ import annotations

import builtins
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FACTS_OFFSET = 4096
RECORDS_OFFSET = 8192
LAYOUT = [["arrival_ns", "<i8"], ["exit_ns", "<i8"], ["inside_ns", "<i8"], ["bytes", "<u8"], ["call_site", "<u8"],
          ["sequence", "<u4"], ["communicator", "<u4"], ["root", "<i4"], ["operation", "<u2"], ["datatype", "<u2"],
          ["reduction", "<u2"], ["algorithm", "<u2"], ["place", "<u2"], ["flags", "<u2"]]  # fmt: skip
OPERATIONS = ["Allreduce", "Reduce", "Bcast", "Gather", "Scan", "Barrier"]
ALGORITHMS = ["native", "ring", "arrival_chain"]
NONE = 0xFFFF


@dataclass(frozen=True)
class Call:
    """One record, ns; `number`: sequence on its communicator."""

    arrival: int
    leave: int
    number: int = 1
    operation: str = "Allreduce"
    bytes: int = 8
    communicator: int = 0
    root: int = -1
    algorithm: str = "ring"
    flags: int = 0
    site: int = 0x1000
    inside: int | None = None
    datatype: int = NONE
    reduction: int = NONE
    place: int = NONE

    def pack(self) -> builtins.bytes:
        inside = self.leave - self.arrival if self.inside is None else self.inside
        return struct.pack(
            "<qqqQQIIiHHHHHH", self.arrival, self.leave, inside, self.bytes, self.site, self.number, self.communicator,
            self.root, OPERATIONS.index(self.operation), self.datatype, self.reduction,
            ALGORITHMS.index(self.algorithm), self.place, self.flags,
        )  # fmt: skip


def communicator(index: int, identity: int, size: int, rank: int, matched: bool = True) -> dict[str, Any]:
    return {
        "fact": "communicator",
        "index": index,
        "identity": identity,
        "size": size,
        "rank": rank,
        "matched": matched,
        "name": "",
    }


def saved(collective: str, saved_ns: int, arrivals: Sequence[int], from_bytes: int = 8) -> dict[str, Any]:
    """1000 calls of 10 us natively, 900 of them Stretto's."""
    return {
        "fact": "saved",
        "collective": collective,
        "from_bytes": from_bytes,
        "calls": 1000,
        "ours": 900,
        "native_ns": 10_000_000,
        "saved_ns": saved_ns,
        "unsure_ns": 500_000,
        "arrivals": list(arrivals),
    }


def header(rank: int, size: int, *, magic: bytes = b"STRETTOP", version: int = 2, finished: int = 1, run: int = 7,
           facts_bytes: int = 0, facts_lost: int = 0, capacity: int = 100, begun: int = 0, lost: int = 0,
           host: str = "node", layout: Any = LAYOUT, record_bytes: int = 64) -> bytes:  # fmt: skip
    return struct.pack(
        "<8sIIIiiIQQQQQQQQ64s1024s", magic, version, FACTS_OFFSET, record_bytes, rank, size, finished, run,
        FACTS_OFFSET, facts_bytes, facts_lost, RECORDS_OFFSET, capacity, begun, lost, host.encode(),
        json.dumps(layout).encode(),
    )  # fmt: skip


def write_rank(
    directory: Path,
    rank: int,
    size: int,
    calls: Sequence[Call],
    extra_facts: Sequence[dict[str, Any]] = (),
    **head: Any,
) -> Path:
    """One rank's file; MPI_COMM_WORLD is communicator 0. `calls` lie in the ring as they stand here."""
    facts: list[dict[str, Any]] = [
        {"fact": "job", "command": ["./program", "x"], "mpi": "Some MPI", "accelerated": False},
        {"fact": "operations", "names": OPERATIONS},
        {"fact": "algorithms", "names": ALGORITHMS},
        communicator(0, 0, size, rank),
        *extra_facts,
    ]
    text = "".join(json.dumps(fact) + "\n" for fact in facts).encode()
    head.setdefault("begun", len(calls))
    head.setdefault("facts_bytes", len(text))
    path = directory / f"rank-{rank:05d}.stretto"
    path.write_bytes(
        header(rank, size, **head).ljust(FACTS_OFFSET, b"\0")
        + text.ljust(RECORDS_OFFSET - FACTS_OFFSET, b"\0")
        + b"".join(call.pack() for call in calls)
    )
    return path


def write_job(directory: Path, *ranks: Sequence[Call], **head: Any) -> Path:
    """All ranks' files of a job; returns the directory."""
    directory.mkdir(exist_ok=True)
    for rank, calls in enumerate(ranks):
        write_rank(directory, rank, len(ranks), calls, **head)
    return directory
