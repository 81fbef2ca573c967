#!/usr/bin/env bash
# Trains a small residual network with Horovod under the profiler, and prints what its collectives are like.
#
# Debian 12 as root or with sudo that does not ask: PyTorch is Debian's, and Horovod is built against it and the MPI of
# mpicxx, outside the checkout. That takes some minutes, once. Run scripts/setup.sh build and scripts/build.sh before.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
source scripts/apt.sh
version=0.28.1
home="${XDG_CACHE_HOME:-$HOME/.cache}/stretto/horovod-$version"
python="$home/bin/python"
results=build/horovod

say() { printf 'horovod: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

install_horovod() {
  local mpi file="$home/.mpi"
  mpi="$(command -v mpicxx) $(mpirun --version 2>/dev/null | head -n 1)"
  [ "$(cat "$file" 2>/dev/null)" = "$mpi" ] && "$python" -c 'import horovod.torch' 2>/dev/null && return
  can_apt && apt-cache show python3-torch >/dev/null 2>&1 ||
    fail "needs Debian's python3-torch: use Debian 12, as root or with sudo that does not ask"
  apt_install python3-torch libtorch-dev pybind11-dev python3-dev python3-venv python3-pip python3-setuptools \
    python3-cffi python3-cloudpickle python3-packaging python3-psutil python3-yaml g++ cmake make
  say "building Horovod $version in $home"
  rm -rf "$home"
  /usr/bin/python3 -m venv --system-site-packages "$home"
  HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 HOROVOD_WITH_PYTORCH=1 HOROVOD_WITHOUT_TENSORFLOW=1 \
    HOROVOD_WITHOUT_MXNET=1 HOROVOD_CPU_OPERATIONS=MPI \
    "$python" -m pip install -qq --disable-pip-version-check --no-input --no-build-isolation \
    --no-binary horovod --no-deps "horovod==$version" >&2 || fail "Horovod could not be built"
  "$python" -c 'import horovod.torch' || fail "Horovod was built, but does not work"
  echo "$mpi" >"$file"
}

install_horovod
rm -rf "$results"
mkdir -p "$results"
say "training, profiled"
"$venv/bin/stretto" run --native --profile "$results/profile" -- \
  mpirun -n 4 "$python" apps/horovod/train.py --out "$results/training.json" "$@"
columns=("one node=$results/profile")
why="$("$venv/bin/python" -c 'from stretto.cluster import why_impossible; print(why_impossible() or "")')"
if [ -n "$why" ]; then
  say "two emulated nodes are left out: $why"
else
  say "the same on two emulated nodes"
  STRETTO_PROFILE="$repository/$results/profile-2-nodes" STRETTO_ALLREDUCE=native STRETTO_REDUCE=native \
    STRETTO_BCAST=native STRETTO_BARRIER=native "$venv/bin/stretto" cluster run --nodes 2 --rate 0 --ranks 4 --stretto -- \
    "$python" apps/horovod/train.py "$@"
  columns+=("two emulated nodes=$results/profile-2-nodes")
fi
"$venv/bin/python" apps/horovod/characterise.py "$results/training.json" "${columns[@]}"
"$venv/bin/stretto" report "$results/profile" >"$results/report.txt"
say "the whole report is in $results/report.txt and, for a browser, $results/profile/report.html"
