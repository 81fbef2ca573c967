"""The progress bar of what reads a profile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
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
