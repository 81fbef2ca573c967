"""`stretto bench compare A B`: what changed between two results of the benchmark."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from stretto.bench.arguments import run_command
from stretto.bench.report import SCHEMA_VERSION, find_late, format_ratio, format_size, format_time
from stretto.bench.request import UsageError
from stretto.bench.stats import METRICS, Estimate, Samples, estimate_ratio_of_medians

# What makes two results incomparable, and what a reader should know to differ.
_NATIVE = "native"
_MUST_AGREE = ("collective",)
_SHOULD_AGREE = (
    "ranks", "arrival", "seed", "root", "in_place", "cold_cache", "hints", "window", "warm_up", "datatype", "operation",
)  # fmt: skip


class Change(NamedTuple):
    """One algorithm at one size: medians in ns, and the ratio of B's to A's.

    relative: the same of the ratios to `native` within each iteration, in which what else changed on the machine
    cancels; None of native itself, or where a result has none.
    """

    size: int
    algorithm: str
    metric: str
    before: float
    after: float
    ratio: Estimate
    relative: Estimate | None


def read_result(path: Path) -> dict[str, Any]:
    """A result as `stretto bench --json` wrote it. Raises UsageError naming the file and what is wrong with it."""
    try:
        raw = path.read_bytes()
        content = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        version = content["schema_version"]
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: not a result of `stretto bench --json`") from error
    if {"contests", "verdicts", "results", "points"} & content.keys():
        raise UsageError(f"{path}: a table of several measurements: compare those of one collective each")
    if version != SCHEMA_VERSION or "sizes" not in content:
        raise UsageError(f"{path}: a result of schema {version}, not {SCHEMA_VERSION}: measure again")
    return dict(content)


def samples_of(result: dict[str, Any]) -> dict[tuple[int, str], Samples]:
    """The samples by size and algorithm, without the iterations that started late."""
    found: dict[tuple[int, str], Samples] = {}
    for size in result["sizes"]:
        own = {
            name: Samples(np.array(raw["arrivals"], np.float64), np.array(raw["exits"], np.float64), tuple(raw["ran"]))
            for name, raw in size["samples"]["algorithms"].items()
        }
        delays = np.array(size["samples"]["delays"], np.float64)
        _, keep = find_late(own, delays, result["late_threshold_ns"])
        found |= {(size["summary"]["size"], name): samples.where(keep) for name, samples in own.items()}
    return found


def compare(before: dict[str, Any], after: dict[str, Any], metric: str) -> list[Change]:
    """All sizes and algorithms that both have. Raises UsageError where there is nothing to compare."""
    for name in _MUST_AGREE:
        if before["request"][name] != after["request"][name]:
            raise UsageError(f"results of different {name}s: {before['request'][name]} and {after['request'][name]}")
    old, new = samples_of(before), samples_of(after)
    both = [key for key in old if key in new]
    if not both:
        raise UsageError("the two results have no size and algorithm in common")
    changes = []
    for size, algorithm in both:
        a, b = old[size, algorithm].metric(metric), new[size, algorithm].metric(metric)
        medians = float(np.median(a)), float(np.median(b))
        relative = None
        if algorithm != _NATIVE and (size, _NATIVE) in both:
            native_a, native_b = (result[size, _NATIVE].metric(metric) for result in (old, new))
            relative = estimate_ratio_of_medians(b / native_b, a / native_a)
        changes.append(Change(size, algorithm, metric, *medians, estimate_ratio_of_medians(b, a), relative))
    return changes


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What else is not alike in the two runs, in words."""
    found = [
        f"{name}: {before['request'].get(name)} and {after['request'].get(name)}"
        for name in _SHOULD_AGREE
        if before["request"].get(name) != after["request"].get(name)
    ]
    if before.get("cluster") != after.get("cluster"):
        found.append(f"emulated cluster: {before.get('cluster')} and {after.get('cluster')}")
    for part, name in (
        ("machine", "cpu"), ("machine", "cores"), ("setup", "mpi"), ("setup", "nodes"), ("setup", "compiler_flags"),
    ):  # fmt: skip
        one, other = before[part].get(name), after[part].get(name)
        if one != other:
            found.append(f"{part}, {name}: {one} and {other}")
    return found


def _table(changes: list[Change], metric: str) -> Table:
    table = Table(title=f"{METRICS[metric]}, medians", title_justify="left")
    for heading in ("bytes", "algorithm", "A", "B", "B / A", "the same / native"):
        table.add_column(heading, justify="left" if heading == "algorithm" else "right", no_wrap=True)
    previous = -1
    for change in changes:
        if change.size != previous:
            table.add_section()
        times = format_time(change.before), format_time(change.after)
        size = format_size(change.size) if change.size != previous else ""
        relative = format_ratio(change.relative) if change.relative else ""
        table.add_row(size, change.algorithm, *times, format_ratio(change.ratio), relative)
        previous = change.size
    return table


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stretto bench compare", description=__doc__, allow_abbrev=False)
    parser.add_argument("before", type=Path, metavar="A", help="a file that `stretto bench --json` wrote")
    parser.add_argument("after", type=Path, metavar="B", help="another")
    parser.add_argument("--metric", choices=tuple(METRICS), help="(default: all)")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    before, after = read_result(arguments.before), read_result(arguments.after)
    console = Console(width=None if sys.stdout.isatty() else 120)
    for metric in (arguments.metric,) if arguments.metric else METRICS:
        console.print(_table(compare(before, after, metric), metric))
    console.print(
        "Ratios of medians with 95 % bootstrap intervals; < and > mark those that leave 1 out. Whatever else changed "
        "on the machine between the two runs is in B / A; it cancels in the last column, which compares the ratios to "
        "native.",
        style="dim",
        highlight=False,
    )
    for note in differences(before, after):
        console.print(f"note: not alike: {note}", style="yellow", highlight=False, markup=False)
    return 0


def main(argv: list[str]) -> int:
    """Exit code: 0 compared, 2 usage."""
    return run_command(_build_parser(), _run, argv)
