"""Call sites: addresses in the ranks' memory as places in program files, the same for all ranks."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stretto.profile.files import Profile

_RESOLVE_LIMIT_S = 30
UNKNOWN = "unknown"


class Sites:
    """Numbers for call sites. A site is named `function (file:line)` where the program, its debug information and
    addr2line are there, else `function, file+offset`, else `file+offset`."""

    def __init__(self, profile: Profile) -> None:
        self._modules = {rank.world_rank: rank.facts.get("module", []) for rank in profile.ranks}
        self._known: dict[tuple[int, int], int] = {}  # by rank and address
        self._places: dict[tuple[str, int], int] = {}  # by file and offset
        self._numbers: dict[str, int] = {}  # by name: several places of one line are one site
        self.names: list[str] = []

    def numbers(self, addresses: NDArray[np.uint64], ranks: NDArray[np.int32]) -> NDArray[np.int64]:
        """The site of each address, seen by the rank beside it; both (n,). Indices into `names`."""
        pairs = np.empty(len(addresses), [("rank", "i8"), ("address", "u8")])
        pairs["rank"], pairs["address"] = ranks, addresses
        unique, inverse = np.unique(pairs, return_inverse=True)
        seen = [(int(rank), int(address)) for rank, address in unique]
        fresh = {pair: self._place(*pair) for pair in seen if pair not in self._known}
        self._learn(dict.fromkeys(place for place in fresh.values() if place not in self._places))
        self._known.update({pair: self._places[place] for pair, place in fresh.items()})
        outcome: NDArray[np.int64] = np.array([self._known[pair] for pair in seen], np.int64)[inverse]
        return outcome

    def _place(self, rank: int, address: int) -> tuple[str, int]:
        """The file that holds the address, and the address there."""
        for module in reversed(self._modules[rank]):  # the latest, where one was loaded after another had gone
            if module["begin"] <= address < module["end"]:
                return module["path"], address - module["base"]
        return UNKNOWN, 0

    def _learn(self, places: Iterable[tuple[str, int]]) -> None:
        offsets: dict[str, list[int]] = {}
        for path, offset in places:
            offsets.setdefault(path, []).append(offset)
        for path, those in offsets.items():
            for offset, (function, line) in zip(those, _addr2line(path, those), strict=True):
                plain = UNKNOWN if path == UNKNOWN else f"{Path(path).name}+{offset:#x}"
                name = f"{function} ({line})" if line else f"{function}, {plain}" if function else plain
                number = self._places[path, offset] = self._numbers.setdefault(name, len(self.names))
                if number == len(self.names):
                    self.names.append(name)


def _addr2line(path: str, offsets: list[int]) -> list[tuple[str, str]]:
    """Function and `file:line` of return addresses, "" for what is not known."""
    nothing = [("", "")] * len(offsets)
    tool = shutil.which("addr2line")
    if tool is None or not Path(path).is_file():
        return nothing
    # The call stands before the address to which it returns.
    command = [tool, "-C", "-f", "-e", path, *(hex(offset - 1) for offset in offsets)]
    try:
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=_RESOLVE_LIMIT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return nothing
    lines = outcome.stdout.splitlines()
    if len(lines) != 2 * len(offsets):
        return nothing
    return [_in_words(function, place) for function, place in zip(lines[::2], lines[1::2], strict=True)]


def _in_words(function: str, place: str) -> tuple[str, str]:
    file, _, line = place.rpartition(":")
    number = line.split()[0]
    source = Path(file).name + ("" if number == "?" else f":{number}")
    name = "" if function == "??" else cython_name(without_parameters(function))
    return name, "" if file == "??" else source


def cython_name(symbol: str) -> str:
    """The Python name of a function that Cython compiled, `mpi4py.MPI.Comm.Bcast` of
    `__pyx_pw_6mpi4py_3MPI_4Comm_121Bcast`; another symbol as it is. What encloses a function stands before it with its
    length, the function itself with a running number."""
    prefix = re.match(r"__pyx_p[wf]_", symbol)
    if prefix is None:
        return symbol
    words, rest = [], symbol[prefix.end() :]
    while (number := re.match(r"\d+", rest)) and rest[number.end() + int(number[0]) :].startswith("_"):
        words.append(rest[number.end() : number.end() + int(number[0])])
        rest = rest[number.end() + int(number[0]) + 1 :]
    return ".".join([*words, rest.lstrip("0123456789")])


def without_parameters(function: str) -> str:
    """A demangled C++ function without its parameter list, which may fill lines: `a::b<c>(d, e) const` is `a::b<c>`."""
    end = function.rfind(")")
    depth = 0
    for position in range(end, 0, -1):
        depth += {")": 1, "(": -1}.get(function[position], 0)
        if depth == 0:
            return function[:position] if end > 0 else function
    return function
