"""What `stretto bench` is asked to measure, checked before anything is started."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from stretto.errors import StrettoError

DATATYPE_BYTES = {"float": 4, "double": 8, "int32": 4}
OPERATIONS = ("sum", "max")
TIMED_PATTERNS = (
    "uniform", "normal", "compute-uniform", "one-late", "one-early", "half-late", "staircase", "node-late",
)  # fmt: skip
DEFAULT_SIZES = "8:8M"
SLEEPING_LATE_NS, WINDOW_LATE_NS = 5_000_000, 20_000
MOST_ITERATIONS = 20_000  # with a precision

# The MPI library forced to one of its algorithms, `native:ring`; `native:*` are all of them.
VARIANT_PREFIX = "native:"

_TIME_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_LONGEST_DELAY_NS = 60 * 1_000_000_000
_RANGE_FACTOR = 4


class UsageError(StrettoError):
    """A request that cannot be carried out; its text names the value and what would be right. Exit code 2."""


def check_folder(path: Path, shown: str) -> None:
    """Raises UsageError if the folder of a file that is to be written is not there; `shown`: how the user named it."""
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{shown}: there is no folder {path.parent}")


def parse_time_ns(text: str) -> int:
    """A time with its unit, such as `50ms` or `0.5us`, in ns."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s)", text)
    if match is None:
        raise UsageError(f"'{text}' is not a time: write a number and its unit, ns, us, ms or s, such as 50ms")
    return round(float(match[1]) * _TIME_UNITS_NS[match[2]])


def parse_size(text: str) -> int:
    """A message size such as `8`, `64K` or `1MB`, in bytes; K, M and G are powers of 1024."""
    match = re.fullmatch(r"(\d+)([KMG]?)(?:i?B)?", text, re.IGNORECASE)
    if match is None:
        raise UsageError(f"'{text}' is not a size: write bytes, or K, M, G for powers of 1024, such as 64K")
    return int(match[1]) * _SIZE_UNITS[match[2].upper()]


def parse_sizes(text: str) -> tuple[int, ...]:
    """`8,64K,1M`, or a range `8:8M` (every fourfold) or `8:8M:2` (every doubling), ends included; in bytes."""
    sizes: list[int] = []
    for part in text.split(","):
        sizes += _parse_range(part) if ":" in part else [parse_size(part)]
    return tuple(dict.fromkeys(sizes))


def _parse_range(text: str) -> list[int]:
    first, last, *rest = text.split(":")
    if len(rest) > 1 or (rest and not re.fullmatch(r"\d+", rest[0])):
        raise UsageError(f"'{text}' is not a range of sizes: write FIRST:LAST or FIRST:LAST:FACTOR")
    factor = int(rest[0]) if rest else _RANGE_FACTOR
    size, end = parse_size(first), parse_size(last)
    if factor < 2 or size < 1 or end < size:
        raise UsageError(f"'{text}' is not a range of sizes: it must grow, by a factor of at least 2")
    sizes = []
    while size < end:
        sizes.append(size)
        size *= factor
    return [*sizes, end]


@dataclass(frozen=True)
class Arrival:
    """An arrival pattern. `value`: ns for the timed ones and for `noise`, the maximum imbalance factor for `mif`.

    rate: of noise, in Hz; rank: who comes late in rank-late; profile: the directory or file whose calls are replayed.
    """

    name: str
    value: float = 0.0
    rate: float = 0.0
    rank: int = 0
    profile: str = ""

    @property
    def sleeps(self) -> bool:
        """Late ranks sleep until a time that was planned for them, so a late start can be told."""
        return self.name in ("replay", "rank-late") or (self.name in TIMED_PATTERNS and self.name != "compute-uniform")

    @property
    def text(self) -> str:
        """As a user writes it."""
        if self.name == "balanced":
            return self.name
        if self.name == "mif":
            return f"mif:{self.value:g}"
        if self.name == "replay":
            return f"replay:{self.profile}"
        unit = next(unit for unit, scale in reversed(_TIME_UNITS_NS.items()) if self.value >= scale)
        return f"{self.name}:{self._before_time('g')}{self.value / _TIME_UNITS_NS[unit]:g}{unit}"

    def argument(self, replay_file: Path) -> str:
        """As the driver reads it; the delays of a replay are in `replay_file`."""
        if self.name == "balanced":
            return self.name
        if self.name == "replay":
            return f"replay:{replay_file}"
        return f"{self.name}:{self._before_time('.15g')}{self.value:.15g}"

    def _before_time(self, number_format: str) -> str:
        return {"noise": f"{self.rate:{number_format}},", "rank-late": f"{self.rank},"}.get(self.name, "")


def _parse_delay_ns(arrival: str, time: str) -> float:
    delay_ns = parse_time_ns(time)
    if not 0 < delay_ns <= _LONGEST_DELAY_NS:
        raise UsageError(f"--arrival {arrival}: the delay must lie above 0 and at most at 60s")
    return delay_ns


def parse_arrival(text: str) -> Arrival:
    name, _, value = text.partition(":")
    if text == "balanced":
        return Arrival("balanced")
    if name == "mif" and re.fullmatch(r"\d+(\.\d+)?", value) and 0 < float(value) <= 100_000:
        return Arrival("mif", float(value))
    if name == "replay" and value:
        return Arrival("replay", profile=value)
    number, comma, time = value.partition(",")
    if name == "noise" and comma and re.fullmatch(r"\d+(\.\d+)?", number) and 0 < float(number) <= 10_000:
        noise = Arrival("noise", parse_time_ns(time), float(number))
        if not 0 < noise.value * noise.rate < 0.9e9:
            raise UsageError(f"--arrival {text}: detours must take more than nothing and less than 90 % of the time")
        return noise
    if name == "rank-late" and comma and re.fullmatch(r"\d{1,6}", number):
        return Arrival(name, _parse_delay_ns(text, time), rank=int(number))
    if name in TIMED_PATTERNS:
        return Arrival(name, _parse_delay_ns(text, value))
    choices = ", ".join(f"{pattern}:TIME" for pattern in TIMED_PATTERNS)
    raise UsageError(
        f"--arrival {text}: choose balanced, mif:FACTOR, noise:HZ,TIME, rank-late:RANK,TIME, replay:PATH, {choices}"
    )


def is_native(name: str) -> bool:
    """Whether an algorithm is the MPI library's own."""
    return name == "native" or name.startswith(VARIANT_PREFIX)


def split_algorithms(text: str) -> list[str]:
    """The names between commas; those within brackets belong to a name, `hierarchical(binomial,ring)`."""
    names = [""]
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return names


def parse_algorithms(text: str) -> tuple[str, ...]:
    names = tuple(split_algorithms(text))
    for name in names:
        if not re.fullmatch(r"[a-z][a-z0-9_(),@+KMG]*|native:([a-z][a-z0-9_]*|\*)", name):
            raise UsageError(f"--algorithms {text}: '{name}' is not the name of an algorithm")
    if len(set(names)) != len(names):
        raise UsageError(f"--algorithms {text}: each algorithm once")
    return names


def parse_precision(text: str) -> float:
    """`2%` as 0.02."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if match is None or not 0 < float(match[1]) <= 100:
        raise UsageError(f"--precision {text}: write a percentage above 0, such as 2%")
    return float(match[1]) / 100


def choose_iterations(arrival: Arrival, size_bytes: int) -> int:
    """As many calls as give a useful interval in a few seconds a size."""
    if arrival.name in ("balanced", "noise"):
        return next(count for limit, count in _BALANCED_ITERATIONS if size_bytes <= limit)
    if arrival.name == "mif":
        return max(20, choose_iterations(Arrival("balanced"), size_bytes) // 5)
    return 40 if arrival.sleeps else 25


_BALANCED_ITERATIONS = ((16 << 10, 1000), (256 << 10, 300), (1 << 20, 100), (1 << 62, 40))


@dataclass(frozen=True)
class Request:
    """One run of the driver. Sizes in bytes; `iterations` one number a size; `root` None means that it rotates.

    precision: half a 95 % interval, as a part of its median, at which a size ends before all its iterations, or when
    its share of `budget` seconds is over; 0: all iterations.
    """

    collective: str
    algorithms: tuple[str, ...]
    sizes: tuple[int, ...]
    iterations: tuple[int, ...]
    ranks: int = 4
    arrival: Arrival = Arrival("balanced")
    warm_up: int = 3
    seed: int = 1
    root: int | None = None
    in_place: bool = False
    cold_cache: bool = False
    hints: bool = False
    window: bool = False
    precision: float = 0.0
    budget: float = 0.0
    datatype: str = "float"
    operation: str = "sum"

    def __post_init__(self) -> None:
        if self.ranks < 2:
            raise UsageError(f"--ranks {self.ranks}: a collective needs at least 2")
        if self.root is not None and not 0 <= self.root < self.ranks:
            raise UsageError(f"--root {self.root}: there are ranks 0 to {self.ranks - 1}")
        if self.hints and not self.needs_stretto:
            raise UsageError("--hints: nobody is there to take them; name an algorithm of Stretto's, or default")
        if self.collective == "barrier" and self.sizes != (0,):
            raise UsageError("--sizes: a barrier carries no data")
        if self.in_place and self.collective not in ("allreduce", "reduce"):
            raise UsageError(f"--in-place: {self.collective} has no such form")
        width = DATATYPE_BYTES[self.datatype]
        for size in self.sizes:
            if size % width:
                raise UsageError(f"--sizes {size}: not a multiple of the {width} bytes of a {self.datatype}")
        if len(self.iterations) != len(self.sizes) or min(self.iterations) < 1 or self.warm_up < 0 or self.seed < 0:
            raise UsageError("--iterations must be at least 1; --warm-up and --seed must not be negative")

    @property
    def reference(self) -> str:
        """What the others are compared with."""
        return "native" if "native" in self.algorithms else self.algorithms[0]

    @property
    def late_threshold_ns(self) -> float | None:
        """A call in which a rank comes later than planned by more than this is dropped; None: nothing was planned."""
        if self.arrival.sleeps:
            return SLEEPING_LATE_NS
        return WINDOW_LATE_NS if self.window and self.arrival.name in ("balanced", "noise") else None

    @property
    def needs_stretto(self) -> bool:
        return not all(map(is_native, self.algorithms))

    @property
    def forces_native(self) -> bool:
        """Whether the MPI library is asked for more than its default."""
        return any(name.startswith(VARIANT_PREFIX) for name in self.algorithms)

    def driver_arguments(self, output: Path, replay_file: Path, progress: bool = False) -> list[str]:
        """The request as the driver's key=value arguments; it writes its samples to `output`, progress to stderr."""
        values = {
            "collective": self.collective,
            "algorithms": ",".join(self.algorithms),
            "sizes": ",".join(map(str, self.sizes)),
            "iterations": ",".join(map(str, self.iterations)),
            "warm_up": self.warm_up,
            "arrival": self.arrival.argument(replay_file),
            "seed": self.seed,
            "root": "rotate" if self.root is None else self.root,
            "in_place": int(self.in_place),
            "cold_cache": int(self.cold_cache),
            "hints": int(self.hints),
            "window": int(self.window),
            "precision": self.precision,
            "budget_s": self.budget,
            "datatype": self.datatype,
            "operation": self.operation,
            "progress": int(progress),
            "output": output,
        }
        return [f"{key}={value}" for key, value in values.items()]
