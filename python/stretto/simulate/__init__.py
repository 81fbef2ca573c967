"""Collectives in simulated time: by a formula (`stretto model`) and on a cluster of SimGrid's (`stretto sim`)."""
