"""The network of a cluster, as input of `ip -batch` and `tc -batch`: one bridge, a cable to every node, token buckets.

Addresses and names repeat in every cluster, since its network namespaces are its own and joined to nothing else.
Rates hold in both directions of every node: what it sends waits in its own bucket, what it receives in the bridge's.
"""

import re

from stretto.errors import StrettoError

MAX_NODES = 200
_SUBNET = "10.77.0"
# The largest packet that is handed over in one piece. Smaller ones would be smoother and cost more of the processor.
_PACKET_BYTES = 32768
# Real switches hold senders back where these queues would drop: so deep that windows fill before it does.
_QUEUE = "64mb"
_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}

# File below /proc/sys/net/ipv4 -> value, in each node.
TCP_SETTINGS = {
    "tcp_congestion_control": "reno",  # the one that no kernel keeps from a network namespace
    # A pause is part of the experiment: it must neither shrink the window nor be remembered by the next connection.
    "tcp_slow_start_after_idle": "0",
    "tcp_no_metrics_save": "1",
    "tcp_limit_output_bytes": "65536",  # of one socket in the bucket: small messages do not wait behind large ones
    "tcp_rmem": "4096 131072 524288",
    "tcp_wmem": "4096 131072 524288",
}


def node_name(index: int) -> str:
    """What a node is called, by its place."""
    return f"node{index}"


def address(index: int) -> str:
    """The Internet address of a node."""
    return f"{_SUBNET}.{index + 1}"


def bits_per_s(rate: str) -> float:
    """What a rate such as 200mbit or 1gbit says; 0 is no limit. Raises StrettoError where it says nothing."""
    if rate == "0":
        return 0.0
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)bit", rate)
    value = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 1e4 <= value <= 1e12:
        raise StrettoError(f"{rate}: not a rate: write 200mbit, 1gbit or the like (at least 10kbit), or 0 for no limit")
    return value


def switch_lines(nodes: int) -> list[str]:
    """For `ip` in the cluster's own network namespace. The nodes' namespaces are expected as files NODE/net."""
    limits = f"gso_max_size {_PACKET_BYTES} gro_max_size {_PACKET_BYTES} txqueuelen 1000"
    lines = ["link add switch type bridge stp_state 0 forward_delay 0 mcast_snooping 0", "link set switch up"]
    for index in range(nodes):
        name = node_name(index)
        lines += [
            f"link add {name} {limits} type veth peer name eth0 address {_hardware(index)} {limits} netns ./{name}/net",
            f"link set {name} master switch up",
        ]
    return lines


def node_lines(index: int, nodes: int) -> list[str]:
    """For `ip` in a node. It knows the others' hardware addresses, or its first message to each would be late."""
    return [
        "link set lo up",
        f"addr add {address(index)}/24 dev eth0",
        "link set eth0 up",
        *(
            f"neigh replace {address(other)} lladdr {_hardware(other)} dev eth0 nud permanent"
            for other in range(nodes)
            if other != index
        ),
    ]


def rate_line(device: str, rate: str) -> str:
    """For `tc`: what leaves by `device` has this rate from now on."""
    bits = bits_per_s(rate)
    if bits == 0:
        return f"qdisc replace dev {device} root noqueue"
    # A packet that is larger than the bucket would never leave; 200 us of a fast line keep the timer's load low.
    burst = max(int(bits / 8 * 200e-6), _PACKET_BYTES * 107 // 100 + 2000)
    return f"qdisc replace dev {device} root tbf rate {bits:.0f}bit burst {burst} limit {_QUEUE}"


def _hardware(index: int) -> str:
    """A node's hardware address, of the range that is free for own use."""
    return f"02:00:00:00:00:{index + 1:02x}"
