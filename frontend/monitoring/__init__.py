"""Metrics, drift, self-checks and `/status`: figures about the other folders' work.

This folder imports streams and the folders below it; scheduling and http import this one.
"""
