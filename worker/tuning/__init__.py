"""Measurements of one engine, in a process of its own. Imported by `supervisor.tuning`."""
