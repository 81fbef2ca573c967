"""`stretto topo` on the inside of a node: hwloc's XML, and this machine's."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from cli_support import Stretto

from stretto.topology import node
from stretto.topology.matrix import matrix_csv
from stretto.topology.tree import Source

FILE = Path(__file__).parent / "topologies" / "node.hwloc"
needs_lstopo = pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="needs lstopo (apt: hwloc-nox)")


def test_cores_and_cards_are_where_hwloc_says(stretto: Stretto) -> None:
    result = stretto("topo", str(FILE), "--ranks", "core0,core4")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[:9] == [
        "hwloc: 12 places, 7 units, 2 ranks on 2 places",
        "machine  12 places",
        "├── package0  6 places",
        "│   ├── cuda0,mlx5_0  2 places",
        "│   ├── L3.0",
        "│   │   ├── core0: rank 0",
        "│   │   └── core1",
        "│   └── L3.1",
        "│       └── core[2-3]  2 places",
    ]
    assert "nvme" not in result.stdout


def test_distances_are_those_of_the_smallest_unit_that_holds_both() -> None:
    network = node.read(Source("node", FILE.read_text()))
    rows = [line.split(",") for line in matrix_csv(network, ["core0", "core1", "core2", "core4"]).splitlines()]
    assert [row[1:] for row in rows[1:]] == [
        ["0", "1", "2", "3"],
        ["1", "0", "2", "3"],
        ["2", "2", "0", "3"],
        ["3", "3", "3", "0"],
    ]


@needs_lstopo
def test_this_machine_or_one_that_hwloc_is_told_of(stretto: Stretto, tmp_path: Path) -> None:
    result = stretto("topo", "--here", "--json")
    assert result.returncode == 0, result.stderr
    places = [host["name"] for host in json.loads(result.stdout)["hosts"]]
    assert "core0" in places
    assert len([name for name in places if name.startswith("core")]) <= (os.cpu_count() or 1)
    drawing = tmp_path / "here.svg"
    synthetic = {"HWLOC_SYNTHETIC": "pack:2 group:2 numa:1 l3:2 l2:2 core:1 pu:2"}
    told = stretto("topo", "--here", "--draw", str(drawing), "--ranks", "core0,core7", extra=synthetic)
    assert told.returncode == 0, told.stderr
    assert "numa[0-3]" in told.stdout
    assert "L2" not in told.stdout  # a cache of one core
    assert "<title>16 places, 15 units, 2 ranks</title>" in drawing.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!DOCTYPE topology>\n<topology><object", "line 2: not XML"),
        ("<topology></topology>", "no machine in it"),
        ("<topology><object type='Machine'/></topology>", "has neither nodes nor switches"),
    ],
)
def test_a_broken_description_is_refused(stretto: Stretto, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "node.hwloc"
    path.write_text(text)
    result = stretto("topo", str(path), "--form", "hwloc")
    assert result.returncode == 2
    assert message in result.stderr


def test_what_cannot_be_asked_of_a_node(stretto: Stretto, tmp_path: Path) -> None:
    both = stretto("topo", str(FILE), "--here")
    assert both.returncode == 2
    assert "give one of them" in both.stderr
    written = stretto("topo", str(FILE), "--output", str(tmp_path / "topology.conf"))
    assert written.returncode == 2
    assert "finds the inside of nodes by itself" in written.stderr
    assert list(tmp_path.iterdir()) == []
    missing = stretto("topo", "--here", extra={"PATH": str(tmp_path)})
    assert missing.returncode == 2
    assert "install it (Debian: hwloc-nox)" in missing.stderr
