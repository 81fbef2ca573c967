"""What short calls pass through lies side by side in the library: cmake/hot.ld names functions that there are."""

from __future__ import annotations

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LIBRARIES = sorted((REPOSITORY / "build" / "lib").glob("libstretto_*m*pi*.so"))
PATTERNS = re.findall(r"\.text\.[\w*]+", "".join(re.findall(r"\*\((.*?)\)", (REPOSITORY / "cmake/hot.ld").read_text())))
SECTION = ".text.stretto_hot"
MOST_BYTES = 48 << 10  # a dozen pages


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def bounds_of(library: Path) -> tuple[int, int]:
    """Where the section begins and ends. Skips where the linker cannot make one."""
    for line in output_of("readelf", "-SW", str(library)).splitlines():
        words = line.split("]", 1)[-1].split()
        if words[:1] == [SECTION]:
            return int(words[2], 16), int(words[2], 16) + int(words[4], 16)
    pytest.skip("this linker orders no code: cmake found that it takes no INSERT")


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.stem)
def test_every_name_is_of_code_that_is_there(library: Path) -> None:
    begin, end = bounds_of(library)
    assert end - begin <= MOST_BYTES
    symbols = [line.split() for line in output_of("nm", "--defined-only", str(library)).splitlines()]
    there = [f".text.{name}" for address, _, name in symbols if begin <= int(address, 16) < end]
    assert [pattern for pattern in PATTERNS if not fnmatch.filter(there, pattern)] == []


def test_there_are_libraries_and_names() -> None:
    assert LIBRARIES and len(PATTERNS) > 40
