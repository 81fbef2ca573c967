"""The summary of a profile, which all forms of a report are made of."""

from __future__ import annotations

from pathlib import Path

from stretto.profile.files import open_profile
from stretto.profile.summary import Summary, summarise
from stretto.progress import reading


def read_summary(directory: Path) -> Summary:
    """Open and summarise a profile, with a progress bar on a terminal. Raises StrettoError where nothing is sound."""
    profile = open_profile(directory)
    with reading(profile, f"reading {directory}") as progress:
        return summarise(profile, progress)
