"""Profiles in the formats of other tools."""
