"""Threads and inferences side by side measured on this machine, and the profile that `serve` applies.

Commands enter.
"""
