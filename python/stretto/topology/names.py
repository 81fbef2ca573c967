"""Lists of names as Slurm writes them: `n[00-15,20],login`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby, product

# Of one list: far more than any cluster has. The library refuses more, too (src/topology/network.cpp).
_MOST_NAMES = 1_000_000
_ITEM = re.compile(r"(?:[^\[\],]|\[[^\[\]]*\])+")  # commas in brackets belong to an item
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})([^0-9]*)", re.DOTALL)
_NUMBER = re.compile(r"([0-9]+)")


def expand(text: str) -> list[str]:
    """The names that `n[0-2,7]` or `r[1-2]n[01-16],login` mean, in their order. Raises ValueError for what is none."""
    names: list[str] = []
    position = 0
    while position < len(text):
        item = _ITEM.match(text, position)
        if item is None or (item.end() < len(text) and text[item.end()] != ","):
            raise ValueError(f"'{text[position:]}' is no list of names such as n[00-15],login")
        names += _expand_item(item[0])
        position = item.end() + 1
    if not names:
        raise ValueError("a list of names is empty")
    return names


def _expand_item(item: str) -> list[str]:
    parts: list[list[str]] = []
    count = 1
    for part in _PART.finditer(item):
        parts.append([part[2]] if part[1] is None else _expand_ranges(part[1]))
        count *= len(parts[-1])
        if not 0 < count <= _MOST_NAMES:
            raise ValueError(f"'{item}' is no list of names such as n[00-15],login")
    return ["".join(words) for words in product(*parts)]


def _expand_ranges(text: str) -> list[str]:
    """The numbers of `00-15,20` with their leading zeros; none where one is no range."""
    numbers: list[str] = []
    for word in text.split(","):
        found = _RANGE.fullmatch(word)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if found is None or not 0 <= last - first < _MOST_NAMES - len(numbers):
            return []
        numbers += [str(number).zfill(len(found[1])) for number in range(first, last + 1)]
    return numbers


def collapse(names: Iterable[str]) -> str:
    """The shortest such list, of the same names in the same order: `expand(collapse(names)) == names`."""
    runs: list[tuple[str, str, str, int]] = []  # what is before and behind a number; the number; how many follow it
    for name in names:
        found = _NUMBERED.fullmatch(name)
        before, digits, behind = found.groups() if found else (name, "", "")
        if runs and digits and _follows(runs[-1], before, digits, behind):
            runs[-1] = (*runs[-1][:3], runs[-1][3] + 1)
        else:
            runs.append((before, digits, behind, 0))
    items: list[str] = []
    for (before, behind, has_number), group in groupby(runs, key=lambda run: (run[0], run[2], run[1] != "")):
        numbers = ",".join(digits + _last(digits, more) for _, digits, _, more in group)
        brackets = has_number and not numbers.isdigit()
        items.append(before + (f"[{numbers}]" if brackets else numbers) + behind)
    return ",".join(items)


def _follows(run: tuple[str, str, str, int], before: str, digits: str, behind: str) -> bool:
    first = run[1]
    return (
        (before, behind) == (run[0], run[2])
        and first != ""
        and digits == str(int(first) + run[3] + 1).zfill(len(first))
        and run[3] + 2 < _MOST_NAMES
    )


def _last(first: str, more: int) -> str:
    return f"-{str(int(first) + more).zfill(len(first))}" if more else ""


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts n2 before n10."""
    return [(0, int(word), word) if word.isdigit() else (1, 0, word) for word in _NUMBER.split(name)]


def ranges(numbers: Iterable[int]) -> str:
    """Ascending numbers in short: `0-3,8`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
