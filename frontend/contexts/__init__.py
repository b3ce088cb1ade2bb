"""Contexts: speech of texts that are still being written, for every protocol that sends text piece by piece.

Imported by `frontend.http`, `frontend.wyoming` and `frontend.process`.
"""
