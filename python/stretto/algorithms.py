"""The algorithm registry, as the compiled library tells it."""

import json
import re
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
    program = built_program("stretto-registry")
    try:
        result = subprocess.run([program], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise StrettoError(f"{program} failed ({error}): run `make build` again") from error
    return parse_registry(result.stdout)


def without_segments(choice: str) -> str:
    """`ring` of `ring+4` or `ring+32M`; any other choice as it is. The library takes the same (parse_pipelined)."""
    found = re.fullmatch(r"([^+]+)\+(\d{1,4})([KMG]?)", choice)
    if found is None:
        return choice
    base, number, unit = found.groups()
    least, most = (1, 9999) if unit else (2, 1024)
    return base if least <= int(number) <= most else choice


def check_choice(collective: str, choice: str, origin: str) -> None:
    """Raise StrettoError unless `choice` can run `collective`; `origin` is the option or variable it came from."""
    if choice in ALWAYS:
        return
    known = [algorithm for algorithm in load_registry() if algorithm.collective == collective]
    names = [algorithm.name for algorithm in known]
    segmented = [algorithm.name for algorithm in known if algorithm.can_be_pipelined]
    mapped = [f"{algorithm.name}@{name}" for algorithm in known for name in algorithm.maps]
    whole = without_segments(choice)
    base = whole.partition("@")[0]
    if whole in (*names, *mapped) and (whole == choice or base in segmented):
        return
    if whole == "native" and segmented:
        return
    hints = f"; in segments: {segmented[0]}+4, {segmented[0]}+1M" if segmented else ""
    hints += f"; with a map of ranks: {mapped[0]}" if mapped else ""
    raise StrettoError(
        f"{origin}={choice}: no such {collective} algorithm; choose from {', '.join([*ALWAYS, *names])}{hints}"
    )
