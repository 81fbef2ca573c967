#!/usr/bin/env python3
"""What small C programs print and how they end, natively and under builds of Stretto, in turn: a table in Markdown.

    bench/experiments/compare_programs.py --library now=build/lib/libstretto_openmpi.so 'wait.c 2 @4' ...

Each program is a file, its arguments and @ranks. A cell has the last line that the program printed, the time of the
whole job in s, and how it ended where that was not well.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from stretto.demo import rank_environment
from stretto.errors import ProgramFailedError
from stretto.launch.processes import run_limited

NATIVE = "native"
MOST_CHARACTERS = 110


@dataclass(frozen=True)
class Program:
    source: Path
    arguments: list[str]
    ranks: str

    @classmethod
    def parse(cls, text: str) -> Program:
        words = shlex.split(text)
        if len(words) < 2 or not words[-1].startswith("@"):
            raise SystemExit(f"{text!r}: a program is FILE [ARGUMENT...] @RANKS")
        return cls(Path(words[0]), words[1:-1], words[-1][1:])

    def __str__(self) -> str:
        return " ".join([self.source.stem, *self.arguments, f"@{self.ranks}"])

    def compiled(self, mpicc: str, directory: Path) -> Path:
        binary = directory / self.source.stem
        line = [mpicc, "-O2", "-pthread", str(self.source), "-o", str(binary), "-ldl", "-lm"]
        result = subprocess.run(line, capture_output=True, text=True)
        if result.returncode != 0:
            raise SystemExit(f"{shlex.join(line)}\n{result.stderr}")
        return binary


def last_line(text: str) -> str:
    """Of what the program has printed, without the launcher's own words."""
    said = [line for line in text.splitlines() if re.search(r"\w", line) and not re.match(r"-{5}|\[\w+:\d+\]", line)]
    return said[-1].replace("|", "/")[:MOST_CHARACTERS] if said else "(nothing)"


def run_once(command: list[str], limit_s: float) -> str:
    begin = time.monotonic()
    try:
        text = last_line(run_limited(command, rank_environment(), limit_s))
    except ProgramFailedError as error:
        first, _, output = str(error).partition("\n")
        how = first.split(":")[0].split(" of")[0]
        text = f"**{how}**, {last_line(output)}"
    return f"{text} ({time.monotonic() - begin:.1f} s)"


def add_ways(parser: argparse.ArgumentParser) -> None:
    """Options that say which programs run, and in which ways."""
    parser.add_argument("programs", nargs="+", type=Program.parse)
    parser.add_argument("--mpicc", default="mpicc", help="the compiler wrapper of the MPI")
    parser.add_argument("--mpirun", default="mpirun", help="its launcher, with its options")
    parser.add_argument("--variable", default="-x {}={}", help="how the launcher sets a variable, as '-env {} {}'")
    parser.add_argument("--library", action="append", default=[], help="NAME=FILE: a build of Stretto; may be repeated")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each job")


def preloads_of(options: argparse.Namespace) -> dict[str, str]:
    """The library of each way; native has none."""
    return {NATIVE: "", **dict(text.split("=", 1) for text in options.library)}


def command_of(program: Program, binary: Path, library: str, options: argparse.Namespace) -> list[str]:
    preload = shlex.split(options.variable.format("LD_PRELOAD", Path(library).resolve())) if library else []
    return [*shlex.split(options.mpirun), "-n", program.ranks, *preload, str(binary), *program.arguments]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_ways(parser)
    options = parser.parse_args()
    preloads = preloads_of(options)
    print(f"| program @ranks | {' | '.join(preloads)} |\n|{'---|' * (len(preloads) + 1)}")
    with tempfile.TemporaryDirectory(prefix="stretto-programs-") as scratch:
        for program in options.programs:
            binary = program.compiled(options.mpicc, Path(scratch))
            ways = preloads.values()
            cells = [run_once(command_of(program, binary, library, options), options.limit) for library in ways]
            print(f"| {program} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
