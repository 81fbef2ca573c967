"""`stretto topo`: what it prints, writes and draws."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from chromium import EXECUTABLE, chromium_page
from cli_support import Stretto
from fabrics import ibnetdiscover, pods
from typer.testing import CliRunner

from stretto.cli import app
from stretto.errors import StrettoError
from stretto.topology import infiniband, simple
from stretto.topology.draw import MOST_HOSTS, MOST_LEAVES, draw, shorten
from stretto.topology.matrix import MOST_NAMES, matrix_csv
from stretto.topology.ranks import place_ranks
from stretto.topology.tree import Network, Source

FILES = Path(__file__).parent / "topologies"
CONF = FILES / "topology.conf"
SVG = "{http://www.w3.org/2000/svg}"


def network_of(text: str) -> Network:
    return simple.read(Source("net", text))


SMALL = network_of("leaf0 = n[00-02]\nleaf1 = n[03-05]\nspine = leaf[0-1]\n")
UNEVEN = network_of("leaf0 = a[0-1]\nleaf1 = a[2-3]\nspine = leaf[0-1]\nisland = b0\n")


def test_the_tree_is_printed_with_the_ranks(stretto: Stretto) -> None:
    result = stretto("topo", str(CONF), "--ranks", "tux0,tux[0-3],tux15,tux0")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[:16] == [
        "slurm: 16 hosts, 7 switches, 7 ranks on 5 hosts",
        "s6  16 hosts",
        "├── s4  8 hosts",
        "│   ├── s0",
        "│   │   ├── tux0: ranks 0-1,6",
        "│   │   ├── tux1: rank 2",
        "│   │   ├── tux2: rank 3",
        "│   │   └── tux3: rank 4",
        "│   └── s1",
        "│       └── tux[4-7]  4 hosts",
        "└── s5  8 hosts",
        "    ├── s2",
        "    │   └── tux[8-11]  4 hosts",
        "    └── s3",
        "        ├── tux15: rank 5",
        "        └── tux[12-14]  3 hosts",
    ]
    rows = [re.findall(r"[\w\[\]\- ]*[\w\]]", line) for line in result.stdout.splitlines() if line.startswith("│  ")]
    table = [[cell.strip() for cell in row] for row in rows][-4:]
    assert table == [
        ["0", "a host", "16", "1"],
        ["1", "s[0-3]", "4", "4"],
        ["2", "s[4-5]", "2", "8"],
        ["3", "s6", "1", "16"],
    ]


def test_many_hosts_with_ranks_are_one_line(stretto: Stretto, tmp_path: Path) -> None:
    (tmp_path / "net").write_text("leaf0 = n[00-31]\n")
    (tmp_path / "hosts").write_text("".join(f"n{host:02d} slots=2\n" for host in range(30)))
    result = stretto("topo", str(tmp_path / "net"), "--hosts", str(tmp_path / "hosts"))
    assert result.stdout.splitlines()[:4] == [
        "simple: 32 hosts, 1 switch, 60 ranks on 30 hosts",
        "leaf0",
        "├── n[00-29]: ranks 0-59",
        "└── n[30-31]  2 hosts",
    ]


def test_json_holds_the_tree(stretto: Stretto) -> None:
    result = stretto("topo", str(FILES / "simple.txt"), "--json", "--ranks", "n00,oss1")
    found = json.loads(result.stdout)
    assert {name: found[name] for name in ("schema_version", "form", "ranks")} == {
        "schema_version": 1,
        "form": "simple",
        "ranks": ["n00", "oss1"],
    }
    switches = [each["name"] for each in found["switches"]]
    assert [each["parent"] for each in found["switches"]] == [None, 0, 0, 1, 1]
    assert [each["depth"] for each in found["switches"]] == [0, 1, 1, 2, 2]
    assert {each["name"]: switches[each["switch"]] for each in found["hosts"]}["oss1"] == "storage"
    assert len(found["hosts"]) == 34


def test_everything_that_is_asked_for_is_written(stretto: Stretto, tmp_path: Path) -> None:
    names = {"--output": "topology.conf", "--draw": "net.svg", "--matrix": "net.csv"}
    options = [word for option, name in names.items() for word in (option, str(tmp_path / name))]
    result = stretto("topo", str(FILES / "fat-tree.ibnetdiscover"), *options)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "topology.conf").read_text() == (
        "# By `stretto topo` from fat-tree.ibnetdiscover\n"
        "SwitchName=group1.0 Switches=S-0002c90300f[00100,00200,00300,00400]\n"
        "SwitchName=S-0002c90300f00100 Nodes=node[01-04]\n"
        "SwitchName=S-0002c90300f00200 Nodes=node[05-08]\n"
        "SwitchName=S-0002c90300f00300 Nodes=node[09-12]\n"
        "SwitchName=S-0002c90300f00400 Nodes=login1,node[13-15]\n"
    )
    assert ElementTree.parse(tmp_path / "net.svg").getroot().tag == f"{SVG}svg"
    assert len((tmp_path / "net.csv").read_text().splitlines()) == 17
    again = stretto("topo", str(tmp_path / "topology.conf"))
    assert again.stdout.splitlines()[1:] == result.stdout.splitlines()[1:]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ([], "name a file that describes the network: stretto topo FILE, from ibnetdiscover"),
        (
            ["{conf}", "--form", "dot"],
            "--form=dot: no such form; choose from hwloc, ibnetdiscover, opareport, slurm, simple",
        ),
        (["{conf}", "--form", "ibnetdiscover"], "{conf}: it has no switches: is the dump whole?"),
        (["{conf}", "--output", "{conf}"], "{conf}: the description itself: give another name"),
        (
            ["{conf}", "--draw", "{tmp}/none/net.svg"],
            "{tmp}/none/net.svg: cannot be written: No such file or directory: name a file in a directory",
        ),
        (
            ["{conf}", "--ranks", "tux0,x[1-7]"],
            "--ranks: the network does not have x1, x2, x3, x4, x5 and 2 more: correct the names or describe these",
        ),
        (["{conf}", "--ranks", "tux["], "--ranks: 'tux[' is no list of names such as n[00-15],login"),
        (["{conf}", "--ranks", "tux0", "--hosts", "h"], "--hosts and --ranks both say where ranks are: give one"),
        (["{conf}", "--hosts", "{tmp}/none"], "{tmp}/none: cannot be read: No such file or directory"),
        (["{conf}", "--hosts", "{tmp}/empty"], "{tmp}/empty: it names no hosts: write one a line"),
        (["{conf}", "--ranks", "{tmp}/empty"], "{tmp}/empty: it names no hosts: write that of rank r in line r + 1"),
        (["{conf}", "--hosts", "{tmp}/wrong"], "{tmp}/wrong: line 2: not of the form HOST, HOST slots=N or HOST:N"),
        (["{conf}", "--hosts", "{tmp}/other"], "--hosts {tmp}/other: the network does not have y: correct the names"),
    ],
)
def test_errors_of_the_command(tmp_path: Path, options: list[str], error: str) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "wrong").write_text("tux0\ntux1 tux2\n")
    (tmp_path / "other").write_text("tux0\ny\n")
    places = {"conf": str(CONF), "tmp": str(tmp_path)}
    result = CliRunner().invoke(app, ["topo", *(word.format(**places) for word in options)])
    assert isinstance(result.exception, StrettoError)
    assert str(result.exception).startswith(error.format(**places))
    assert "\n" not in str(result.exception)
    assert result.stdout == ""


def test_an_error_is_one_line_and_an_exit_code(stretto: Stretto) -> None:
    result = stretto("topo", "none")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "stretto: none: cannot be read: No such file or directory: name a file that you may read\n"


def test_ranks_fill_the_hosts_of_a_hostfile(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# mine\nn01 slots=2 max_slots=4\nn00:3\nn05.example.org\n")
    assert place_ranks(SMALL, path, None) == ["n01", "n01", "n00", "n00", "n00", "n05"]


def test_ranks_are_where_a_list_or_a_file_says(tmp_path: Path) -> None:
    assert place_ranks(SMALL, None, None) == []
    assert place_ranks(SMALL, None, "n00,n01.cluster,n00") == ["n00", "n01", "n00"]
    (tmp_path / "ranks").write_text("n05\nn00\n")
    assert place_ranks(SMALL, None, str(tmp_path / "ranks")) == ["n05", "n00"]


def test_the_matrix_of_hosts_and_of_ranks() -> None:
    rows = list(csv.reader(matrix_csv(SMALL, []).splitlines()))
    assert rows[0] == ["", *SMALL.hosts]
    for row in rows[1:]:
        assert [int(cell) for cell in row[1:]] == [SMALL.distance(row[0], host, 3) for host in SMALL.hosts]
    assert rows[1] == ["n00", "0", "1", "1", "2", "2", "2"]
    assert matrix_csv(SMALL, ["n00", "n05", "n00"]) == ",0,1,2\n0,0,2,0\n1,2,0,2\n2,0,2,0\n"


def test_distances_of_an_uneven_tree_are_the_library_s() -> None:
    """They are counted from the deepest host that has ranks, as Topology does (src/topology/topology.cpp)."""
    assert matrix_csv(UNEVEN, []).splitlines() == [
        ",a0,a1,a2,a3,b0",
        "a0,0,1,2,2,3",
        "a1,1,0,2,2,3",
        "a2,2,2,0,1,3",
        "a3,2,2,1,0,3",
        "b0,3,3,3,3,1",
    ]
    assert matrix_csv(UNEVEN, ["b0", "b0"]) == ",0,1\n0,0,0\n1,0,0\n"


def test_a_great_matrix_is_refused() -> None:
    network = network_of(f"leaf = n[1-{MOST_NAMES + 1}]\n")
    with pytest.raises(StrettoError) as caught:
        matrix_csv(network, [])
    assert str(caught.value) == (
        "--matrix: 4,097 names would make 16,785,409 distances; at most 4,096 names are written, since a matrix grows "
        "with the square: use --json or --output, which hold the same as a tree"
    )
    assert len(matrix_csv(network, network.hosts[:100]).splitlines()) == 101


def boxes_of(svg: ElementTree.Element) -> list[tuple[str, tuple[float, float, float, float], list[str]]]:
    """Of each box its title, left, top, right and bottom, and its lines."""
    found = []
    for group in svg.iterfind(f"{SVG}g[{SVG}rect]"):
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        lines = [text.text or "" for text in group.iterfind(f"{SVG}text")]
        for text in group.iterfind(f"{SVG}text"):
            assert float(text.attrib["x"]) == pytest.approx(x + width / 2)
            assert y + 10 <= float(text.attrib["y"]) <= y + height - 4
        found.append((group.findtext(f"{SVG}title") or "", (x, y, x + width, y + height), lines))
    return found


DRAWN = {
    "small": (SMALL, ["n00", "n05", "n00"]),
    "one host": (network_of("leaf = n\n"), []),
    "uneven": (UNEVEN, ["b0"]),
    "hosts at all levels": (network_of("a = n[0-20]\nb = a,m[0-2]\nc = b,l\n"), ["m0"]),
    "pods": (infiniband.read(Source("net", ibnetdiscover(pods(["core0"])))), ["h03"] * 40),
    "hundreds": (network_of("".join(f"l{n} = n{n}-[0-17]\n" for n in range(24)) + "top = l[0-23]\n"), []),
    "long names": (network_of(f"leaf = {'x' * 200},n[0-5]\nq{'y' * 80} = leaf\n"), ["n0"]),
    "thousands": (network_of("".join(f"l{n} = n{n}-[0-39]\n" for n in range(200)) + "a = l[0-99]\nb = l[100-199]\n"),
                  ["n0-0", "n150-7"]),
    "letters": (network_of("<a&b> = \"n'\n"), []),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_boxes_of_a_drawing_are_apart_and_inside(name: str) -> None:
    network, ranks = DRAWN[name]
    svg = ElementTree.fromstring(draw(network, ranks))
    left, top, width, height = map(float, svg.attrib["viewBox"].split())
    assert (left, top) == (0, 0)
    boxes = boxes_of(svg)
    for title, (x0, y0, x1, y1), lines in boxes:
        assert 0 < x0 < x1 < width, title
        assert 0 < y0 < y1 < height, title
        assert all(len(line) * 0.62 * 12 <= x1 - x0 for line in lines), title
    for number, (title, a, _) in enumerate(boxes):
        for other, b, _ in boxes[number + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (title, other)
    one_top = len(network.tops) == 1
    if len(network.hosts) <= MOST_HOSTS:
        assert len(boxes) == len(network.hosts) + len(network.switches) - one_top
    # A switch is above what is below it, and each box but the first has a cable.
    cables = svg.findall(f"{SVG}g/{SVG}path")
    ends = [tuple(map(float, re.findall(r"-?[\d.]+", cable.attrib["d"]))) for cable in cables]
    for x, y, bend, to_x, to_y in ends:
        assert y < bend < to_y
        assert any(box[0] < x < box[2] and box[3] == y for _, box, _ in boxes)
        assert any(box[0] < to_x < box[2] and box[1] == to_y for _, box, _ in boxes)
    assert not [element for element in svg.iter() if "href" in str(element.attrib)]


def test_ranks_are_drawn_in_their_hosts() -> None:
    boxes = boxes_of(ElementTree.fromstring(draw(*DRAWN["small"])))
    assert {title: lines for title, _, lines in boxes} == {
        "spine": ["spine"],
        "leaf0": ["leaf0"],
        "leaf1": ["leaf1"],
        "n00: ranks 0,2": ["n00", "0,2"],
        "n05: ranks 1": ["n05", "1"],
        **{f"n{host:02d}": [f"n{host:02d}", "-"] for host in (1, 2, 3, 4)},
    }


def test_a_great_network_is_drawn_in_few_boxes() -> None:
    network, ranks = DRAWN["thousands"]
    assert (len(network.hosts) > MOST_HOSTS, len(network.switches) > MOST_LEAVES) == (True, True)
    boxes = boxes_of(ElementTree.fromstring(draw(network, ranks)))
    assert [lines for _, _, lines in boxes] == [
        ["the whole network"],
        ["a"],
        ["b"],
        ["l[0-99]", "100 switches"],
        ["n0-[0-39],n1-[…9],n99-[0-39]", "4,000 hosts", "0"],
        ["l[100-199]", "100 switches"],
        [shorten(",".join(f"n{n}-[0-39]" for n in range(100, 200))), "4,000 hosts", "1"],
    ]


@pytest.mark.skipif(EXECUTABLE is None, reason="no Chromium")
def test_a_browser_finds_all_text_in_its_box(tmp_path: Path) -> None:
    script = """[...document.querySelectorAll("text")].map(text => {
        const own = text.getBBox(), box = text.parentNode.querySelector("rect").getBBox();
        return own.x >= box.x && own.y >= box.y - 1 && own.x + own.width <= box.x + box.width
            && own.y + own.height <= box.y + box.height + 1 ? "" : text.textContent;
    }).filter(text => text)"""
    with chromium_page(tmp_path / "browser") as page:
        for name in DRAWN:
            path = tmp_path / "net.svg"
            path.write_text(draw(*DRAWN[name]))
            page.open(path)
            assert page.evaluate("document.querySelectorAll('text').length") > 0
            assert page.evaluate(script) == [], name
        assert page.errors == []
