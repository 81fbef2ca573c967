"""What every form of a report says in words alike: times, shares, clocks, the conclusion."""

from __future__ import annotations

from stretto.profile.savings import total as total_savings
from stretto.profile.summary import Summary


def format_seconds(seconds: float) -> str:
    """Three digits and the unit that suits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= scale:
            return f"{seconds / scale:.3g} {unit}" if abs(seconds) < 1000 * scale else f"{seconds / scale:,.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def format_percent(part: float, whole: float) -> str:
    """`part` in percent of `whole`, both in the same unit."""
    return f"{100 * part / whole:.1f} %" if whole > 0 else "-"


def clock_words(summary: Summary) -> str:
    """How far times of different nodes can be compared."""
    if summary.clock_error is None:
        return "the nodes' clocks were not compared: imbalance between nodes is not known"
    if summary.clock_error == 0:
        return "one clock"
    return f"clocks agree within {format_seconds(summary.clock_error)}"


def conclusion(summary: Summary, total: float) -> str:
    """Where the time goes, who is to blame, and what was saved, as far as it is known; weaker where records are
    missing."""
    waiting = sum(share.waiting for share in summary.by_operation.values())
    after = sum(share.after_last for share in summary.by_operation.values())
    set_up = sum(share.set_up for share in summary.by_operation.values())
    native = sum(
        (share.after_last - share.set_up) * share.algorithms.get("native", 0) / share.calls
        for share in summary.by_operation.values()
    )
    hedge = "As far as the records go, of" if summary.warnings else "Of"
    text = (
        f"{hedge} {format_seconds(total)} in blocking collectives (all ranks together) "
        f"{format_percent(waiting, total)} went by before the last rank came, which only a better balance can win "
        f"back, and {format_seconds(after)} after: {format_seconds(native)} of that in the MPI library's own "
        "algorithms, which is the most that Stretto could still win"
    )
    text += f", and {format_seconds(set_up)} in calls in which Stretto was set up, once." if set_up > 0 else "."
    worst = summary.stragglers[0]
    caused = sum(straggler.caused for straggler in summary.stragglers)
    if caused > 0.01 * total:
        text += (
            f" Rank {worst.rank} on {worst.host} caused {format_percent(worst.caused, caused)} of the waiting for "
            f"single ranks ({format_seconds(worst.caused)}): it came {format_seconds(worst.typical_lateness)} late, "
            f"{worst.effective_times:,.0f} times in {worst.calls:,} calls."
        )
    return f"{text} {savings_words(summary)}" if summary.savings else text


def savings_words(summary: Summary) -> str:
    """What Stretto has saved or cost, in a sentence."""
    native, saved, unsure = total_savings(summary.savings)
    what = "saved" if saved >= 0 else "lost"
    return (
        f"Stretto has {what} {format_seconds(abs(saved))} (±{format_seconds(unsure)}) of the {format_seconds(native)} "
        "that the MPI library's own algorithms would have taken from the last arrival to the last exit."
    )
