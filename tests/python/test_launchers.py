"""Reading launchers' command lines, and rewriting them for launchers that are not installed here."""

from pathlib import Path

import pytest
from cli_support import Stretto, make_script

from stretto.errors import StrettoError
from stretto.launch.launchers import Launch, identify, understand
from stretto.launch.run import build_command

VERSIONS = {
    "hydra": "HYDRA build details:\n    Version:                                 5.0.2",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.19 Build 20260101",
    "prrte": "prterun (PRRTE) 3.0.14",
    "slurm": "slurm 23.11.4",
}
NAMES = {"hydra": "mpiexec.hydra", "intel": "mpirun", "prrte": "prterun", "slurm": "srun"}


@pytest.fixture
def launchers(tmp_path: Path) -> dict[str, str]:
    """Launchers that only know `--version` and otherwise print their arguments and preload, by name."""
    made = {}
    for name, version in VERSIONS.items():
        directory = tmp_path / name
        directory.mkdir()
        text = f'case "$1" in --version) echo "{version}";; *) printf "<%s>" "$@"; echo " preload=$LD_PRELOAD";; esac'
        made[name] = str(make_script(directory / NAMES[name], text))
    return made


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch, library_directory: Path) -> Path:
    monkeypatch.setenv("STRETTO_LIB_DIR", str(library_directory))
    return library_directory


def test_real_mpirun_is_open_mpi(environment: dict[str, str]) -> None:
    assert identify("mpirun", environment) == ("openmpi", "openmpi")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hydra", ("hydra", "mpich")),
        ("intel", ("hydra", "mpich")),
        ("prrte", ("openmpi", "openmpi")),
        ("slurm", ("srun", None)),
    ],
)
def test_family_by_version(launchers: dict[str, str], name: str, expected: tuple[str, str | None]) -> None:
    assert identify(launchers[name], {}) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "program"),
    [
        ("prrte", "-n 4 --mca btl self,vader -x A=1 --oversubscribe prog -n 3", "prog"),
        ("prrte", "-np 4 --map-by ppr:2:node --bind-to none -wdir /tmp prog", "prog"),
        ("prrte", "-n 4 --option-of-the-future 3 prog", None),
        ("prrte", "-n", None),
        ("hydra", "-n 4 -genv A 1 -ppn 2 prog", "prog"),
        ("intel", "-n 4 -genvall -bootstrap fork -hosts a,b prog", "prog"),
        ("slurm", "-n4 -N 2 --mpi=pmix --exclusive prog -x", "prog"),
        ("slurm", "--ntasks 4 --export=ALL,A=1 -lu prog", None),
        ("slurm", "--label -vv --ntasks=4 prog", "prog"),
    ],
)
def test_program_on_the_line(launchers: dict[str, str], name: str, arguments: str, program: str | None) -> None:
    launch = understand([launchers[name], *arguments.split()], {})
    assert [context.program for context in launch.contexts] == [program]


def test_contexts_and_working_directory(launchers: dict[str, str]) -> None:
    line = ["-n", "1", "-wdir", "/tmp", "a", ":", "-n", "2", "b", "x"]
    launch = understand([launchers["prrte"], *line], {})
    assert [context.program for context in launch.contexts] == ["a", "b"]
    assert launch.contexts[0].value_of("wd", "wdir") == "/tmp"
    assert launch.contexts[1].value_of("wd", "wdir") is None


def test_direct_program_and_wrappers(launchers: dict[str, str]) -> None:
    assert understand(["./prog", "mpirun"], {}) == Launch(
        "direct", contexts=understand(["./prog", "mpirun"], {}).contexts
    )
    launch = understand(["timeout", "60", launchers["hydra"], "-n", "1", "prog"], {})
    assert launch.prefix == ("timeout", "60", launchers["hydra"])


def test_hydra_line(launchers: dict[str, str], libraries: Path) -> None:
    line = [launchers["hydra"], "-n", "1", "true", ":", "-n", "2", "true"]
    words, environment = build_command(line, {"STRETTO_VERBOSE": "1"}, {})
    library = str(libraries / "libstretto_mpich.so")
    added = ["-genv", "LD_PRELOAD", library, "-genv", "STRETTO_VERBOSE", "1"]
    assert words == [line[0], *added, *line[1:]]
    assert environment == {}


def test_hydra_preload_of_the_user_is_chained(launchers: dict[str, str], libraries: Path) -> None:
    line = [launchers["intel"], "-genv", "LD_PRELOAD", "/tool.so", "-n", "1", "true"]
    words, _ = build_command(line, {}, {})
    assert words == [line[0], "-genv", "LD_PRELOAD", f"/tool.so:{libraries / 'libstretto_mpich.so'}", "-n", "1", "true"]


def test_srun_takes_the_family_from_the_program(
    launchers: dict[str, str], libraries: Path, foreign_program: Path
) -> None:
    line = [launchers["slurm"], "-n4", str(foreign_program)]
    words, environment = build_command(line, {"STRETTO_VERBOSE": "1"}, {"PATH": "/bin"})
    library = libraries / "libstretto_mpich.so"
    assert words == [line[0], f"--export=ALL,LD_PRELOAD={library}", *line[1:]]
    assert environment == {"PATH": "/bin", "STRETTO_VERBOSE": "1"}


def test_srun_export_of_the_user_is_extended(launchers: dict[str, str], libraries: Path, foreign_program: Path) -> None:
    for export, start in (("ALL,A=1", "ALL,A=1"), ("PATH", "PATH,STRETTO_VERBOSE")):
        line = [launchers["slurm"], f"--export={export}", str(foreign_program)]
        words, _ = build_command(line, {"STRETTO_VERBOSE": "1"}, {})
        assert words[1:] == [f"--export={start},LD_PRELOAD={libraries / 'libstretto_mpich.so'}", line[2]]
    with pytest.raises(StrettoError, match="--export=NONE"):
        build_command([launchers["slurm"], "--export=NONE", str(foreign_program)], {}, {})


def test_srun_of_an_unknown_program_asks_for_the_mpi(launchers: dict[str, str], libraries: Path) -> None:
    line = [launchers["slurm"], "-n4", "sh"]
    with pytest.raises(StrettoError, match="add --mpi"):
        build_command(line, {}, {})
    words, _ = build_command(line, {}, {}, "openmpi")
    assert words[1] == f"--export=ALL,LD_PRELOAD={libraries / 'libstretto_openmpi.so'}"


def test_command_hands_the_line_to_the_launcher(stretto: Stretto, launchers: dict[str, str], libraries: Path) -> None:
    result = stretto("run", "--", launchers["hydra"], "-n", "1", "true", extra={"STRETTO_LIB_DIR": str(libraries)})
    library = libraries / "libstretto_mpich.so"
    assert result.stdout == f"<-genv><LD_PRELOAD><{library}><-n><1><true> preload=\n"
