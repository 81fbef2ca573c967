"""From what was measured to rules: few of them, and none for a difference that is noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stretto.tune.measure import is_choosable
from stretto.tune.rules import PASSED_ON, Evidence

# Of the best: what takes no more is as good.
_AS_GOOD = 1.03
# Of the MPI library's own choice: what takes more, beyond doubt, and more than passing the call on, is never chosen.
_BEHIND_NATIVE = 1.03
# What another rule from here on must save at one size, at least.
_RULE = math.log(1.04)
# Of two that are as good: the MPI library's own, then what needs no rule, then the first by name.
_SIMPLE = (PASSED_ON, "default")
_ORDER = 1e-6


def _loss(evidence: Evidence, name: str) -> float:
    """By how much it is behind the best, as a logarithm. What needs no algorithm named has the benefit of the doubt:
    the low end of its interval, as the one that was best in these calls was so by chance, too; others have the median.
    Infinite for what may not serve."""
    figure = evidence.figures.get(name)
    if figure is None:
        return math.inf
    allowed = max(_BEHIND_NATIVE, evidence.figures[PASSED_ON].to_native[1])
    if name != PASSED_ON and figure.to_native[0] > 1 and figure.to_native[1] > allowed:
        return math.inf
    low, middle, _ = figure.to_best
    return math.log(max((low if name in _SIMPLE else middle) / _AS_GOOD, 1.0))


def _losses(measured: Sequence[Evidence], name: str) -> float:
    """At one size, of all arrival patterns together."""
    return sum(_loss(evidence, name) for evidence in measured) / len(measured)


def _simplest_first(name: str) -> tuple[int, str]:
    return _SIMPLE.index(name) if name in _SIMPLE else len(_SIMPLE), name


def choose_along(sizes: Sequence[Sequence[Evidence]]) -> list[str]:
    """An algorithm for each size, of whose arrival patterns the evidence is: those that lose least in all, where a
    change from one size to the next counts as a loss of 4 % (a shortest path)."""
    names = {name for measured in sizes for evidence in measured for name in evidence.figures}
    options = sorted(filter(is_choosable, names), key=_simplest_first)
    rank = {name: _ORDER * index for index, name in enumerate(options)}
    totals = {name: _losses(sizes[0], name) + rank[name] for name in options}
    ways: list[dict[str, str]] = []
    for measured in sizes[1:]:
        cheapest = min(options, key=lambda name: totals[name])
        back = {name: name if totals[name] <= totals[cheapest] + _RULE else cheapest for name in options}
        totals = {
            name: min(totals[name], totals[cheapest] + _RULE) + _losses(measured, name) + rank[name] for name in options
        }
        ways.append(back)
    chosen = [min(options, key=lambda name: totals[name])]
    for back in reversed(ways):
        chosen.append(back[chosen[-1]])
    return chosen[::-1]


def threshold(below: int, above: int) -> int:
    """The first length that the algorithm found best at `above` bytes serves, where another was at `below`."""
    return max(math.isqrt(max(below, 1) * above), below + 1)
