"""Parsers of tags and SSML into plain text and annotations, used by the text pipeline, the reader
(`frontend.planning.reader`) and the HTTP endpoint that returns phonemes.
"""
