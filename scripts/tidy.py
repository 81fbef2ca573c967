#!/usr/bin/env python3
"""Runs clang-tidy on every source of a build tree once, and remembers those in which it found nothing.

    scripts/tidy.py [-p BUILD] [FILE]...    all sources of the project, or these

A source that is compiled in several ways is analysed in the first of them. What is remembered is a hash of the
preprocessed text with its comments (which hold NOLINT), of .clang-tidy, and of the tool's version; in
$XDG_CACHE_HOME/stretto/tidy, one empty file each. Exits 1 where clang-tidy found something.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stretto/tidy"
OURS = re.compile(rf"{re.escape(str(ROOT))}/(src|sim|bench|apps|tools)/.*\.(cpp|c)")
# Warnings that GCC alone knows are no errors of clang's. A coroutine has more paths than the analyzer ever ends with: a
# third of the states it would look at by itself halves the time, 7 s of 15 for allreduce/ring.cpp.
EXTRA = [
    f"-extra-arg={word}"
    for word in ("-Wno-unknown-warning-option", "-Xclang", "-analyzer-config", "-Xclang", "max-nodes=75000")
]


def commands_of(build: Path) -> dict[str, tuple[str, list[str]]]:
    """Of each source the directory and the words of its first compile command."""
    first: dict[str, tuple[str, list[str]]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        words = words[1:] if Path(words[0]).name == "ccache" else words
        first.setdefault(entry["file"], (entry["directory"], words))
    return {file: command for file, command in first.items() if OURS.fullmatch(file)}


def preprocessed(directory: str, words: list[str]) -> bytes:
    """The text that the compiler sees; comments stay."""
    skipped = {"-c", "-o"}
    kept = [word for before, word in zip(["", *words], words, strict=False) if word not in skipped and before != "-o"]
    result = subprocess.run([*kept, "-E", "-C"], cwd=directory, check=True, capture_output=True)
    # Where the tree is does not matter.
    return result.stdout.replace(os.fsencode(ROOT), b"")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-p", dest="build", type=Path, default=ROOT / "build", help="the build tree")
    parser.add_argument("files", nargs="*", type=Path, help="only these, if they are compiled")
    arguments = parser.parse_args()
    tool = Path(sys.executable).with_name("clang-tidy")
    if not tool.exists():
        print("tidy: clang-tidy is missing: run scripts/setup.sh test", file=sys.stderr)
        return 1
    version = subprocess.run([str(tool), "--version"], check=True, capture_output=True).stdout
    common = version + (ROOT / ".clang-tidy").read_bytes() + " ".join(EXTRA).encode()
    commands = commands_of(arguments.build)
    wanted = {str(file.resolve()) for file in arguments.files} or set(commands)
    CACHE.mkdir(parents=True, exist_ok=True)

    def check(file: str) -> tuple[bool, str | None]:
        """Whether it was known to be clean, and what clang-tidy said where it was not content: None where it was."""
        known = CACHE / hashlib.sha256(common + preprocessed(*commands[file])).hexdigest()
        if known.exists():
            return True, None
        line = [str(tool), "-quiet", "-p", str(arguments.build), *EXTRA, file]
        result = subprocess.run(line, check=False, capture_output=True, text=True)
        if result.returncode == 0:
            known.touch()
            return False, None
        return False, f"{file}: clang-tidy ended with {result.returncode}\n{result.stdout}{result.stderr}"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(check, sorted(wanted & set(commands))))
    bad = [said for _, said in results if said is not None]
    print("".join(bad), end="")
    print(f"tidy: {len(results)} sources, {sum(known for known, _ in results)} known, {len(bad)} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
