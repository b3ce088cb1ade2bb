"""Measurements of one engine, in a process of its own. Only `supervisor.tuning` and benchmarks enter."""
