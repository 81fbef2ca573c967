"""Launchers of MPI programs: recognising them, asking for their family, and finding the program they start.

A launcher's command line is only read as far as it is understood: at the first unknown option the program counts as
unknown, and nothing is claimed about it.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stretto.errors import StrettoError

_LAUNCHER_NAME = re.compile(r"(mpirun|mpiexec|orterun|prterun|srun)(\.\w+)*$")
# Programs that start another command given as their arguments, so that a launcher may stand behind them.
_WRAPPERS = {"env", "nice", "nohup", "numactl", "setsid", "stdbuf", "taskset", "time", "timeout"}


def _arities(table: Mapping[int, str]) -> dict[str, int]:
    """Option name without dashes -> number of arguments after it, from "arity: names" lines."""
    return {name: arity for arity, names in table.items() for name in names.split()}


_OPENMPI = _arities({
    0: "allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot disable-recovery display-allocation "
       "display-devel-map display-map display-topo do-not-launch do-not-resolve enable-recovery forward-signals "
       "merge-stderr-to-stdout nolocal nooversubscribe novm output-proctable oversubscribe pernode q quiet "
       "report-bindings report-child-jobs-separately show-progress tag-output timestamp-output use-hwthread-cpus v "
       "verbose",
    1: "H N am app bind-to c cpu-list cpu-set cpus-per-proc cpus-per-rank default-hostfile display host hostfile "
       "machinefile map-by n np npernode npersocket output output-filename path ppr prefix preload-files rankfile "
       "rank-by report-events rf runtime-options slot-list stdin stream-buffering timeout tune wd wdir x xterm",
    2: "gmca gpmixmca gprtemca mca omca pmca pmixmca prtemca",
})  # fmt: skip
_HYDRA = _arities({
    0: "disable-auto-cleanup disable-hostname-propagation enable-x disable-x envall envnone genvall genvnone l "
       "nolocal prepend-rank print-all-exitcodes print-rank-map rr v verbose",
    1: "bind-to bootstrap demux envlist errfile-pattern f genvlist gpath grr gtool gwdir host hostfile hosts iface "
       "info launcher launcher-exec localhost machinefile map-by membind n np order-nodes outfile-pattern path "
       "perhost pmi-port port-range ppn prepend-pattern rmk s topolib usize wdir",
    2: "env genv",
})  # fmt: skip
_SRUN = _arities({
    0: "K O Q X Z disable-status exclusive kill-on-bad-exit l label no-allocate no-kill overcommit oversubscribe "
       "pty quiet s u unbuffered v vv verbose",
    1: "A C D G J L N T W account bcast c chdir constraint cpu-bind cpus-per-gpu cpus-per-task d dependency "
       "distribution e error gpus gpus-per-node gpus-per-task gres hint i input job-name jobid m mem mem-bind "
       "mem-per-cpu mpi n nodelist nodes ntasks ntasks-per-node o output p partition q qos r relative t "
       "threads-per-core time w wait x exclude",
})  # fmt: skip
_OPTIONS = {"openmpi": _OPENMPI, "hydra": _HYDRA, "srun": _SRUN}


@dataclass(frozen=True)
class Option:
    """One launcher option: its name without dashes, its position in the arguments, and the arguments it takes."""

    name: str
    position: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class Context:
    """The arguments that start one program (MPMD lines have several, between colons)."""

    arguments: tuple[str, ...]
    options: tuple[Option, ...]
    program: str | None

    def value_of(self, *names: str) -> str | None:
        """The first value of the last option with one of `names`, or None."""
        return next((option.values[0] for option in reversed(self.options) if option.name in names), None)


@dataclass(frozen=True)
class Launch:
    """A command line taken apart. `kind` is openmpi, hydra, srun or direct; `family` an MPI family where known."""

    kind: str
    prefix: tuple[str, ...] = ()  # wrappers and the launcher itself
    family: str | None = None
    contexts: tuple[Context, ...] = field(default_factory=tuple)


def understand(command: Sequence[str], environment: Mapping[str, str]) -> Launch:
    """Take a command line apart, asking its launcher for its version. Raises StrettoError where that fails."""
    position = _launcher_position(command)
    if position is None:
        return Launch("direct", contexts=(Context(tuple(command), (), command[0]),))
    launcher, arguments = command[position], command[position + 1 :]
    kind, family = identify(launcher, environment)
    groups: list[list[str]] = [[]]
    for argument in arguments:
        if argument == ":" and kind != "direct":
            groups.append([])
        else:
            groups[-1].append(argument)
    contexts = tuple(_read_context(group, _OPTIONS[kind]) for group in groups)
    return Launch(kind, tuple(command[: position + 1]), family, contexts)


def _launcher_position(command: Sequence[str]) -> int | None:
    """Where the launcher stands: first, or anywhere behind a wrapper such as `timeout 60`; None without one."""
    behind_wrapper = Path(command[0]).name in _WRAPPERS
    for position, word in enumerate(command if behind_wrapper else command[:1]):
        if _LAUNCHER_NAME.match(Path(word).name):
            return position
    return None


def identify(launcher: str, environment: Mapping[str, str]) -> tuple[str, str | None]:
    """The kind of a launcher and its MPI family (None for srun, which starts any), by what `--version` prints.

    Raises StrettoError where it cannot be started or is of no known kind.
    """
    clean = {name: value for name, value in environment.items() if name != "LD_PRELOAD"}
    try:
        result = subprocess.run(
            [launcher, "--version"],
            check=False,
            capture_output=True,
            text=True,
            timeout=30,
            env=clean,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise StrettoError(f"{launcher}: launcher not found: check PATH, or install an MPI") from None
    except (OSError, subprocess.SubprocessError) as error:
        raise StrettoError(f"{launcher} --version failed: {error}") from error
    text = result.stdout + result.stderr
    for words, kind, family in (
        (("Intel(R) MPI",), "hydra", "mpich"),
        (("HYDRA",), "hydra", "mpich"),
        (("Open MPI", "OpenRTE", "PRRTE"), "openmpi", "openmpi"),
        (("slurm",), "srun", None),
    ):
        if any(word in text for word in words):
            return kind, family
    first_line = text.strip().partition("\n")[0][:120]
    raise StrettoError(
        f"{launcher}: not a launcher that Stretto knows (`{launcher} --version` says: {first_line!r}); "
        f"start the ranks by another, or put `stretto run -- PROGRAM` behind it: {launcher} ... stretto run -- PROGRAM"
    )


def _read_context(arguments: Sequence[str], arities: Mapping[str, int]) -> Context:
    """Read options up to the program. An option of unknown arity ends the reading with an unknown program."""
    options: list[Option] = []
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        if not argument.startswith("-"):
            return Context(tuple(arguments), tuple(options), argument)
        name, equals, value = argument.lstrip("-").partition("=")
        if equals:
            options.append(Option(name, position, (value,)))
            position += 1
            continue
        arity = 0 if _joined_short(argument, arities) else arities.get(name)
        if arity is None:
            break
        values = tuple(arguments[position + 1 : position + 1 + arity])
        if len(values) < arity:
            break
        options.append(Option(name, position, values))
        position += 1 + arity
    return Context(tuple(arguments), tuple(options), None)


def _joined_short(argument: str, arities: Mapping[str, int]) -> bool:
    """Whether this is srun's `-n4`: a one-letter option with its value joined to it."""
    return (
        arities is _SRUN
        and len(argument) > 2
        and argument[1] != "-"
        and argument[1:] not in arities
        and arities.get(argument[1]) == 1
    )
