"""`stretto report`: what a profile says, in the terminal or as JSON, for a browser and as figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console

from stretto.errors import StrettoError
from stretto.profile.summary import Summary
from stretto.report.as_html import write_html
from stretto.report.as_json import as_json
from stretto.report.as_text import print_report
from stretto.report.plots import write_plots
from stretto.report.read import read_summary


def report(directory: Path, wants_json: bool, html: Path | None = None, plots: Path | None = None) -> None:
    """Print the report of a profile to standard output, and write it for a browser, to the file `html` if there is one.

    Without it and with tables, to `directory`/report.html, if that can be written. `plots`: a directory for the figures
    as files. Raises StrettoError.
    """
    summary = read_summary(directory)
    if wants_json:
        print(json.dumps(as_json(summary), indent=2))
    else:
        print_report(Console(width=None if sys.stdout.isatty() else 160), summary)
    if html is not None or not wants_json:
        _write_html(summary, html or directory / "report.html", wanted=html is not None)
    if plots is not None:
        print(f"stretto: wrote {len(write_plots(summary, plots))} files to {plots}", file=sys.stderr)


def _write_html(summary: Summary, path: Path, wanted: bool) -> None:
    try:
        write_html(summary, path)
    except StrettoError as error:
        if wanted:
            raise
        print(f"stretto: {error}", file=sys.stderr)
    else:
        print(f"stretto: wrote {path}, for a browser", file=sys.stderr)
