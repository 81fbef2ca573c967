"""What the library would run, as it says itself (stretto-choices)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from stretto.errors import StrettoError
from stretto.library import built_program

_LIMIT_S = 60
NONE = "-"  # no such file


@dataclass(frozen=True)
class Answer:
    """For calls of `bytes`. `by`: rules, prediction or default; `untuned`: what it is without rules. `uneven`: whether
    rules for uneven ranks count; `apart`: whether how far apart ranks come has a say in the choice. `rule_ranks`,
    `rule_nodes`: what the nearest rules were measured on, 0 where there are none. `predicted_ns`: of algorithms by
    messages, between nodes, where ranks come so; else empty."""

    bytes: int
    chosen: str
    untuned: str
    by: str
    uneven: bool
    apart: bool
    rule_ranks: int
    rule_nodes: int
    predicted_ns: dict[str, float]


def _run(*words: str) -> str:
    program = built_program("stretto-choices")
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise StrettoError(f"{program} failed ({error}): run `make build` again") from error
    if done.returncode != 0:
        raise StrettoError(done.stderr.strip().removeprefix("stretto: ") or f"{program} ended with {done.returncode}")
    return done.stdout


def check_rules(path: str) -> None:
    """Raises StrettoError where ranks could not read that rules file."""
    _run(path)


def ask_choices(
    rules: str, machine: str, collective: str, ranks: int, nodes: int, skew_ns: int, sizes: Sequence[int]
) -> list[Answer]:
    """By size; `rules` and `machine` are files, or NONE. `skew_ns`: how far apart ranks arrive. Raises StrettoError."""
    lines = _run(rules, machine, collective, str(ranks), str(nodes), str(skew_ns), *map(str, sizes)).splitlines()
    return [Answer(**{"predicted_ns": {}, **json.loads(line)}) for line in lines]
