#!/usr/bin/env bash
# Trains a small residual network with Horovod under the profiler, and prints what its collectives are like; then again
# under Stretto's pipelined allreduce, and checks that it computed what it should.
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

# Trains on four nodes under Stretto with STRETTO_ALLREDUCE=$1; what comes of it goes to $results/$2.
train_on_four_nodes() {
  local algorithm="$1" directory="$results/$2"
  shift 2
  mkdir -p "$directory"
  say "training under Stretto on four emulated nodes of 1 gbit, allreduce $algorithm"
  STRETTO_PROFILE="$repository/$directory" STRETTO_ALLREDUCE="$algorithm" "$venv/bin/stretto" cluster run \
    --nodes 4 --rate 1gbit --ranks 4 --stretto -- "$python" apps/horovod/train.py --out "$directory/training.json" "$@"
}

install_horovod
rm -rf "$results"
mkdir -p "$results"
say "training, profiled"
"$venv/bin/stretto" run --native --profile "$results/profile" -- \
  mpirun -n 4 "$python" apps/horovod/train.py --out "$results/training.json" "$@"
columns=("one node=$results/profile")
say "training under Stretto, allreduce ring+4"
"$venv/bin/stretto" run --allreduce ring+4 --profile "$results/one-node-ring+4" -- \
  mpirun -n 4 "$python" apps/horovod/train.py --out "$results/one-node-ring+4/training.json" "$@"
pipelined=("one node, ring+4=$results/one-node-ring+4")
why="$("$venv/bin/python" -c 'from stretto.cluster import why_impossible; print(why_impossible() or "")')"
if [ -n "$why" ]; then
  say "emulated nodes are left out: $why"
else
  say "training, profiled, on two emulated nodes"
  STRETTO_PROFILE="$repository/$results/profile-2-nodes" STRETTO_ALLREDUCE=native STRETTO_REDUCE=native \
    STRETTO_BCAST=native STRETTO_BARRIER=native "$venv/bin/stretto" cluster run --nodes 2 --rate 0 --ranks 4 --stretto -- \
    "$python" apps/horovod/train.py "$@"
  columns+=("two emulated nodes=$results/profile-2-nodes")
  train_on_four_nodes ring+4 four-nodes-ring+4 "$@"
  train_on_four_nodes default four-nodes-default "$@"
  pipelined+=("four nodes, ring+4=$results/four-nodes-ring+4" "four nodes, default=$results/four-nodes-default")
fi
"$venv/bin/python" apps/horovod/characterise.py "$results/training.json" "${columns[@]}"
"$venv/bin/python" apps/horovod/check_pipelined.py "${pipelined[@]}"
"$venv/bin/stretto" report "$results/profile" >"$results/report.txt"
say "the whole report is in $results/report.txt and, for a browser, $results/profile/report.html"
