"""Measurements of one engine, in a process of its own."""
