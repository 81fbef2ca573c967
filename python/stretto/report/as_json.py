"""A report as plain data, for JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from stretto.profile.imbalance import FACTORS
from stretto.profile.summary import Share, Summary


def as_json(summary: Summary) -> dict[str, Any]:
    """The report as plain data; times in seconds."""

    def rows(table: dict[Any, Share], names: tuple[str, ...]) -> list[dict[str, Any]]:
        keys = [key if isinstance(key, tuple) else (key,) for key in table]
        return [
            dict(zip(names, key, strict=True))
            | dataclasses.asdict(share)
            | {"factors": {name: share.factor(name) for name in FACTORS}}
            for key, share in zip(keys, table.values(), strict=True)
        ]

    return {
        "schema_version": 1,
        "command": summary.profile.ranks[0].facts["job"][0]["command"],
        "mpi": summary.profile.ranks[0].facts["job"][0]["mpi"],
        "warnings": summary.warnings,
        "world_size": summary.profile.world_size,
        "ranks": summary.ranks,
        "hosts": summary.hosts,
        "calls": summary.calls,
        "span": summary.span,
        "clock_error": summary.clock_error,
        "unmatched": dataclasses.asdict(summary.unmatched),
        "by_operation": rows(summary.by_operation, ("operation",)),
        "by_class": rows(summary.by_class, ("operation", "size")),
        "by_site": rows(summary.by_site, ("operation", "site")),
        "wait_states": summary.wait_states,
        "stragglers": [
            dataclasses.asdict(straggler)
            | {"typical_lateness": straggler.typical_lateness, "effective_times": straggler.effective_times}
            for straggler in summary.stragglers
        ],
        "phases": [
            {"operation": operation, "site": site} | dataclasses.asdict(phase)
            for (operation, site), history in summary.histories.items()
            for phase in history.phases
        ],
        "savings": [dataclasses.asdict(saving) for saving in summary.savings],
        "worst_calls": [dataclasses.asdict(call) for call in summary.worst_calls],
        "straggler_sites": [
            {"rank": rank, "site": site, "caused": caused}
            for (rank, site), caused in sorted(summary.straggler_sites.items(), key=lambda item: -item[1])
        ],
    }
