"""Processes of a server: their lifecycle, channels, restarts and errands. Imported by startup, commands and tuning."""
