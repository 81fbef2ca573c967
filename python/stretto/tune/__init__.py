"""Measuring what choices are made by: the machine."""
