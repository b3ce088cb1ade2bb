"""Measures threads and simultaneous inferences on this machine, and keeps the profile that `serve` applies.

Imported by commands.
"""
