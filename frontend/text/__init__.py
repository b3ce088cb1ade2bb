"""Conversion of text to sentences of pronounced units: sanitising, normalisation, grapheme to phoneme.

Imported by `frontend`, `books.making` and `supervisor`.
"""
