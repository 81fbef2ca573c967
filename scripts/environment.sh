# Sourced by the other scripts: where tools are, what compilers are asked by, and what Open MPI needs to run as root with
# more ranks than cores.
repository="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$repository"
venv="$repository/.venv"
# Behind PATH: an MPI that is installed on the machine goes before the one of the .venv.
export PATH="$PATH:$venv/bin"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# A build directory that was copied, moved, or made from other sources does not configure: it names the old place.
remove_moved_build() {  # directory, sources
  local cache="$1/CMakeCache.txt"
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$2" "$cache"; then rm -rf "$1"; fi
}
# The engine is compiled in several ways, and in several places: what has been compiled once, wherever, is not again.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR="$repository" CCACHE_NOHASHDIR=1
fi
