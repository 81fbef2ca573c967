#!/usr/bin/env bash
# Trains a small residual network with PyTorch's DistributedDataParallel: over gloo, and by Stretto's hook over MPI, on
# this node and on emulated ones.
#
# Debian 12 as root or with sudo that does not ask: PyTorch and mpi4py are Debian's. Run scripts/setup.sh build and
# scripts/build.sh before. Options are for apps/torch/train.py.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
source scripts/apt.sh
ranks=4
python=/usr/bin/python3 # Debian's: no other finds its packages
results=build/torch
training=("$python" apps/torch/train.py "$@")
export PYTHONPATH="$repository/python${PYTHONPATH:+:$PYTHONPATH}"

say() { printf 'torch: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
stretto() { "$venv/bin/python" -m stretto "$@"; }
has_both() { "$python" -c 'import mpi4py, torch.distributed as d; assert d.is_gloo_available()' 2>/dev/null; }

install_torch() {
  if ! has_both; then
    can_apt && apt-cache show python3-torch >/dev/null 2>&1 ||
      fail "needs Debian's python3-torch and python3-mpi4py: use Debian 12, as root or with sudo that does not ask"
    apt_install python3-torch python3-mpi4py || exit 1
    has_both || fail "$python still has no PyTorch with gloo, or no mpi4py"
  fi
  # Debian's mpi4py is for Debian's Open MPI. Under another's mpirun every rank would be alone.
  timeout 120 mpirun -n 2 "$python" -c 'from mpi4py import MPI; import sys; sys.exit(MPI.COMM_WORLD.size != 2)' ||
    fail "Debian's mpi4py does not work with $(command -v mpirun): put Debian's Open MPI (openmpi-bin) first on PATH"
}

install_torch
rm -rf "$results"
mkdir -p "$results"
say "on this node, over gloo"
mpirun -n "$ranks" "${training[@]}" --backend gloo --out "$results/gloo.json"
say "on this node, by Stretto's hook over MPI"
STRETTO_VERBOSE=1 stretto run -- mpirun -n "$ranks" "${training[@]}" --hook --out "$results/hook.json"
why="$("$venv/bin/python" -c 'from stretto.cluster import why_impossible; print(why_impossible() or "")')"
if [ -n "$why" ]; then
  say "emulated nodes are left out: $why"
else
  nodes=(cluster run --nodes "$ranks" --rate 1gbit --ranks "$ranks")
  say "on $ranks emulated nodes of 1gbit, over gloo"
  GLOO_SOCKET_IFNAME=eth0 stretto "${nodes[@]}" -- "${training[@]}" --backend gloo --out "$results/gloo-nodes.json"
  say "on $ranks emulated nodes of 1gbit, by the hook, in segments"
  STRETTO_VERBOSE=1 STRETTO_ALLREDUCE=ring+4 stretto "${nodes[@]}" --stretto -- \
    "${training[@]}" --hook --out "$results/hook-nodes.json"
fi
say "losses, speeds and hashes of the parameters are in $results; bench/experiments/torch_speed.py compares speeds"
