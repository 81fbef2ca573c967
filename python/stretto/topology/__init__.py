"""Networks between nodes: readers of their descriptions, the tree of levels made of them, `stretto topo`."""
