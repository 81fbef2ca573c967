"""The algorithm registry, as the compiled library tells it."""

import json
import subprocess
from dataclasses import dataclass, fields

from stretto.errors import StrettoError
from stretto.library import built_program

COLLECTIVES = (
    *("allreduce", "reduce", "bcast", "barrier", "scatter", "gather", "scatterv", "gatherv"),
    *("allgather", "allgatherv", "reduce_scatter_block", "reduce_scatter", "alltoall", "alltoallv"),
)
# Choices of every collective that are no algorithm of ours: the MPI library's own, and Stretto's own choice.
ALWAYS = ("native", "default")


@dataclass(frozen=True)
class Algorithm:
    """One line of the registry. Costs are formulas in alpha, beta, gamma, n and P, as text."""

    collective: str
    name: str
    summary: str
    source: str
    needs_shared_memory: bool
    needs_prediction: bool
    begins_ahead: bool
    needs_atomics: bool
    commutative_only: bool
    deterministic: bool
    can_be_pipelined: bool
    maps: list[str]
    cost_balanced: str
    cost_after_last: str


def parse_registry(text: str) -> list[Algorithm]:
    """Algorithms from the JSON array that `stretto-registry` prints. Raises StrettoError on anything else."""
    names = [field.name for field in fields(Algorithm)]
    try:
        return [Algorithm(**{name: entry[name] for name in names}) for entry in json.loads(text)]
    except (ValueError, KeyError, TypeError) as error:
        raise StrettoError(
            f"stretto-registry printed something else than the registry ({error!r}): run `make build` again"
        ) from error


def load_registry() -> list[Algorithm]:
    """All algorithms of the built library. Raises StrettoError where the registry program is missing or fails."""
    return parse_registry(_run_registry().stdout)


def _run_registry(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What stretto-registry ends with: 0, or 1 for a choice that cannot be. Raises StrettoError where it fails."""
    program = built_program("stretto-registry")
    try:
        result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise StrettoError(f"{program} failed ({error}): run `make build` again") from error
    if result.returncode not in ((0, 1) if arguments else (0,)):
        raise StrettoError(f"{program} ended with {result.returncode}: run `make build` again")
    return result


def check_choice(collective: str, choice: str, origin: str) -> None:
    """Raise StrettoError unless `choice` can run `collective`; `origin` is the option or variable it came from.

    The library's own parser decides (stretto-registry).
    """
    if choice in ALWAYS:
        return
    result = _run_registry(collective, choice)
    if result.returncode != 0:
        raise StrettoError(f"{origin}={choice}: no such {collective} algorithm; choose from {result.stdout.strip()}")
