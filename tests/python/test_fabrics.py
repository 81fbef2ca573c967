"""Usual networks: a machine.toml for each, which predictions take by its name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from test_tune_machine import SCHEMA

from stretto.errors import StrettoError
from stretto.simulate.model import main
from stretto.tune.explain import main as explain
from stretto.tune.fabrics import describe, fabrics, machine_file
from stretto.tune.machine import read_machine
from stretto.tune.toml_file import read_toml

DOCS = (Path(__file__).resolve().parents[2] / "docs/machine.md").read_text()


@pytest.mark.parametrize("name", fabrics())
def test_each_is_a_machine_as_its_row_in_the_documentation_has_it(name: str) -> None:
    with machine_file(name) as path:
        assert path is not None
        jsonschema.validate(read_toml(path), SCHEMA)
        link = read_machine(path).links["machine"]
    assert not path.exists()
    row = re.search(rf"^\| `{name}` \| ([\d.]+) us \| ([\d.]+) GB/s \| ([\d.]+) us \|", DOCS, re.MULTILINE)
    assert row, f"docs/machine.md has no row for {name}"
    latency_us, bytes_per_ns, gap_us = map(float, row.groups())
    assert link.message_ns[0] == pytest.approx(1000 * latency_us, rel=0.01, abs=80)
    assert (16 << 20) / (link.message_ns[-1] - link.message_ns[0]) == pytest.approx(bytes_per_ns, rel=0.01)
    assert link.gap_ns[0] == pytest.approx(1000 * gap_us, rel=0.01, abs=80)


def test_a_prediction_goes_by_the_network_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["bcast", "--algorithms", "binomial", "--ranks", "2", "--sizes", "8,1M", "--machine"]
    lags = {}
    for name in ("ethernet-1g", "infiniband-100g"):
        file = tmp_path / f"{name}.json"
        assert main([*asked, name, "--json", str(file)]) == 0
        sizes = json.loads(file.read_text())["sizes"]
        lags[name] = [size["summary"]["algorithms"]["binomial"]["times"]["lag"]["value"] for size in sizes]
    assert lags["ethernet-1g"] == pytest.approx([24600 + 8 / 0.116, 24600 + (1 << 20) / 0.116], rel=0.01)
    assert lags["infiniband-100g"] == pytest.approx([900, 900 + (1 << 20) / 11.6], rel=0.01)
    capsys.readouterr()
    assert explain(["bcast", "1M", "--ranks", "64", "--nodes", "64", "--machine", "infiniband-200g"]) == 0
    said = capsys.readouterr().out
    assert "64 nodes, even: " in said
    assert "predicted for the machine" in said
    late = ["--machine", "infiniband-200g", "--imbalance", "20ms"]
    assert explain(["bcast", "64K", "--ranks", "64", "--nodes", "64", *late]) == 0
    said = capsys.readouterr().out
    assert "64 nodes, uneven: arrival_ordered" in said or "64 nodes, uneven: event_linear" in said
    assert "predicted, ranks come apart" in said


def test_what_is_neither_is_told() -> None:
    with pytest.raises(StrettoError, match="no such file, nor one of ethernet-1g"), machine_file("myrinet"):
        pass


def test_ranks_do_not_take_it_for_their_own() -> None:
    assert 'mpi = "none: a usual aries"' in describe("aries")
