#!/usr/bin/env python3
"""Writes docs/algorithms.md from the catalogue of the built library; --check says whether it is up to date."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from stretto.algorithms import Algorithm, load_registry  # noqa: E402
from stretto.errors import StrettoError  # noqa: E402

PAGE = ROOT / "docs" / "algorithms.md"

INTRODUCTION = """\
# Algorithms

Made from the catalogue by `scripts/generate_algorithm_table.py`; do not edit. `stretto algorithms` prints the same.

Costs: α latency of a message, β time per byte, γ time per reduced byte, κ time per byte copied in memory, λ handing a
cache line from one core to another, g the gap between two messages of a rank; n bytes, P ranks, q ranks a node, m
segments; depth of a tree, and c children of a rank in it; log is to the base 2; e is 0 where P is a power of two, else
how many messages more that takes, 1 or 2; w is 1 where a message waits for its receiver, 0 where it leaves at once;
s is 1 where a receiver of many segments says first that it is there. *After the last arrival* is the work left once the
last rank is there. *Balanced* is for ranks that come together. Each file's own comment has the details.

All links are written as if they were the same; computed, messages of most formulas go within a node or between nodes.
Some have all that `stretto model` has, and give 95 % of what it says within a quarter
(`tests/conformance/costs_test.cpp`); the others are leading terms.

Where each rank has a block, as in scatter, allgather or alltoall, n bytes are one block, and N all of them. *A
prediction*: of use only where the next call, or the order in which ranks come to it, is known ahead.

*Varies*: the order of summation is that of arrival, or of the prediction, so the last bits may differ from run to run.
They never differ between ranks.
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def limits(algorithm: Algorithm) -> str:
    """What the algorithm asks for, in words."""
    words = [
        ("ranks of one node", algorithm.needs_shared_memory),
        ("a prediction", algorithm.needs_prediction),
        ("one-sided atomics", algorithm.needs_atomics),
        ("commutative operations", algorithm.commutative_only),
        ("varies", not algorithm.deterministic),
    ]
    return "; ".join(text for text, holds in words if holds) or "-"


def source_of(algorithm: Algorithm) -> Path:
    """Where it is. The kinds of one algorithm may share a file: sorted, in the background, non-blocking, of blocks."""
    folder = Path("src", "algorithms", algorithm.collective.removesuffix("v").removesuffix("_block"))
    kind = algorithm.name.removeprefix("background_").removeprefix("sorted_")
    names = (algorithm.name, kind, kind.removesuffix("_nonblocking"), f"{kind.split('_')[0]}_tree")
    files = [folder / f"{name}.cpp" for name in names]
    return next((file for file in files if (ROOT / file).is_file()), files[0])


def row(algorithm: Algorithm) -> str:
    """One line of the table. Raises StrettoError where the file is not named as the algorithm is."""
    source = source_of(algorithm)
    if not (ROOT / source).is_file():
        raise StrettoError(f"{source}: missing: an algorithm's file is named as it is, or `make build` is due")
    cells = [
        f"[`{algorithm.name}`](../{source.as_posix()})",
        cell(algorithm.summary),
        cell(algorithm.cost_balanced),
        cell(algorithm.cost_after_last),
        limits(algorithm),
        cell(algorithm.source),
    ]
    return f"| {' | '.join(cells)} |"


def page(algorithms: list[Algorithm]) -> str:
    lines = [INTRODUCTION]
    for collective in dict.fromkeys(algorithm.collective for algorithm in algorithms):
        lines += [
            f"## {collective}",
            "",
            "| name | what it does | cost, balanced | after the last arrival | limits | source |",
            "|---|---|---|---|---|---|",
            *(row(algorithm) for algorithm in algorithms if algorithm.collective == collective),
            "",
        ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the page is out of date")
    arguments = parser.parse_args()
    try:
        text = page(load_registry())
    except StrettoError as error:
        print(f"{Path(__file__).name}: {error}", file=sys.stderr)
        return 2
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.relative_to(ROOT)} is out of date: run scripts/generate_algorithm_table.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
