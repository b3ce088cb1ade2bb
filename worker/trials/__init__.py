"""Trials of execution providers: whether a provider is right and faster here, tested while the CPU speaks.

Imported by `worker.tuning` and `supervisor.processes`.
"""
