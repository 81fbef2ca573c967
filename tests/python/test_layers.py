"""Who may include whom: the arrows of docs/architecture.md."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"
INCLUDE = re.compile(r'^#include ["<]([\w./]+)[">]', re.MULTILINE)

BELOW_ALGORITHMS = {"core", "topology", "prediction", "board"}
ARROWS = {
    "core": set(),
    "topology": {"core"},
    "prediction": {"core"},
    "board": {"core", "algorithms/parts"},  # blocks
    "algorithms": BELOW_ALGORITHMS,
    "compose": BELOW_ALGORITHMS | {"algorithms", "catalogue"},  # what it is composed of, by name
    "catalogue": BELOW_ALGORITHMS | {"algorithms", "compose"},
    "select": BELOW_ALGORITHMS | {"algorithms", "compose", "catalogue"},
    "transport": BELOW_ALGORITHMS,
    "mpi": BELOW_ALGORITHMS | {"algorithms", "compose", "catalogue", "select", "transport"},
}


def included() -> list[tuple[Path, str]]:
    """Each file of the library with each of ours that it includes."""
    files = sorted([*SOURCES.rglob("*.cpp"), *SOURCES.rglob("*.hpp")])
    return [(file.relative_to(SOURCES), name) for file in files for name in INCLUDE.findall(file.read_text())]


def test_rooms_use_only_what_is_below_them() -> None:
    wrong = []
    for file, name in included():
        room, other = file.parts[0], name.split("/")[0]
        allowed = ARROWS[room] | {room}
        if other in ARROWS and not any(name.startswith(f"{each}/") for each in allowed):
            wrong.append(f"{file} includes {name}")
    assert wrong == []


def test_algorithms_of_one_collective_do_not_include_those_of_another() -> None:
    """By a declaration, where one runs another; what several are made of is in parts."""
    folders = {path.name for path in (SOURCES / "algorithms").iterdir()} - {"parts"}
    wrong = []
    for file, name in included():
        own, words = file.parts[1] if file.parts[0] == "algorithms" else None, name.split("/")
        if own and words[0] == "algorithms" and words[1] in folders - {own}:
            wrong.append(f"{file} includes {name}")
    assert wrong == []


def test_mpi_is_seen_only_where_it_is_spoken() -> None:
    seen = {file for file, name in included() if name == "mpi.h"}
    assert {file for file in seen if file.parts[0] != "mpi" and file.parts[:2] != ("transport", "mpi")} == set()
