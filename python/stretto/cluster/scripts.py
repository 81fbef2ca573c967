"""The shell scripts of a cluster. They run where no Python should: first in a namespace, or on every launch."""

# $0: the cluster's directory, $1: INIT. Outside of all namespaces, so it can clean up however the cluster has ended.
KEEPER = 'unshare --mount --net --pid --fork --kill-child sh -c "$1"; rm -rf -- "$0"'

# The first process of the cluster's process namespace: the kernel kills all others with it, and with them go
# namespaces, mounts and links. /proc is still the machine's when it tells its number. Then a line on stdin says what it
# does for the rest of its life, KEEP or ATTEND; if the front end has died before, there is no line, and it ends.
# Children that lost their parents become its own, and the kernel clears them away since it ignores their signal.
INIT = """
read -r pid rest </proc/self/stat && mount -t proc proc /proc && echo "$pid" && exec >/dev/null 2>&1 &&
read -r life && exec env --ignore-signal=CHLD $life
"""
KEEP = "sleep infinity"
ATTEND = "cat"  # until the front end closes stdin or dies, of whatever

# Arguments: directories of nodes. The namespaces stay since the files in there are bound to them.
NODES = """
set -e
for node in "$@"; do
  mount -t tmpfs -o mode=1777 tmpfs "$node/shm"
  mount -t tmpfs -o mode=1777 tmpfs "$node/tmp"
  unshare --net="$node/net" --uts="$node/uts" --ipc="$node/ipc" hostname "${node##*/}"
done
"""

# A file of the cluster's directory: on NODE COMMAND...
# The mounts are made anew for each command, the memory behind them is the node's.
ON = """#!/bin/sh
node="${0%/*}/$1"
[ -e "$node/net" ] || { echo "$1: no such node" >&2; exit 2; }
shift
exec nsenter --net="$node/net" --uts="$node/uts" --ipc="$node/ipc" unshare --mount sh -c '
  mount --bind "$0/shm" /dev/shm && mount --bind "$0/tmp" "${0%/*}/tmp" && mount --bind "${0%/*}/hosts" /etc/hosts &&
  mount -t sysfs sysfs /sys && exec "$@"
' "$node" "$@"
"""

# Another file there, which launchers take for ssh: [OPTION]... NODE TEXT..., the text is for a shell.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
node="$1"
shift
exec "${0%/*}/on" "$node" /bin/sh -c "$*"
"""

# $0: a file descriptor whose other end the front end holds; then a command. It is the first process of a process
# namespace: what the command leaves behind, daemons included, ends with it, and all ends when the front end does.
RUN = '{ trap "" HUP INT TERM; read -r line </proc/self/fd/"$0"; kill -KILL -1; } & "$@"; exit $?'
