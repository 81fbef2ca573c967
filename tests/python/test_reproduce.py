"""`stretto reproduce`: what is published, what is compared, and the page that shows both."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from cli_support import Stretto

from stretto.algorithms import check_choice
from stretto.bench.launch import REPOSITORY
from stretto.bench.request import UsageError, parse_arrival, parse_sizes
from stretto.bench.stats import Estimate
from stretto.reproduce import Point, as_markdown, average_improvement, choose_figures, load_figures

_BINARIES = Path(os.environ.get("STRETTO_BIN_DIR", REPOSITORY / "build" / "bin"))


def point(ratio: float, size: int = 8, arrival: str = "mif:10") -> Point:
    own = Estimate(ratio, ratio - 0.01, ratio + 0.01)
    ratios = {"arrival_chain": own, "default": own}
    return Point("5.4", arrival, size, 700, "binomial", Estimate(1000, 900, 1100), ratios)


def test_figures_name_algorithms_and_patterns_that_exist() -> None:
    for figure in load_figures().values():
        for name in (*figure.compared, *figure.others):
            check_choice(figure.collective, name, figure.number)
        assert parse_sizes(figure.sizes)
        assert figure.published
        assert all(parse_arrival(arrival).text == arrival for arrival in figure.published)


def test_a_figure_that_is_not_there() -> None:
    assert [figure.number for figure in choose_figures("5.4")] == ["5.4"]
    assert len(choose_figures("all")) == len(load_figures())
    with pytest.raises(UsageError, match=r"9\.9: no such figure; choose from 4\.2"):
        choose_figures("9.9")


def test_improvement_is_the_mean_and_the_most_over_sizes() -> None:
    assert average_improvement([point(0.8), point(0.6, 64)], "arrival_chain") == "+30 %, at most +40 %"
    assert average_improvement([point(1.5)], "default") == "-50 %, at most -50 %"


def test_the_page_shows_published_and_measured_side_by_side_losses_included() -> None:
    page = as_markdown(choose_figures("5.4"), [point(1.5), point(0.5, arrival="mif:20")], "here")
    lines = page.splitlines()
    rows = [line for line in lines if line.startswith("| 5.4 ")]
    assert len(rows) == 2
    assert "wins above 32 KB" in rows[0]
    assert "-50 %" in rows[0]
    assert "+50 %" in rows[1]
    assert any("`binomial`" in line and "1.50 (1.49-1.51)" in line for line in lines)
    assert "Measured: here." in page


@pytest.mark.skipif(
    shutil.which("mpirun") is None or not (_BINARIES / "stretto-bench-openmpi").is_file(),
    reason="needs Open MPI and `make build`",
)
def test_a_figure_is_measured(stretto: Stretto, tmp_path: Path) -> None:
    output, page = tmp_path / "out.json", tmp_path / "page.md"
    shown = stretto("reproduce", "4.2", "--ranks", "2", "--json", str(output), "--markdown", str(page))
    assert shown.returncode == 0, shown.stderr
    assert "published: longer than MVAPICH's default by 65 %" in shown.stdout
    points = json.loads(output.read_text())["points"]
    assert [entry["size"] for entry in points] == list(parse_sizes(load_figures()["4.2"].sizes))
    assert all(entry["best"] in ("native", "recursive_doubling") for entry in points)
    assert "## 4.2" in page.read_text()
