"""Processes of a server: their lifecycle, channels, restarts and errands.

Imported by `supervisor.startup` and `supervisor.commands`.
"""
