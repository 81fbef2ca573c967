"""Progress bars of long work: on a terminal, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from stretto.profile.files import Profile


@contextmanager
def reading(profile: Profile, words: str) -> Iterator[Callable[[int], None]]:
    """Gives what to call with the number of records that have been read since. Off a terminal nothing is shown."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(escape(words), total=sum(rank.kept for rank in profile.ranks))
        yield lambda records: progress.advance(task, records)


@contextmanager
def measuring(what: str, iterations: Sequence[int]) -> Iterator[Callable[[int, int], None] | None]:
    """Gives what to call with the index of the size that is being measured and its iteration; None off a terminal.

    `iterations`: how many each size has.
    """
    if not sys.stderr.isatty():
        yield None
        return
    before = [sum(iterations[:index]) for index in range(len(iterations))]
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"measuring {what}", total=sum(iterations))
        yield lambda size, iteration: progress.update(task, completed=before[size] + iteration)
