"""The records of a profile as every exported format shows them: one row a record, with the words for its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stretto.profile.calls import MATCHED, Block, Matcher, is_blocking, waiting_ns
from stretto.profile.files import IN_PLACE, NON_BLOCKING, NONE, PERSISTENT, Profile
from stretto.profile.sites import Sites

# A record with what its call tells of it. `whole`: all ranks' records of the call are there; else the four behind it
# are 0, and `place` is NONE unless the record says it. last_ns: the last arrival; waiting_ns: before that, in the call.
ROW = np.dtype(
    [
        *MATCHED.descr,
        ("whole", "?"),
        ("last_rank", "<i4"),
        ("last_ns", "<i8"),
        ("imbalance_ns", "<i8"),
        ("waiting_ns", "<i8"),
    ]
)


@dataclass(frozen=True)
class Column:
    """values: (n,), known: (n,) of bool, where not the cell is empty. With `words` the values are indices into it."""

    name: str
    values: NDArray[np.generic]
    known: NDArray[np.bool_]
    words: Sequence[str] | None = None


def read_rows(matcher: Matcher, progress: Callable[[int], None]) -> Iterator[NDArray[np.void]]:
    """All records, (n,) of ROW a block; in a block in the order of arrival, else roughly so. `progress` is told how
    many records each block had."""
    for block in matcher.blocks():
        rows = _rows(block)
        yield rows
        progress(len(rows))


def _rows(block: Block) -> NDArray[np.void]:
    rows = np.zeros(len(block.records) + len(block.rest), ROW)
    for name in MATCHED.names or ():
        rows[name] = np.concatenate([block.records[name], block.rest[name]])
    whole, counts = rows[: len(block.records)], block.calls["size"]
    whole["whole"] = True
    for name in ("last_rank", "last_ns"):
        whole[name] = np.repeat(block.calls[name], counts)
    whole["imbalance_ns"] = np.repeat(block.calls["last_ns"] - block.calls["first_ns"], counts)
    whole["waiting_ns"] = waiting_ns(block.records, block.calls["last_ns"], counts)
    # What the ranks themselves recorded needs no clock.
    whole["place"] = np.where(whole["place"] == NONE, _places(block), whole["place"])
    return rows[np.argsort(rows["arrival_ns"], kind="stable")]


def _places(block: Block) -> NDArray[np.int64]:
    """The place of each of `block.records` in its call's order of arrival, from 0, as the clocks have it."""
    counts = block.calls["size"].astype(np.int64)
    order = np.lexsort((block.records["arrival_ns"], np.repeat(np.arange(len(counts)), counts)))
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - np.repeat(block.starts, counts)
    return places


class _RankTable:
    """Words for numbers that each rank gives in its own way: facts of one kind with `index` and `name`."""

    def __init__(self, profile: Profile, kind: str) -> None:
        self.words: list[str] = []
        numbers: dict[str, int] = {}
        tables: list[NDArray[np.int32]] = [np.empty(0, np.int32)] * profile.world_size
        for rank in profile.ranks:
            facts = rank.facts.get(kind, [])
            # One entry more, for all numbers of which no fact tells.
            table = np.full(max([fact["index"] for fact in facts], default=-1) + 2, -1, np.int32)
            for fact in facts:
                table[fact["index"]] = numbers.setdefault(fact["name"], len(numbers))
            tables[rank.world_rank] = table
        self.words = list(numbers)
        self._lengths = np.array([len(table) for table in tables], np.int64)
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._table = np.concatenate(tables)

    def column(self, name: str, numbers: NDArray[np.uint16], ranks: NDArray[np.int32]) -> Column:
        values = self._table[self._starts[ranks] + np.minimum(numbers, self._lengths[ranks] - 1)]
        return Column(name, values, values >= 0, self.words)


class Columns:
    """Names the rows of a profile, block by block."""

    def __init__(self, matcher: Matcher) -> None:
        profile = matcher.profile
        self.algorithms = profile.algorithms
        self.communicators = [communicator.label for communicator in matcher.communicators]
        self.operations = [
            profile.operation_name(operation, flags)
            for operation in range(len(profile.operations))
            for flags in range(4)
        ]
        self.hosts = [""] * profile.world_size
        for rank in profile.ranks:
            self.hosts[rank.world_rank] = rank.host
        self._datatypes, self._reductions = _RankTable(profile, "datatype"), _RankTable(profile, "reduction")
        self._sites = Sites(profile)

    def operation_codes(self, rows: NDArray[np.void]) -> NDArray[np.int64]:
        """Indices into `operations`, (n,)."""
        codes: NDArray[np.int64] = rows["operation"].astype(np.int64) * 4 + (
            rows["flags"] & (NON_BLOCKING | PERSISTENT)
        )
        return codes

    def sites(self, rows: NDArray[np.void]) -> tuple[NDArray[np.int64], list[str]]:
        """Call sites as indices, (n,), into words."""
        return self._sites.numbers(rows["call_site"], rows["rank"]), self._sites.names

    def of(self, rows: NDArray[np.void]) -> list[Column]:
        """The columns of a table, the same for every block; docs/export.md says what they mean."""
        always, whole, ended = np.ones(len(rows), bool), rows["whole"], rows["exit_ns"] != 0
        flags = rows["flags"]

        def plain(name: str, known: NDArray[np.bool_] = always) -> Column:
            return Column(name, rows[name], known)

        sites, site_words = self.sites(rows)
        return [
            plain("rank"),
            Column("host", rows["rank"], always, self.hosts),
            Column("communicator", rows["group"], rows["group"] >= 0, self.communicators),
            plain("sequence"),
            Column("operation", self.operation_codes(rows), always, self.operations),
            plain("bytes"),
            plain("root", rows["root"] >= 0),
            self._datatypes.column("datatype", rows["datatype"], rows["rank"]),
            self._reductions.column("reduction", rows["reduction"], rows["rank"]),
            Column("algorithm", rows["algorithm"], always, self.algorithms),
            Column("non_blocking", flags & NON_BLOCKING != 0, always),
            Column("persistent", flags & PERSISTENT != 0, always),
            Column("in_place", flags & IN_PLACE != 0, always),
            Column("call_site", sites, always, site_words),
            plain("arrival_ns"),
            plain("exit_ns", ended),
            plain("inside_ns", ended),
            plain("place", rows["place"] != NONE),
            plain("last_rank", whole),
            plain("waiting_ns", whole & is_blocking(rows)),
            plain("imbalance_ns", whole),
        ]
