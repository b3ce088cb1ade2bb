"""Parsers of tags and SSML into plain text and annotations. Callers are the text pipeline, the reader and http's
phonemizer.
"""
