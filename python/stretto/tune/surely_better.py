"""Of what was measured: where an MPI library's own algorithms, forced, are surely better than its own choice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from stretto.bench.request import VARIANT_PREFIX
from stretto.tune.decide import threshold
from stretto.tune.rules import Evidence, Rules

_SURELY_BETTER = 0.97  # of its own choice

Steps = list[tuple[int, str | None]]  # from so many bytes on, by that algorithm; None: by its own choice


def _best(measured: list[Evidence], names: Collection[str]) -> str | None:
    """At one size: the algorithm that is surely better than the library's own choice, under all patterns."""
    best, least = None, _SURELY_BETTER
    for name in names:
        figures = [evidence.figures.get(VARIANT_PREFIX + name) for evidence in measured]
        highs = [figure.to_native[2] for figure in figures if figure is not None]
        if len(highs) == len(measured) and max(highs) < least:
            best, least = name, max(highs)
    return best


def _steps(rules: Rules, collective: str, ranks: int, names: Collection[str]) -> Steps:
    by_size: dict[int, list[Evidence]] = defaultdict(list)
    for rule in rules.rules:
        if (rule.collective, rule.ranks) == (collective, ranks):
            for evidence in rule.measured:
                by_size[evidence.size].append(evidence)
    steps: Steps = []
    below = 0
    for size in sorted(by_size):
        best = _best(by_size[size], names)
        if not steps or steps[-1][1] != best:
            steps.append((threshold(below, size) if steps else 0, best))
        below = size
    return steps


def find_surely_better(rules: Rules, collective: str, names: Collection[str]) -> dict[int, Steps]:
    """By number of ranks, of all that were measured, rising; of the algorithms `names`. Empty where none is better."""
    measured = sorted({rule.ranks for rule in rules.rules if rule.collective == collective})
    found = {ranks: _steps(rules, collective, ranks, names) for ranks in measured}
    return found if any(name is not None for steps in found.values() for _, name in steps) else {}
