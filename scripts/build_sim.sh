#!/usr/bin/env bash
# Builds into build-sim/ what `stretto sim` runs: the library and the benchmark driver for SimGrid. Installs SimGrid with
# apt where it is missing; exit code 77 where it cannot. Beside scripts/build.sh, which builds for real MPI libraries.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
source scripts/apt.sh
say() { printf 'build_sim: %s\n' "$*" >&2; }

if ! command -v smpicxx >/dev/null; then
  can_apt || { say "smpicxx is missing: install SimGrid 3.32 or newer (https://simgrid.org)"; exit 77; }
  apt_install libsimgrid-dev || exit 77
fi
remove_moved_build build-sim "$repository/sim/simgrid"
CXX="$(command -v smpicxx)" cmake -S sim/simgrid -B build-sim -G Ninja
cmake --build build-sim
