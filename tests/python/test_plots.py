"""The figures as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Stretto
from profile_writer import Call, write_job

from stretto.errors import StrettoError
from stretto.profile.files import open_profile
from stretto.profile.summary import summarise
from stretto.report.plots import write_plots

MS = 1_000_000


def profile_in(directory: Path) -> Path:
    ranks: list[list[Call]] = [[], []]
    for number in range(1, 21):
        for rank in (0, 1):
            begin = number * 50 * MS
            ranks[rank].append(Call(begin + rank * MS, begin + 3 * MS, 2 * number, "Allreduce"))
            ranks[rank].append(Call(begin + 9 * MS, begin + 9 * MS + 500, 2 * number + 1, "Bcast", 1 << 21, root=0))
    return write_job(directory, *ranks)


def test_every_figure_is_there_and_names_what_it_shows(tmp_path: Path) -> None:
    written = write_plots(summarise(open_profile(profile_in(tmp_path / "profile"))), tmp_path / "plots")
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert len(written) == 16
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
    texts = {path.stem: path.read_text(encoding="utf-8") for path in written if path.suffix == ".svg"}
    for name in ("calls-by-collective", "time-by-collective", "calls-by-size", "time-by-size", "imbalance"):
        assert "Allreduce" in texts[name]
        assert "Bcast" in texts[name]
    assert "50.0 %" in texts["calls-by-collective"]
    assert "1-64 MB" in texts["time-by-size"]
    assert "Allreduce, unknown" in texts["phases"]
    assert "wait it alone caused" in texts["stragglers"]
    assert "Wait at NxN" in texts["wait-states"]


def test_an_empty_profile_has_empty_figures(tmp_path: Path) -> None:
    assert write_plots(summarise(open_profile(write_job(tmp_path / "profile", [], []))), tmp_path / "plots")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StrettoError, match="--plots"):
        write_plots(summarise(open_profile(profile_in(tmp_path / "profile"))), tmp_path / "file")


def test_the_command_says_what_it_wrote(stretto: Stretto, tmp_path: Path) -> None:
    shown = stretto("report", "--plots", str(tmp_path / "plots"), str(profile_in(tmp_path / "profile")))
    assert shown.returncode == 0, shown.stderr
    assert "wrote 16 files" in shown.stderr


def test_a_call_site_is_no_formula(tmp_path: Path) -> None:
    module = {"fact": "module", "path": "/no/such/$main$\\frac$", "base": 0, "begin": 0, "end": 0x9000}
    ranks = [[Call(MS + rank, 2 * MS)] for rank in (0, 1)]
    directory = write_job(tmp_path / "profile", *ranks, extra_facts=[module])
    write_plots(summarise(open_profile(directory)), tmp_path / "plots")
    assert "$main$" in (tmp_path / "plots" / "phases.svg").read_text(encoding="utf-8")
