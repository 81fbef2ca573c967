"""From what was measured to rules: which differences count, and that no call falls off a cliff between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from stretto.bench.request import Arrival
from stretto.tune.candidates import without
from stretto.tune.choices import NONE, ask_choices
from stretto.tune.decide import choose_along, threshold
from stretto.tune.measure import Cell, Measurer, Observed, OutOfBudgetError
from stretto.tune.rules import Evidence, Figure, Rules, format_rules, read_rules, write_rules
from stretto.tune.tuning import Calls, Share, tune_calls

ON = {"date": "2026-11-26T22:00:00Z", "stretto": "0.1.0", "mpi": "Open MPI v4.1.4", "cpu": "any", "cores": 2,
      "ranks": 64, "nodes": 64}  # fmt: skip


def figure(to_best: float, spread: float = 0.01, to_native: float = 0.5) -> Figure:
    def around(middle: float) -> tuple[float, float, float]:
        return middle * (1 - spread), middle, middle * (1 + spread)

    return Figure(1000 * to_best, around(to_native), around(to_best))


def evidence(size: int, **figures: Figure) -> list[Evidence]:
    own = {"native": figure(2.0, to_native=1.0), "passthrough": figure(2.02, to_native=1.01)}
    return [Evidence(size, "balanced", 100, own | figures)]


def test_the_best_is_chosen_at_each_size() -> None:
    sizes = [evidence(8, ring=figure(3), tree=figure(1)), evidence(1 << 20, ring=figure(1), tree=figure(3))]
    assert choose_along(sizes) == ["tree", "ring"]


def test_a_difference_within_the_noise_makes_no_rule() -> None:
    sizes = [evidence(size, default=figure(1.2, spread=0.3), ring=figure(1)) for size in (8, 64, 512)]
    assert choose_along(sizes) == ["default"] * 3
    # The same, when it is sure.
    sizes = [evidence(size, default=figure(1.2), ring=figure(1)) for size in (8, 64, 512)]
    assert choose_along(sizes) == ["ring"] * 3


def test_what_may_be_anything_is_not_chosen() -> None:
    wild = figure(1.3, spread=0.6, to_native=1.3)
    assert choose_along([evidence(8, default=figure(1.01), ring=wild)]) == ["default"]


def test_a_short_gain_is_not_worth_two_rules_more() -> None:
    sizes = [evidence(8, default=figure(1)), evidence(64, default=figure(1.05), ring=figure(1)),
             evidence(512, default=figure(1))]  # fmt: skip
    assert choose_along(sizes) == ["default"] * 3


def test_what_is_behind_native_is_never_chosen() -> None:
    behind = figure(1.0, to_native=1.1)
    assert choose_along([evidence(8, ring=behind)]) == ["passthrough"]
    assert choose_along([evidence(8, ring=figure(1.0, to_native=1.1, spread=0.2))]) == ["ring"], "which is not sure"


def test_what_the_library_can_be_forced_to_is_no_choice() -> None:
    assert choose_along([evidence(8, **{"native:ring": figure(0.2), "tree": figure(1)})]) == ["tree"]


def test_all_patterns_count_that_a_rule_is_for() -> None:
    both = [*evidence(8, ring=figure(1), tree=figure(1.3)), *evidence(8, ring=figure(2), tree=figure(1))]
    assert choose_along([both]) == ["tree"]


@pytest.mark.parametrize(("below", "above"), [(0, 8), (8, 256), (64, 65), (4096, 65536), (0, 1)])
def test_a_threshold_lies_between(below: int, above: int) -> None:
    assert below < threshold(below, above) <= above


class Model(Measurer):
    """Measures by what is predicted, of ranks of a usual cluster that come together."""

    def __init__(self) -> None:
        super().__init__("nobody", None, 1, None, None)

    def measure(
        self, cell: Cell, algorithms: tuple[str, ...], sizes: Sequence[int], budget_s: float | None
    ) -> dict[int, Observed]:
        found = {}
        for answer in ask_choices(NONE, NONE, cell.collective, cell.ranks, cell.nodes, 0, sizes):
            costs = {name: cost for name, cost in answer.predicted_ns.items() if name in algorithms}
            costs["passthrough"] = costs["native"]
            costs["default"] = 10 * max(answer.predicted_ns.values())  # the rules are to do without it
            found[answer.bytes] = Observed(
                {name: np.full(10, cost) for name, cost in costs.items()}, {name: {name: 10} for name in costs}
            )
        return found


class OneNode(Measurer):
    """Measures what it is told of an allreduce: costs by whether ranks come together, in terms of native's."""

    def __init__(self, even: dict[str, float], uneven: dict[str, float]) -> None:
        super().__init__("nobody", None, 1, None, None)
        self._even, self._uneven = even, uneven

    def measure(
        self, cell: Cell, algorithms: tuple[str, ...], sizes: Sequence[int], budget_s: float | None
    ) -> dict[int, Observed]:
        told = {"native": 1.0, "passthrough": 1.0, **(self._even if cell.even else self._uneven)}
        return {size: Observed({name: np.full(10, cost) for name, cost in told.items()}, {}) for size in sizes}


@pytest.mark.parametrize(
    ("even", "uneven", "expected"),
    [
        # Both in the node's memory: ranks notice how they arrive.
        ({"arrival_stripes": 0.3, "arrival_tree": 0.4}, {"arrival_stripes": 0.4, "arrival_tree": 0.3},
         {"even": "arrival_stripes", "uneven": "arrival_tree"}),
        # Under `ring` they would not, and never leave it.
        ({"ring": 0.3, "arrival_tree": 0.4}, {"ring": 0.9, "arrival_tree": 0.3}, {"any": "arrival_tree"}),
        ({"ring": 0.3, "arrival_tree": 0.9}, {"ring": 0.4, "arrival_tree": 0.3}, {"any": "ring"}),
        ({"arrival_tree": 0.3}, {"arrival_tree": 0.4}, {"any": "arrival_tree"}),
    ],
)  # fmt: skip
def test_rules_differ_by_arrivals_only_where_these_are_noticed(
    even: dict[str, float], uneven: dict[str, float], expected: dict[str, str]
) -> None:
    measurer = OneNode(even, uneven)
    patterns = [Arrival("balanced"), Arrival("uniform", 2e6)]
    rules = tune_calls(measurer, Calls("allreduce", 8, 1, (8,)), patterns, Share(measurer, 1), lambda _: None)
    assert {rule.arrivals: rule.algorithm for rule in rules} == expected
    assert sum(len(rule.measured) for rule in rules) == 2


class Crossing(Measurer):
    """Whose best algorithms are others at 8 bytes than at 64 KiB, ours and those that the library can be forced to."""

    def __init__(self) -> None:
        super().__init__("nobody", None, 1, None, None)

    def measure(
        self, cell: Cell, algorithms: tuple[str, ...], sizes: Sequence[int], budget_s: float | None
    ) -> dict[int, Observed]:
        found = {}
        for size in sizes:
            good, bad = ("tree", "ring") if size < 1024 else ("ring", "tree")
            costs = {"native": 1.0, "passthrough": 1.0, "default": 0.9, good: 0.3, bad: 0.6,
                     f"native:{good}": 0.5, f"native:{bad}": 0.8}  # fmt: skip
            asked = {name: cost for name, cost in costs.items() if budget_s is None or name in algorithms}
            found[size] = Observed({name: np.full(10, cost) for name, cost in asked.items()}, {})
        return found


def test_the_middle_is_compared_with_what_the_library_can_be_forced_to() -> None:
    measurer = Crossing()
    calls = Calls("allreduce", 8, 1, (8, 65536))
    rules = tune_calls(measurer, calls, [Arrival("balanced")], Share(measurer, 2), lambda _: None)
    assert [rule.algorithm for rule in rules] == ["tree", "ring"]
    names = {evidence.size: set(evidence.figures) for rule in rules for evidence in rule.measured}
    assert len(names) == 3 and all({"native:ring", "native:tree", "tree", "ring"} <= seen for seen in names.values())


class Hurried(Crossing):
    """With no time left for the middle."""

    def measure(
        self, cell: Cell, algorithms: tuple[str, ...], sizes: Sequence[int], budget_s: float | None
    ) -> dict[int, Observed]:
        if not set(sizes) <= {8, 65536}:
            raise OutOfBudgetError("the budget is spent")
        return super().measure(cell, algorithms, sizes, budget_s)


def test_nothing_measured_is_lost_where_the_time_ends_before_the_middle() -> None:
    measurer = Hurried()
    calls = Calls("allreduce", 8, 1, (8, 65536))
    rules = tune_calls(measurer, calls, [Arrival("balanced")], Share(measurer, 2), lambda _: None)
    assert [(rule.algorithm, [evidence.size for evidence in rule.measured]) for rule in rules] == [
        ("tree", [8]), ("ring", [65536])
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("stretto-bench: allreduce, ring, 8 bytes, iteration 3: wrong", ("native", "native:*")),
        ("stretto-bench: allreduce, native:ring, 8 bytes, iteration 3: wrong", ("native", "ring")),
        ("mpirun native,native:*,ring ended with exit code 1", None),
    ],
)
def test_what_is_named_as_wrong_is_left_out(said: str, left: tuple[str, ...] | None) -> None:
    assert without(("native", "native:*", "ring"), said) == left


SIZES = (8, 256, 4 << 10, 64 << 10, 1 << 20, 8 << 20)


@pytest.mark.parametrize("collective", ["allreduce", "bcast", "reduce", "allgather"])
def test_there_are_no_cliffs_between_what_was_measured(collective: str, tmp_path: Path) -> None:
    """The whole way, from costs to a file to what ranks choose, on all numbers of nodes and around powers of two."""
    model, rules, file = Model(), Rules(ON, []), tmp_path / "rules.toml"
    for ranks in (2, 4, 8, 16, 32, 64):
        calls = Calls(collective, ranks, ranks, SIZES)
        rules.rules.extend(tune_calls(model, calls, [Arrival("balanced")], Share(model, 1), lambda _: None))
    write_rules(rules, file)
    assert format_rules(read_rules(file)) == file.read_text()
    worst, far = 1.0, 0
    sizes = sorted({max(1, (1 << power) + more) for power in range(3, 24) for more in (-1, 0, 1)})
    for ranks in range(2, 65):
        for answer in ask_choices(str(file), NONE, collective, ranks, ranks, 0, sizes):
            assert answer.by == "rules"
            behind = answer.predicted_ns[answer.chosen] / min(answer.predicted_ns.values())
            worst, far = max(worst, behind), far + (behind > 1.25)
    # Where something else is best only between two sizes that were measured it is not found.
    assert worst < 1.75 and far < 0.01 * 63 * len(sizes), (worst, far / 63 / len(sizes))
