"""Whether trainings under Stretto's pipelined allreduce were right, and what served their gradients, as Markdown.

    python check_pipelined.py "one node, ring+4=DIR" ["four nodes=DIR" ...]

DIR holds the profile of a run and training.json, which train.py wrote. Ends with an error where gradients were lost or
summed twice, where ranks have different parameters, or where another algorithm than a pipelined one served a long sum:
then the training has not shown what it was to show.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from stretto.profile.files import RankFile, open_profile

# From here on Stretto's default between nodes is a pipelined algorithm (src/select/rules.cpp).
LONG_BYTES_A_RANK = 32 << 10


def sums(rank: RankFile, algorithms: list[str]) -> dict[int, Counter[str]]:
    """A rank's MPI_SUMs: of each message size in bytes the algorithms that ran, with the number of their calls."""
    adding = [fact["index"] for fact in rank.facts.get("reduction", []) if fact["name"] == "MPI_SUM"]
    found: dict[int, Counter[str]] = {}
    for block in rank.blocks(1 << 16):
        rows = block[np.isin(block["reduction"], adding)]
        for size, algorithm in zip(rows["bytes"].tolist(), rows["algorithm"].tolist(), strict=True):
            found.setdefault(size, Counter())[algorithms[algorithm]] += 1
    return found


def check_rank(rank: RankFile, algorithms: list[str], expected: int, long_bytes: int) -> tuple[int, Counter[str]]:
    """Calls of MPI_SUM in all, and what ran for the long ones. Exits where they are not as they should be."""
    by_size = sums(rank, algorithms)
    summed = sum(size * calls.total() for size, calls in by_size.items())
    if summed != expected:
        sys.exit(f"{rank.path}: MPI_SUM of {summed} bytes, not {expected}")
    long = sum((calls for size, calls in by_size.items() if size >= long_bytes), Counter[str]())
    others = [name for name in long if "+" not in name]
    if others or not long:
        sys.exit(f"{rank.path}: no pipelined algorithm, but {', '.join(others) or 'nothing'} served long sums")
    return sum(calls.total() for calls in by_size.values()), long


def print_row(name: str, directory: Path) -> None:
    """Check a run, and print what served it."""
    training = json.loads((directory / "training.json").read_text())
    hashes = training["parameters_sha256"]
    if len(set(hashes)) > 1 or len(hashes) != training["ranks"]:
        sys.exit(f"{name}: the ranks have different parameters: {', '.join(hashes)}")
    profile = open_profile(directory)
    if profile.warnings or len(profile.ranks) != training["ranks"]:
        sys.exit(f"{name}: the profile is incomplete: {'; '.join(profile.warnings)}")
    expected = training["steps"] * 4 * training["parameters"]
    long_bytes = LONG_BYTES_A_RANK * training["ranks"]
    checked = [check_rank(rank, profile.algorithms, expected, long_bytes) for rank in profile.ranks]
    calls, long = checked[0]
    ran = ", ".join(f"`{algorithm}` {count:,}" for algorithm, count in long.most_common())
    print(f"| {name} | {calls:,} | {expected:,} | {ran} | {hashes[0][:12]}... |")


def main() -> None:
    if len(sys.argv) < 2 or not all("=" in word for word in sys.argv[1:]):
        sys.exit(__doc__)
    print("| under Stretto | calls of MPI_SUM | bytes, every rank | long ones served by | SHA-256, every rank |")
    print("|---|---:|---:|---|---|")
    for word in sys.argv[1:]:
        name, _, directory = word.rpartition("=")
        print_row(name, Path(directory))


if __name__ == "__main__":
    main()
