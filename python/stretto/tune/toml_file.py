"""Reading the files that `stretto tune` writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from stretto.errors import StrettoError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """Raises StrettoError where the file cannot be read or is none."""
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise StrettoError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StrettoError(f"{path}: no TOML: {error}") from error
