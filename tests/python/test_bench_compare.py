"""Two results compared, the schema of a result, and its picture."""

from __future__ import annotations

import copy
import gzip
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from test_bench_stats import MACHINE, REQUEST, SETUP, make_size

from stretto.bench.command import main
from stretto.bench.compare import compare
from stretto.bench.launch import RunResult
from stretto.bench.plot import write_plot
from stretto.bench.report import result_as_json, summarise, write_json


def result(speed_up: float = 2.0, slow_down: float = 1.0) -> dict[str, Any]:
    """Native's lag is about 2 us, ours `speed_up` times shorter; the whole machine `slow_down` times slower."""
    size = make_size(speed_up=speed_up)
    for samples in size.samples.values():
        last = samples.arrivals.max(axis=1)[:, None]
        samples.exits[:] = last + (samples.exits - last) * slow_down
    return result_as_json(RunResult(REQUEST, SETUP, [size]), [summarise(size, REQUEST)], MACHINE)


def written(path: Path, content: dict[str, Any]) -> Path:
    write_json(path, content)
    return path


def test_a_change_is_found_and_a_slower_machine_told_from_it(tmp_path: Path) -> None:
    native, ours = compare(result(), result(speed_up=2.0 / 1.1, slow_down=1.5), "lag")
    assert (native.algorithm, ours.algorithm) == ("native", "default")
    assert native.ratio.value == pytest.approx(1.5, rel=0.01)
    assert native.relative is None
    assert ours.ratio.value == pytest.approx(1.65, rel=0.01)
    assert ours.relative is not None
    assert ours.relative.low < 1.1 < ours.relative.high
    assert ours.relative.excludes_one


def test_no_change_is_found_where_there_is_none() -> None:
    """Other noise, the same truth: intervals of 95 % leave 1 out by chance in about one of 20."""
    misses = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        before, after = result(), result()
        for own in (before, after):
            for raw in own["sizes"][0]["samples"]["algorithms"].values():
                arrivals = np.array(raw["arrivals"])
                lags = generator.normal(1000, 50, len(arrivals))
                raw["exits"] = np.repeat((arrivals.max(axis=1) + lags)[:, None], arrivals.shape[1], axis=1).tolist()
        misses += compare(before, after, "lag")[0].ratio.excludes_one
    assert misses <= 4


def test_the_command_prints_both_and_what_is_not_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = copy.deepcopy(result(speed_up=4))
    other["request"]["seed"] = 7
    before, after = written(tmp_path / "a.json", result()), written(tmp_path / "b.json.gz", other)
    assert main(["compare", str(before), str(after)]) == 0
    shown = capsys.readouterr().out
    assert "completion lag" in shown
    assert "note: not alike: seed: 1 and 7" in shown


def test_what_cannot_be_compared_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = written(tmp_path / "good.json", result())
    other = result()
    other["request"]["collective"] = "bcast"
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "broken.json.gz").write_bytes(gzip.compress(b"{}")[:-4])
    for name, words in (
        ("none.json", "cannot be read"),
        ("text.json", "not a result of"),
        ("broken.json.gz", "not a result of"),
        (written(tmp_path / "old.json", result() | {"schema_version": 1}).name, "schema 1, not 2"),
        (written(tmp_path / "bcast.json", other).name, "different collectives: allreduce and bcast"),
        (written(tmp_path / "empty.json", result() | {"sizes": []}).name, "no size and"),
    ):
        assert main(["compare", str(good), str(tmp_path / name)]) == 2
        assert words in capsys.readouterr().err


def test_results_fit_their_schema(tmp_path: Path) -> None:
    schema = json.loads((files("stretto") / "schemas/bench.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    output = tmp_path / "out.json"
    words = ["allreduce", "--algorithms", "native,native:ring", "--ranks", "2", "--sizes", "8", "--iterations", "3"]
    assert main([*words, "--json", str(output)]) == 0
    content = json.loads(output.read_text())
    jsonschema.validate(content, schema)
    del content["sizes"][0]["samples"]["delays"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, schema)


@pytest.mark.parametrize(("name", "start"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF")])
def test_plots_are_drawn(tmp_path: Path, name: str, start: bytes) -> None:
    size = make_size()
    write_plot(RunResult(REQUEST, SETUP, [size]), [summarise(size, REQUEST)], tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize(("name", "words"), [("p.txt", ".png, .svg, .pdf"), ("no/p.png", "no folder")])
def test_plots_that_cannot_be_drawn(tmp_path: Path, name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["allreduce", "--algorithms", "native", "--plot", str(tmp_path / name)]) == 2
    assert words in capsys.readouterr().err
