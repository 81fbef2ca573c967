"""What may serve a call best, and is worth measuring."""

from __future__ import annotations

import os
from collections.abc import Sequence

from stretto.algorithms import Algorithm, load_registry
from stretto.bench.request import VARIANT_PREFIX
from stretto.tune.choices import NONE, Answer, ask_choices
from stretto.tune.rules import NATIVE, PASSED_ON

# The formulas are within a quarter of the model for most calls, and the model is no machine.
_HOPELESS = 3.0
FORCED = f"{VARIANT_PREFIX}*"  # all that the MPI library can be forced to
# Within nodes in their memory, between them by messages.
_IN_MEMORY = {
    "allreduce": ("hierarchical(arrival_stripes,recursive_doubling)", "hierarchical(arrival_stripes,ring)"),
    "bcast": ("hierarchical(arrival_copy,binomial)", "hierarchical(arrival_copy,event_chain)"),
    "reduce": ("hierarchical(arrival_stripes,event_knomial)", "hierarchical(arrival_stripes,event_chain)"),
}


def _suits(entry: Algorithm, nodes: int) -> bool:
    """Whether it can serve calls of any program, with no more than Stretto finds out by itself."""
    needs_more = entry.needs_prediction or entry.begins_ahead or entry.needs_atomics
    return not needs_more and (nodes == 1 or not entry.needs_shared_memory)


def on_boards(collective: str) -> set[str]:
    """Its algorithms in the memory of a node."""
    return {entry.name for entry in load_registry() if entry.collective == collective and entry.needs_shared_memory}


def find_candidates(collective: str, ranks: int, nodes: int, sizes: Sequence[int]) -> tuple[str, ...]:
    """The MPI library's own choice, by itself and passed on to, all that it can be forced to, Stretto's own, and its
    algorithms.

    Between nodes those that are predicted to take three times the best at all sizes are left out, where
    STRETTO_MACHINE tells of the machine.
    """
    known = [entry.name for entry in load_registry() if entry.collective == collective and _suits(entry, nodes)]
    if nodes > 1:
        machine = os.environ.get("STRETTO_MACHINE", NONE)
        answers = ask_choices(NONE, machine, collective, ranks, nodes, 0, sizes)
        considered = [name for answer in answers for name in answer.predicted_ns if not name.isidentifier()]
        in_memory = _IN_MEMORY.get(collective, ()) if nodes < ranks else ()
        known = list(dict.fromkeys([*known, *considered, *in_memory]))
        if machine != NONE:
            known = [name for name in known if not _is_hopeless(name, answers)]
    return (NATIVE, PASSED_ON, FORCED, "default", *known)


def _is_hopeless(name: str, answers: list[Answer]) -> bool:
    costs = [(answer.predicted_ns.get(name, 0), min(answer.predicted_ns.values())) for answer in answers]
    return all(cost > _HOPELESS * least for cost, least in costs)


def without(candidates: Sequence[str], said: str) -> tuple[str, ...] | None:
    """Those that are left where the benchmark's driver gave up with these words, None if they name none."""

    def is_named(candidate: str) -> bool:
        return f", {candidate}, " in said or (candidate == FORCED and f", {VARIANT_PREFIX}" in said)

    left = tuple(candidate for candidate in candidates if not is_named(candidate))
    return left if len(left) < len(candidates) else None
