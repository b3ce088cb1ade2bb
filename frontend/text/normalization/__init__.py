"""Normalisation: numbers, dates, units and other written forms rewritten as words, by language.

Imported by `frontend.text`, `frontend.http`, `frontend.process` and `supervisor`.
"""
