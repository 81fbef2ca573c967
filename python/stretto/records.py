"""Reading the event files that the preload library writes, one a rank (`stretto run --record DIR`)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stretto.algorithms import COLLECTIVES
from stretto.errors import StrettoError

MAGIC = b"STRETTO1"
VERSION = 1

HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("record_bytes", "<u4"),
        ("world_rank", "<i4"),
        ("world_size", "<i4"),
        ("reserved", "<u4"),
        ("host", "S24"),
        ("record_count", "<u8"),
    ]
)
# One call of one rank. Times are CLOCK_MONOTONIC of the rank's host, in ns; `collective` indexes COLLECTIVES.
RECORD = np.dtype(
    [
        ("arrival_ns", "<i8"),
        ("exit_ns", "<i8"),
        ("bytes", "<u8"),
        ("sequence", "<u4"),
        ("communicator", "<u4"),
        ("collective", "<u2"),
        ("communicator_size", "<u2"),
        ("root", "<i4"),
        ("algorithm", "S24"),
    ]
)


@dataclass(frozen=True)
class RankRecording:
    """What one rank recorded: `calls` is a 1-D array of RECORD in the order of the rank's calls.

    `complete` is false where the file ends before the header says, as after a crash.
    """

    world_rank: int
    world_size: int
    host: str
    calls: NDArray[np.void]
    complete: bool


def read_rank(path: Path) -> RankRecording:
    """Read one rank's file. A cut-off last record is left out, and `complete` is then false.

    A header that counts no records though some follow (the program died before MPI_Finalize) is read to its end.
    Raises StrettoError, naming the file and what is wrong, for anything that is no such file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StrettoError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) < HEADER.itemsize:
        raise StrettoError(f"{path}: {len(data)} bytes, too short for a Stretto recording")
    header = np.frombuffer(data, HEADER, count=1)[0]
    _check_header(path, header)
    available = (len(data) - HEADER.itemsize) // RECORD.itemsize
    counted = int(header["record_count"])
    count = min(counted, available) if counted else available
    calls = np.frombuffer(data, RECORD, count=count, offset=HEADER.itemsize)
    if np.any(calls["collective"] >= len(COLLECTIVES)) or np.any(calls["exit_ns"] < calls["arrival_ns"]):
        raise StrettoError(
            f"{path}: a record with an unknown collective or an exit before its arrival: file is damaged"
        )
    host = bytes(header["host"]).decode(errors="replace")
    return RankRecording(int(header["world_rank"]), int(header["world_size"]), host, calls, count == counted)


def _check_header(path: Path, header: Any) -> None:
    """Raise StrettoError unless the header is one of this version and its sizes are ours."""
    if header["magic"] != MAGIC:
        raise StrettoError(f"{path}: not a Stretto recording (starts with {bytes(header['magic'])!r}, not {MAGIC!r})")
    if header["version"] != VERSION:
        raise StrettoError(
            f"{path}: recording of format {header['version']}, not {VERSION}: read it with the Stretto that wrote it"
        )
    sizes = (int(header["header_bytes"]), int(header["record_bytes"]))
    if sizes != (HEADER.itemsize, RECORD.itemsize):
        raise StrettoError(
            f"{path}: header and records of {sizes} bytes, expected {(HEADER.itemsize, RECORD.itemsize)}"
        )
    if not 0 <= header["world_rank"] < header["world_size"]:
        raise StrettoError(f"{path}: rank {header['world_rank']} of {header['world_size']}: file is damaged")


def read_directory(directory: Path) -> list[RankRecording]:
    """Read every `rank-*.stretto` of a recording, in rank order.

    Raises StrettoError where there is none, where a file is bad, or where ranks are missing or of different runs.
    """
    recordings = [read_rank(path) for path in sorted(directory.glob("rank-*.stretto"))]
    if not recordings:
        raise StrettoError(
            f"{directory}: no rank-*.stretto file: was the program run with --record, and did it use MPI?"
        )
    recordings.sort(key=lambda recording: recording.world_rank)
    sizes = {recording.world_size for recording in recordings}
    ranks = [recording.world_rank for recording in recordings]
    if len(sizes) != 1 or ranks != list(range(recordings[0].world_size)):
        raise StrettoError(f"{directory}: ranks {ranks} of world sizes {sorted(sizes)}: files missing or of two runs")
    return recordings
