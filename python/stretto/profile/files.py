"""Reading profile files, one a rank; src/mpi/profile/format.hpp and docs/profile-format.md tell what they hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stretto.errors import StrettoError

MAGIC = b"STRETTOP"
VERSION = 2
NONE = 0xFFFF
NON_BLOCKING = 1
PERSISTENT = 2
IN_PLACE = 4
SET_UP = 8

HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("header_bytes", "<u4"),
        ("record_bytes", "<u4"),
        ("world_rank", "<i4"),
        ("world_size", "<i4"),
        ("finished", "<u4"),
        ("run", "<u8"),
        ("facts_offset", "<u8"),
        ("facts_bytes", "<u8"),
        ("facts_lost", "<u8"),
        ("records_offset", "<u8"),
        ("records_capacity", "<u8"),
        ("records_begun", "<u8"),
        ("records_lost", "<u8"),
        ("host", "S64"),
        ("layout", "S1024"),
    ]
)
# What a fact must say. Kinds that are not here are left alone.
_FACTS = {
    "job": {"command", "mpi"},
    "operations": {"names"},
    "algorithms": {"names"},
    "communicator": {"index", "identity", "size", "rank", "matched", "name"},
    "communicator_name": {"index", "name"},
    "persistent": {"index", "communicator", "number"},
    "module": {"path", "base", "begin", "end"},
    "clock": {"at_ns", "offset_ns", "error_ns"},
    "alpha": {"between", "points"},
    "saved": {"collective", "from_bytes", "calls", "ours", "native_ns", "saved_ns", "unsure_ns", "arrivals"},
}
# The fields that must be there; a file may have others, which are left alone.
RECORD = np.dtype(
    [
        ("arrival_ns", "<i8"),
        ("exit_ns", "<i8"),
        ("inside_ns", "<i8"),
        ("bytes", "<u8"),
        ("call_site", "<u8"),
        ("sequence", "<u4"),
        ("communicator", "<u4"),
        ("root", "<i4"),
        ("operation", "<u2"),
        ("datatype", "<u2"),
        ("reduction", "<u2"),
        ("algorithm", "<u2"),
        ("place", "<u2"),
        ("flags", "<u2"),
    ]
)


@dataclass(frozen=True)
class RankFile:
    """One rank's file. `facts`: the JSON objects by their kind, in the order of writing.

    `begun`: records ever begun; `kept`: those still in the file; `lost`: those for which the disk had no room, at
    least; `unfinished`: the program did not reach MPI_Finalize; `facts_lost`: facts for which there was no room;
    `algorithm_numbers`: of the rank's own numbers the profile's, unless they are the same.
    """

    path: Path
    world_rank: int
    world_size: int
    run: int
    host: str
    unfinished: bool
    begun: int
    kept: int
    lost: int
    capacity: int
    facts_lost: int
    facts: dict[str, list[dict[str, Any]]]
    layout: np.dtype[Any] = field(repr=False)
    records_offset: int = field(repr=False)
    algorithm_numbers: NDArray[np.uint16] | None = field(default=None, repr=False)

    @property
    def dropped(self) -> int:
        """Records that later ones overwrote, or for which the disk had no room."""
        return self.begun - self.kept

    def blocks(self, most: int) -> Iterator[NDArray[np.void]]:
        """The records in the order in which the calls began, at most `most` at a time, as 1-D arrays of RECORD."""
        first = self.begun % self.capacity if self.begun > self.capacity else 0
        with self.path.open("rb") as file:
            for begin, end in ((first, self.kept), (0, min(first, self.kept))):  # less than the ring on a full disk
                for position in range(begin, end, most):
                    count = min(most, end - position)
                    file.seek(self.records_offset + position * self.layout.itemsize)
                    data = file.read(count * self.layout.itemsize)
                    raw = np.frombuffer(data, self.layout, count=len(data) // self.layout.itemsize)
                    block = raw if self.layout == RECORD else _as_record(raw)
                    if self.algorithm_numbers is not None:
                        block = block.copy()
                        block["algorithm"] = self.algorithm_numbers[block["algorithm"]]
                    yield block[block["arrival_ns"] != 0]  # 0: the process died while it wrote this one


def _as_record(raw: NDArray[np.void]) -> NDArray[np.void]:
    block = np.empty(len(raw), RECORD)
    for name in RECORD.names or ():
        block[name] = raw[name]
    return block


def read_rank(path: Path) -> RankFile:
    """Read the head and the facts of one file. Raises StrettoError, naming the file and what is wrong with it."""
    try:
        bytes_there = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEADER.itemsize)
            if len(head) < HEADER.itemsize:
                raise StrettoError(f"{path}: {bytes_there} bytes, too short for a profile: cut off?")
            header = np.frombuffer(head, HEADER, count=1)[0]
            layout = _check_header(path, header)
            file.seek(int(header["facts_offset"]))
            text = file.read(int(header["facts_bytes"]))
    except OSError as error:
        raise StrettoError(f"{path}: cannot be read: {error.strerror}") from error
    offset, begun, capacity = (int(header[name]) for name in ("records_offset", "records_begun", "records_capacity"))
    there = max(0, bytes_there - offset) // layout.itemsize
    return RankFile(
        path,
        int(header["world_rank"]),
        int(header["world_size"]),
        int(header["run"]),
        bytes(header["host"]).decode(errors="replace"),
        not header["finished"],
        begun,
        min(begun, capacity, there),
        int(header["records_lost"]),
        capacity,
        int(header["facts_lost"]),
        _parse_facts(path, text),
        layout,
        offset,
    )


def _check_header(path: Path, header: Any) -> np.dtype[Any]:
    """The layout of the file's records. Raises StrettoError unless the header is one that we can read."""
    if header["magic"] != MAGIC:
        raise StrettoError(f"{path}: not a Stretto profile (starts with {bytes(header['magic'])!r}, not {MAGIC!r})")
    if header["version"] != VERSION:
        raise StrettoError(
            f"{path}: a profile of format {header['version']}, not {VERSION}: read it with the Stretto that wrote it"
        )
    if not 0 <= header["world_rank"] < header["world_size"] or not header["records_capacity"]:
        raise StrettoError(f"{path}: rank {header['world_rank']} of {header['world_size']}: file is damaged")
    try:
        layout = np.dtype([(name, kind) for name, kind in json.loads(header["layout"])])
    except (ValueError, TypeError) as error:
        raise StrettoError(f"{path}: its records are not described: file is damaged") from error
    missing = set(RECORD.names or ()) - set(layout.names or ())
    if missing or layout.itemsize != header["record_bytes"]:
        raise StrettoError(f"{path}: records of {layout.itemsize} bytes without {sorted(missing)}: file is damaged")
    return layout


def _parse_facts(path: Path, text: bytes) -> dict[str, list[dict[str, Any]]]:
    facts: dict[str, list[dict[str, Any]]] = {}
    for line in text.splitlines():
        try:
            # Names of the program's may be of any bytes.
            fact = json.loads(line.decode(errors="replace"))
            kind = fact["fact"]
        except (ValueError, KeyError, TypeError) as error:
            raise StrettoError(f"{path}: a fact that is not JSON: file is damaged") from error
        missing = _FACTS.get(kind, set()) - fact.keys()
        if missing:
            raise StrettoError(f"{path}: a fact `{kind}` without {', '.join(sorted(missing))}: file is damaged")
        facts.setdefault(kind, []).append(fact)
    if not {"job", "operations", "algorithms"} <= facts.keys():
        raise StrettoError(f"{path}: no facts about the job: file cut off, or the program died in MPI_Init")
    return facts


@dataclass(frozen=True)
class Profile:
    """All ranks' files of one run, in rank order. `warnings`: why conclusions rest on less than everything.

    `algorithms`: names by the number that records have.
    """

    directory: Path
    world_size: int
    ranks: list[RankFile]
    warnings: list[str]
    algorithms: list[str]

    @property
    def operations(self) -> list[str]:
        names: list[str] = self.ranks[0].facts["operations"][0]["names"]
        return names

    def operation_name(self, operation: int, flags: int) -> str:
        """As in MPI_<name>: Allreduce, Iallreduce, Allreduce_init."""
        name = self.operations[operation]
        if flags & NON_BLOCKING:
            return "I" + name.lower()
        return f"{name}_init" if flags & PERSISTENT else name


def open_profile(directory: Path) -> Profile:
    """Open what is sound of the profile in `directory`. Raises StrettoError where nothing is."""
    if not directory.is_dir():
        raise StrettoError(f"{directory}: no such directory: give the DIR of `stretto run --profile DIR`")
    paths = sorted(directory.glob("rank-*.stretto"))
    if not paths:
        raise StrettoError(
            f"{directory}: no rank-*.stretto file: was the program run with --profile, and did it use MPI?"
        )
    ranks: list[RankFile] = []
    warnings: list[str] = []
    for path in paths:
        try:
            ranks.append(read_rank(path))
        except StrettoError as error:
            warnings.append(str(error))
    if not ranks:
        raise StrettoError("no file of the profile is sound: " + "; ".join(warnings))
    ranks, others = _of_one_run(ranks)
    if others:
        warnings.append(f"{_named(others)} of another run: left out; profile each run into a directory of its own")
    world_size = ranks[0].world_size
    missing = sorted(set(range(world_size)) - {rank.world_rank for rank in ranks})
    if missing:
        warnings.append(f"no sound file of {_ranks(missing)} of {world_size}: calls with them are incomplete")
    for text, affected in (
        ("did not reach MPI_Finalize", [rank for rank in ranks if rank.unfinished]),
        (
            f"had no room for {sum(rank.facts_lost for rank in ranks):,} facts (of communicators and the like): "
            "raise STRETTO_PROFILE_MAX_MIB, of which they have an eighth",
            [rank for rank in ranks if rank.facts_lost],
        ),
        (
            f"had no room on the disk for {sum(rank.lost for rank in ranks):,} records, of the calls after it had "
            "filled: free some, or profile into a directory elsewhere",
            [rank for rank in ranks if rank.lost],
        ),
    ):
        if affected:
            warnings.append(f"{_ranks([rank.world_rank for rank in affected])} {text}")
    dropped = sum(max(0, rank.dropped - rank.lost) for rank in ranks)
    if dropped:
        warnings.append(
            f"{dropped:,} of {sum(rank.begun for rank in ranks):,} records are gone, the oldest ones first: "
            "raise STRETTO_PROFILE_MAX_MIB or set STRETTO_PROFILE_EVERY"
        )
    ranks, algorithms = _with_common_algorithms(ranks)
    return Profile(directory, world_size, ranks, warnings, algorithms)


def _of_one_run(ranks: list[RankFile]) -> tuple[list[RankFile], list[RankFile]]:
    """The files of the run that has most of them, in rank order, and the others."""
    run = Counter(rank.run for rank in ranks).most_common(1)[0][0]
    ours = [rank for rank in ranks if rank.run == run]
    return sorted(ours, key=lambda rank: rank.world_rank), [rank for rank in ranks if rank.run != run]


def _with_common_algorithms(ranks: list[RankFile]) -> tuple[list[RankFile], list[str]]:
    """The files with one numbering of algorithms, and the names by it.

    Each rank numbers the pipelined ones in the order in which it first needs them, which depends on its communicators.
    """
    names: list[str] = list(ranks[0].facts["algorithms"][-1]["names"])
    agreed = []
    for rank in ranks:
        own = rank.facts["algorithms"][-1]["names"]
        if own != names[: len(own)]:
            names += [name for name in own if name not in names]
            numbers = [at if names[at : at + 1] == [name] else names.index(name) for at, name in enumerate(own)]
            rank = replace(rank, algorithm_numbers=np.array(numbers, np.uint16))
        agreed.append(rank)
    return agreed, names


def _named(ranks: list[RankFile]) -> str:
    return ", ".join(rank.path.name for rank in ranks)


def _ranks(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"rank{'s' if len(numbers) > 1 else ''} {shown}{', ...' if len(numbers) > 8 else ''}"
