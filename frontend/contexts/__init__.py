"""Contexts: speech of texts that are still being written, for every protocol that sends text piece by piece.

The rooms that speak such a protocol enter; contexts import contract, text, audio, settings and monitoring.
"""
