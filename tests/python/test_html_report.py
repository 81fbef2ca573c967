"""The report as HTML, in a real browser: it loads without errors and from nowhere, shows the profile, and filters."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import EXECUTABLE, Page, chromium_page
from cli_support import Stretto
from profile_writer import Call, saved, write_job, write_rank

from stretto.profile.files import NON_BLOCKING, open_profile
from stretto.profile.summary import Summary, summarise
from stretto.report.as_html import render_html

MS = 1_000_000
KIB = 1 << 10
HOSTILE = "</script><img src=x onerror=document.title='owned'>${7}{{7*7}} <b>&amp; \"quoted'"
STEPS = 120
RANKS = 8
# (operation, bytes, call site, usual lateness in ns, flags) of each training step.
STEP = [
    ("Bcast", 64, 0x7000_0111, 40_000, 0),
    ("Allreduce", 8, 0x7000_0222, 400_000, 0),
    ("Allreduce", 4 << 20, 0x7000_0333, 2_500_000, 0),
    ("Allreduce", 96 * KIB, 0x7000_0444, 900_000, NON_BLOCKING),
    ("Reduce", 32 * KIB, 0x7000_0555, 150_000, 0),
    ("Barrier", 0, 0x7000_0666, 60_000, 0),
]
PLOTS = ["calls", "time", "size-calls", "size-time", "imbalance", "lag", "histories", "stragglers", "states"]

needs_chromium = pytest.mark.skipif(EXECUTABLE is None, reason="no browser: install the package chromium")


def training(directory: Path) -> Path:
    """A profile as of a training: rank 5 comes late in every seventh step, and more so as time goes on."""
    directory.mkdir()
    chance = random.Random(7)
    ranks: list[list[Call]] = [[] for _ in range(RANKS)]
    now, number = 5 * MS, 0
    for step in range(STEPS):
        for operation, size, site, spread, flags in STEP:
            number += 1
            arrivals = [now + int(chance.expovariate(1 / spread)) for _ in ranks]
            if step % 7 == 0 and operation == "Allreduce":
                arrivals[5] += (4 + step // 12) * MS
            last = max(arrivals)
            for rank, arrival in enumerate(arrivals):
                leave = last + 5_000 + size // 4 + int(chance.expovariate(1 / (2_000 + size / 20)))
                inside = 30_000 if flags else None
                algorithm = "native" if operation == "Reduce" else "arrival_chain" if size > KIB else "ring"
                root = 0 if operation in ("Bcast", "Reduce") else -1
                call = Call(arrival, leave, number, operation, size, 0, root, algorithm, flags, site, inside)
                ranks[rank].append(call)
            now = last + 2 * MS
    module = {"fact": "module", "path": "/no/such/train", "base": 0x7000_0000, "begin": 0x7000_0000, "end": 0x7000_1000}
    for rank, calls in enumerate(ranks):
        facts = [module, saved("allreduce", 4_000_000, [300, 600, 100])] if rank == 0 else [module]
        write_rank(directory, rank, RANKS, calls, facts, host=f"node{rank // 4}", capacity=10 * len(calls))
    return directory


# Sites and lateness of the four ranks in us of the calls in `phased`.
STEADY, JUMPING = 0x7000_0111, 0x7000_0222
LATENESS = {STEADY: (0, 0, 0, 80), JUMPING: (0, 10, 20, 50)}
PHASED_CALLS = 1200


def phased(directory: Path) -> Path:
    """Allreduce of 8 bytes from two sites on two nodes. At one of them lateness is 7 times as much in the second half.
    Messages of any size up to 1 MB take 2 us within a node and 10 us between nodes."""
    directory.mkdir()
    ranks: list[list[Call]] = [[] for _ in range(4)]
    for index in range(2 * PHASED_CALLS):
        site = JUMPING if index % 2 else STEADY
        times = 7 if site == JUMPING and index >= PHASED_CALLS else 1
        for calls, late in zip(ranks, LATENESS[site], strict=True):
            calls.append(Call(MS * (index + 1) + times * late * 1000, MS * (index + 1) + MS // 2, index + 1, site=site))
    facts: list[dict[str, Any]] = [
        {"fact": "module", "path": "/no/such/solver", "base": 0x7000_0000, "begin": 0x7000_0000, "end": 0x7000_1000},
        {"fact": "alpha", "between": "node", "points": [[8, 2000], [1 << 20, 2000]]},
        {"fact": "alpha", "between": "network", "points": [[8, 10_000], [1 << 20, 10_000]]},
    ]
    for rank, calls in enumerate(ranks):
        write_rank(directory, rank, 4, calls, facts, host=f"node{rank // 2}", capacity=2 * len(calls))
    return directory


def summary_of(directory: Path) -> Summary:
    return summarise(open_profile(directory))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium_page(tmp_path_factory.mktemp("chromium")) as one:
        yield one


def show(page: Page, summary: Summary, path: Path) -> None:
    """Write the report and open it, wide and light."""
    path.write_text(render_html(summary), encoding="utf-8")
    page.errors.clear()
    page.requests.clear()
    page.resize(1280, 900)
    page.prefer("light")
    page.open(path)


def bar(page: Page, plot: str, trace: int = 0) -> dict[str, float]:
    """A trace of bars: name -> value, from what Plotly has drawn. Values that are 0 are left out."""
    data: dict[str, list[Any]] = page.evaluate(
        f"(({{x, y, orientation}}) => ({{x, y, flat: [orientation]}}))(document.getElementById('{plot}').data[{trace}])"
    )
    names, values = (data["y"], data["x"]) if data["flat"] == ["h"] else (data["x"], data["y"])
    return {name: value for name, value in zip(names, values, strict=True) if value}


def dots(page: Page, plot: str) -> int:
    count: int = page.evaluate(f"document.getElementById('{plot}').data.reduce((sum, t) => sum + t.x.length, 0)")
    return count


def column(page: Page, table: str, index: int) -> list[str]:
    cells: list[str] = page.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')].map((row) => row.cells[{index}].textContent)"
    )
    return cells


def click(page: Page, selector: str, index: int = 0) -> None:
    page.evaluate(f"document.querySelectorAll('{selector}')[{index}].click()")


def write(page: Page, words: str) -> None:
    """Into the filter. The page draws 200 ms after the last key; a timer set later and for longer fires after it."""
    page.evaluate(f"text.value = '{words}'; text.dispatchEvent(new Event('input'))")
    page.evaluate("new Promise((done) => setTimeout(done, 300))")


@needs_chromium
def test_every_figure_shows_the_profile(page: Page, tmp_path: Path) -> None:
    summary = summary_of(training(tmp_path / "profile"))
    path = tmp_path / "report.html"
    show(page, summary, path)
    assert page.errors == []
    assert page.requests == [path.as_uri()]
    for plot in PLOTS:
        assert page.evaluate(f"document.querySelectorAll('#{plot} .main-svg').length") > 0, plot
    shares = summary.by_operation
    assert bar(page, "calls") == {name: share.calls for name, share in shares.items()}
    assert bar(page, "time") == pytest.approx({name: share.waiting for name, share in shares.items() if share.waiting})
    assert bar(page, "time", 1) == pytest.approx(
        {name: share.after_last for name, share in shares.items() if share.after_last}
    )
    assert bar(page, "time", 2) == pytest.approx({"Iallreduce": shares["Iallreduce"].inside})
    assert bar(page, "size-calls") == {"0-1 KB": STEPS, "1-64 MB": STEPS}  # of allreduce, which takes most time
    assert bar(page, "size-time")["1-64 MB"] == pytest.approx(summary.by_class["Allreduce", "1-64 MB"].inside)
    assert dots(page, "imbalance") == dots(page, "lag") == summary.calls
    caused, waited = bar(page, "stragglers"), bar(page, "stragglers", 1)
    assert caused == pytest.approx({str(one.rank): one.caused for one in summary.stragglers})
    assert waited == pytest.approx({str(one.rank): one.waited for one in summary.stragglers})
    assert bar(page, "states") == pytest.approx(summary.wait_states)
    assert column(page, "operations", 0) == list(shares)
    assert column(page, "ranks", 0) == [str(one.rank) for one in summary.stragglers]
    assert column(page, "worst", 2) == [str(call.sequence) for call in summary.worst_calls]
    assert len(column(page, "sites", 0)) == len(STEP)
    assert [column(page, "savings", index) for index in range(7)] == [
        ["Allreduce"], ["uneven"], ["8"], ["1,000"], ["90.0 %"], ["10 ms"], ["4 ms ± 500 \u00b5s"]
    ]  # fmt: skip


@needs_chromium
def test_the_filter_reaches_figures_and_tables(page: Page, tmp_path: Path) -> None:
    summary = summary_of(training(tmp_path / "profile"))
    show(page, summary, tmp_path / "report.html")
    chips = page.evaluate("[...document.querySelectorAll('#chips button')].map((chip) => chip.textContent)")
    assert chips == list(summary.by_operation)
    click(page, "#chips button", chips.index("Bcast"))
    click(page, "#chips button", chips.index("Reduce"))
    assert bar(page, "calls") == {"Reduce": STEPS, "Bcast": STEPS}
    assert set(bar(page, "states")) == {"Late Broadcast", "Early Reduce"}
    assert dots(page, "lag") == 2 * STEPS
    assert sum(bar(page, "stragglers").values()) == pytest.approx(
        sum(one.caused for (operation, _), ranks in summary.blame.items() for one in ranks
            if operation in ("Bcast", "Reduce"))
    )  # fmt: skip
    assert page.evaluate("document.querySelectorAll('#chips [aria-pressed=true]').length") == 2
    assert page.evaluate("document.getElementById('shown').value") == f"{2 * STEPS} of {len(STEP) * STEPS} calls"
    write(page, "0x555")
    assert bar(page, "calls") == {"Reduce": STEPS}
    assert column(page, "sites", 1) == ["train+0x555"]
    write(page, "no such place")
    assert page.evaluate("document.getElementById('calls').hidden")
    assert not page.evaluate("document.querySelector('#calls + .nothing').hidden")
    write(page, "")
    for name in ("Bcast", "Reduce"):
        click(page, "#chips button", chips.index(name))
    assert bar(page, "calls") == {name: share.calls for name, share in summary.by_operation.items()}
    write(page, "RANK 5")
    assert column(page, "ranks", 0) == ["5"]
    assert page.errors == []


@needs_chromium
def test_a_heading_sorts_and_the_dots_move_to_call_numbers(page: Page, tmp_path: Path) -> None:
    show(page, summary_of(training(tmp_path / "profile")), tmp_path / "report.html")
    click(page, "#ranks th button", 0)
    assert column(page, "ranks", 0) == [str(rank) for rank in reversed(range(RANKS))]
    click(page, "#ranks th button", 0)
    assert column(page, "ranks", 0) == [str(rank) for rank in range(RANKS)]
    assert page.evaluate("document.querySelector('#ranks th').ariaSort") == "ascending"
    click(page, "#sites th button", 1)
    assert column(page, "sites", 1) == [f"train+{hex(site - 0x7000_0000)}" for _, _, site, _, _ in STEP]
    page.evaluate("axis.value = 'sequence'; axis.dispatchEvent(new Event('change'))")
    sequences = page.evaluate("document.getElementById('imbalance').data.flatMap((trace) => trace.x)")
    assert sorted(sequences) == list(range(1, STEPS * len(STEP) + 1))
    assert page.errors == []


@needs_chromium
def test_imbalance_factors_follow_the_filter(page: Page, tmp_path: Path) -> None:
    """Over both halves the one that jumps is late by 0, 40, 80 and 200 us on average: worst case 200, average 60; in
    the nodes 40 and 120, 20 and 60. The steady one: 80 and 30; in the nodes 0 and 80, 0 and 40."""
    show(page, summary_of(phased(tmp_path / "profile")), tmp_path / "report.html")

    def factors() -> list[list[str]]:
        return [column(page, "sizes", index) for index in range(8, 12)]

    assert factors() == [["14.0"], ["4.5"], ["30.0"], ["15.0"]]
    write(page, "solver+0x111")
    assert factors() == [["8.0"], ["3.0"], ["20.0"], ["10.0"]]
    write(page, "solver+0x222")
    assert factors() == [["20.0"], ["6.0"], ["40.0"], ["20.0"]]
    assert page.errors == []


@needs_chromium
def test_unknown_imbalance_factors_are_dashes(page: Page, tmp_path: Path) -> None:
    show(page, summary_of(training(tmp_path / "profile")), tmp_path / "report.html")
    click(page, "#sizes th button", 8)
    assert {value for index in range(8, 12) for value in column(page, "sizes", index)} == {"–"}
    assert page.errors == []


@needs_chromium
def test_phases_are_drawn_and_listed(page: Page, tmp_path: Path) -> None:
    """A jump from 50 to 350 us after half of the calls from one site; those from another stay at 80 us."""
    show(page, summary_of(phased(tmp_path / "profile")), tmp_path / "report.html")
    half = PHASED_CALLS // 2
    traces = page.evaluate("document.getElementById('histories').data.map(({mode, x, y}) => ({mode, x, y}))")
    assert [trace["mode"] for trace in traces] == ["markers", "lines"] * 2
    means, levels, _, steady = traces
    assert means["x"] == [number + 0.5 for number in range(1, PHASED_CALLS, 2)]  # of two calls each
    assert means["y"] == pytest.approx([50e-6] * (half // 2) + [350e-6] * (half // 2))
    assert levels["x"] == [1, half, half + 1, PHASED_CALLS]
    assert levels["y"] == pytest.approx([50e-6, 50e-6, 350e-6, 350e-6])
    assert (steady["x"], steady["y"]) == ([1, PHASED_CALLS], pytest.approx([80e-6] * 2))
    titles = page.evaluate("document.getElementById('histories').layout.annotations.map(({text}) => text)")
    assert titles == ["<b>Allreduce</b> solver+0x222", "<b>Allreduce</b> solver+0x111"]
    assert column(page, "phases", 1) == ["solver+0x222"] * 2
    assert [column(page, "phases", index) for index in (2, 3)] == [["1", f"{half + 1}"], [f"{half}"] * 2]
    assert column(page, "phases", 4) == ["50 µs", "350 µs"]
    write(page, "solver+0x111")
    assert page.evaluate("document.getElementById('histories').data.length") == 2
    assert page.evaluate("document.querySelector('#phases').closest('.scroll').hidden")
    write(page, "no such place")
    assert page.evaluate("document.getElementById('histories').hidden")
    assert page.errors == []


def test_only_the_places_with_most_imbalance_are_drawn_of_many(tmp_path: Path) -> None:
    module = {"fact": "module", "path": "/no/such/solver", "base": 0, "begin": 0, "end": 0x9000}
    first = [Call(MS * number, MS * number + 9000, number, site=number) for number in range(1, 31)]
    second = [Call(MS * number + 100 * number, MS * number + 9000, number, site=number) for number in range(1, 31)]
    html = render_html(summary_of(write_job(tmp_path / "profile", first, second, extra_facts=[module])))
    assert "The 12 of 30 places in the program with most imbalance." in html
    data = json.loads(html.partition('id="data">')[2].partition("</script>")[0])
    assert [row["site"] for row in data["histories"]] == [f"solver+{number:#x}" for number in range(30, 18, -1)]


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_other_screens(page: Page, tmp_path: Path, width: int, scheme: str) -> None:
    show(page, summary_of(training(tmp_path / "profile")), tmp_path / "report.html")
    light = page.evaluate("document.getElementById('calls').layout.font.color")
    page.resize(width, 900, mobile=width < 500)
    page.prefer(scheme)
    page.open(tmp_path / "report.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert (page.evaluate("document.getElementById('calls').layout.font.color") != light) == (scheme == "dark")
    page.screenshot(tmp_path / "report.png")
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")
    assert page.errors == []


@needs_chromium
def test_names_are_shown_and_not_executed(page: Page, tmp_path: Path) -> None:
    """A command, a communicator, a node and a program file with names that would end the script or be markup."""
    directory = tmp_path / "profile"
    directory.mkdir()
    for rank in (0, 1):
        facts: list[dict[str, Any]] = [
            {"fact": "communicator_name", "index": 0, "name": HOSTILE},
            {"fact": "module", "path": f"/no/such/{HOSTILE}", "base": 0, "begin": 0, "end": 0x9000},
        ]
        calls = [Call(MS * (1 + rank), 4 * MS), Call(MS * (5 + rank), 9 * MS, 2, "Bcast", root=0)]
        write_rank(directory, rank, 2, calls, facts, host="<b>&node", capacity=2)
    summary = summary_of(directory)
    summary.profile.ranks[0].facts["job"][0]["command"] = [HOSTILE]
    summary.warnings.append(HOSTILE)
    show(page, summary, tmp_path / "report.html")
    assert page.errors == []
    assert page.requests == [(tmp_path / "report.html").as_uri()]
    assert page.evaluate("document.querySelector('h1').textContent") == HOSTILE
    assert page.evaluate("document.title").startswith(HOSTILE)
    assert page.evaluate("document.querySelector('.warnings li').textContent") == HOSTILE
    assert page.evaluate("document.images.length") == 0
    assert column(page, "worst", 1) == [HOSTILE] * 2
    assert column(page, "ranks", 1) == ["<b>&node"] * 2
    assert "<img src=x" in column(page, "sites", 1)[0]
    assert "<b>&" not in page.evaluate("document.getElementById('stragglers').data[0].hovertext[0]")
    assert "&lt;img src=x" in page.evaluate("document.getElementById('histories').data[0].hovertext[0]")
    assert not page.evaluate(
        "document.getElementById('histories').layout.annotations.some(({text}) => /<[^b/]/.test(text))"
    )


@needs_chromium
def test_a_profile_without_calls(page: Page, tmp_path: Path) -> None:
    show(page, summary_of(write_job(tmp_path / "profile", [], [])), tmp_path / "report.html")
    assert page.errors == []
    assert "nothing to report" in page.evaluate("document.body.textContent")
    assert page.evaluate("document.querySelectorAll('figure, table, nav').length") == 0


def test_only_the_ranks_that_caused_most_are_shown_of_many(tmp_path: Path) -> None:
    ranks = [[Call(MS + rank, 9 * MS)] for rank in range(100)]
    html = render_html(summary_of(write_job(tmp_path / "profile", *ranks, capacity=1)))
    assert "The 64 of 100 ranks that caused most." in html


def test_the_command_writes_it(stretto: Stretto, tmp_path: Path) -> None:
    directory = write_job(tmp_path / "profile", [Call(1 * MS, 3 * MS)], [Call(2 * MS, 3 * MS)])
    path = tmp_path / "report.html"
    shown = stretto("report", "--html", str(path), str(directory))
    assert shown.returncode == 0, shown.stderr
    assert str(path) in shown.stderr
    assert "./program x" in path.read_text(encoding="utf-8")
    shown = stretto("report", str(directory))
    assert shown.returncode == 0, shown.stderr
    assert (directory / "report.html").read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    path.unlink()
    shown = stretto("report", "--json", str(directory))
    assert (shown.returncode, shown.stderr) == (0, "")
    shown = stretto("report", "--html", str(tmp_path / "missing" / "report.html"), str(directory))
    assert shown.returncode == 2
    assert "--html" in shown.stderr
