"""What Omni-Path's `opareport` writes (opa-ff): `-o topology` and `-o links -x` as XML, `-o links` as text.

Both name the two ports of each link. The XML of `-o topology` also lists all nodes, so that links which it lacks are
noticed. The forms are those of opareport(8) and of the comments in opa-ff's IbaTools/opareport.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from stretto.topology.fabric import Fabric, Port, make_network
from stretto.topology.tree import Network, Source

_END = re.compile(
    r"\s*(?:<->|\d+(?:\.\d+)?g)\s+(?P<identity>0x[0-9a-f]+)\s+(?P<port>\d+)\s+(?P<kind>FI|SW)\s+(?P<name>.*)"
)
_COUNT = re.compile(r"\s*(\d+) Links in Fabric")
_AGAIN = "write it again by `opareport -o topology`"


@dataclass(frozen=True)
class _End:
    """One end of a link. `kind`: FI for an adapter, SW for a switch."""

    identity: str
    port: int
    kind: str
    description: str
    line: int


@dataclass
class _Report:
    links: list[tuple[int, list[_End]]] = field(default_factory=list)  # the line of each, and its ends
    nodes: dict[str, int] = field(default_factory=dict)  # lines of those that are listed by themselves
    expected: int | None = None  # how many links it says that there are


def read(source: Source) -> Network:
    """The tree of levels of an `opareport`. Raises StrettoError with the line."""
    report = _read_xml(source) if source.text.lstrip().startswith("<") else _read_text(source)
    if not report.links:
        raise source.error(f"it has no links: {_AGAIN}")
    if report.expected is not None and len(report.links) < report.expected:
        raise source.error(f"it has {len(report.links)} of {report.expected} links: {_AGAIN}, without -F")
    return make_network(_make_fabric(source, report))


def _make_fabric(source: Source, report: _Report) -> Fabric:
    fabric = Fabric(source)
    for line, ends in report.links:
        if len(ends) != 2:
            raise source.error(f"a link has two ends, this one has {len(ends)}: {_AGAIN}", line)
        for end in ends:
            if report.nodes and end.identity not in report.nodes:
                raise source.error(f"{end.description} is not among the nodes of the file: {_AGAIN}", end.line)
            if end.kind == "SW":
                fabric.switches[end.identity] = end.description
            elif end.identity not in fabric.adapters:
                fabric.add_adapter(end.identity, end.description, end.line)
        ports: list[Port] = [(end.identity, end.port) for end in ends]
        fabric.connect(ports[0], ports[1], ends[0].line)
        fabric.connect(ports[1], ports[0], ends[1].line)
    unlinked = min(report.nodes.keys() - fabric.switches.keys() - fabric.adapters.keys(), default=None)
    if unlinked is not None:
        raise source.error(f"node {unlinked} has no link: {_AGAIN}", report.nodes[unlinked])
    return fabric


def _read_text(source: Source) -> _Report:
    report = _Report()
    for number, line in source.lines:
        if found := _COUNT.match(line):
            report.expected = int(found[1])
        elif found := _END.fullmatch(line.rstrip()):
            end = _End(found["identity"], int(found["port"]), found["kind"], found["name"], number)
            if not line.lstrip().startswith("<->"):
                report.links.append((number, [end]))
            elif report.links:
                report.links[-1][1].append(end)
        elif line.lstrip().startswith("<->"):
            raise source.error(f"not a line of opareport: {_AGAIN}", number)
    return report


class _Handler:
    """Takes links and nodes out of the elements as expat meets them, which unlike ElementTree tells their lines."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.report = _Report()
        self._parser = parser
        self._path: list[str] = []
        self._text = ""
        self._values: dict[str, str] = {}  # of the node or port at hand
        self._line = 0
        parser.StartElementHandler = self._start
        parser.CharacterDataHandler = self._add
        parser.EndElementHandler = self._end
        parser.buffer_text = True

    def _start(self, name: str, _: dict[str, str]) -> None:
        self._path.append(name)
        self._text = ""
        if name == "Link":
            self.report.links.append((self._parser.CurrentLineNumber, []))
        elif name in ("Node", "Port"):
            self._values = {}
            self._line = self._parser.CurrentLineNumber

    def _add(self, text: str) -> None:
        self._text += text

    def _end(self, name: str) -> None:
        self._path.pop()
        self._values[name] = self._text.strip()
        if name == "LinkCount" and self._path[-1:] == ["LinkSummary"]:
            self.report.expected = int(self._values[name])
        elif name == "Node" and self._path[-1:] in (["FIs"], ["Switches"]):
            self.report.nodes[self._values["NodeGUID"]] = self._line
        elif name == "Port" and self._path[-1:] == ["Link"]:
            values = [self._values[each] for each in ("NodeGUID", "PortNum", "NodeType", "NodeDesc")]
            self.report.links[-1][1].append(_End(values[0], int(values[1]), values[2], values[3], self._line))


def _read_xml(source: Source) -> _Report:
    parser = expat.ParserCreate("utf-8")
    handler = _Handler(parser)
    try:
        parser.Parse(source.text.encode(), True)
    except expat.ExpatError as error:
        raise source.error(f"not whole XML ({expat.ErrorString(error.code)}): {_AGAIN}", error.lineno) from None
    except KeyError as error:
        raise source.error(f"an element has no {error.args[0]}: {_AGAIN}", parser.CurrentLineNumber) from None
    except ValueError:
        raise source.error(f"not a number where one is expected: {_AGAIN}", parser.CurrentLineNumber) from None
    return handler.report
