"""What collectives a profiled Horovod training calls, beside what Alizadeh 2021, chapter 3 found, as Markdown.

    python characterise.py training.json "one node=DIR" ["two nodes=DIR" ...]

training.json is what train.py wrote, DIR holds a profile of a run of it. Ends with an error where the gradients summed
are not steps x 4 x parameters bytes on every rank of every profile: then the profile has lost or invented calls.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stretto.profile.files import IN_PLACE, Profile, RankFile, open_profile
from stretto.profile.summary import SIZE_CLASSES, Share, Summary, summarise

THESIS = json.loads((Path(__file__).parent / "thesis.json").read_text(encoding="utf-8"))


class Run(NamedTuple):
    """One profile under the name that its column gets."""

    name: str
    profile: Profile
    summary: Summary


def reductions(rank: RankFile) -> dict[str, tuple[int, int, int]]:
    """Of each reduction operation of a rank: calls, bytes, calls in place."""
    found: dict[str, tuple[int, int, int]] = {}
    for fact in rank.facts.get("reduction", []):
        calls = bytes_ = in_place = 0
        for block in rank.blocks(1 << 16):
            rows = block[block["reduction"] == fact["index"]]
            calls, bytes_ = calls + len(rows), bytes_ + int(rows["bytes"].sum())
            in_place += int(np.count_nonzero(rows["flags"] & IN_PLACE))
        found[fact["name"]] = (calls, bytes_, in_place)
    return found


def check_sums(runs: list[Run], steps: int, parameters: int) -> None:
    """Exits unless every rank summed all gradients once a step."""
    expected = steps * 4 * parameters
    for run in runs:
        for rank in run.profile.ranks:
            summed = reductions(rank).get("MPI_SUM", (0, 0, 0))[1]
            if summed != expected:
                sys.exit(f"{run.name}: rank {rank.world_rank} summed {summed} bytes, not {steps} x 4 x {parameters}")
    print(f"On every rank the bytes of MPI_SUM are {steps} steps x 4 x {parameters:,} parameters = {expected:,}.\n")


def print_table(title: str, runs: list[Run], rows: dict[str, list[str]]) -> None:
    """Markdown: a column a run, then those of the thesis."""
    names = [*(run.name for run in runs), *THESIS["columns"]]
    print(f"| {title} | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names))
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()


def by_collective(summary: Summary) -> dict[str, Share]:
    """Allreduces, broadcasts, and all others together."""
    groups = {"allreduce": Share(), "bcast": Share(), "others": Share()}
    for operation, share in summary.by_operation.items():
        groups.get(operation.lower(), groups["others"]).add(share)
    return groups


def by_size(summary: Summary) -> dict[str, Share]:
    """The allreduces of each class of size, and of all under "all"."""
    classes = {size: summary.by_class.get(("Allreduce", size), Share()) for _, size in SIZE_CLASSES}
    return {"all": summary.by_operation["Allreduce"]} | classes


def print_shares(runs: list[Run]) -> None:
    """Figures 3.1 to 3.8 of the thesis."""
    for table in THESIS["shares"]:
        groups = [(by_collective if table["of"] == "collective" else by_size)(run.summary) for run in runs]
        rows: dict[str, list[str]] = {}
        for name, published in table["rows"].items():
            parts = [_part(shares, name, table["field"], table["rows"]) for shares in groups]
            rows[name] = [*(f"{100 * part:.1f} %" for part in parts), *published]
        print_table(table["title"], runs, rows)


def _part(shares: dict[str, Share], name: str, field: str, whole: Iterable[str]) -> float:
    part: float = getattr(shares[name], field) / sum(getattr(shares[each], field) for each in whole)
    return part


def print_factors(runs: list[Run]) -> None:
    """Tables 3.1 to 3.4 of the thesis."""
    for table in THESIS["factors"]:
        rows = {}
        for size, published in table["rows"].items():
            values = [*(by_size(run.summary)[size].factor(table["factor"]) for run in runs), *published]
            rows[size] = ["–" if value is None else f"{value:,.2f}" for value in values]
        print_table(f"imbalance factor, {table['title']}", runs, rows)


def print_reductions(runs: list[Run]) -> None:
    """What the allreduces of rank 0 do: Horovod negotiates by MPI_BAND and averages gradients by MPI_SUM."""
    print("| allreduces of rank 0 | operation | calls | bytes a call | in place |\n|---|---|---:|---:|---:|")
    for run in runs:
        for name, (calls, bytes_, in_place) in reductions(run.profile.ranks[0]).items():
            print(f"| {run.name} | {name} | {calls:,} | {bytes_ / calls:,.0f} | {100 * in_place / calls:.0f} % |")
    print()


def main() -> None:
    if len(sys.argv) < 3 or not all("=" in word for word in sys.argv[2:]):
        sys.exit(__doc__)
    training = json.loads(Path(sys.argv[1]).read_text())
    runs = []
    for word in sys.argv[2:]:
        name, _, directory = word.partition("=")
        profile = open_profile(Path(directory))
        runs.append(Run(name, profile, summarise(profile)))
    check_sums(runs, training["steps"], training["parameters"])
    print_reductions(runs)
    print_shares(runs)
    print_factors(runs)


if __name__ == "__main__":
    main()
