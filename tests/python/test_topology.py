"""Descriptions of networks: every form as a tree of levels, and what is said of those that are none."""

import random
from pathlib import Path

import pytest
from fabrics import ibnetdiscover, pods

from stretto.errors import StrettoError
from stretto.topology import fabric, infiniband, names, simple, slurm
from stretto.topology.forms import FORMS, read_network
from stretto.topology.tree import Network, Source

FILES = Path(__file__).parent / "topologies"
EXAMPLES = sorted(path for path in FILES.iterdir() if path.suffix != ".md")

# What is at which switch: switches by name with the name above.
Outline = dict[str, tuple[str | None, tuple[str, ...]]]


def outline(network: Network) -> Outline:
    return {
        switch.name: (network.switches[switch.parent].name if switch.parent >= 0 else None, tuple(sorted(switch.hosts)))
        for switch in network.switches
    }


def distances(network: Network, host: str) -> dict[str, int]:
    deepest = network.deepest(network.hosts)
    return {other: network.distance(host, other, deepest) for other in network.hosts}


def error_of(form: str, text: str) -> str:
    with pytest.raises(StrettoError) as caught:
        FORMS[form].read(Source("net", text))
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def changed(name: str, old: str, new: str) -> str:
    """An example with one place changed."""
    text = (FILES / name).read_text()
    assert text.count(old) == 1
    return text.replace(old, new)


def test_names_are_expanded_as_slurm_writes_them() -> None:
    assert names.expand("login") == ["login"]
    assert names.expand("n[0-2,7],login") == ["n0", "n1", "n2", "n7", "login"]
    assert names.expand("n[08-11]") == ["n08", "n09", "n10", "n11"]
    assert names.expand("r[1-2]n[01-02]x") == ["r1n01x", "r1n02x", "r2n01x", "r2n02x"]


@pytest.mark.parametrize(
    "wrong",
    ["n[0-2", "n0-2]", "n[2-0]", "n[]", "n[a-b]", "n[1-2-3]", "a,,b", "n[0-9999999]", "n[0-99999]m[0-99999]", ",a", ""],
)
def test_what_is_no_list_of_names(wrong: str) -> None:
    with pytest.raises(ValueError, match="list of names"):
        names.expand(wrong)


@pytest.mark.parametrize(
    ("short", "count"),
    [
        ("n[00-15]", 16),
        ("n[0-3,8],login", 6),
        ("n[8-11]", 4),
        ("a1x,a1y", 2),
        ("n,n5", 2),
        ("login,a,n[098-101]-ib", 6),
    ],
)
def test_names_are_collapsed_to_what_is_expanded_alike(short: str, count: int) -> None:
    assert len(names.expand(short)) == count
    assert names.collapse(names.expand(short)) == short


def test_collapsing_keeps_any_names_and_their_order() -> None:
    generator = random.Random(0)
    for _ in range(200):
        some = [
            generator.choice(["n", "r1n", "x-", ""]) + str(generator.randrange(120)).zfill(generator.randrange(1, 4))
            for _ in range(20)
        ] + ["login"]
        generator.shuffle(some)
        assert names.expand(names.collapse(some)) == some


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_form_is_recognised_and_written_as_the_same_tree(path: Path) -> None:
    form, network = read_network(path, None)
    assert form == {".ibnetdiscover": "ibnetdiscover", ".conf": "slurm", ".hwloc": "hwloc"}.get(
        path.suffix, "simple" if path.name == "simple.txt" else "opareport"
    )
    again = slurm.read(Source("written", slurm.write(network, path.name)))
    assert outline(again) == outline(network)
    assert network.sizes[0] == len(network.hosts)


def test_topology_conf_is_read_as_the_library_reads_it() -> None:
    """The cases of tests/topology/network_test.cpp."""
    text = (
        "# the cluster's\nSwitchName=leaf0 Nodes=n[00-01] LinkSpeed=100\nswitchname=leaf1 nodes=n[02-03]  # any case\n"
        "SwitchName=spine Switches=leaf[0-1]\nSwitchName=island Nodes=gpu0\n"
    )
    network = slurm.read(Source("net", text))
    assert outline(network) == {
        "all": (None, ()),
        "spine": ("all", ()),
        "island": ("all", ("gpu0",)),
        "leaf0": ("spine", ("n00", "n01")),
        "leaf1": ("spine", ("n02", "n03")),
    }
    assert all(switch.parent < index for index, switch in enumerate(network.switches))
    assert distances(network, "n00") == {"n00": 0, "n01": 1, "n02": 2, "n03": 2, "gpu0": 3}
    assert network.find("n01.example.org") == "n01"
    assert network.find("n07") is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("# nothing", "it names no hosts: say which are at which switch"),
        (
            "\n\nSwitch=a Nodes=b",
            "line 3: 'Switch' is none of SwitchName, Nodes, Switches, LinkSpeed: correct or drop it",
        ),
        ("Nodes=b", "line 1: a line begins with SwitchName=NAME"),
        ("SwitchName=a Nodes=b[1-", "line 1: 'b[1-' is no list of names such as n[00-15],login"),
        ("SwitchName=a Nodes=", "line 1: a list of names is empty"),
        ("SwitchName=a Nodes=b\nSwitchName=a Nodes=c", "line 2: switch a is there twice: give each switch one line"),
        ("SwitchName=a", "line 1: switch a has neither nodes nor switches: name them or drop it"),
        ("SwitchName=a Switches=b", "line 1: switch b has no line of its own: add it"),
        ("SwitchName=a Nodes=n\nSwitchName=b Nodes=n", "line 2: node n is there twice: leave it at one switch"),
        ("SwitchName=a Nodes=n,n", "line 1: node n is there twice: leave it at one switch"),
        (
            "SwitchName=a Nodes=n\nSwitchName=b Switches=a\nSwitchName=c Switches=a",
            "line 3: switch a is at two switches: a tree is expected, name one of those that are alike",
        ),
        (
            "SwitchName=a Switches=b Nodes=n\nSwitchName=b Switches=a",
            "line 1: switch a is below itself: remove it from one of the lists",
        ),
    ],
)
def test_errors_of_topology_conf(text: str, error: str) -> None:
    assert error_of("slurm", text) == f"net: {error}"


def test_the_simple_form() -> None:
    network = simple.read(Source("net", "leaf0 = n0, n1  # a rack\nleaf1=n[2-3]\nspine = leaf[0-1],oss\n"))
    assert outline(network) == {
        "all": (None, ()),
        "spine": ("all", ("oss",)),
        "leaf0": ("spine", ("n0", "n1")),
        "leaf1": ("spine", ("n2", "n3")),
    }


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("leaf0: n0", "line 1: not of the form SWITCH = LIST, such as leaf0 = n[00-15]"),
        ("leaf0 = n[0", "line 1: 'n[0' is no list of names such as n[00-15],login"),
        ("leaf0 =", "line 1: a list of names is empty"),
        ("leaf0 = n0 n1", "line 1: names are separated by commas"),
        ("a = n\nb = n", "line 2: node n is there twice: leave it at one switch"),
        ("a = b\nb = a", "line 1: switch a is below itself: remove it from one of the lists"),
    ],
)
def test_errors_of_the_simple_form(text: str, error: str) -> None:
    assert error_of("simple", text) == f"net: {error}"


def test_a_fat_tree_of_two_levels() -> None:
    """Its spines are one group. The adapter in a switch is no host; a second adapter adds no place."""
    leaves = [f"S-0002c90300f00{number}00" for number in range(1, 5)]
    hosts = [tuple(f"node{number:02d}" for number in range(first, first + 4)) for first in (1, 5, 9)]
    last = ("login1", "node13", "node14", "node15")
    assert outline(read_network(FILES / "fat-tree.ibnetdiscover", None)[1]) == {
        "all": (None, ()),
        "group1.0": ("all", ()),
        **{leaf: ("group1.0", each) for leaf, each in zip(leaves, [*hosts, last], strict=True)},
    }


def test_hosts_at_switches_that_are_connected_directly() -> None:
    assert outline(read_network(FILES / "grouping.ibnetdiscover", None)[1]) == {
        "all": (None, ()),
        "group0.0": ("all", ()),
        "ISR9024-edge": ("group0.0", ("b1",)),
        "SW-6IB4-top": ("group0.0", ("a1", "b2")),
    }


def test_pods_are_groups_of_leaf_switches() -> None:
    network = infiniband.read(Source("net", ibnetdiscover(pods())))
    leaves = {f"leaf{n}": (f"group1.{n // 2}", tuple(f"h{4 * n + k:02d}" for k in range(4))) for n in range(4)}
    assert outline(network) == {
        "all": (None, ()),
        "group2.0": ("all", ()),
        "group1.0": ("group2.0", ()),
        "group1.1": ("group2.0", ()),
        **leaves,
    }
    assert [distances(network, "h00")[host] for host in ("h00", "h03", "h04", "h15")] == [0, 1, 2, 3]


def test_the_order_of_a_dump_does_not_matter() -> None:
    cables = pods(["core1"])
    expected = outline(infiniband.read(Source("net", ibnetdiscover(cables))))
    generator = random.Random(0)
    for _ in range(20):
        generator.shuffle(cables)
        blocks = ibnetdiscover(cables).split("\n\n")
        generator.shuffle(blocks)
        assert outline(infiniband.read(Source("net", "\n\n".join(blocks)))) == expected


def test_a_server_at_a_core_switch_leaves_the_pods_apart() -> None:
    network = infiniband.read(Source("net", ibnetdiscover(pods(["core0"]))))
    assert outline(network)["core0"] == ("group2.0", ("hserver0",))
    assert outline(network)["leaf0"][0] == "group1.0"
    assert outline(network)["group1.0"][0] == "group2.0"


def test_a_tree_of_switches_keeps_their_names() -> None:
    cables = [("leaf0", "h0"), ("leaf0", "top"), ("leaf1", "h1"), ("leaf1", "top")]
    network = infiniband.read(Source("net", ibnetdiscover(cables)))
    assert outline(network)["leaf1"] == ("top", ("h1",))
    assert outline(infiniband.read(Source("net", ibnetdiscover(cables[:1])))) == {
        "all": (None, ()),
        "leaf0": ("all", ("h0",)),
    }


def test_thousands_of_hosts_are_read_at_once() -> None:
    cables = [(f"leaf{leaf}", f"h{18 * leaf + host}") for leaf in range(300) for host in range(18)]
    cables += [(f"leaf{leaf}", f"spine{spine}") for leaf in range(300) for spine in range(18)]
    network = infiniband.read(Source("net", ibnetdiscover(cables)))
    assert len(network.hosts) == 5400
    assert len(network.switches) == 302


LEAF, SPINE = "S-0002c90300f00100", "S-0002c90300f00a00"
CABLE = f'[13]\t"{SPINE}"[1]\t\t# "SwitchIB Mellanox Technologies" lid 3 4xEDR\n'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("vendid=0x2c9\n", "it has no switches: is the dump whole?"),
        ('Switch 36 "S-1" # "a"\n', "it has no hosts: is the dump whole?"),
        ('Switch 36 S-1 # "a"\n', "line 1: not a line of ibnetdiscover: write the file again, without options"),
        ('[1] "S-1"[1]\n', "line 1: not a line of ibnetdiscover: write the file again, without options"),
        (
            ibnetdiscover([("a", "h0")]) + "\n" + ibnetdiscover([("a", "h0")]),
            "line 15: S-a is there twice: are these two dumps?",
        ),
        (
            ibnetdiscover([("a", "h0")]).replace("[1]", "[1]\t", 1) + '[1] "S-a"[1]\n',
            "line 10: port 1 of H-h0 is there twice: are these two dumps?",
        ),
        (
            ibnetdiscover([("a", "h0"), ("b", "h1")]),
            "there is no path between switches S-a and S-b: give each network a file of its own",
        ),
        (
            ibnetdiscover([("a", "h0"), ("h1", "h2")]),
            "line 11: h1 is at no switch: connect it or drop it",
        ),
        (
            changed("fat-tree.ibnetdiscover", '# "node02 HCA-1"\n', '# "node01 HCA-1"\n'),
            'line 103: two adapters are "node01 HCA-1", also in line 96: '
            "let each say its host's name (rdma-ndd), and dump again",
        ),
        (
            ibnetdiscover([("a", "h0")]).replace('# "h0"\n', '# "(none) HCA-1"\n'),
            'line 8: "(none) HCA-1" does not begin with the name of a host: let the adapter say it (rdma-ndd)',
        ),
        (
            changed("fat-tree.ibnetdiscover", CABLE, ""),
            f"line 39: port 1 of {SPINE} leads to port 13 of {LEAF}, which does not lead back: dump the network again",
        ),
        (
            ibnetdiscover([("a", "h0"), ("a", "h1")]).partition('Ca\t1 "H-h1"')[0],
            "line 7: port 2 of S-a leads to port 1 of H-h1, which is not in the file: dump the whole network again",
        ),
    ],
)  # fmt: skip
def test_errors_of_ibnetdiscover(text: str, error: str) -> None:
    assert error_of("ibnetdiscover", text) == f"net: {error}"


def test_both_reports_of_omni_path_are_the_same_tree() -> None:
    trees = [outline(read_network(FILES / name, None)[1]) for name in ("opareport-topology.xml", "opareport-links.txt")]
    assert trees[0] == trees[1] == {
        "all": (None, ()),
        "group1.0": ("all", ()),
        "opa1-L101A": ("group1.0", ("co01", "co02", "co03")),
        "opa1-L102A": ("group1.0", ("co04", "co05", "co06")),
    }  # fmt: skip


XML, TEXT = "opareport-topology.xml", "opareport-links.txt"
END = "<->  0x0011750102000001   1"
AGAIN = "write it again by `opareport -o topology`"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("<Report></Report>", f"it has no links: {AGAIN}"),
        ("Node Type Summary\n", f"it has no links: {AGAIN}"),
        ("<Report><LinkSummary>", f"line 1: not whole XML (no element found): {AGAIN}"),
        ("<Report><Link/></Report>", f"line 1: a link has two ends, this one has 0: {AGAIN}"),
        ("<Report>\n<Link><Port></Port></Link></Report>", f"line 2: an element has no NodeGUID: {AGAIN}"),
        (
            (FILES / XML).read_text().replace("<PortNum>1<", "<PortNum>one<"),
            f"line 95: not a number where one is expected: {AGAIN}",
        ),
        (changed(XML, "<LinkCount>10<", "<LinkCount>11<"), f"it has 10 of 11 links: {AGAIN}, without -F"),
        (changed(TEXT, "10 Links", "12 Links"), f"it has 10 of 12 links: {AGAIN}, without -F"),
        (changed(TEXT, f"{END} SW   opa1 L101A\n", ""), f"line 5: a link has two ends, this one has 1: {AGAIN}"),
        (changed(TEXT, f"{END} SW", END), f"line 6: not a line of opareport: {AGAIN}"),
        (
            changed(TEXT, "0x0011750102000001   2 SW", "0x0011750102000001   1 SW"),
            "line 8: port 1 of 0x0011750102000001 is there twice: are these two dumps?",
        ),
        (
            changed(XML, '  <Node id="0x0011750101000001">\n            <NodeGUID>0x0011750101000001<',
                    "  <Node>\n            <NodeGUID>0x0011750101000009<"),
            f"line 88: co01 hfi1_0 is not among the nodes of the file: {AGAIN}",
        ),
    ],
)  # fmt: skip
def test_errors_of_opareport(text: str, error: str) -> None:
    assert error_of("opareport", text) == f"net: {error}"


def test_a_node_without_a_link_is_noticed() -> None:
    node = "<Node><NodeGUID>0x9</NodeGUID></Node>\n"
    text = changed(XML, "    </FIs>\n", f"{node}    </FIs>\n")
    assert error_of("opareport", text) == f"net: line 42: node 0x9 has no link: {AGAIN}"


def test_two_of_a_host_s_adapters_are_one_host_at_the_first() -> None:
    network = fabric.Fabric(Source("net", ""), {"S-1": "a", "S-2": "b"})
    for number, words in enumerate(("h0 mlx5_10", "h0 mlx5_2", "h1 mlx5_0"), 1):
        network.add_adapter(f"H-{number}", words, number)
    cables = [("S-1", "H-1"), ("S-2", "H-2"), ("S-1", "H-3"), ("S-1", "S-2")]
    for port, (a, b) in enumerate(cables, 1):
        network.connect((a, port), (b, port), 1)
        network.connect((b, port), (a, port), 1)
    assert outline(fabric.make_network(network))["b"] == ("group0.0", ("h0",))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "empty: is this the right file?"),
        (b" \n\n", "empty: is this the right file?"),
        (b"\x7fELF\x02\x01\x01\x00", "not text: is this the right file?"),
        (b"\xff\xfe\x00", "not text: is this the right file?"),
        (
            b"hello there\n",
            "no description of a network that is known: name its form, "
            "--form hwloc|ibnetdiscover|opareport|slurm|simple",
        ),
    ],
)
def test_wrong_files(tmp_path: Path, content: bytes, error: str) -> None:
    path = tmp_path / "net"
    path.write_bytes(content)
    with pytest.raises(StrettoError) as caught:
        read_network(path, None)
    assert str(caught.value) == f"{path}: {error}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(StrettoError) as caught:
            read_network(path, None)
        assert str(caught.value) == f"{path}: cannot be read: {reason}: name a file that you may read"


def test_a_form_that_is_named_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "net"
    path.write_text("SwitchName=a\n")
    assert outline(read_network(path, "simple")[1]) == {"all": (None, ()), "SwitchName": ("all", ("a",))}
    with pytest.raises(
        StrettoError, match="--form=dot: no such form; choose from hwloc, ibnetdiscover, opareport, slurm, simple"
    ):
        read_network(path, "dot")
