"""Parsers of tags and SSML into plain text and annotations.

Imported by `frontend.text`, `frontend.planning` and `frontend.http`.
"""
