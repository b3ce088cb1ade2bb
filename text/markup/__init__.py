"""Parsers of tags and SSML into plain text and annotations."""
