"""Metrics, drift, self-checks and `/status`: figures about the other rooms' work."""
