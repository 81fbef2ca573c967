"""Stretto: MPI collectives that do not wait for latecomers. This package holds the command and the analysis."""

__version__ = "0.1.0"
