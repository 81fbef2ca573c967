"""What the experiments in this folder have in common: options, what must be built before, the file of their figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from stretto.bench.launch import describe_machine
from stretto.bench.report import write_json


def make_parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser that an experiment adds its options to, described by the first line of `doc`, its docstring."""
    return argparse.ArgumentParser(description=doc.splitlines()[0] if doc else None)


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option that every experiment has."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")


def read_options(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The command line, --json at the end of what it may have. Leaves with exit code 2 where it is wrong."""
    add_json(parser)
    return parser.parse_args()


def require(*files: Path, made_by: str = "make build") -> None:
    """Leave with a message and exit code 1 where one of `files` is missing; `made_by` is the command that makes it."""
    for file in files:
        if not file.exists():
            sys.exit(f"{file} is missing: run `{made_by}`")


def write_measured(file: Path | None, figures: dict[str, Any]) -> None:
    """Write figures of this machine, with what describes it, where a file is asked for."""
    if file:
        write_json(file, {"machine": describe_machine(), **figures})
