"""Lexicon: the user's own pronunciations, from a file that is read again after each change.

Imported by `frontend.text`, `frontend.process` and `supervisor.client`.
"""
