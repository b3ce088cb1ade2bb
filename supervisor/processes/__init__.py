"""Processes of a server: their lifecycle, channels, restarts and errands."""
