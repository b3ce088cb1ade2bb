"""Processes of a server: their lifecycle, channels, restarts and errands. Startup, commands and tuning may enter."""
