"""What a profile says, in figures: what `stretto report` shows. docs/report.md defines every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from stretto.profile.blame import Blame, Straggler
from stretto.profile.calls import Block, Matcher, Unmatched
from stretto.profile.clocks import clock_error_ns
from stretto.profile.files import NON_BLOCKING, PERSISTENT, SET_UP, Profile
from stretto.profile.imbalance import FACTORS, Factors, ImbalanceFactors
from stretto.profile.phases import History, Series, find_phases
from stretto.profile.sample import Sample
from stretto.profile.savings import Saving, read_savings
from stretto.profile.sites import Sites
from stretto.profile.wait_states import wait_states

# Upper bounds in bytes, inclusive, of the classes of message size (Alizadeh 2021, 3.2.4).
SIZE_CLASSES = ((1 << 10, "0-1 KB"), (1 << 20, "1 KB-1 MB"), (1 << 26, "1-64 MB"), (1 << 63, "over 64 MB"))
_WORST_CALLS = 20
_FORMS = 4  # blocking, non-blocking, persistent: flags are lower
_Key = TypeVar("_Key")
_CLASS_BOUNDS = np.array([bound for bound, _ in SIZE_CLASSES], np.uint64)


@dataclass
class Share:
    """Calls of one kind. `calls`: of all ranks together, one each; times in seconds summed over ranks.

    inside: in MPI; waiting: before the last rank came; after_last: once all were there; set_up: the part of that in
    calls in which Stretto set up what later ones use; lag: completion lags, one a call; imbalance and mean_imbalance:
    Omega and Delta, summed over calls; bytes: summed over calls; factors: by the fields of imbalance.Factors, the sum
    over the calls for which it is known, and their number.
    """

    calls: int = 0
    inside: float = 0.0
    waiting: float = 0.0
    after_last: float = 0.0
    set_up: float = 0.0
    lag: float = 0.0
    imbalance: float = 0.0
    mean_imbalance: float = 0.0
    bytes: int = 0
    algorithms: dict[str, int] = field(default_factory=dict)
    factors: dict[str, tuple[float, int]] = field(default_factory=dict)

    def add(self, other: Share) -> None:
        """Count the calls of `other` too."""
        for name in (
            "calls",
            "inside",
            "waiting",
            "after_last",
            "set_up",
            "lag",
            "imbalance",
            "mean_imbalance",
            "bytes",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, count in other.algorithms.items():
            self.algorithms[name] = self.algorithms.get(name, 0) + count
        for name, (total, calls) in other.factors.items():
            self.add_factor(name, total, calls)

    def add_factor(self, name: str, total: float, calls: int) -> None:
        """Count `calls` more calls, whose imbalance factors of that name add up to `total`."""
        before, known = self.factors.get(name, (0.0, 0))
        self.factors[name] = (before + total, known + calls)

    def factor(self, name: str) -> float | None:
        """The mean imbalance factor of that name; None where it is known of no call."""
        total, calls = self.factors.get(name, (0.0, 0))
        return total / calls if calls else None


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


@dataclass(frozen=True)
class SampledCall:
    """One call of the sample. Times in seconds; at: the last arrival, from the first arrival of the profile; rank: the
    last to come."""

    operation: str
    size: str
    site: str
    communicator: str
    sequence: int
    bytes: int
    rank: int
    at: float
    imbalance: float
    lag: float


@dataclass
class Summary:
    """All of a report. Keys of the tables: operation; (operation, class of size); (operation, site); of `by_kind` all
    three, (operation, class of size, site)."""

    profile: Profile
    warnings: list[str]
    calls: int
    ranks: int
    hosts: list[str]
    span: float  # seconds from the first arrival to the last exit
    clock_error: float | None  # seconds
    unmatched: Unmatched
    by_kind: dict[tuple[str, str, str], Share]
    by_operation: dict[str, Share]
    by_class: dict[tuple[str, str], Share]
    by_site: dict[tuple[str, str], Share]
    wait_states: dict[str, float]  # rank-seconds
    states_by_operation: dict[tuple[str, str], float]  # (operation, state) -> rank-seconds
    stragglers: list[Straggler]
    straggler_sites: dict[tuple[int, str], float]  # (rank, site) -> caused
    blame: dict[tuple[str, str], list[Straggler]]  # (operation, site) -> the ranks at such calls
    histories: dict[tuple[str, str], History]  # (operation, site) -> its imbalance in seconds, over its calls
    worst_calls: list[WorstCall]
    sample: list[SampledCall]  # in the order of time; docs of profile/sample.py
    savings: list[Saving]


def summarise(profile: Profile, progress: Callable[[int], None] = lambda records: None) -> Summary:
    """Read a profile to its end. `progress` is told how many records have been read since it was last called."""
    matcher = Matcher(profile)
    builder = _Builder(profile)
    for block in matcher.blocks():
        builder.add(block)
        progress(len(block.records))
    return builder.finish(matcher)


class _Builder:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._sites = Sites(profile)
        self._by_kind: dict[tuple[str, str, str], Share] = {}
        self._states: dict[tuple[str, str], float] = {}
        self._blame = Blame(profile)
        self._series: dict[tuple[int, int], Series] = {}  # of imbalance, by operation and site
        self._factors = ImbalanceFactors(profile)
        self._sample = Sample()
        self._worst: list[tuple[float, NDArray[np.void], int]] = []  # caused, call, site
        self._first, self._last = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        self._calls = 0

    def add(self, block: Block) -> None:
        calls = block.calls
        if not len(calls):
            return
        self._calls += len(calls)
        self._first = min(self._first, int(calls["first_ns"].min()))
        self._last = max(self._last, int(block.records["exit_ns"].max()))
        inside = np.add.reduceat(block.records["inside_ns"], block.starts) * 1e-9
        classes = np.searchsorted(_CLASS_BOUNDS, calls["bytes"])
        operations = calls["operation"].astype(np.int64) * _FORMS + (calls["flags"] & (NON_BLOCKING | PERSISTENT))
        sites = self._sites.numbers(calls["call_site"], block.records["rank"][block.starts])
        factors = self._factors.of(block)
        width = int(sites.max()) + 1
        for code, rows in _groups((operations * len(SIZE_CLASSES) + classes) * width + sites):
            rest, site = divmod(code, width)
            operation, size = divmod(rest, len(SIZE_CLASSES))
            key = (self._operation(operation), SIZE_CLASSES[size][1], self._sites.names[site])
            share = self._by_kind.setdefault(key, Share())
            self._share(share, calls[rows], inside[rows])
            _add_factors(share, factors, rows)
        for state, seconds in wait_states(self._profile, block).items():
            self._states[state] = self._states.get(state, 0.0) + seconds
        for code, rows in _groups(operations * width + sites):
            self._series.setdefault(divmod(code, width), Series()).add(calls["imbalance"][rows])
        caused = self._blame.add(block, operations, sites)
        for row in np.argsort(-caused, kind="stable")[:_WORST_CALLS]:
            self._worst.append((float(caused[row]), calls[row].copy(), int(sites[row])))
        self._worst = sorted(self._worst, key=lambda entry: -entry[0])[:_WORST_CALLS]
        self._sample.add(calls, operations, sites)

    def _operation(self, code: int) -> str:
        return self._profile.operation_name(*divmod(code, _FORMS))

    def _share(self, share: Share, calls: NDArray[np.void], inside: NDArray[np.float64]) -> None:
        share.calls += len(calls)
        share.inside += float(inside.sum())
        share.waiting += float((calls["waiting"] * calls["size"]).sum())
        after_last = calls["after_last"] * calls["size"]
        share.after_last += float(after_last.sum())
        share.set_up += float(after_last[(calls["flags"] & SET_UP) != 0].sum())
        share.lag += float(calls["completion_lag"].sum())
        share.imbalance += float(calls["imbalance"].sum())
        share.mean_imbalance += float(calls["mean_imbalance"].sum())
        share.bytes += int(calls["bytes"].sum())
        for code, count in zip(*np.unique(calls["algorithm"], return_counts=True), strict=True):
            name = self._profile.algorithms[code]
            share.algorithms[name] = share.algorithms.get(name, 0) + int(count)

    def _worst_call(self, caused: float, call: NDArray[np.void], site: int, matcher: Matcher) -> WorstCall:
        return WorstCall(
            self._profile.operation_name(int(call["operation"]), int(call["flags"]) & (NON_BLOCKING | PERSISTENT)),
            matcher.communicators[int(call["group"])].label,
            int(call["sequence"]),
            int(call["bytes"]),
            self._sites.names[site],
            int(call["last_rank"]),
            float(call["alone"]),
            caused,
        )

    def _sampled_call(self, call: NDArray[np.void], matcher: Matcher) -> SampledCall:
        return SampledCall(
            self._operation(int(call["form"])),
            SIZE_CLASSES[int(np.searchsorted(_CLASS_BOUNDS, call["bytes"]))][1],
            self._sites.names[int(call["site"])],
            matcher.communicators[int(call["group"])].label,
            int(call["sequence"]),
            int(call["bytes"]),
            int(call["last_rank"]),
            int(call["last_ns"] - self._first) * 1e-9,
            float(call["imbalance"]),
            float(call["completion_lag"]),
        )

    def finish(self, matcher: Matcher) -> Summary:
        profile = self._profile
        blame: dict[tuple[str, str], list[Straggler]] = {}
        straggler_sites: dict[tuple[int, str], float] = {}
        for (operation, site), stragglers in self._blame.by_kind().items():
            name = self._sites.names[site]
            blame.setdefault((self._operation(operation), name), []).extend(stragglers)
            for straggler in stragglers:
                key = (straggler.rank, name)
                straggler_sites[key] = straggler_sites.get(key, 0.0) + straggler.caused
        states: dict[str, float] = {}
        for (_, state), seconds in self._states.items():
            states[state] = states.get(state, 0.0) + seconds
        return Summary(
            profile,
            [*profile.warnings, *_unmatched_warnings(matcher.unmatched)],
            self._calls,
            len(profile.ranks),
            sorted({rank.host for rank in profile.ranks}),
            max(0, self._last - self._first) * 1e-9 if self._calls else 0.0,
            None if (error := clock_error_ns(profile)) is None else error * 1e-9,
            matcher.unmatched,
            _by_time(self._by_kind),
            _merged(self._by_kind, lambda operation, size, site: operation),
            _merged(self._by_kind, lambda operation, size, site: (operation, size)),
            _merged(self._by_kind, lambda operation, size, site: (operation, site)),
            dict(sorted(states.items(), key=lambda item: -item[1])),
            self._states,
            self._blame.by_rank(),
            straggler_sites,
            blame,
            {
                (self._operation(operation), self._sites.names[site]): History(
                    series.width, series.means, find_phases(series)
                )
                for (operation, site), series in self._series.items()
            },
            [self._worst_call(*entry, matcher) for entry in self._worst if entry[0] > 0],
            [self._sampled_call(call, matcher) for call in self._sample.calls()],
            read_savings(profile),
        )


def _add_factors(share: Share, factors: Factors, rows: NDArray[np.int64]) -> None:
    for name in FACTORS:
        values = getattr(factors, name)[rows]
        known = ~np.isnan(values)
        share.add_factor(name, float(values[known].sum()), int(known.sum()))


def _groups(codes: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
    """Each code and the rows that have it."""
    order = np.argsort(codes, kind="stable")
    values, starts = np.unique(codes[order], return_index=True)
    return [(int(value), rows) for value, rows in zip(values, np.split(order, starts[1:]), strict=True)]


def _by_time(table: dict[_Key, Share]) -> dict[_Key, Share]:
    return dict(sorted(table.items(), key=lambda item: -item[1].inside))


def _merged(kinds: dict[tuple[str, str, str], Share], key: Callable[[str, str, str], _Key]) -> dict[_Key, Share]:
    """The shares of all kinds with the same key, by time."""
    table: dict[_Key, Share] = {}
    for kind, share in kinds.items():
        table.setdefault(key(*kind), Share()).add(share)
    return _by_time(table)


def _unmatched_warnings(unmatched: Unmatched) -> list[str]:
    warnings = []
    if unmatched.calls:
        warnings.append(f"{unmatched.calls:,} calls are known from some of their ranks only: left out")
    if unmatched.in_progress:
        warnings.append(f"{unmatched.in_progress:,} calls had not ended on all ranks when recording stopped: left out")
    if unmatched.untold:
        warnings.append(
            f"{unmatched.untold:,} records are of communicators of which the files do not tell, for want of room or "
            "because they are cut off: left out"
        )
    if unmatched.alone:
        warnings.append(
            f"{unmatched.alone:,} records are of communicators whose ranks cannot be matched "
            "(intercommunicators, spawned processes, MPI_Comm_idup): left out"
        )
    return warnings
