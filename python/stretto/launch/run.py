"""`stretto run`: hand the preload library and the settings to the ranks of a program, and to nobody else."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from stretto.algorithms import COLLECTIVES, check_choice
from stretto.errors import StrettoError
from stretto.launch.launchers import Context, Launch, understand
from stretto.launch.program import find_program, mpi_family, read_elf
from stretto.library import FAMILIES, available_families, preload_library

# Read by the command, not by the library.
_NOT_FOR_RANKS = {"STRETTO_LIB_DIR"}


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The STRETTO_* variables that the library reads."""
    return {
        name: value for name, value in environment.items() if name.startswith("STRETTO_") and name not in _NOT_FOR_RANKS
    }


def collect_settings(environment: Mapping[str, str], options: Mapping[str, str | None]) -> dict[str, str]:
    """The STRETTO_* variables that the ranks shall see: those already set, overruled by the command's options.

    `options` maps variable names to values, None where not given. Raises StrettoError for an unknown algorithm.
    """
    settings = settings_in(environment)
    settings.update({name: value for name, value in options.items() if value is not None})
    for collective in COLLECTIVES:
        variable = f"STRETTO_{collective.upper()}"
        if variable in settings:
            given = options.get(variable) is not None
            check_choice(collective, settings[variable], f"--{collective}" if given else variable)
    return settings


def prepare_profile(directory: str) -> None:
    """Make the directory of a new profile.

    Raises StrettoError where it cannot be made or holds an earlier profile, which would mix with the new one.
    """
    path = Path(directory)
    try:
        path.mkdir(parents=True, exist_ok=True)
        stale = any(path.glob("rank-*.stretto"))
    except OSError as error:
        raise StrettoError(f"--profile {directory}: {error.strerror}: name a directory that can be written") from error
    if stale:
        raise StrettoError(f"--profile {directory}: holds an earlier profile: name another directory or empty it")


def check_program(context: Context, launch: Launch) -> str | None:
    """Check the program of one context; returns the MPI family it is linked against, None where that is unknown.

    Raises StrettoError where it is missing, static, or linked against another MPI than the launcher's.
    """
    if context.program is None or context.value_of("path", "gpath", "prefix"):
        return None
    path = find_program(context.program, context.value_of("wdir", "wd", "gwdir", "D", "chdir"))
    if path is None:
        raise StrettoError(f"{context.program}: program not found, or not executable: check the path and PATH")
    try:
        elf = read_elf(path)
    except OSError:
        return None  # executable but not readable: the loader will manage, and we claim nothing
    if elf is None:
        return None
    if not elf.has_loader:
        raise StrettoError(
            f"{path}: static program, LD_PRELOAD cannot reach it: relink dynamically or link with -lstretto_openmpi"
        )
    family = mpi_family(elf.needed)
    if family and launch.family and family not in (launch.family, "mpi_abi"):
        ours, theirs = FAMILIES[family][0], FAMILIES[launch.family][0]
        raise StrettoError(
            f"{path}: linked against {ours}, but {launch.prefix[-1]} starts programs of {theirs}: "
            f"use the mpirun of {ours}, or compile the program with the mpicc of {theirs}"
        )
    return family


def choose_family(launch: Launch, linked: str | None, named: str | None, environment: Mapping[str, str]) -> str:
    """The MPI family whose library is preloaded: the one named by the user, linked, launched, or the only one built.

    Raises StrettoError where none of these tells it.
    """
    known = named or linked or launch.family or _family_of_rank(environment)
    if known:
        return known
    available = available_families()
    if len(available) == 1:
        return available[0]
    raise StrettoError(f"cannot tell which MPI the program uses: add --mpi, one of {', '.join(available)}")


def _family_of_rank(environment: Mapping[str, str]) -> str | None:
    """The MPI family of the launcher behind which this command itself runs as a rank, None where none is seen."""
    if "OMPI_COMM_WORLD_SIZE" in environment:
        return "openmpi"
    return "mpich" if "MPI_LOCALNRANKS" in environment else None  # set by hydra, Intel's too


def _chained(existing: str | None, library: Path) -> str:
    """An LD_PRELOAD value with `library` behind what is there: tools that call PMPI_* then stack on top of ours."""
    words = [word for word in (existing or "").replace(" ", ":").split(":") if word and word != str(library)]
    return ":".join([*words, str(library)])


def _rewrite_openmpi(context: Context, preload: str, settings: Mapping[str, str], environment: Mapping[str, str],
                     library: Path) -> list[str]:  # fmt: skip
    """Open MPI's `-x NAME=value`, in each context. A `-x LD_PRELOAD` of the user's is chained, not overruled."""
    arguments = list(context.arguments)
    own_preload = False
    for option in context.options:
        if option.name != "x" or not option.values:
            continue
        name, _, value = option.values[0].partition("=")
        if name == "LD_PRELOAD":
            arguments[option.position + 1] = f"LD_PRELOAD={_chained(value or environment.get(name), library)}"
            own_preload = True
    exports = {} if own_preload else {"LD_PRELOAD": preload}
    exports.update(settings)
    return [word for name, value in exports.items() for word in ("-x", f"{name}={value}")] + arguments


def _rewrite_hydra(context: Context, preload: str, settings: Mapping[str, str], library: Path,
                   first: bool) -> list[str]:  # fmt: skip
    """Hydra's `-genv NAME value`, for all contexts at once. The user's own (g)env LD_PRELOAD is chained."""
    arguments = list(context.arguments)
    own_preload = False
    for option in context.options:
        if option.name in ("genv", "env") and option.values[0] == "LD_PRELOAD":
            arguments[option.position + 2] = _chained(option.values[1], library)
            own_preload |= option.name == "genv"
    if not first:
        return arguments
    exports = {} if own_preload else {"LD_PRELOAD": preload}
    exports.update(settings)
    return [word for name, value in exports.items() for word in ("-genv", name, value)] + arguments


def _rewrite_srun(context: Context, preload: str, settings: Mapping[str, str]) -> list[str]:
    """Slurm's `--export`: LD_PRELOAD by value, so that srun itself is not preloaded; the settings by name.

    Raises StrettoError where the user's own --export leaves no room for them.
    """
    arguments = list(context.arguments)
    exports = "ALL"
    for option in reversed(context.options):
        if option.name == "export":
            exports = option.values[0]
            del arguments[option.position]
            break
    if exports in ("NONE", "NIL"):
        raise StrettoError(f"--export={exports} hides Stretto's settings from the ranks: use --export=ALL or names")
    names = [] if exports.split(",")[0] == "ALL" else sorted(settings)
    return [f"--export={','.join([exports, *names, f'LD_PRELOAD={preload}'])}", *arguments]


def build_command(
    command: Sequence[str], settings: Mapping[str, str], environment: Mapping[str, str], named_family: str | None = None
) -> tuple[list[str], dict[str, str]]:
    """The command line and environment that run `command` under Stretto. Raises StrettoError for what cannot work.

    Everything stays as the user gave it; options that set LD_PRELOAD and `settings` for the ranks are added.
    """
    launch = understand(command, environment)
    linked = [check_program(context, launch) for context in launch.contexts]
    library = preload_library(choose_family(launch, next(filter(None, linked), None), named_family, environment))
    preload = _chained(environment.get("LD_PRELOAD"), library)
    outcome = dict(environment)
    if launch.kind == "direct":
        outcome.update(settings, LD_PRELOAD=preload)
        return list(command), outcome
    rewritten: list[list[str]] = []
    for index, context in enumerate(launch.contexts):
        if launch.kind == "openmpi":
            rewritten.append(_rewrite_openmpi(context, preload, settings, environment, library))
        elif launch.kind == "hydra":
            rewritten.append(_rewrite_hydra(context, preload, settings, library, first=index == 0))
        else:
            rewritten.append(_rewrite_srun(context, preload, settings))
    if launch.kind == "srun":
        outcome.update(settings)
    words = list(launch.prefix)
    for index, arguments in enumerate(rewritten):
        words += [":", *arguments] if index else arguments
    return words, outcome


def execute(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Become the command: its exit code and its signals are then ours. Raises StrettoError where it cannot start."""
    try:
        os.execvpe(command[0], list(command), dict(environment))
    except OSError as error:
        raise StrettoError(f"{command[0]}: cannot be started: {error.strerror}") from error
