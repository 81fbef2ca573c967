"""Open MPI's rules file, of what was measured of its own algorithms.

The classic format of coll_tuned_dynamic_rules_filename (ompi/mca/coll/tuned/coll_tuned_dynamic_file.c): numbers alone.
For each collective, number of ranks from which on, and length from which on: algorithm, fan-out, segment.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

from stretto.errors import StrettoError
from stretto.tune.rules import Rules
from stretto.tune.surely_better import Steps, find_surely_better

# Of those whose lengths Open MPI looks up as they are measured here: the number that it has for each
# (ompi/mca/coll/base/coll_base_functions.h). It looks up an allgather by what it brings all together.
_COLLECTIVES = {"allgather": 0, "allreduce": 2, "barrier": 6, "bcast": 7, "reduce": 11}
_ITS_OWN = 0
_FAN_OUT, _SEGMENT = 4, 0  # as it is forced without naming them, which is what was measured


def _algorithm_numbers() -> dict[str, dict[str, int]]:
    """By collective and name, as this Open MPI has them. Raises StrettoError where there is none."""
    program = shutil.which("ompi_info")
    if program is None:
        raise StrettoError("ompi_info: not found: it tells the numbers of Open MPI's algorithms: check PATH")
    words = [program, "--param", "coll", "tuned", "--level", "9", "--parsable"]
    text = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout
    numbers: dict[str, dict[str, int]] = defaultdict(dict)
    for collective, number, name in re.findall(r"coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(\w+)", text):
        numbers[collective][name] = int(number)
    return numbers


def _lines_of(collective: str, found: dict[int, Steps], numbers: dict[str, int]) -> list[str]:
    """What is for so many ranks is for no more: from the next number on the library's own counts."""
    beyond: dict[int, Steps] = {ranks + 1: [(0, None)] for ranks in found}
    by_ranks = beyond | found
    lines = [str(_COLLECTIVES[collective]), str(len(by_ranks))]
    for ranks, steps in sorted(by_ranks.items()):
        brings = ranks if collective == "allgather" else 1
        lines += [str(ranks), str(len(steps))]
        for from_bytes, name in steps:
            number = _ITS_OWN if name is None else numbers[name]
            lines.append(f"{brings * from_bytes} {number} {_FAN_OUT} {_SEGMENT}")
    return lines


def write(rules: Rules, output: Path) -> str:
    """Writes the file and returns what to say of it. Raises StrettoError where Open MPI cannot be asked."""
    numbers = _algorithm_numbers()
    found = {each: find_surely_better(rules, each, numbers[each]) for each in _COLLECTIVES}
    tables = [_lines_of(collective, own, numbers[collective]) for collective, own in found.items() if own]
    output.write_text("\n".join([str(len(tables)), *(line for table in tables for line in table)]) + "\n")
    return (
        f"rules for {len(tables)} collectives written to {output}. Then: mpirun --mca coll_tuned_use_dynamic_rules 1 "
        f"--mca coll_tuned_dynamic_rules_filename {output} ..."
    )
