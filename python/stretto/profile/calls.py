"""Matching the ranks' records of one call, and the figures of each call; block by block, so that memory is bounded.

For one call let a_i and f_i be rank i's arrival and exit, A = max a and F = max f. Then

    imbalance          A - min a                      Omega, worst case (Alizadeh 2021, 2.3)
    mean imbalance     mean |a_i - mean a|            Delta, average case
    run time           F - min a
    elapsed            mean(f_i - a_i)
    waiting            mean(max(0, min(f_i, A) - a_i))
                       the part of `elapsed` before the last rank was there. An allreduce or a barrier cannot avoid it,
                       whatever its algorithm; in a reduce or bcast a rank may leave early, and then waits less
    after last         elapsed - waiting              what the algorithm costs a rank once all are there
    completion lag     F - A                          the same for the slowest rank; negative where all had left before
    alone              A - the second latest arrival  for how long the last rank alone was missing

The exit of a non-blocking call is when the program found it complete; `waiting` and `after last` are not known and 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stretto.profile.clocks import correct_times
from stretto.profile.files import NON_BLOCKING, PERSISTENT, RECORD, Profile, RankFile

# A record with who made it: `rank` of the world, which is rank `member` of Matcher.communicators[group].
# Aligned: a whole number of words, see _take.
MATCHED = np.dtype([*RECORD.descr, ("rank", "<i4"), ("member", "<i4"), ("group", "<i4")], align=True)

CALL = np.dtype(
    [
        ("group", "i4"),
        ("sequence", "u4"),
        ("operation", "u2"),
        ("size", "i4"),
        ("bytes", "u8"),
        ("algorithm", "u2"),
        ("agreed", "?"),
        ("flags", "u2"),
        ("call_site", "u8"),
        ("last_rank", "i4"),
        ("first_ns", "i8"),
        ("last_ns", "i8"),
        ("imbalance", "f8"),
        ("mean_imbalance", "f8"),
        ("run_time", "f8"),
        ("elapsed", "f8"),
        ("waiting", "f8"),
        ("after_last", "f8"),
        ("completion_lag", "f8"),
        ("alone", "f8"),
    ]
)


@dataclass(frozen=True)
class Communicator:
    """One communicator of the run, the same for all its ranks."""

    identity: int
    size: int
    matched: bool
    name: str

    @property
    def label(self) -> str:
        """Its name in MPI, else one of ours."""
        return self.name or f"communicator {self.identity >> 32}.{self.identity & 0xFFFFFFFF}"


@dataclass(frozen=True)
class Block:
    """Calls of which every rank's record is there, and what else was read with them.

    calls: (n,) of CALL, durations in seconds; records: those of the calls, of MATCHED, one call's behind another's and
    in the order of their ranks in the communicator; starts: (n,), where each call's records begin; rest: (m,) of
    MATCHED, records that are of none of the calls, each in one block only; their `group` is -1 if it is not known.
    """

    calls: NDArray[np.void]
    records: NDArray[np.void]
    starts: NDArray[np.int64]
    rest: NDArray[np.void]


@dataclass
class Unmatched:
    """What is left out: `calls` recorded by some of their ranks only, or as different operations; calls `in_progress`
    on a rank; records of communicators that are `alone`, not known under one identity on all their ranks, or `untold`,
    as the file had no room for the fact; calls of a `single` rank."""

    calls: int = 0
    in_progress: int = 0
    alone: int = 0
    untold: int = 0
    single: int = 0


class Matcher:
    """Reads all files of a profile side by side, a stretch of time after the other."""

    def __init__(self, profile: Profile, records_at_once: int = 1 << 16) -> None:
        self.profile = profile
        self.unmatched = Unmatched()
        self.communicators: list[Communicator] = []
        self._records_at_once = records_at_once
        self._groups: dict[tuple[int, int], int] = {}
        self._known_by: list[int] = []  # how many ranks' files tell of each of `communicators`
        self._places = {rank.world_rank: self._learn(rank) for rank in profile.ranks}

    def _learn(self, rank: RankFile) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each communicator index of the rank's records: its index in `communicators`, and the rank there.

        The last entry, -1 and 0, stands for all indices of which no fact tells.
        """
        facts = {fact["index"]: fact for fact in rank.facts.get("communicator", [])}
        names = {index: fact["name"] for index, fact in facts.items()}
        names |= {fact["index"]: fact["name"] for fact in rank.facts.get("communicator_name", [])}
        persistent = {fact["index"]: fact for fact in rank.facts.get("persistent", [])}
        groups = np.full(max([*facts, *persistent, -1]) + 2, -1, np.int32)
        members = np.zeros_like(groups)
        for index, fact in facts.items():
            key = (fact["identity"], 0) if fact["matched"] else (-1 - rank.world_rank, index)
            groups[index], members[index] = self._group(key, fact, names[index]), fact["rank"]
        for index, fact in persistent.items():
            parent = facts.get(fact["communicator"])
            if parent is not None:
                key = (parent["identity"], fact["number"]) if parent["matched"] else (-1 - rank.world_rank, index)
                groups[index] = self._group(key, parent, names[fact["communicator"]])
                members[index] = parent["rank"]
        return groups, members

    def _group(self, key: tuple[int, int], fact: dict[str, int], name: str) -> int:
        known = self._groups.get(key)
        if known is None:
            known = self._groups[key] = len(self.communicators)
            self.communicators.append(Communicator(fact["identity"], fact["size"], bool(fact["matched"]), name))
            self._known_by.append(0)
        self._known_by[known] += 1
        return known

    def blocks(self) -> Iterator[Block]:
        """All records of the profile, roughly in the order of time. `unmatched` is right when all are read."""
        sizes = np.array([communicator.size for communicator in self.communicators], np.int64)
        # The last one, which is that at -1, stands for communicators that are not known.
        matched = np.array([*(communicator.matched for communicator in self.communicators), False])
        waiting, incomplete_calls = np.empty(0, MATCHED), np.empty(0, np.uint64)
        least = self._first_that_can_match(sizes)
        for fresh in self._stretches():
            lonely = ~matched[fresh["group"]]
            untold = int((fresh["group"] < 0).sum())
            self.unmatched.untold += untold
            self.unmatched.alone += int(lonely.sum()) - untold
            records = _in_order_of_calls(np.concatenate([waiting, _only(fresh, ~lonely)]))
            keys = _keys(records)
            starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, int)
            counts = np.diff(np.append(starts, len(keys)))
            whole = counts == sizes[records["group"][starts]]
            waiting = _only(records, np.repeat(~whole, counts))
            # A rank's calls on a communicator come in their order: what is not whole before one that is never will be.
            np.maximum.at(least, records["group"][starts[whole]], records["sequence"][starts[whole]])
            over = waiting["sequence"] < least[waiting["group"]]
            if over.any():
                incomplete_calls = np.union1d(incomplete_calls, _keys(_only(waiting, over)))
            rest = np.concatenate([_only(fresh, lonely), _only(waiting, over)])
            waiting = _only(waiting, ~over)
            yield self._finish(_only(records, np.repeat(whole, counts)), counts[whole], rest)
        self.unmatched.calls += len(incomplete_calls) + len(np.unique(_keys(waiting)))
        if len(waiting):
            yield self._finish(waiting[:0], np.empty(0, np.int64), waiting)

    def _first_that_can_match(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each communicator, (n,), the number of the first call that can become whole: no rank has overwritten its
        record, or has no file at all. To wait for others would be to hold all records until the end."""
        never = np.iinfo(np.int64).max
        least = np.where(np.array(self._known_by, np.int64) < sizes, never, 0)
        for rank in self.profile.ranks:
            if rank.dropped:
                groups, _ = self._places[rank.world_rank]
                kept = np.full(len(self.communicators) + 1, never)
                for block in rank.blocks(self._records_at_once):
                    index = np.minimum(block["communicator"], len(groups) - 1)
                    np.minimum.at(kept, groups[index], block["sequence"].astype(np.int64))
                its = np.unique(groups[groups >= 0])
                least[its] = np.maximum(least[its], kept[its])
        return least

    def _finish(self, records: NDArray[np.void], counts: NDArray[np.int64], rest: NDArray[np.void]) -> Block:
        """Leaves out calls that have not ended on all ranks, those of one rank, and those that do not fit together:
        their records join the `rest`."""
        good = np.ones(len(counts), bool)
        if len(counts):
            starts = np.cumsum(counts) - counts
            fits = records["member"] == np.arange(len(records)) - np.repeat(starts, counts)
            fits &= records["operation"] == np.repeat(records["operation"][starts], counts)
            fitting = np.logical_and.reduceat(fits, starts)
            self.unmatched.calls += int((~fitting).sum())
            ended = np.minimum.reduceat(records["exit_ns"], starts) > 0
            self.unmatched.in_progress += int((fitting & ~ended).sum())
            single = counts == 1
            self.unmatched.single += int((fitting & ended & single).sum())
            good = fitting & ended & ~single
        kept = np.repeat(good, counts)
        rest = np.concatenate([rest, _only(records, ~kept)])
        records, counts = _only(records, kept), counts[good]
        starts = np.cumsum(counts) - counts
        return Block(_figures(records, starts, counts), records, starts, rest)

    def _stretches(self) -> Iterator[NDArray[np.void]]:
        """Records of all ranks from one moment to the next, so chosen that about the same number comes at a time."""
        sources = {rank.world_rank: self._corrected(rank) for rank in self.profile.ranks}
        held = {rank: np.empty(0, MATCHED) for rank in sources}
        while held:
            for rank in [rank for rank in sources if len(held[rank]) < self._records_at_once // 2]:
                block = next(sources[rank], None)
                if block is None:
                    del sources[rank]
                else:
                    held[rank] = np.concatenate([held[rank], block]) if len(held[rank]) else block
            # A rank whose file goes on may have more before the end of what is held of it, but not after.
            open_ends = [held[rank]["arrival_ns"].max() for rank in sources if len(held[rank])]
            until = min(open_ends) if open_ends else np.iinfo(np.int64).max
            due = {rank: block["arrival_ns"] <= until for rank, block in held.items()}
            yield np.concatenate([_only(held[rank], now) for rank, now in due.items()])
            held = {rank: _only(held[rank], ~now) for rank, now in due.items() if rank in sources or not now.all()}

    def _corrected(self, rank: RankFile) -> Iterator[NDArray[np.void]]:
        groups, members = self._places[rank.world_rank]
        for raw in rank.blocks(self._records_at_once):
            block = np.empty(len(raw), MATCHED)
            for name in RECORD.names or ():
                block[name] = raw[name]
            index = np.minimum(raw["communicator"], len(groups) - 1)
            block["rank"] = rank.world_rank
            block["group"] = groups[index]
            block["member"] = members[index]
            correct_times(rank, block)
            if len(block):
                yield block


def _only(rows: NDArray[np.void], wanted: NDArray[np.bool_]) -> NDArray[np.void]:
    """The wanted rows; no copy where that is all of them, as it mostly is."""
    return rows if wanted.all() else _take(rows, np.flatnonzero(wanted))


def _take(records: NDArray[np.void], rows: NDArray[np.int64]) -> NDArray[np.void]:
    """records[rows], as rows of words: NumPy copies those several times as fast as structures."""
    words = records.view(np.uint64).reshape(len(records), MATCHED.itemsize // 8)
    taken: NDArray[np.void] = np.take(words, rows, axis=0).reshape(-1).view(MATCHED)
    return taken


def _in_order_of_calls(records: NDArray[np.void]) -> NDArray[np.void]:
    """Sorted by call, and within a call by rank of the communicator."""
    # One rank's records are mostly in order already, which a stable sort makes use of; and mostly ranks are in the same
    # order in the communicator as here.
    records = _take(records, np.argsort(_keys(records), kind="stable"))
    keys, members = _keys(records), records["member"]
    if np.any((keys[1:] == keys[:-1]) & (members[1:] <= members[:-1])):
        records = _take(records, np.lexsort((members, keys)))
    return records


def _keys(records: NDArray[np.void]) -> NDArray[np.uint64]:
    """A number for each call: its communicator, then its place there."""
    keys: NDArray[np.uint64] = records["group"].astype(np.uint64) << np.uint64(32) | records["sequence"]
    return keys


def _figures(records: NDArray[np.void], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.void]:
    """One CALL a group of `records`; no group is empty."""
    calls = np.zeros(len(starts), CALL)
    if not len(starts):
        return calls
    arrival, exits = records["arrival_ns"], records["exit_ns"]
    first, last = np.minimum.reduceat(arrival, starts), np.maximum.reduceat(arrival, starts)
    done = np.maximum.reduceat(exits, starts)
    is_last = arrival == np.repeat(last, counts)
    before_last = np.maximum.reduceat(np.where(is_last, np.iinfo(np.int64).min, arrival), starts)
    tied = np.add.reduceat(is_last.astype(np.int64), starts) > 1
    late = np.flatnonzero(is_last)
    for name in ("group", "sequence", "operation", "algorithm", "flags", "call_site"):
        calls[name] = records[name][starts]
    calls["size"] = counts
    calls["bytes"] = np.maximum.reduceat(records["bytes"], starts)
    same = records["algorithm"] == np.repeat(calls["algorithm"], counts)
    calls["agreed"] = np.logical_and.reduceat(same, starts)
    calls["last_rank"] = records["rank"][late[np.searchsorted(late, starts)]]
    calls["first_ns"], calls["last_ns"] = first, last
    since_first = (arrival - np.repeat(first, counts)).astype(float)
    centre = np.repeat(np.add.reduceat(since_first, starts) / counts, counts)
    calls["imbalance"] = (last - first) * 1e-9
    calls["mean_imbalance"] = np.add.reduceat(np.abs(since_first - centre), starts) / counts * 1e-9
    calls["run_time"] = (done - first) * 1e-9
    calls["elapsed"] = np.add.reduceat(exits - arrival, starts) / counts * 1e-9
    blocking = is_blocking(calls)
    calls["waiting"] = np.add.reduceat(waiting_ns(records, last, counts), starts) / counts * 1e-9 * blocking
    calls["after_last"] = (calls["elapsed"] - calls["waiting"]) * blocking
    calls["completion_lag"] = (done - last) * 1e-9
    calls["alone"] = np.where(tied, 0, (last - before_last) * 1e-9)
    return calls


def is_blocking(calls: NDArray[np.void]) -> NDArray[np.bool_]:
    """Which calls return when they are done; the others' ranks do something else meanwhile."""
    blocking: NDArray[np.bool_] = (calls["flags"] & (NON_BLOCKING | PERSISTENT)) == 0
    return blocking


def waiting_ns(records: NDArray[np.void], last_ns: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each record the time in ns that its rank was in the call before the last one came."""
    waiting: NDArray[np.int64] = np.maximum(
        0, np.minimum(records["exit_ns"], np.repeat(last_ns, counts)) - records["arrival_ns"]
    )
    return waiting


def load_calls(profile: Profile) -> tuple[NDArray[np.void], Unmatched]:
    """All matched calls at once, (n,) of CALL in the order of the last arrival. For profiles that fit in memory."""
    matcher = Matcher(profile)
    blocks = [block.calls for block in matcher.blocks()]
    calls = np.concatenate([np.empty(0, CALL), *blocks])
    return calls[np.argsort(calls["last_ns"], kind="stable")], matcher.unmatched
