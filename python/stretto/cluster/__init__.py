"""An emulated cluster on one machine, for experiments with MPI: nodes that share nothing but processors and a kernel.

    with cluster(nodes=8, rate="1gbit") as nodes:
        nodes.run(["./program"], ranks=16)

See docs/cluster.md for what is emulated and what is not.
"""

from stretto.cluster.namespaces import Nodes, cluster, cluster_if, why_impossible

__all__ = ["Nodes", "cluster", "cluster_if", "why_impossible"]
