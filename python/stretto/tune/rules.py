"""rules.toml: what serves calls, and what was measured to find it (docs/tuning.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stretto.errors import StrettoError
from stretto.tune.choices import check_rules
from stretto.tune.toml_file import read_toml

SCHEMA = 1
EVEN, UNEVEN, ANY = "even", "uneven", "any"
NATIVE = "native"  # what nobody stands in the way of; as a rule's algorithm, what is passed on to it
PASSED_ON = "passthrough"  # what that takes


@dataclass(frozen=True)
class Figure:
    """What one algorithm took at one size. `ns`: median; the other two: low end, median and high end of the ratio to
    the MPI library's own choice and to the best that was measured, in the same calls."""

    ns: float
    to_native: tuple[float, float, float]
    to_best: tuple[float, float, float]


@dataclass(frozen=True)
class Evidence:
    """One size under one arrival pattern. `figures` by algorithm; `dropped`: of those, measured in a few calls only."""

    size: int
    arrival: str
    calls: int
    figures: dict[str, Figure]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """From `from_bytes` on, up to the next rule of the same collective, ranks, nodes and arrivals."""

    collective: str
    ranks: int
    nodes: int
    arrivals: str
    from_bytes: int
    algorithm: str
    measured: list[Evidence] = field(default_factory=list)

    def figure(self, evidence: Evidence) -> Figure | None:
        """What its algorithm took, None where that was not measured."""
        return evidence.figures.get(PASSED_ON if self.algorithm == NATIVE else self.algorithm)


@dataclass(frozen=True)
class Rules:
    """`measured`: on what, as in machine.toml."""

    measured: dict[str, Any]
    rules: list[Rule]

    def of(self, collective: str, ranks: int, nodes: int, arrivals: str) -> list[Rule]:
        """The rules of one kind of calls, by rising length."""
        found = [rule for rule in self.rules if (rule.collective, rule.ranks, rule.nodes) == (collective, ranks, nodes)
                 and rule.arrivals in (arrivals, ANY)]  # fmt: skip
        return sorted(found, key=lambda rule: rule.from_bytes)


def _text(value: str) -> str:
    return json.dumps(value)  # a basic string of TOML, but for escapes of surrogates, which names do not have


def _numbers(values: tuple[float, float, float]) -> str:
    return "[" + ", ".join(f"{value:.4g}" for value in values) + "]"


def _evidence_lines(evidence: Evidence) -> list[str]:
    lines = [
        "",
        "[[rule.measured]]",
        f"bytes = {evidence.size}",
        f"arrival = {_text(evidence.arrival)}",
        f"calls = {evidence.calls}",
        f"dropped = {json.dumps(list(evidence.dropped))}",
    ]
    lines += [
        f"algorithm.{_text(name)} = {{ns = {figure.ns:.0f}, to_native = {_numbers(figure.to_native)}, "
        f"to_best = {_numbers(figure.to_best)}}}"
        for name, figure in sorted(evidence.figures.items(), key=lambda item: item[1].ns)
    ]
    return lines


def format_rules(rules: Rules) -> str:
    """The file's text."""
    lines = [
        "# What serves calls, as `stretto tune` has measured it: docs/tuning.md. STRETTO_RULES=FILE tells Stretto.",
        "",
        f"schema = {SCHEMA}",
        "",
        "[measured]",
        *(f"{key} = {_text(value) if isinstance(value, str) else value}" for key, value in rules.measured.items()),
    ]
    for rule in rules.rules:
        lines += ["", "[[rule]]"]
        for key in ("collective", "ranks", "nodes", "arrivals", "from_bytes", "algorithm"):
            value = getattr(rule, key)
            lines.append(f"{key} = {_text(value) if isinstance(value, str) else value}")
        for evidence in rule.measured:
            lines += _evidence_lines(evidence)
    return "\n".join(lines) + "\n"


def write_rules(rules: Rules, path: Path) -> None:
    """As a whole, or not at all. Raises StrettoError where it cannot be written."""
    early = path.with_name(path.name + ".part")
    try:
        early.write_text(format_rules(rules))
        early.replace(path)
    except OSError as error:
        early.unlink(missing_ok=True)
        raise StrettoError(f"{path}: cannot be written: {error.strerror or error}") from error


def _read_evidence(table: dict[str, Any]) -> Evidence:
    figures = {
        name: Figure(float(figure["ns"]), tuple(figure["to_native"]), tuple(figure["to_best"]))
        for name, figure in table["algorithm"].items()
    }
    return Evidence(table["bytes"], table["arrival"], table["calls"], figures, tuple(table["dropped"]))


def read_rules(path: Path) -> Rules:
    """Raises StrettoError where the ranks could not read the file, or the evidence is not as it is written."""
    check_rules(str(path))
    content = read_toml(path)
    rules = []
    for table in content.get("rule", []):
        try:
            measured = [_read_evidence(evidence) for evidence in table.pop("measured", [])]
        except (KeyError, TypeError, ValueError) as error:
            raise StrettoError(f"{path}: rule.measured: not as `stretto tune` writes it: {error!r}") from error
        rules.append(Rule(**table, measured=measured))
    return Rules(content["measured"], rules)
