"""Clients of a running server, and an engine in this process in place of a server."""
