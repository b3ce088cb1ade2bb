"""Clients of a running server, and an engine in this process instead of one. Only `supervisor.commands` enters."""
