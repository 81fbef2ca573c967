"""`stretto run` with the MPI of this machine: what reaches the ranks, exit codes, and refusals."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import TIMEOUT_S, Compile, Stretto, make_script

# Prints what a rank sees. Its parent is the launcher's daemon (mpirun itself on one node).
SHOW = 'echo "preload=$LD_PRELOAD allreduce=$STRETTO_ALLREDUCE profile=$STRETTO_PROFILE $STRETTO_VERBOSE"'
PARENT = "tr '\\0' '\\n' < /proc/$PPID/environ | grep -c '^LD_PRELOAD=.*libstretto' ; true"


def test_program_runs_and_its_exit_code_is_kept(stretto: Stretto) -> None:
    result = stretto("run", "--", "mpirun", "-n", "1", "sh", "-c", "echo hello; exit 7")
    assert "hello" in result.stdout
    assert result.returncode == 7


def test_ranks_see_the_library_and_the_settings(stretto: Stretto, tmp_path: Path) -> None:
    directory = tmp_path / "new" / "profile"
    result = stretto(
        "run",
        "--allreduce",
        "native",
        "--verbose",
        "--profile",
        str(directory),
        "--",
        "mpirun",
        "-n",
        "2",
        "sh",
        "-c",
        SHOW,
    )
    lines = [line for line in result.stdout.splitlines() if line.startswith("preload=")]
    assert len(lines) == 2, result.stderr
    assert re.fullmatch(rf"preload=/\S+/libstretto_openmpi\.so allreduce=native profile={directory} 1", lines[0])
    assert directory.is_dir()


def test_launcher_itself_is_not_preloaded(stretto: Stretto) -> None:
    assert stretto("run", "--", "mpirun", "-n", "1", "sh", "-c", PARENT).stdout.strip() == "0"


def test_existing_preload_stays_in_front(stretto: Stretto, compile_c: Compile) -> None:
    tool = compile_c("", "-shared", "-fPIC", name="tool.so")
    result = stretto("run", "--", "mpirun", "-n", "1", "sh", "-c", SHOW, extra={"LD_PRELOAD": str(tool)})
    assert re.match(rf"preload={tool}:/\S+/libstretto_openmpi\.so ", result.stdout)


@pytest.mark.parametrize("by_value", [True, False])
def test_preload_given_to_mpirun_is_chained(stretto: Stretto, compile_c: Compile, by_value: bool) -> None:
    tool = compile_c("", "-shared", "-fPIC", name="tool.so")
    export = f"LD_PRELOAD={tool}" if by_value else "LD_PRELOAD"
    extra = {} if by_value else {"LD_PRELOAD": str(tool)}
    result = stretto("run", "--", "mpirun", "-x", export, "-n", "1", "sh", "-c", SHOW, extra=extra)
    assert re.match(rf"preload={tool}:/\S+/libstretto_openmpi\.so ", result.stdout), result.stderr


def test_every_program_of_an_mpmd_line_is_reached(stretto: Stretto) -> None:
    line = ["mpirun", "-n", "1", "sh", "-c", SHOW, ":", "-n", "1", "sh", "-c", SHOW]
    result = stretto("run", "--allreduce", "native", "--", *line)
    assert len(re.findall(r"libstretto_openmpi\.so allreduce=native", result.stdout)) == 2, result.stderr


def test_settings_of_the_environment_are_handed_on_and_overruled_by_options(stretto: Stretto) -> None:
    line = ["--", "mpirun", "-n", "1", "sh", "-c", SHOW]
    extra = {"STRETTO_ALLREDUCE": "native"}
    assert "allreduce=native" in stretto("run", *line, extra=extra).stdout
    assert "allreduce=default" in stretto("run", "--allreduce", "default", *line, extra=extra).stdout


def test_native_leaves_what_is_not_named_to_the_mpi(stretto: Stretto) -> None:
    show = 'echo "$STRETTO_ALLREDUCE $STRETTO_REDUCE $STRETTO_BCAST $STRETTO_BARRIER"'
    line = ["--", "mpirun", "-n", "1", "sh", "-c", show]
    shown = stretto("run", "--native", "--reduce", "default", *line, extra={"STRETTO_BCAST": "default"})
    assert shown.stdout.split() == ["native", "default", "native", "native"], shown.stderr


def test_direct_program(stretto: Stretto, compile_c: Compile) -> None:
    text = """
        #include <mpi.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) {
          int one = 1, sum = 0;
          printf("preload %s ", getenv("LD_PRELOAD"));
          MPI_Init(0, 0);
          MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
          printf("sum %d\\n", sum);
          return MPI_Finalize();
        }"""
    result = stretto("run", "--", str(compile_c(text, compiler="mpicc")))
    assert re.search(r"preload /\S+/libstretto_openmpi\.so sum 1", result.stdout), result.stderr


def test_behind_the_launcher_its_mpi_is_known(environment: dict[str, str], library_directory: Path) -> None:
    result = subprocess.run(
        ["mpirun", "-n", "2", sys.executable, "-m", "stretto", "run", "--", "sh", "-c", SHOW],
        env=environment | {"STRETTO_LIB_DIR": str(library_directory)},
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert result.stdout.count("libstretto_openmpi.so") == 2, result.stderr


def test_launcher_behind_a_wrapper(stretto: Stretto) -> None:
    result = stretto("run", "--", "env", "A=1", "timeout", "60", "mpirun", "-n", "1", "sh", "-c", PARENT + ";" + SHOW)
    assert result.stdout.startswith("0\npreload=/"), result.stderr


def test_separator_may_be_left_out(stretto: Stretto) -> None:
    result = stretto("run", "--verbose", "mpirun", "-n", "1", "sh", "-c", "exit 3", "--verbose")
    assert result.returncode == 3


def test_signal_reaches_the_launcher(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "stretto", "run", "--", "mpirun", "-n", "1", "sh", "-c", "echo started; sleep 100"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=30) != 0
    finally:
        process.kill()
        process.wait()


STATIC = "int main(void) { return 0; }"


def test_static_program_is_refused(stretto: Stretto, compile_c: Compile) -> None:
    result = stretto("run", "--", "mpirun", "-n", "2", str(compile_c(STATIC, "-static")))
    assert result.returncode == 2
    assert "static" in result.stderr
    assert "-lstretto_openmpi" in result.stderr


def test_static_program_is_refused_in_any_context(stretto: Stretto, compile_c: Compile) -> None:
    static = str(compile_c(STATIC, "-static"))
    assert stretto("run", "--", "mpirun", "-n", "1", "true", ":", "-n", "1", static).returncode == 2


def test_program_of_another_mpi_is_refused(stretto: Stretto, foreign_program: Path) -> None:
    result = stretto("run", "--", "mpirun", "-n", "2", str(foreign_program))
    assert result.returncode == 2
    assert "linked against MPICH or Intel MPI" in result.stderr
    assert "mpicc of Open MPI" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--", "mpirun", "-n", "2", "./no-such-program"], ["./no-such-program", "not found"]),
        (["--", "mpirun", "--mca", "btl", "self", "-n", "2", "no-such-program"], ["no-such-program", "not found"]),
        (["--", "no-such-program"], ["no-such-program", "not found"]),
        (["--", "/no/such/mpirun", "-n", "2", "true"], ["/no/such/mpirun", "launcher not found"]),
        (["--allreduce", "nonsense", "--", "mpirun", "true"], ["--allreduce=nonsense", "choose from default, native"]),
        (["--mpi", "lam", "--", "mpirun", "true"], ["--mpi=lam", "openmpi"]),
        (["--profile", "/proc/none", "--", "mpirun", "-n", "1", "true"], ["--profile /proc/none"]),
        (["--no-such-option", "--", "true"], ["--no-such-option"]),
        ([], ["COMMAND"]),
    ],
)
def test_bad_usage_is_exit_code_2_and_says_what(stretto: Stretto, arguments: list[str], words: list[str]) -> None:
    result = stretto("run", *arguments)
    assert result.returncode == 2
    assert all(word in result.stderr for word in words), result.stderr
    assert "Traceback" not in result.stderr


def test_unknown_algorithm_in_the_environment_names_the_variable(stretto: Stretto) -> None:
    result = stretto("run", "--", "mpirun", "-n", "1", "true", extra={"STRETTO_BARRIER": "nonsense"})
    assert result.returncode == 2
    assert "STRETTO_BARRIER=nonsense" in result.stderr


def test_profile_does_not_mix_with_an_earlier_one(stretto: Stretto, tmp_path: Path) -> None:
    (tmp_path / "rank-00000.stretto").touch()
    result = stretto("run", "--profile", str(tmp_path), "--", "mpirun", "-n", "1", "true")
    assert result.returncode == 2
    assert "earlier profile" in result.stderr


def test_refused_run_makes_no_profile_directory(stretto: Stretto, tmp_path: Path) -> None:
    stretto("run", "--profile", str(tmp_path / "r"), "--", "mpirun", "-n", "1", "./no-such-program")
    assert not (tmp_path / "r").exists()


def test_missing_library(stretto: Stretto, tmp_path: Path) -> None:
    for directory, words in ((tmp_path, "make build"), (tmp_path / "none", "STRETTO_LIB_DIR")):
        result = stretto("run", "--", "mpirun", "-n", "1", "true", extra={"STRETTO_LIB_DIR": str(directory)})
        assert result.returncode == 2
        assert words in result.stderr


def test_library_path_that_cannot_be_preloaded(stretto: Stretto, tmp_path: Path) -> None:
    directory = tmp_path / "with blank"
    directory.mkdir()
    (directory / "libstretto_openmpi.so").touch()
    result = stretto("run", "--", "mpirun", "-n", "1", "true", extra={"STRETTO_LIB_DIR": str(directory)})
    assert result.returncode == 2
    assert "blank" in result.stderr


def test_unknown_launcher_is_named(stretto: Stretto, tmp_path: Path) -> None:
    launcher = make_script(tmp_path / "mpirun", "echo SomeVendor MPI 3.1")
    result = stretto("run", "--", str(launcher), "-n", "1", "true")
    assert result.returncode == 2
    assert "SomeVendor MPI 3.1" in result.stderr
