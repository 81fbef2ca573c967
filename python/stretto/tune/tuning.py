"""Rules for one collective on so many ranks: what is measured, and in what order."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stretto.bench.request import Arrival
from stretto.tune.candidates import on_boards
from stretto.tune.choices import NONE, ask_choices
from stretto.tune.decide import choose_along, threshold
from stretto.tune.measure import (
    Cell,
    Measurer,
    OutOfBudgetError,
    finalists,
    is_choosable,
    measure_again,
    screen,
)  # fmt: skip
from stretto.tune.rules import ANY, EVEN, NATIVE, PASSED_ON, UNEVEN, Evidence, Rule

_LONGEST_S, _LEAST_S = 6.0, 0.5  # of a final run, where no budget says less
_GAP = 4  # where another algorithm is best at a size so many times as long, the middle is measured, too
_WIDTH = 4  # bytes of what is measured with

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Calls:
    """The calls that rules are sought for."""

    collective: str
    ranks: int
    nodes: int
    sizes: tuple[int, ...]

    def cell(self, arrival: Arrival) -> Cell:
        return Cell(self.collective, self.ranks, self.nodes, arrival)


class Share:
    """Seconds for each of the final runs: what the budget leaves, divided by how many are still expected."""

    def __init__(self, measurer: Measurer, runs: int) -> None:
        self._measurer, self._left = measurer, runs

    def take(self) -> float:
        # A third goes to screening, and to starting ranks.
        seconds = 0.6 * self._measurer.left_s / max(self._left, 1)
        self._left -= 1
        return max(_LEAST_S, min(_LONGEST_S, seconds))


@dataclass(frozen=True)
class _Group:
    """Patterns that get the same rules, since the library cannot tell them apart, and what they are called there."""

    arrivals: str
    patterns: tuple[Arrival, ...]


def _groups(patterns: Sequence[Arrival], nodes: int) -> list[_Group]:
    even = tuple(pattern for pattern in patterns if pattern.name == "balanced")
    uneven = tuple(pattern for pattern in patterns if pattern.name != "balanced")
    if nodes > 1 or not even or not uneven:
        return [_Group(ANY, (*even, *uneven))]
    return [_Group(EVEN, even), _Group(UNEVEN, uneven)]


def tune_calls(measurer: Measurer, calls: Calls, patterns: Sequence[Arrival], share: Share, tell: Tell) -> list[Rule]:
    """The rules, by rising length. Raises OutOfBudgetError where the time is over before they are known."""
    groups = _groups(patterns, calls.nodes)
    measured = [_measure(measurer, calls, group, share, tell) for group in groups]
    found = [_rules(calls, group.arrivals, each) for group, each in zip(groups, measured, strict=True)]
    if len(found) == 1:
        return found[0]
    if _same(*found) or not _runs(calls, found) <= on_boards(calls.collective):
        even, uneven = measured
        return _rules(calls, ANY, {size: even[size] + uneven[size] for size in even if size in uneven})
    return [rule for rules in found for rule in rules]


def _runs(calls: Calls, found: list[list[Rule]]) -> set[str]:
    """What runs under the rules. Unless all of it goes by the ranks' board nobody knows how ranks arrive, and rules
    that differ by it would stay what they are."""
    rules = [rule for each in found for rule in each]
    left = sorted({evidence.size for rule in rules if rule.algorithm == "default" for evidence in rule.measured})
    answers = ask_choices(NONE, NONE, calls.collective, calls.ranks, calls.nodes, 0, left) if left else []
    return {rule.algorithm for rule in rules if rule.algorithm != "default"} | {answer.untuned for answer in answers}


def _same(first: list[Rule], second: list[Rule]) -> bool:
    return [(rule.from_bytes, rule.algorithm) for rule in first] == [
        (rule.from_bytes, rule.algorithm) for rule in second
    ]


def _measure(measurer: Measurer, calls: Calls, group: _Group, share: Share, tell: Tell) -> dict[int, list[Evidence]]:
    """Evidence of each pattern, by size."""
    found: dict[int, list[Evidence]] = {size: [] for size in calls.sizes}
    for pattern in group.patterns:
        what = f"{calls.collective}, {calls.ranks} ranks, {pattern.text}"
        tell(f"{what}: all candidates")
        screened = screen(measurer, calls.cell(pattern), calls.sizes)
        for size in calls.sizes:
            tell(f"{what}: {size} bytes")
            names = finalists(screened[size])
            found[size].append(measure_again(measurer, calls.cell(pattern), size, names, share.take(), screened[size]))
    with contextlib.suppress(OutOfBudgetError):  # what has been measured by then is enough for rules
        _refine(measurer, calls, group, found, tell)
    return found


def _refine(measurer: Measurer, calls: Calls, group: _Group, found: dict[int, list[Evidence]], tell: Tell) -> None:
    """Measures the middle between sizes for which other algorithms are best."""
    sizes = sorted(found)
    chosen = choose_along([found[size] for size in sizes])
    for below, above, first, second in zip(sizes, sizes[1:], chosen, chosen[1:], strict=False):
        if first == second or above <= _GAP * below:
            continue
        middle = math.isqrt(below * above) // _WIDTH * _WIDTH
        tell(f"{calls.collective}, {calls.ranks} ranks: {middle} bytes, between {first} and {second}")
        forced = _best_forced(found[below] + found[above])
        names = tuple(dict.fromkeys((NATIVE, PASSED_ON, "default", first, second, *forced)))
        found[middle] = [
            measure_again(measurer, calls.cell(pattern), middle, names, _LONGEST_S / 2) for pattern in group.patterns
        ]


def _best_forced(measured: Sequence[Evidence]) -> list[str]:
    """Of what the MPI library can be forced to, the best of each."""
    return [
        min(forced, key=lambda name: evidence.figures[name].ns)
        for evidence in measured
        if (forced := [name for name in evidence.figures if not is_choosable(name) and name != NATIVE])
    ]


def _rules(calls: Calls, arrivals: str, found: dict[int, list[Evidence]]) -> list[Rule]:
    sizes = sorted(found)
    rules: list[Rule] = []
    chosen = choose_along([found[size] for size in sizes])
    names = [NATIVE if name == PASSED_ON else name for name in chosen]
    for index, (size, algorithm) in enumerate(zip(sizes, names, strict=True)):
        if rules and rules[-1].algorithm == algorithm:
            rules[-1].measured.extend(found[size])
            continue
        from_bytes = threshold(sizes[index - 1], size) if index else 0
        rules.append(
            Rule(calls.collective, calls.ranks, calls.nodes, arrivals, from_bytes, algorithm, list(found[size]))
        )
    return rules
