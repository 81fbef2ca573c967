"""Reading what `stretto model` and `stretto sim` predict."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def predict(main: Callable[[list[str]], int], folder: Path, *arguments: str) -> Any:
    """The JSON of the command whose `main` it is."""
    output = folder / "out.json"
    assert main([*arguments, "--json", str(output)]) == 0
    return json.loads(output.read_text())


def figures(content: Any, algorithm: str, size_index: int = 0) -> dict[str, float]:
    """Metric -> ns."""
    times = content["sizes"][size_index]["summary"]["algorithms"][algorithm]["times"]
    return {metric: estimate["value"] for metric, estimate in times.items()}
