"""Metrics, drift, self-checks and `/status`: figures about the other rooms.

It enters streams and what is below; scheduling and http enter.
"""
