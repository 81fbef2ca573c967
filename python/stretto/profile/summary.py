"""What a profile says, in figures: what `stretto report` shows. docs/report.md defines every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stretto.profile.calls import Block, Matcher, Unmatched, is_blocking, waiting_ns
from stretto.profile.clocks import clock_error_ns
from stretto.profile.files import NON_BLOCKING, PERSISTENT, Profile
from stretto.profile.imbalance import Factors, ImbalanceFactors
from stretto.profile.sites import Sites
from stretto.profile.wait_states import wait_states

# Upper bounds in bytes, inclusive, of the classes of message size (Alizadeh 2021, 3.2.4).
SIZE_CLASSES = ((1 << 10, "0-1 KB"), (1 << 20, "1 KB-1 MB"), (1 << 26, "1-64 MB"), (1 << 63, "over 64 MB"))
_WORST_CALLS = 20
_FACTORS = ("worst", "mean", "node_worst", "node_mean")
_CLASS_BOUNDS = np.array([bound for bound, _ in SIZE_CLASSES], np.uint64)


@dataclass
class Share:
    """Calls of one kind. `calls`: of all ranks together, one each; times in seconds summed over ranks.

    inside: in MPI; waiting: before the last rank came; after_last: once all were there; lag: completion lags, one a
    call; imbalance and mean_imbalance: Omega and Delta, summed over calls; bytes: summed over calls. Factors are means
    over calls, None where not known (profile.imbalance).
    """

    calls: int = 0
    inside: float = 0.0
    waiting: float = 0.0
    after_last: float = 0.0
    lag: float = 0.0
    imbalance: float = 0.0
    mean_imbalance: float = 0.0
    bytes: int = 0
    algorithms: dict[str, int] = field(default_factory=dict)
    worst_factor: float | None = None
    mean_factor: float | None = None
    node_worst_factor: float | None = None
    node_mean_factor: float | None = None


@dataclass
class Straggler:
    """A rank, as a cause of waiting. Times in seconds.

    last: calls at which it came last, of `calls`; lateness: summed over those, how long after the last but one;
    squared_lateness: their squares; caused: rank-seconds that others waited for it alone; waited: its own waiting for
    others.
    """

    rank: int
    host: str
    calls: int = 0
    last: int = 0
    lateness: float = 0.0
    squared_lateness: float = 0.0
    caused: float = 0.0
    waited: float = 0.0

    @property
    def typical_lateness(self) -> float:
        """The mean of its latenesses, weighed by themselves: calls at which it came last by a hair do not dilute it."""
        return self.squared_lateness / self.lateness if self.lateness > 0 else 0.0

    @property
    def effective_times(self) -> float:
        """How often it came `typical_lateness` late, if it was late by no other time."""
        return self.lateness / self.typical_lateness if self.lateness > 0 else 0.0


@dataclass(frozen=True)
class WorstCall:
    """One of the calls at which most was waited for one rank. Times in seconds; sequence: of the call on its
    communicator, from 1."""

    operation: str
    communicator: str
    sequence: int
    bytes: int
    site: str
    rank: int
    lateness: float
    caused: float


@dataclass
class Summary:
    """All of a report. Keys of the tables: operation; (operation, class of size); (operation, site)."""

    profile: Profile
    warnings: list[str]
    calls: int
    ranks: int
    hosts: list[str]
    span: float  # seconds from the first arrival to the last exit
    clock_error: float | None  # seconds
    unmatched: Unmatched
    by_operation: dict[str, Share]
    by_class: dict[tuple[str, str], Share]
    by_site: dict[tuple[str, str], Share]
    wait_states: dict[str, float]  # rank-seconds
    stragglers: list[Straggler]
    straggler_sites: dict[tuple[int, str], float]  # (rank, site) -> caused
    worst_calls: list[WorstCall]


def summarise(profile: Profile, progress: Callable[[int], None] = lambda records: None) -> Summary:
    """Read a profile to its end. `progress` is told how many records have been read since it was last called."""
    matcher = Matcher(profile)
    builder = _Builder(profile)
    for block in matcher.blocks():
        builder.add(block)
        progress(len(block.records) + len(block.rest))
    return builder.finish(matcher)


class _Builder:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._sites = Sites(profile)
        self._by_operation: dict[str, Share] = {}
        self._by_class: dict[tuple[str, str], Share] = {}
        self._by_site: dict[tuple[str, str], Share] = {}
        self._states: dict[str, float] = {}
        self._stragglers = [Straggler(-1, "") for _ in range(profile.world_size)]
        for rank in profile.ranks:
            self._stragglers[rank.world_rank] = Straggler(rank.world_rank, rank.host)
        self._straggler_sites: dict[tuple[int, str], float] = {}
        self._worst: list[tuple[float, NDArray[np.void], int]] = []  # caused, call, site
        self._first, self._last = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        self._calls = 0
        self._factors = ImbalanceFactors(profile)
        self._factor_sums: dict[tuple[str, str], NDArray[np.float64]] = {}

    def add(self, block: Block) -> None:
        calls = block.calls
        if not len(calls):
            return
        self._calls += len(calls)
        self._first = min(self._first, int(calls["first_ns"].min()))
        self._last = max(self._last, int(block.records["exit_ns"].max()))
        inside = np.add.reduceat(block.records["inside_ns"], block.starts) * 1e-9
        classes = np.searchsorted(_CLASS_BOUNDS, calls["bytes"])
        forms = calls["flags"] & (NON_BLOCKING | PERSISTENT)
        operations = calls["operation"].astype(np.int64) * 4 + forms
        sites = self._sites.numbers(calls["call_site"], block.records["rank"][block.starts])
        names = {int(code): self._profile.operation_name(*divmod(int(code), 4)) for code in np.unique(operations)}
        for code, rows in _groups(operations):
            self._share(self._by_operation, names[code], calls, inside, rows)
        factors = self._factors.of(block)
        for code, rows in _groups(operations * len(SIZE_CLASSES) + classes):
            operation, size = divmod(code, len(SIZE_CLASSES))
            key = (names[operation], SIZE_CLASSES[size][1])
            self._share(self._by_class, key, calls, inside, rows)
            self._add_factors(key, factors, rows)
        width = int(sites.max()) + 1
        for code, rows in _groups(operations * width + sites):
            operation, site = divmod(code, width)
            self._share(self._by_site, (names[operation], self._sites.name(site)), calls, inside, rows)
        for state, seconds in wait_states(self._profile, block).items():
            self._states[state] = self._states.get(state, 0.0) + seconds
        self._blame(block, sites)

    def _share(
        self,
        table: dict,  # type: ignore[type-arg]  # keys of either kind
        key: object,
        calls: NDArray[np.void],
        inside: NDArray[np.float64],
        rows: NDArray[np.int64],
    ) -> None:
        share = table.setdefault(key, Share())
        these = calls[rows]
        share.calls += len(rows)
        share.inside += float(inside[rows].sum())
        share.waiting += float((these["waiting"] * these["size"]).sum())
        share.after_last += float((these["after_last"] * these["size"]).sum())
        share.lag += float(these["completion_lag"].sum())
        share.imbalance += float(these["imbalance"].sum())
        share.mean_imbalance += float(these["mean_imbalance"].sum())
        share.bytes += int(these["bytes"].sum())
        for code, count in zip(*np.unique(these["algorithm"], return_counts=True), strict=True):
            name = self._profile.algorithms[code]
            share.algorithms[name] = share.algorithms.get(name, 0) + int(count)

    def _add_factors(self, key: tuple[str, str], factors: Factors, rows: NDArray[np.int64]) -> None:
        sums = self._factor_sums.setdefault(key, np.zeros((len(_FACTORS), 2)))
        for row, name in zip(sums, _FACTORS, strict=True):
            values = getattr(factors, name)[rows]
            known = ~np.isnan(values)
            row += values[known].sum(), known.sum()

    def _set_factors(self) -> None:
        for key, sums in self._factor_sums.items():
            for (total, count), name in zip(sums, _FACTORS, strict=True):
                setattr(self._by_class[key], f"{name}_factor", total / count if count else None)

    def _blame(self, block: Block, sites: NDArray[np.int64]) -> None:
        calls, records = block.calls, block.records
        world = self._profile.world_size
        counts = calls["size"].astype(np.int64)
        waited = waiting_ns(records, calls["last_ns"], counts) * 1e-9
        # Ranks that had left before the last but one came did not wait for the last.
        alone_from = np.repeat(calls["last_ns"] - np.rint(calls["alone"] * 1e9).astype(np.int64), counts)
        for_last = np.maximum(
            0, np.minimum(records["exit_ns"], np.repeat(calls["last_ns"], counts))
            - np.maximum(records["arrival_ns"], alone_from)
        )  # fmt: skip
        blocking = is_blocking(calls)
        lateness = calls["alone"] * blocking
        waited *= np.repeat(blocking, counts)
        caused = np.add.reduceat(for_last, block.starts) * 1e-9 * blocking
        per_rank = {
            "calls": np.bincount(records["rank"], minlength=world),
            "waited": np.bincount(records["rank"], waited, world),
            "last": np.bincount(calls["last_rank"], minlength=world),
            "lateness": np.bincount(calls["last_rank"], lateness, world),
            "squared_lateness": np.bincount(calls["last_rank"], lateness**2, world),
            "caused": np.bincount(calls["last_rank"], caused, world),
        }
        for straggler in self._stragglers:
            for name, values in per_rank.items():
                value = values[straggler.rank]
                setattr(straggler, name, getattr(straggler, name) + value.item())
        width = int(sites.max()) + 1
        codes = calls["last_rank"].astype(np.int64) * width + sites
        for code, rows in _groups(codes):
            rank, site = divmod(code, width)
            key = (rank, self._sites.name(site))
            self._straggler_sites[key] = self._straggler_sites.get(key, 0.0) + float(caused[rows].sum())
        for row in np.argsort(-caused, kind="stable")[:_WORST_CALLS]:
            self._worst.append((float(caused[row]), calls[row].copy(), int(sites[row])))
        self._worst = sorted(self._worst, key=lambda entry: -entry[0])[:_WORST_CALLS]

    def _worst_call(self, caused: float, call: NDArray[np.void], site: int, matcher: Matcher) -> WorstCall:
        return WorstCall(
            self._profile.operation_name(int(call["operation"]), int(call["flags"]) & (NON_BLOCKING | PERSISTENT)),
            matcher.communicators[int(call["group"])].label,
            int(call["sequence"]),
            int(call["bytes"]),
            self._sites.name(site),
            int(call["last_rank"]),
            float(call["alone"]),
            caused,
        )

    def finish(self, matcher: Matcher) -> Summary:
        profile = self._profile
        self._set_factors()
        return Summary(
            profile,
            [*profile.warnings, *_unmatched_warnings(matcher.unmatched)],
            self._calls,
            len(profile.ranks),
            sorted({rank.host for rank in profile.ranks}),
            max(0, self._last - self._first) * 1e-9 if self._calls else 0.0,
            None if (error := clock_error_ns(profile)) is None else error * 1e-9,
            matcher.unmatched,
            _by_time(self._by_operation),
            _by_time(self._by_class),
            _by_time(self._by_site),
            dict(sorted(self._states.items(), key=lambda item: -item[1])),
            sorted((s for s in self._stragglers if s.rank >= 0), key=lambda straggler: -straggler.caused),
            self._straggler_sites,
            [self._worst_call(*entry, matcher) for entry in self._worst if entry[0] > 0],
        )


def _groups(codes: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
    """Each code and the rows that have it."""
    order = np.argsort(codes, kind="stable")
    values, starts = np.unique(codes[order], return_index=True)
    return [(int(value), rows) for value, rows in zip(values, np.split(order, starts[1:]), strict=True)]


def _by_time(table: dict) -> dict:  # type: ignore[type-arg]
    return dict(sorted(table.items(), key=lambda item: -item[1].inside))


def _unmatched_warnings(unmatched: Unmatched) -> list[str]:
    warnings = []
    if unmatched.calls:
        warnings.append(f"{unmatched.calls:,} calls are known from some of their ranks only: left out")
    if unmatched.in_progress:
        warnings.append(f"{unmatched.in_progress:,} calls had not ended on all ranks when recording stopped: left out")
    if unmatched.alone:
        warnings.append(
            f"{unmatched.alone:,} records are of communicators whose ranks cannot be matched "
            "(intercommunicators, spawned processes, MPI_Comm_idup): left out"
        )
    return warnings
