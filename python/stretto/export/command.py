"""`stretto export`: a profile into one file that other tools read."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

from stretto.errors import StrettoError
from stretto.export.rows import Columns, read_rows
from stretto.profile.calls import Matcher
from stretto.profile.files import Profile, open_profile
from stretto.progress import reading

# The module that writes each format: its `write` takes blocks of rows, their names, and the open file.
FORMATS = {"csv": "as_csv", "parquet": "as_parquet", "perfetto": "as_perfetto"}
# Bounds memory, however many ranks there are: about 1 KiB a record, as text on its way.
_RECORDS_AT_ONCE = 1 << 16


def export(directory: Path, format_name: str, output: Path, records_at_once: int = _RECORDS_AT_ONCE) -> None:
    """Write the profile in `directory` to `output`, holding about `records_at_once` records at a time."""
    writer = _writer(format_name)
    profile = open_profile(directory)
    matcher = Matcher(profile, max(1, records_at_once // len(profile.ranks)))
    with _opened(output, profile) as file, reading(profile, f"writing {output}") as progress:
        writer.write(read_rows(matcher, progress), Columns(matcher), file)


def _writer(format_name: str) -> ModuleType:
    if format_name not in FORMATS:
        raise StrettoError(f"--format={format_name}: no such format; choose from {', '.join(FORMATS)}")
    try:
        return importlib.import_module(f"stretto.export.{FORMATS[format_name]}")
    except ImportError as error:
        raise StrettoError(
            f"--format={format_name} needs a package that is not installed ({error}): pip install 'stretto[export]'"
        ) from error


@contextmanager
def _opened(output: Path, profile: Profile) -> Iterator[BinaryIO]:
    """The new file; removed again if it cannot be completed, since half of one may look like a whole one."""
    if any(output.exists() and output.samefile(rank.path) for rank in profile.ranks):
        raise StrettoError(f"{output}: a file of the profile itself: give --output another name")
    try:
        file = output.open("wb")
    except OSError as error:
        raise StrettoError(
            f"{output}: cannot be written: {error.strerror}: give --output a file in a directory you may write to"
        ) from error
    try:
        with file:
            yield file
    except BaseException as error:
        if output.is_file():
            output.unlink()
        if isinstance(error, OSError):
            raise StrettoError(
                f"{output}: the export broke off: {error.strerror or error}: is the disk full?"
            ) from error
        raise
