"""A network as SVG: switches by level, hosts at the bottom, ranks in their hosts.

All text is in boxes with a fill of their own, and cables are of a middle grey: it can be read on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isqrt
from xml.etree import ElementTree

from stretto.topology.names import collapse, ranges
from stretto.topology.show import counted, ranks_by_host
from stretto.topology.tree import Network

# Above so many, the hosts of a switch are one box; the leaf switches of a switch, too.
MOST_HOSTS = 512
MOST_LEAVES = 64

# In pixels. The font is monospaced so that the width of a text is known: at most 0.62 of its size a letter.
_FONT = 12
_LETTER = 0.62 * _FONT
_LINE = 16
_PADDING = 8
_GAP = 8
_BETWEEN_LEVELS = 36
_MARGIN = 16
_MOST_LETTERS = 28
_FEWEST_IN_COLUMN = 8

_FILLS = {"switch": "#34495e", "host": "#e4e7eb", "used": "#9fc9f3"}
_INKS = {"switch": "#ffffff", "host": "#222222", "used": "#111111"}
_CABLE = "#808890"


@dataclass
class Box:
    """A box with lines of text; `title` is the whole of what they shorten. x, y: the upper left corner."""

    kind: str
    lines: list[str]
    title: str
    x: float = 0
    y: float = 0
    width: float = 0

    @property
    def height(self) -> float:
        return 2 * _PADDING + _LINE * len(self.lines) - (_LINE - _FONT)


@dataclass
class _Part:
    """A switch, or several taken for one, as it is drawn: over its hosts, then over its children side by side."""

    box: Box
    depth: int
    hosts: list[list[Box]]  # column by column
    children: list[_Part] = field(default_factory=list)
    left: float = 0
    span: float = 0

    @property
    def hosts_width(self) -> float:
        return sum(column[0].width + _GAP for column in self.hosts) - _GAP if self.hosts else 0

    @property
    def below(self) -> list[float]:
        """The widths of what is side by side below."""
        return [width for width in (self.hosts_width, *(child.span for child in self.children)) if width]


def draw(network: Network, ranks: Sequence[str]) -> str:
    """The text of an SVG file. `ranks`: the host of each, or none."""
    parts = _make_parts(network, ranks_by_host(ranks))
    _set_widths(parts)
    for part in reversed(parts):  # those below come after it
        part.span = max(part.box.width, sum(part.below) + 2 * _GAP * (len(part.below) - 1))
    bottom = _set_places(parts)
    width = parts[0].span + 2 * _MARGIN
    svg = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:g} {bottom:g}",
            "width": f"{width:g}",
            "height": f"{bottom:g}",
            "font-family": "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
            "font-size": str(_FONT),
        },
    )
    host, switch = network.words
    words = [counted(len(network.hosts), host), counted(len(network.switches) - 1, switch)]
    ElementTree.SubElement(svg, "title").text = ", ".join(words + ([counted(len(ranks), "rank")] if ranks else []))
    cables = ElementTree.SubElement(svg, "g", {"fill": "none", "stroke": _CABLE, "stroke-width": "1.5"})
    for part in parts:
        _add_cables(cables, part)
    for part in parts:
        for box in (part.box, *chain(*part.hosts)):
            _add_box(svg, box)
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


def _make_parts(network: Network, placed: dict[str, list[int]]) -> list[_Part]:
    """Those above before those below, the first over all others."""
    leaves = {index for index, switch in enumerate(network.switches) if not switch.children}
    merged = leaves if len(leaves) > MOST_LEAVES else set()
    first = network.tops[0] if len(network.tops) == 1 else 0
    one_box = len(network.hosts) > MOST_HOSTS
    # More of them where there are many, lest the drawing be much wider than high.
    in_column = max(_FEWEST_IN_COLUMN, isqrt(len(network.hosts)))
    parts: dict[int, _Part] = {}
    for index, switch in enumerate(network.switches):
        if index < first or (index in merged and index != first):
            continue
        box = Box("switch", [shorten(switch.name if index else "the whole network")], switch.name)
        hosts = _one_host_box(switch.hosts, placed) if one_box else _host_boxes(switch.hosts, placed, in_column)
        parts[index] = _Part(box, switch.depth, hosts)
        if switch.parent in parts:
            parts[switch.parent].children.append(parts[index])
    of_many: list[_Part] = []
    for index, part in parts.items():
        alike = [network.switches[child] for child in network.switches[index].children if child in merged]
        if alike:
            names = collapse(switch.name for switch in alike)
            box = Box("switch", [shorten(names), counted(len(alike), "switch")], names)
            of_many.append(_Part(box, alike[0].depth, _one_host_box([h for each in alike for h in each.hosts], placed)))
            part.children.append(of_many[-1])
    return [*parts.values(), *of_many]


def _host_boxes(hosts: list[str], placed: dict[str, list[int]], in_column: int) -> list[list[Box]]:
    boxes = []
    for host in hosts:
        ranks = placed.get(host, [])
        lines = [shorten(host), *([_rank_words(ranks)] if placed else [])]
        boxes.append(Box("used" if ranks else "host", lines, f"{host}{_title(ranks)}"))
    return [boxes[first : first + in_column] for first in range(0, len(boxes), in_column)]


def _one_host_box(hosts: list[str], placed: dict[str, list[int]]) -> list[list[Box]]:
    """One box for all, none where there are none."""
    names, ranks = collapse(hosts), sorted(rank for host in hosts for rank in placed.get(host, []))
    lines = [shorten(names), counted(len(hosts), "host"), *([_rank_words(ranks)] if placed else [])]
    return [[Box("used" if ranks else "host", lines, f"{names}{_title(ranks)}")]] if hosts else []


def shorten(text: str) -> str:
    """The text, without its middle where it is long."""
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS // 2]}…{text[1 - _MOST_LETTERS // 2 :]}"


def _rank_words(ranks: list[int]) -> str:
    short = ranges(ranks) or "-"
    return short if len(short) <= _MOST_LETTERS // 2 else counted(len(ranks), "rank")


def _title(ranks: list[int]) -> str:
    return f": ranks {ranges(ranks)}" if ranks else ""


def _set_widths(parts: list[_Part]) -> None:
    """All hosts of a switch are as wide as its widest."""
    for part in parts:
        for group in ([part.box], list(chain(*part.hosts))):
            letters = max((len(line) for box in group for line in box.lines), default=0)
            for box in group:
                box.width = round(letters * _LETTER + 2 * _PADDING)


def _set_places(parts: list[_Part]) -> float:
    """Give all boxes their places, from the top down; returns the height of the drawing."""
    level = max(part.box.height for part in parts) + _BETWEEN_LEVELS
    top = parts[0].depth
    hosts_top = _MARGIN + (max(part.depth for part in parts) - top + 1) * level
    parts[0].left = _MARGIN
    bottom = hosts_top
    for part in parts:
        part.box.x = part.left + (part.span - part.box.width) / 2
        part.box.y = _MARGIN + (part.depth - top) * level
        x = part.left + (part.span - sum(part.below) - 2 * _GAP * (len(part.below) - 1)) / 2
        for column, row, box in ((i, j, box) for i, boxes in enumerate(part.hosts) for j, box in enumerate(boxes)):
            box.x = x + column * (box.width + _GAP)
            box.y = hosts_top + row * (box.height + _GAP)
            bottom = max(bottom, box.y + box.height)
        if part.hosts:
            x += part.hosts_width + 2 * _GAP
        for child in part.children:
            child.left = x
            x += child.span + 2 * _GAP
    return bottom + _MARGIN


def _add_cables(svg: ElementTree.Element, part: _Part) -> None:
    """From a switch to each switch below and, behind the boxes, down each column of its hosts."""
    start = part.box.x + part.box.width / 2
    lower = part.box.y + part.box.height
    for box in [child.box for child in part.children] + [column[-1] for column in part.hosts]:
        end = box.x + box.width / 2
        bend = lower + _BETWEEN_LEVELS / 2
        ElementTree.SubElement(svg, "path", {"d": f"M{start:g} {lower:g}V{bend:g}H{end:g}V{box.y:g}"})


def _add_box(svg: ElementTree.Element, box: Box) -> None:
    group = ElementTree.SubElement(svg, "g", {"class": box.kind})
    ElementTree.SubElement(group, "title").text = box.title
    size = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    ElementTree.SubElement(
        group, "rect", {name: f"{value:g}" for name, value in size.items()} | {"rx": "4", "fill": _FILLS[box.kind]}
    )
    for number, line in enumerate(box.lines):
        place = {"x": f"{box.x + box.width / 2:g}", "y": f"{box.y + _PADDING + _FONT - 2 + number * _LINE:g}"}
        text = ElementTree.SubElement(group, "text", place | {"text-anchor": "middle", "fill": _INKS[box.kind]})
        text.text = line
